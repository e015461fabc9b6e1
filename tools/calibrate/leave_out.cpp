#include "tools/calibrate/leave_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/io/diagnostics.hpp"
#include "tools/calibrate/device_sets.hpp"

namespace weft {
namespace {

RefittedConstant named_constant(const ValidationSet& set, const Device& device, const std::string& key) {
    std::vector<std::string> known;
    for (DeviceConstant& constant : device_constants(device)) {
        if (constant.name == key) {
            const double shipped = constant.value(device);
            return {.device = device.name, .constant = std::move(constant), .shipped = shipped, .refitted = shipped};
        }
        known.push_back(constant.name);
    }
    Diagnostic unknown{.file = set.path, .key = "fits", .message = {}};
    unknown.message = fmt::format("{} has no constant \"{}\"{}", device.name, key, suggestion(key, known));
    throw ConfigError({std::move(unknown)});
}

// Fits those of `constants` that nothing told so far; returns the device with them.
Device refit(const Device& device, std::vector<RefittedConstant>& constants,
             const std::vector<DeviceFitSource>& sources, RowUse use, unsigned threads) {
    std::vector<DeviceConstant> wanted;
    for (const RefittedConstant& one : constants) {
        if (one.rows == 0) wanted.push_back(one.constant);
    }
    if (wanted.empty() || sources.empty()) return device;
    const DeviceFit fit = fit_device(device, wanted, sources, threads);
    std::size_t next = 0;
    for (RefittedConstant& one : constants) {
        if (one.rows > 0) continue;
        one.determination = fit.fit.determinations[next];
        one.refitted = fit.fit.values[next++];
        if (one.determination > Determination::at_limit) continue;
        one.rows = fit.rows.size();
        one.use = use;
    }
    return with_constants(device, wanted, fit.fit.values);
}

std::vector<DeviceFitSource> sources_of(std::span<const ValidationSet> sets, const Device& device, RowUse use) {
    std::vector<DeviceFitSource> sources = set_sources(sets, device, {});
    if (use == RowUse::fit) {
        std::erase_if(sources, [](const DeviceFitSource& source) { return source.rows.front().is_held; });
    }
    for (DeviceFitSource& source : sources) {
        for (DeviceFitRow& row : source.rows) row.is_held = false;
    }
    return sources;
}

ErrorsByUse errors_of(const ValidationSet& set, unsigned threads, std::vector<Device> devices) {
    const std::vector<ValidatedRow> rows =
        run_validation({&set, 1}, {.threads = threads, .devices = std::move(devices)});
    return make_scorecard({&set, 1}, rows, Coverage::whole);
}

}  // namespace

LeftOut leave_out(const ValidationSet& set, std::span<const ValidationSet> others, unsigned threads) {
    std::vector<ValidationSet> rest;
    std::ranges::copy_if(others, std::back_inserter(rest), [&](const auto& other) { return other.name != set.name; });
    std::map<std::string, std::vector<std::string>> keys;  // by device
    for (const std::string& each : set.fits)
        keys[each.substr(0, each.find('.'))].push_back(each.substr(each.find('.') + 1));
    LeftOut result;
    std::vector<Device> devices;
    for (const auto& [name, of_device] : keys) {
        Device device = load_device(name);
        std::vector<RefittedConstant> constants;
        for (const std::string& key : of_device) constants.push_back(named_constant(set, device, key));
        for (const RowUse use : {RowUse::fit, RowUse::predict}) {
            device = refit(device, constants, sources_of(rest, device, use), use, threads);
        }
        devices.push_back(std::move(device));
        std::ranges::move(constants, std::back_inserter(result.constants));
    }
    result.shipped = errors_of(set, threads, {});
    result.refitted = errors_of(set, threads, std::move(devices));
    return result;
}

}  // namespace weft
