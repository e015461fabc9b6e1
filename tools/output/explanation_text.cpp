#include "tools/output/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

bool makes_difference(Seconds changed, Seconds own) { return std::abs(changed / own - 1.0) >= no_difference; }
std::string change(double ratio) { return fmt::format("{:+.2f} %", 100 * ratio); }

std::string causes_text(const JobExplanation& explained) {
    const Explanation& found = explained.explanation;
    std::vector<ExplainedCause> rows = main_causes(found);
    rows.push_back({.cause = {"step", {}, {}}, .ticks = found.end.femtoseconds, .elsewhere = found.elsewhere()});
    const std::string table = table_text(causes_table(rows, found.end), 2);
    if (explained.report.stages.size() < 2) return "the critical path of the step:\n" + table;
    return fmt::format(
        "the critical path of the step, for the most part on stage {}:\n{}  on other stages: while the pipeline fills "
        "and drains\n",
        found.main_stage, table);
}

std::string stretches_text(const Explanation& found) {
    std::string out = "its longest passages:\n";
    for (const PathStretch& each : found.stretches) {
        out += fmt::format("  from {} on, {}: {}\n", to_text(since_start(each.begin)), to_text(each.end - each.begin),
                           each.text);
    }
    return out;
}

ResultTable stretches_table(const Explanation& found) {
    using Row = PathStretch;
    return table_of<Row>(found.stretches, {{"text", {}, &Row::text},
                                           {"begin_s", {}, [](const Row& row) { return since_start(row.begin); }},
                                           {"time_s", {}, [](const Row& row) { return row.end - row.begin; }},
                                           {"rank", {}, [](const Row& row) { return index(row.rank); }},
                                           {"stage", {}, &Row::stage},
                                           {"cause", {}, [](const Row& row) { return cause_text(row.cause); }}});
}

ResultTable slack_table(const Explanation& found) {
    return table_of<Slack>(found.slack, {{"dimension", "<off the path", &Slack::dimension},
                                         {"op", "<", &Slack::op},
                                         {"calls", "calls", whole(as<Count>(&Slack::calls))},
                                         {"least_s", "least slack", &Slack::least},
                                         {"median_s", "median slack", &Slack::median}});
}

std::string changes_text(const ChangeTable& changes) {
    std::string out = table_text(changes.table);
    if (!changes.negligible.empty()) {
        out += fmt::format("less than {:.2f} % of difference: {}\n", 100 * no_difference,
                           fmt::join(changes.negligible, ", "));
    }
    if (!changes.unknown.empty()) {
        out += fmt::format("not simulated, which alone would tell: {}\n", fmt::join(changes.unknown, ", "));
    }
    return out;
}

std::string means_text(const JobExplanation& explained) {
    const auto [simulated, replayed, first_order, closed_form, unknown] = changes_by_means(explained);
    std::string out = fmt::format("of {} changes simulated: {}",
                                  simulated + replayed + first_order + closed_form + unknown, simulated);
    if (replayed > 0) {
        out += fmt::format("; replayed: {} (every operation again, where links are shared as they were)", replayed);
    }
    if (first_order > 0) out += fmt::format("; to first order: {} (what the path spends on it)", first_order);
    if (closed_form > 0) out += fmt::format("; in closed form: {}", closed_form);
    if (closed_form > 0 && explained.screening_error > 0) {
        out += fmt::format(" (against those simulated wrong by {} at most)", percent(explained.screening_error));
    }
    return out + '\n';
}

std::string device_text(const Rooflines& rooflines) {
    const DeviceRoofline& device = rooflines.device;
    return fmt::format(
        "roofline of a device of stage {}: peak {}, sustained {}, memory {}, sustained {}\n{}  busy {}{}\n",
        rooflines.stage, to_text(device.peak), to_text(device.sustained), to_text(device.memory),
        to_text(device.sustained_memory), table_text(kernels_table(device), 2), to_text(device.busy()),
        device.other.value > 0.0 ? fmt::format(", {} of it all else", to_text(device.other)) : "");
}

std::string rooflines_text(const Rooflines& rooflines) {
    std::string device = device_text(rooflines);
    if (!rooflines.kinds.empty()) {
        device += fmt::format("\nkinds of layers of stage {}, a rank's share of one and of a micro-batch:\n{}",
                              rooflines.stage, table_text(kinds_table(rooflines.kinds), 2));
    }
    if (rooflines.fabric.empty()) return device;
    return fmt::format("{}\nroofline of the fabric for a rank of stage {}:\n{}", device, rooflines.stage,
                       table_text(fabric_table(rooflines.fabric), 2));
}

Json settings_json(const JobExplanation& explained) {
    return json_list<Json>(explained.settings, [&](const ExplainedSetting& setting) {
        return Json{{"set", setting.assignments},
                    {"step_s", setting.is_told() ? Json(setting.step.value) : Json(nullptr)},
                    {"memory_bytes", static_cast<std::int64_t>(setting.memory.value)},
                    {"fits", setting.fits},
                    {"simulated", setting.fits && setting.means == Means::simulated},
                    {"means", setting.is_told() ? Json(name(setting.means)) : Json(nullptr)},
                    {"changes_numerics", setting.changes_numerics}};
    });
}

}  // namespace

ResultTable causes_table(std::span<const ExplainedCause> causes, Instant end) {
    using Row = ExplainedCause;
    const auto elsewhere = [](const Row& row) { return since_start({row.elsewhere}); };
    const bool leaves = std::ranges::any_of(causes, [](const Row& row) { return row.elsewhere != 0; });
    return table_of<Row>(
        causes, {{"", "<cause", [](const Row& row) { return cause_text(row.cause); }},
                 {"cause", {}, inside(&Row::cause, &Cause::name)},
                 {"dimension", {}, inside(&Row::cause, &Cause::dimension)},
                 {"link", {}, inside(&Row::cause, &Cause::link)},
                 {"time_s", "time", [](const Row& row) { return since_start({row.ticks}); }},
                 {"", "of step", [&](const Row& row) { return Share{double(row.ticks) / double(end.femtoseconds)}; }},
                 {"", leaves ? std::optional<std::string>("on other stages") : std::nullopt,
                  [&](const Row& row) { return row.elsewhere == 0 ? std::nullopt : std::optional(elsewhere(row)); }},
                 {"on_other_stages_s", {}, elsewhere}});
}

ChangeTable knobs_table(std::span<const ExplainedKnob> knobs, Seconds own) {
    using Row = ExplainedKnob;
    ChangeTable changes;
    std::vector<Row> shown;
    for (const Row& knob : knobs) {
        const std::string text = knob.knob + ' ' + knob.change;
        const double most = 100 * (1.0 - knob.step / own);
        if (!knob.is_told()) {
            changes.unknown.push_back(text + (most > 0 ? fmt::format(" (at most {:.2f} % less)", most) : ""));
        } else if (makes_difference(knob.step, own)) {
            shown.push_back(knob);
        } else {
            changes.negligible.push_back(text);
        }
    }
    changes.table =
        table_of<Row>(shown, {{"", "<if it were otherwise", &Row::knob},
                              {"", "<", &Row::change},
                              {"", "step", &Row::step},
                              {"", "change", [&](const Row& knob) { return Figure<change>{knob.step / own - 1.0}; }},
                              {"", "<by", [](const Row& knob) { return name(knob.means); }}});
    return changes;
}

ChangeTable settings_table(std::span<const ExplainedSetting> settings, Seconds own) {
    using Row = ExplainedSetting;
    ChangeTable changes;
    std::vector<Row> shown;
    for (const Row& setting : settings) {
        if (setting.means == Means::none) {
            changes.unknown.push_back(assignments_text(setting));
        } else if (!setting.fits || makes_difference(setting.step, own)) {
            shown.push_back(setting);
        } else {
            changes.negligible.push_back(assignments_text(setting));
        }
    }
    const auto ratio = [&](const Row& setting) { return Figure<change>{setting.step / own - 1.0}; };
    changes.table = table_of<Row>(
        shown, {{"", "<with --set", assignments_text},
                {"", "step", where(&Row::fits, &Row::step)},
                {"", "change", where(&Row::fits, ratio)},
                {"", "<by", where(&Row::fits, [](const Row& setting) { return name(setting.means); })},
                {"", "memory", &Row::memory},
                {"", "<note", [](const Row& setting) {
                     return !setting.fits ? "does not fit" : setting.changes_numerics ? "other numerics" : "";
                 }}});
    return changes;
}

ResultTable kernels_table(const DeviceRoofline& device) {
    using Use = KernelClassUse;
    // Of what has no products, or moves nothing, people get no rates.
    const auto computes = [](const Use& use) { return use.flops.value > 0; };
    const auto moves = [](const Use& use) { return use.bytes.value > 0; };
    const auto does_both = [](const Use& use) { return use.flops.value > 0 && use.bytes.value > 0; };
    using Digits = Figure<significant<3>>;
    return table_of<Use>(
        device.kernels,
        {{"kernels", "<kernels", &Use::name},
         {"time_s", "time", &Use::time},
         {"flops", {}, [](const Use& use) { return use.flops.value; }},
         {"", "FLOP", where(computes, as<Digits>(&Use::flops))},
         {"memory_bytes", {}, &Use::bytes},
         {"", "memory", where(moves, &Use::bytes)},
         {"", "FLOP/B", where(does_both, as<Digits>(&Use::intensity))},
         {"", "FLOP/s", where(computes, &Use::achieved)},
         {"", "of roof", where(does_both, [&](const Use& use) { return Share{use.achieved() / device.roof(use)}; })},
         {"", "B/s", where(moves, &Use::achieved_memory)},
         {"", "of memory", where(moves, [&](const Use& use) { return Share{use.achieved_memory() / device.memory}; })},
         {"peak_flops_per_s", {}, &Use::peak},
         {"bound_by_products_s", {}, &Use::computing},
         {"bound_by_memory_s", {}, &Use::moving},
         {"gaps_s", {}, &Use::gaps},
         {"bound_by", "<bound by", &Use::bound}});
}

ResultTable fabric_table(const std::vector<FabricUse>& fabric) {
    using Use = FabricUse;
    // Of what moves nothing, or has no link, people get no rates.
    const auto is_rated = [](const Use& use) {
        return use.bytes.value > 0.0 && use.time.value > 0.0 && use.line.value > 0.0;
    };
    const auto share = [](const Use& use) { return Share{use.achieved() / use.line_rate()}; };
    return table_of<Use>(fabric, {{"dimension", "<calls", &Use::dimension},
                                  {"link", "<over", &Use::link},
                                  {"calls", "calls", whole(as<Count>(&Use::calls))},
                                  {"bus_bytes", "bytes", &Use::bytes},
                                  {"time_s", "time", &Use::time},
                                  {"", "bus bandwidth", where(is_rated, &Use::achieved)},
                                  {"", "line rate", where(is_rated, &Use::line_rate)},
                                  {"", "of it", where(is_rated, share)},
                                  {"line_rate_time_s", {}, &Use::line},
                                  {"bandwidth_s", {}, &Use::transfer},
                                  {"endpoint_s", {}, &Use::endpoint},
                                  {"latency_s", {}, &Use::latency},
                                  {"sharing_s", {}, &Use::sharing},
                                  {"bound_by", "<bound by", &Use::bound}});
}

ResultTable kinds_table(const std::vector<LayerKindUse>& kinds) {
    using Use = LayerKindUse;
    return table_of<Use>(kinds,
                         {{"kind", "<kind", &Use::kind},
                          {"layers", "layers", &Use::layers},
                          {"parameters", {}, &Use::parameters},
                          {"", "parameters", [](const Use& use) { return short_count(std::uint64_t(use.parameters)); }},
                          {"forward_s", "forward", &Use::forward},
                          {"backward_s", "backward", &Use::backward},
                          {"activations_bytes", "activations", &Use::activations}});
}

Json rooflines_json(const Rooflines& found) {
    return {{"stage", found.stage},
            {"peak_flops_per_s", found.device.peak.value},
            {"sustained_flops_per_s", found.device.sustained.value},
            {"memory_bytes_per_s", found.device.memory.value},
            {"sustained_memory_bytes_per_s", found.device.sustained_memory.value},
            {"busy_s", found.device.busy().value},
            {"device", table_json(kernels_table(found.device))},
            {"fabric", table_json(fabric_table(found.fabric))},
            {"kinds", table_json(kinds_table(found.kinds))}};
}

std::string explanation_text(const JobExplanation& explained) {
    std::string out = fmt::format("{}step time {}\n\n", subject_text(explained.report),
                                  to_text(since_start(explained.explanation.end)));
    out += causes_text(explained) + '\n' + stretches_text(explained.explanation) + '\n';
    if (!explained.explanation.slack.empty()) out += table_text(slack_table(explained.explanation)) + '\n';
    out += rooflines_text(explained.explanation.rooflines) + '\n';
    const Seconds own = since_start(explained.explanation.end);
    if (!explained.knobs.empty()) out += changes_text(knobs_table(explained.knobs, own)) + '\n';
    if (!explained.settings.empty()) out += changes_text(settings_table(explained.settings, own)) + '\n';
    if (!explained.knobs.empty() || !explained.settings.empty()) out += means_text(explained);
    return out;
}

std::string explanation_json(const JobExplanation& explained, const JobRecord& record) {
    const Explanation& found = explained.explanation;
    const Plan& plan = explained.step.run.plan;
    Json json{{"step_s", since_start(found.end).value},
              {"path",
               {{"main_stage", found.main_stage},
                {"causes", table_json(causes_table(found.causes, found.end))},
                {"passages", table_json(stretches_table(found))},
                {"slack", table_json(slack_table(found))}}}};
    json["rooflines"] = rooflines_json(found.rooflines);
    json["knobs"] = json_list<Json>(explained.knobs, [&](const ExplainedKnob& knob) {
        return Json{{"knob", knob.knob},
                    {"change", knob.change},
                    {"step_s", knob.is_told() ? Json(knob.step.value) : Json(nullptr)},
                    {"simulated", knob.means == Means::simulated},
                    {"means", knob.is_told() ? Json(name(knob.means)) : Json(nullptr)}};
    });
    json["settings"] = settings_json(explained);
    json["job"] = job_json(plan.job, plan.machine, record);
    return json_text(json);
}

}  // namespace weft
