#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

enum class Predicted : std::uint8_t { fitted, all };

// In the order of the sources; nothing for those that are not asked for.
std::vector<std::vector<double>> predict_all(const Device& device, const std::vector<DeviceFitSource>& sources,
                                             Predicted which, unsigned threads) {
    std::vector<std::vector<double>> values(sources.size());
    const auto predict = [&](std::size_t i) {
        if (which == Predicted::all || sources[i].is_fitted()) values[i] = sources[i].predict(device);
    };
    for_each_in_parallel(sources.size(), threads, predict, {});
    return values;
}

// Of the rows that are fitted, sqrt(weight) of each in front.
std::vector<double> residuals(const std::vector<DeviceFitSource>& sources,
                              const std::vector<std::vector<double>>& predicted) {
    std::vector<double> result;
    for (std::size_t s = 0; s < sources.size(); ++s) {
        for (std::size_t i = 0; i < sources[s].rows.size(); ++i) {
            const DeviceFitRow& row = sources[s].rows[i];
            if (!row.is_held) result.push_back(std::sqrt(row.weight) * log_error(predicted[s][i], row.measured));
        }
    }
    return result;
}

bool is_held(const ValidationRow& row, const std::vector<HeldCell>& holds) {
    return row.use == RowUse::predict || std::ranges::any_of(holds, [&](const HeldCell& hold) {
               if (hold.first == "name") return row.name == hold.second;
               return std::ranges::any_of(
                   row.cells, [&](const JobCell& c) { return c.key == hold.first && c.value == hold.second; });
           });
}

Prediction predict_on(ValidationCase one, const ValidationRow& row, const Device& device) {
    Study& study = std::get<Study>(one.subject);
    study.device = device;
    try {
        return predict(one, row);
    } catch (const RangeError& error) {
        refuse_file(row.name, error.what());
    }
}

DeviceFitSource source_of(ValidationCase one, const ValidationSet& set, const ValidationRow& row, bool held) {
    DeviceFitSource source;
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < row.measured.size(); ++i) {
        if (row.measured[i].quantity.ends_with("_bytes")) continue;
        wanted.push_back(i);
        source.rows.push_back({.kind = fmt::format("{} of {}", row.measured[i].quantity, set.name),
                               .where = fmt::format("{}:{}", set.name, row.line),
                               .measured = row.measured[i].value,
                               .is_held = held});
    }
    source.predict = [one = std::move(one), &row, wanted = std::move(wanted)](const Device& device) {
        const Prediction prediction = predict_on(one, row, device);
        return list_of<double>(wanted, [&](std::size_t i) { return prediction.values[i]; });
    };
    return source;
}

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
    const auto is_untold = [](const RefittedConstant& one) { return one.rows == 0; };
    const auto wanted = list_of_those<DeviceConstant>(constants, is_untold, &RefittedConstant::constant);
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

// Measured products of one format.
struct ProductRows {
    std::vector<std::size_t> rows;
    std::vector<double> paces;  // that may be the host's: times near the shortest that several rows take
};

ProductRows product_rows(const std::vector<DeviceFitRow>& table, std::vector<std::size_t> rows) {
    constexpr double longest = 2.0;  // times the shortest
    double shortest = std::numeric_limits<double>::infinity();
    for (const std::size_t i : rows) shortest = std::min(shortest, table[i].measured);
    ProductRows products{std::move(rows), {}};
    for (const std::size_t i : products.rows) {
        const double time = table[i].measured;
        const auto is_near = [&](std::size_t other) { return std::abs(std::log(table[other].measured / time)) < 0.1; };
        if (table[i].is_held || time > longest * shortest) continue;
        if (std::ranges::count_if(products.rows, is_near) >= 3) products.paces.push_back(time);
    }
    return products;
}

// A loop runs products no faster than the host enqueues them, which is no constant of the device: the pace that leaves
// the least error where no prediction is shorter; 0 where there is none.
double host_pace(const std::vector<DeviceFitRow>& table, const ProductRows& products,
                 std::span<const double> predicted) {
    const auto error = [&](double pace) {
        double sum = 0;
        for (const std::size_t i : products.rows) {
            const double off = log_error(std::max(predicted[i], pace), table[i].measured);
            if (!table[i].is_held) sum += table[i].weight * off * off;
        }
        return sum;
    };
    double found = 0, least = error(0);
    for (const double pace : products.paces) {
        if (const double left = error(pace); left < least) found = pace, least = left;
    }
    return found;
}

}  // namespace

bool DeviceFitSource::is_fitted() const { return !std::ranges::all_of(rows, &DeviceFitRow::is_held); }

DeviceFitSource table_source(const std::string& file, const std::vector<DeviceTableRow>& rows) {
    DeviceFitSource source;
    std::vector<KernelMeasurement> kernels;
    const std::string name = std::filesystem::path(file).filename().string();
    for (const DeviceTableRow& row : rows) {
        kernels.push_back(row.measured);
        source.rows.push_back({.kind = std::string(enumerator_name(row.measured.kind)),
                               .where = fmt::format("{}:{}", name, row.line),
                               .measured = row.measured.value,
                               .weight = row.weight,
                               .is_held = row.is_held});
    }
    std::map<Precision, std::vector<std::size_t>> by_precision;  // products
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i].kind == MeasuredKernel::gemm) by_precision[kernels[i].precision].push_back(i);
    }
    std::vector<ProductRows> products;
    for (auto& [precision, of] : by_precision) products.push_back(product_rows(source.rows, std::move(of)));
    source.predict = [kernels = std::move(kernels), products = std::move(products),
                      table = source.rows](const Device& device) {
        auto values = list_of<double>(kernels, [&](const auto& kernel) { return predicted_value(device, kernel); });
        for (const ProductRows& of : products) {
            const double pace = host_pace(table, of, values);
            for (const std::size_t i : of.rows) values[i] = std::max(values[i], pace);
        }
        return values;
    };
    return source;
}

DeviceFit fit_device(const Device& device, std::vector<DeviceConstant> constants,
                     const std::vector<DeviceFitSource>& sources, unsigned threads) {
    DeviceFit result;
    std::vector<FitParameter> parameters;
    for (const DeviceConstant& c : constants) {
        const double start = c.value(device);
        result.before.push_back(start);
        parameters.push_back({start, std::min(c.least, start), std::max(c.most, start), c.scale});
    }
    const auto predicted = [&](std::span<const double> values, Predicted which) {
        return predict_all(with_constants(device, constants, values), sources, which, threads);
    };
    result.fit = fit_least_squares(parameters, [&](std::span<const double> values) {
        return residuals(sources, predicted(values, Predicted::fitted));
    });
    const auto before = predicted(result.before, Predicted::all), after = predicted(result.fit.values, Predicted::all);
    for (std::size_t s = 0; s < sources.size(); ++s) {
        for (std::size_t i = 0; i < sources[s].rows.size(); ++i) {
            result.rows.push_back(sources[s].rows[i]);
            result.rows.back().before = before[s][i];
            result.rows.back().after = after[s][i];
        }
    }
    result.constants = std::move(constants);
    return result;
}

std::vector<KindErrors> errors_by_kind(const DeviceFit& fit) {
    std::map<std::pair<bool, std::string>, KindErrors> kinds;
    const auto count = [&](const DeviceFitRow& row, std::string kind) {
        KindErrors& sum = kinds[{row.is_held, kind}];
        sum.kind = std::move(kind);
        sum.is_held = row.is_held;
        ++sum.rows;
        sum.before += std::pow(log_error(row.before, row.measured), 2);
        sum.after += std::pow(log_error(row.after, row.measured), 2);
    };
    for (const DeviceFitRow& row : fit.rows) {
        count(row, row.kind);
        count(row, "~all");  // sorts last
    }
    std::vector<KindErrors> result;
    for (auto& [key, sum] : kinds) {
        sum.before = std::sqrt(sum.before / static_cast<double>(sum.rows));
        sum.after = std::sqrt(sum.after / static_cast<double>(sum.rows));
        if (sum.kind == "~all") sum.kind = "all";
        result.push_back(sum);
    }
    return result;
}

std::vector<DeviceFitSource> set_sources(std::span<const ValidationSet> sets, const Device& device,
                                         const std::vector<HeldCell>& holds) {
    std::vector<DeviceFitSource> sources;
    for (ValidationCase& one : validation_cases(sets)) {
        const Study* const study = std::get_if<Study>(&one.subject);
        const ValidationSet& set = sets[one.set];
        const ValidationRow& row = set.rows[one.row];
        if (study == nullptr || study->device.name != device.name || row.use == RowUse::disturbed) continue;
        sources.push_back(source_of(std::move(one), set, row, is_held(row, holds)));
        if (sources.back().rows.empty()) sources.pop_back();
    }
    return sources;
}

LeftOut leave_out(const ValidationSet& set, std::span<const ValidationSet> others, unsigned threads) {
    const auto rest = list_of_those<ValidationSet>(others, [&](const auto& other) { return other.name != set.name; });
    std::map<std::string, std::vector<std::string>> keys;  // by device
    for (const std::string& each : set.fits)
        keys[each.substr(0, each.find('.'))].push_back(each.substr(each.find('.') + 1));
    LeftOut result;
    std::vector<Device> devices;
    for (const auto& [name, of_device] : keys) {
        Device device = load_device(name);
        auto constants = list_of<RefittedConstant>(
            of_device, [&](const std::string& key) { return named_constant(set, device, key); });
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
