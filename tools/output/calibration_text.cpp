#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"

namespace weft {
namespace {

double error_of(Seconds predicted, const CalibrationRow& row) { return predicted / row.measured.time - 1.0; }

struct SummaryPair {
    ErrorSummary before, after;
};

// Of the rows that were fitted to, or of those held.
SummaryPair errors_of(const Calibration& calibration, const MeasuredRows& rows, bool held) {
    std::vector<double> before, after;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        if (rows.rows[i].is_held != held) continue;
        before.push_back(error_of(calibration.times[i].before, rows.rows[i]));
        after.push_back(error_of(calibration.times[i].after, rows.rows[i]));
    }
    return {summarize(std::move(before)), summarize(std::move(after))};
}

std::string group_text(const CollectiveMeasurement& row) {
    return fmt::format("{} among {} ranks on {} node{}", name(row.op), row.ranks, row.nodes, row.nodes == 1 ? "" : "s");
}

std::string value_text(const FittedConstant& constant, double value) {
    if (constant.name.starts_with("efficiency")) return fmt::format("{:.4f}", value);
    return constant.name.starts_with("rate") ? to_text(BytesPerSecond{value}) : to_text(Seconds{value});
}

Json counted_json(const SummaryPair& errors) {
    const auto counted = [](const ErrorSummary& summary) {
        Json json{{"rows", summary.rows}};
        json.update(summary_json(summary));
        return json;
    };
    return {{"before", counted(errors.before)}, {"after", counted(errors.after)}};
}

ResultTable constants_table(const Calibration& calibration) {
    using Constant = FittedConstant;
    const auto of_cost = [&](std::string ProtocolCost::*part, std::string_view otherwise) {
        return [=, &costs = calibration.library.costs](const Constant& one) {
            return one.cost < costs.size() ? std::string_view(costs[one.cost].*part) : otherwise;
        };
    };
    return table_of<Constant>(calibration.constants,
                              {{"algorithm", "<algorithm", of_cost(&ProtocolCost::algorithm, "(library)")},
                               {"protocol", "<protocol", of_cost(&ProtocolCost::protocol, "")},
                               {"constant", "<constant", &Constant::name},
                               {"", "before", [](const Constant& one) { return value_text(one, one.before); }},
                               {"before", {}, &Constant::before},
                               {"", "after", [](const Constant& one) { return value_text(one, one.after); }},
                               {"after", {}, &Constant::after},
                               {"rows", {}, &Constant::rows},
                               {"", "rows", [](const Constant& one) {
                                    return one.rows > 0              ? fmt::to_string(one.rows)
                                           : one.after == one.before ? "none: left alone"
                                                                     : "none any more";
                                }}});
}

ResultTable times_table(const Calibration& calibration, const MeasuredRows& rows) {
    const auto row = [&](std::size_t i) -> const CalibrationRow& { return rows.rows[i]; };
    const auto time = [&](std::size_t i) -> const FittedTime& { return calibration.times[i]; };
    return numbered_table(rows.rows.size(),
                          {{"file", {}, [&](std::size_t i) { return rows.files[i]; }},
                           {"line", {}, [&](std::size_t i) { return row(i).measured.line; }},
                           {"op", {}, [&](std::size_t i) { return name(row(i).measured.op); }},
                           {"ranks", {}, [&](std::size_t i) { return row(i).measured.ranks; }},
                           {"nodes", {}, [&](std::size_t i) { return row(i).measured.nodes; }},
                           {"", "<measured", [&](std::size_t i) { return group_text(row(i).measured); }},
                           {"message_bytes", "size (B)",
                            whole([&](std::size_t i) { return Figure<rounded>{row(i).measured.size.value}; })},
                           {"measured_s", "time", [&](std::size_t i) { return row(i).measured.time; }},
                           {"before_s", "before", [&](std::size_t i) { return time(i).before; }},
                           {"after_s", "after", [&](std::size_t i) { return time(i).after; }},
                           {"held", {}, [&](std::size_t i) { return row(i).is_held; }},
                           {"", "error", [&](std::size_t i) { return Change{error_of(time(i).after, row(i))}; }},
                           {"", "<", [&](std::size_t i) { return row(i).is_held ? "held" : ""; }},
                           {"algorithm", "<algorithm", [&](std::size_t i) { return time(i).algorithm; }},
                           {"protocol", "<protocol", [&](std::size_t i) { return time(i).protocol; }},
                           {"", "line", [&](std::size_t i) { return row(i).measured.line; }}});
}

std::string hundredths(double share) { return fmt::format("{:.2f} %", 100.0 * share); }

// Of a deviation that is not known programs get null.
ResultTable constants_table(const DeviceFit& fit) {
    const auto constant = [&](std::size_t i) -> const DeviceConstant& { return fit.constants[i]; };
    const auto what = [&](std::size_t i) { return fit.fit.determinations[i]; };
    return numbered_table(
        fit.constants.size(),
        {{"constant", "<constant", [&](std::size_t i) { return constant(i).name; }},
         {"unit", {}, [&](std::size_t i) { return constant(i).unit == ConstantUnit::seconds ? "s" : ""; }},
         {"before", {}, [&](std::size_t i) { return fit.before[i]; }},
         {"", "before", [&](std::size_t i) { return constant_text(constant(i), fit.before[i]); }},
         {"after", {}, [&](std::size_t i) { return fit.fit.values[i]; }},
         {"", "after", [&](std::size_t i) { return constant_text(constant(i), fit.fit.values[i]); }},
         {"standard_deviation",
          {},
          [&](std::size_t i) {
              return what(i) == Determination::determined ? fit.fit.deviations[i]
                                                          : std::numeric_limits<double>::quiet_NaN();
          }},
         {"", "+-", [&](std::size_t i) { return deviation_text(fit, i); }},
         {"fitted",
          {},
          [&](std::size_t i) { return what(i) == Determination::determined || what(i) == Determination::at_limit; }},
         {"determination", "<", [&](std::size_t i) { return text(what(i)); }}});
}

ResultTable errors_table(const DeviceFit& fit) {
    return table_of<KindErrors>(errors_by_kind(fit),
                                {{"kind", "<rms error", &KindErrors::kind},
                                 {"held", {}, &KindErrors::is_held},
                                 {"", "<", [](const KindErrors& errors) { return errors.is_held ? "held" : "fitted"; }},
                                 {"rows", "rows", &KindErrors::rows},
                                 {"rms_log_error_before", "before", as<Figure<hundredths>>(&KindErrors::before)},
                                 {"rms_log_error_after", "after", as<Figure<hundredths>>(&KindErrors::after)}});
}

ResultTable rows_table(const DeviceFit& fit) {
    return table_of<DeviceFitRow>(fit.rows, {{"kind", {}, &DeviceFitRow::kind},
                                             {"where", {}, &DeviceFitRow::where},
                                             {"measured", {}, &DeviceFitRow::measured},
                                             {"before", {}, &DeviceFitRow::before},
                                             {"after", {}, &DeviceFitRow::after},
                                             {"weight", {}, &DeviceFitRow::weight},
                                             {"held", {}, &DeviceFitRow::is_held}});
}

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
    return fmt::format(
        "fitted to {}: median error {:.1f} %",
        comma_list(groups, [](const auto& each) { return fmt::format("{} rows of {}", each.second, each.first); }),
        100.0 * errors_of(calibration, rows, false).after.median);
}

std::string calibration_text(const Calibration& calibration, const MeasuredRows& rows) {
    const auto told = [](std::string_view which, const SummaryPair& errors) {
        return fmt::format("{0}before: {1}\n{0}after:  {2}\n", which, summary_text(errors.before),
                           summary_text(errors.after));
    };
    const SummaryPair held = errors_of(calibration, rows, true);
    return table_text(constants_table(calibration)) + "\n" + table_text(times_table(calibration, rows)) + "\n" +
           told("", errors_of(calibration, rows, false)) + (held.after.rows > 0 ? told("held, ", held) : "");
}

std::string calibration_json(const Calibration& calibration, const MeasuredRows& rows) {
    return json_text({{"library", calibration.library.name},
                      {"rounds", calibration.rounds},
                      {"fitted", counted_json(errors_of(calibration, rows, false))},
                      {"held", counted_json(errors_of(calibration, rows, true))},
                      {"constants", table_json(constants_table(calibration))},
                      {"rows", table_json(times_table(calibration, rows))}});
}

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
    return table_text(constants_table(fit)) + "\n" + table_text(errors_table(fit));
}

std::string device_calibration_json(const DeviceFit& fit) {
    return json_text(Json{{"rounds", fit.fit.rounds},
                          {"constants", table_json(constants_table(fit))},
                          {"errors", table_json(errors_table(fit))},
                          {"rows", table_json(rows_table(fit))}});
}

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
        table.add({std::string(enumerator_name(use)), fmt::to_string(before.rows), percent(before.mean),
                   percent(after.mean), fmt::format("{:+.1f} points", 100 * (after.mean - before.mean)),
                   signed_percent_text(before.bias), signed_percent_text(after.bias)});
    }
    return fmt::format("{}, left out of the fits:\n{}{}", set, constants_text(result), table.text());
}

}  // namespace weft
