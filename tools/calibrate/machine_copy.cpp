#include "tools/calibrate/machine_copy.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/check.hpp"
#include "sim/io/extends.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

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
