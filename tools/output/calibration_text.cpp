#include "tools/output/calibration_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/collective_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_table.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {

namespace {

using Json = nlohmann::ordered_json;

double error_of(Seconds predicted, const CalibrationRow& row) { return predicted / row.measured.time - 1.0; }

std::string group_text(const CollectiveMeasurement& row) {
    return fmt::format("{} among {} ranks on {} node{}", name(row.op), row.ranks, row.nodes, row.nodes == 1 ? "" : "s");
}

std::string value_text(const FittedConstant& constant, double value) {
    if (constant.name.starts_with("efficiency")) return fmt::format("{:.4f}", value);
    return constant.name.starts_with("rate") ? to_text(BytesPerSecond{value}) : to_text(Seconds{value});
}

std::string_view algorithm_of(const Calibration& calibration, const FittedConstant& constant) {
    const auto& costs = calibration.library.costs;
    return constant.cost < costs.size() ? std::string_view(costs[constant.cost].algorithm) : "(library)";
}

std::string_view protocol_of(const Calibration& calibration, const FittedConstant& constant) {
    const auto& costs = calibration.library.costs;
    return constant.cost < costs.size() ? std::string_view(costs[constant.cost].protocol) : "";
}

Json summary_json(const ErrorSummary& summary) {
    return {{"rows", summary.rows},
            {"median_absolute_error", summary.median},
            {"percentile_90_absolute_error", summary.percentile_90},
            {"largest_absolute_error", summary.largest},
            {"median_error", summary.bias}};
}

}  // namespace

CalibrationErrors calibration_errors(const Calibration& calibration, const MeasuredRows& rows) {
    std::vector<double> before[2], after[2];  // fitted, held
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const std::size_t kind = rows.rows[i].is_held ? 1 : 0;
        before[kind].push_back(error_of(calibration.times[i].before, rows.rows[i]));
        after[kind].push_back(error_of(calibration.times[i].after, rows.rows[i]));
    }
    return {.fitted_before = summarize(std::move(before[0])),
            .fitted_after = summarize(std::move(after[0])),
            .held_before = summarize(std::move(before[1])),
            .held_after = summarize(std::move(after[1]))};
}

std::string calibration_warnings(const Calibration& calibration, const MeasuredRows& rows) {
    constexpr double most = 0.5;
    std::string text;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const CalibrationRow& row = rows.rows[i];
        const double error = error_of(calibration.times[i].after, row);
        if (row.is_held || std::abs(error) <= most) continue;
        text +=
            fmt::format("warning: {}:{}: {} of {:.0f} B, fitted and still {} off\n", rows.files[i], row.measured.line,
                        group_text(row.measured), row.measured.size.value, signed_percent_text(error));
    }
    return text;
}

std::string provenance(const Calibration& calibration, const MeasuredRows& rows) {
    std::map<std::string, std::size_t> groups;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        if (rows.rows[i].is_held) continue;
        ++groups[fmt::format("{} ({})", group_text(rows.rows[i].measured), rows.files[i])];
    }
    std::string text;
    for (const auto& [group, count] : groups) {
        text += fmt::format("{}{} rows of {}", text.empty() ? "" : ", ", count, group);
    }
    return fmt::format("fitted to {}: median error {:.1f} %", text,
                       100.0 * calibration_errors(calibration, rows).fitted_after.median);
}

std::string calibration_text(const Calibration& calibration, const MeasuredRows& rows) {
    TextTable constants({"<algorithm", "<protocol", "<constant", "before", "after", "rows"});
    for (const FittedConstant& constant : calibration.constants) {
        constants.add({std::string(algorithm_of(calibration, constant)),
                       std::string(protocol_of(calibration, constant)), std::string(constant.name),
                       value_text(constant, constant.before), value_text(constant, constant.after),
                       constant.rows > 0                   ? fmt::to_string(constant.rows)
                       : constant.after == constant.before ? "none: left alone"
                                                           : "none any more"});
    }
    TextTable times(
        {"<measured", "size (B)", "time", "before", "after", "error", "<", "<algorithm", "<protocol", "line"});
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const CalibrationRow& row = rows.rows[i];
        const FittedTime& time = calibration.times[i];
        times.add({group_text(row.measured), fmt::format("{:.0f}", row.measured.size.value), to_text(row.measured.time),
                   to_text(time.before), to_text(time.after), signed_percent_text(error_of(time.after, row)),
                   row.is_held ? "held" : "", std::string(time.algorithm), std::string(time.protocol),
                   fmt::to_string(row.measured.line)});
    }
    const CalibrationErrors errors = calibration_errors(calibration, rows);
    std::string text = constants.text() + "\n" + times.text() + "\nbefore: " + summary_text(errors.fitted_before) +
                       "\nafter:  " + summary_text(errors.fitted_after) + "\n";
    if (errors.held_after.rows > 0) {
        text += "held, before: " + summary_text(errors.held_before) +
                "\nheld, after:  " + summary_text(errors.held_after) + "\n";
    }
    return text;
}

std::string calibration_json(const Calibration& calibration, const MeasuredRows& rows) {
    const CalibrationErrors errors = calibration_errors(calibration, rows);
    Json json{
        {"library", calibration.library.name},
        {"rounds", calibration.rounds},
        {"fitted", {{"before", summary_json(errors.fitted_before)}, {"after", summary_json(errors.fitted_after)}}},
        {"held", {{"before", summary_json(errors.held_before)}, {"after", summary_json(errors.held_after)}}}};
    json["constants"] = Json::array();
    for (const FittedConstant& constant : calibration.constants) {
        json["constants"].push_back({{"algorithm", algorithm_of(calibration, constant)},
                                     {"protocol", protocol_of(calibration, constant)},
                                     {"constant", constant.name},
                                     {"before", constant.before},
                                     {"after", constant.after},
                                     {"rows", constant.rows}});
    }
    json["rows"] = Json::array();
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const CollectiveMeasurement& row = rows.rows[i].measured;
        const FittedTime& time = calibration.times[i];
        json["rows"].push_back({{"file", rows.files[i]},
                                {"line", row.line},
                                {"op", name(row.op)},
                                {"ranks", row.ranks},
                                {"nodes", row.nodes},
                                {"message_bytes", number<Json>(row.size.value)},
                                {"measured_s", row.time.value},
                                {"before_s", time.before.value},
                                {"after_s", time.after.value},
                                {"held", rows.rows[i].is_held},
                                {"algorithm", time.algorithm},
                                {"protocol", time.protocol}});
    }
    return json_text(json);
}

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

namespace {

std::string origin(const RefittedConstant& one) {
    if (one.rows == 0) return "kept: no row of another set tells it";
    return fmt::format("{} rows {}of other sets{}", one.rows, one.use == RowUse::fit ? "marked fit " : "",
                       one.determination == Determination::at_limit ? ", at its limit" : "");
}

std::string constants_text(const LeftOut& result) {
    TextTable table({"<constant", "shipped", "without the set", "<fitted to"});
    for (const RefittedConstant& one : result.constants) {
        table.add({one.device + "." + one.constant.name, constant_text(one.constant, one.shipped),
                   constant_text(one.constant, one.refitted), origin(one)});
    }
    return table.text();
}

}  // namespace

std::string left_out_text(std::string_view set, const LeftOut& result) {
    if (result.constants.empty()) {
        const bool has_fits = result.shipped.fit.rows > 0;
        return fmt::format(
            "{}: {}\n", set,
            has_fits
                ? "not refittable: its rows marked fit tell no constant of a device, but of a library or its own jobs"
                : "no constant is fitted to it");
    }
    TextTable table({"<rows", "number", "mean", "without", "change", "bias", "without"});
    for (const RowUse use : {RowUse::predict, RowUse::fit}) {
        const ErrorStatistics &before = result.shipped.of(use), &after = result.refitted.of(use);
        if (before.rows == 0) continue;
        table.add({std::string(name(use)), fmt::to_string(before.rows), percent(before.mean), percent(after.mean),
                   fmt::format("{:+.1f} points", 100 * (after.mean - before.mean)), signed_percent_text(before.bias),
                   signed_percent_text(after.bias)});
    }
    return fmt::format("{}, left out of the fits:\n{}{}", set, constants_text(result), table.text());
}

}  // namespace weft
