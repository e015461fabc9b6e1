#include "tools/output/device_calibration_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json errors_json(const KindErrors& errors) {
    return {{"kind", errors.kind},
            {"held", errors.is_held},
            {"rows", errors.rows},
            {"rms_log_error_before", errors.before},
            {"rms_log_error_after", errors.after}};
}

}  // namespace

std::string constant_text(const DeviceConstant& constant, double value) {
    return constant.unit == ConstantUnit::seconds ? to_text(Seconds{value}) : fmt::format("{:.4g}", value);
}

std::string deviation_text(const DeviceFit& fit, std::size_t i) {
    const double deviation = fit.fit.deviations[i];
    if (deviation == 0.0) return "";
    if (!std::isfinite(deviation)) return "unknown: too few rows";
    return fit.constants[i].unit == ConstantUnit::seconds ? to_text(Seconds{deviation})
                                                          : fmt::format("{:.2g}", deviation);
}

std::string device_calibration_text(const DeviceFit& fit) {
    TextTable constants({"<constant", "before", "after", "+-", "<"});
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        constants.add({fit.constants[i].name, constant_text(fit.constants[i], fit.before[i]),
                       constant_text(fit.constants[i], fit.fit.values[i]), deviation_text(fit, i),
                       std::string(text(fit.fit.determinations[i]))});
    }
    TextTable errors({"<rms error", "<", "rows", "before", "after"});
    for (const KindErrors& kind : errors_by_kind(fit)) {
        errors.add({kind.kind, kind.is_held ? "held" : "fitted", fmt::to_string(kind.rows),
                    fmt::format("{:.2f} %", 100.0 * kind.before), fmt::format("{:.2f} %", 100.0 * kind.after)});
    }
    return constants.text() + "\n" + errors.text();
}

std::string device_calibration_json(const DeviceFit& fit) {
    Json json{
        {"rounds", fit.fit.rounds}, {"constants", Json::array()}, {"errors", Json::array()}, {"rows", Json::array()}};
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        const double deviation = fit.fit.deviations[i];
        const Determination what = fit.fit.determinations[i];
        json["constants"].push_back(
            {{"constant", fit.constants[i].name},
             {"unit", fit.constants[i].unit == ConstantUnit::seconds ? "s" : ""},
             {"before", fit.before[i]},
             {"after", fit.fit.values[i]},
             {"standard_deviation",
              what == Determination::determined && std::isfinite(deviation) ? Json(deviation) : Json()},
             {"fitted", what == Determination::determined || what == Determination::at_limit},
             {"determination", text(what)}});
    }
    for (const KindErrors& kind : errors_by_kind(fit)) json["errors"].push_back(errors_json(kind));
    for (const DeviceFitRow& row : fit.rows) {
        json["rows"].push_back({{"kind", row.kind},
                                {"where", row.where},
                                {"measured", row.measured},
                                {"before", row.before},
                                {"after", row.after},
                                {"weight", row.weight},
                                {"held", row.is_held}});
    }
    return json_text(json);
}

}  // namespace weft
