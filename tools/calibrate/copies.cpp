// Files of devices and machines with other constants.
#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <set>

#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "tools/output/result_texts.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const DeviceConstant& constant, double value) {
    if (constant.unit == ConstantUnit::seconds) return fmt::format("{:.6f} us", value * 1e6);
    return std::stod(fmt::format("{:.6g}", value));
}

// What is written in the place of a constant's value: of a list, one entry's share.
Json& place(Json& object, const DeviceConstant& constant) {
    const int entry = constant.entry();
    return entry < 0 ? object.at("value") : object.at("value").at(static_cast<std::size_t>(entry))["share"];
}

// To the picosecond.
std::string duration_text(double seconds) { return fmt::format("{:.6f} us", seconds * 1e6); }

Json value_json(const FittedConstant& constant) {
    if (constant.name.starts_with("efficiency")) return std::stod(fmt::format("{:.9f}", constant.after));
    if (constant.name.starts_with("rate")) return fmt::format("{:.6f} GB/s", constant.after / 1e9);
    return duration_text(constant.after);
}

Json& row(Json& library, std::size_t cost) {
    return *std::next(library.at("costs").begin(), static_cast<std::ptrdiff_t>(cost));
}

void append_source(Json& object, std::string_view provenance) {
    const std::string before = object.value("source", "");
    object["source"] = fmt::format("{}{}{}", before, before.empty() ? "" : "; ", provenance);
}

}  // namespace

std::string provenance(const DeviceFit& fit) {
    std::set<std::string> files;
    for (const DeviceFitRow& row : fit.rows) {
        if (!row.is_held) files.insert(row.where.substr(0, row.where.rfind(':')));
    }
    std::string kinds;
    double error = 0;
    for (const KindErrors& kind : errors_by_kind(fit)) {
        if (kind.is_held) continue;
        if (kind.kind == "all") {
            error = kind.after;
            continue;
        }
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind.rows, kind.kind);
    }
    return fmt::format("least squares in the logarithm of {} rows ({}), rms error {:.1f} %", kinds,
                       fmt::join(files, ", "), 100.0 * error);
}

std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance) {
    const NamedDocument file = open_shipped(embedded::devices(), "device", name);
    Json device = Json::parse(file.document.text(), nullptr, true, true);
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        const DeviceConstant& constant = fit.constants[i];
        if (fit.fit.values[i] == fit.before[i]) continue;
        Json& object = device["fitted"][constant.key()];
        if (object.is_null()) object = Json{{"value", 0}, {"source", "memory_efficiency"}};
        const std::string deviation = deviation_text(fit, i);
        object["source"] = fmt::format("{}{}{}; before: {}, {}", provenance, deviation.empty() ? "" : ", +- ",
                                       deviation, constant_text(constant, fit.before[i]), object.value("source", ""));
        place(object, constant) = value_json(constant, fit.fit.values[i]);
    }
    std::string text = device.dump(4) + "\n";
    Document written = Document::parse(file.name, text);
    read_device(written.root(), file.name);  // what is written can be read
    written.check();
    return text;
}

std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance) {
    Document document = open_machine(name);
    extend(document.root(), open_machine);
    document.check();
    Json machine = Json::parse(document.text());
    for (Json& library : machine.at("libraries")) {
        if (library.at("name") != calibration.library.name) continue;
        std::set<std::size_t> changed;
        for (const FittedConstant& constant : calibration.constants) {
            if (constant.after == constant.before) continue;
            if (constant.cost == calibration.library.costs.size()) {
                library.at("launch")["value"] = duration_text(constant.after);
                append_source(library.at("launch"), provenance);
                continue;
            }
            row(library, constant.cost)[std::string(constant.name)] = value_json(constant);
            changed.insert(constant.cost);
        }
        for (const std::size_t cost : changed) append_source(row(library, cost), provenance);
    }
    std::string text = machine.dump(4) + "\n";
    Machine::read(Document::parse(std::string(name), text));  // what is written can be read
    return text;
}

}  // namespace weft
