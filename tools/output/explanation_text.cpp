#include "tools/output/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

double share(std::int64_t ticks, Instant of) {
    return static_cast<double>(ticks) / static_cast<double>(of.femtoseconds);
}

// `has_pipeline`: whether a path can lead over other stages.
ResultTable causes_table(const std::vector<ExplainedCause>& causes, Instant end, bool has_pipeline) {
    using Row = ExplainedCause;
    const auto elsewhere = [](const Row& row) { return since_start({row.elsewhere}); };
    return table_of<Row>(
        causes, {{"", "<cause", [](const Row& row) { return cause_text(row.cause); }},
                 {"cause", {}, inside(&Row::cause, &Cause::name)},
                 {"dimension", {}, inside(&Row::cause, &Cause::dimension)},
                 {"link", {}, inside(&Row::cause, &Cause::link)},
                 {"time_s", "time", [](const Row& row) { return since_start({row.ticks}); }},
                 {"", "of step", [&](const Row& row) { return Share{share(row.ticks, end)}; }},
                 {"", has_pipeline ? std::optional<std::string>("on other stages") : std::nullopt,
                  [&](const Row& row) { return row.elsewhere == 0 ? std::nullopt : std::optional(elsewhere(row)); }},
                 {"on_other_stages_s", {}, elsewhere}});
}

std::string causes_text(const JobExplanation& explained) {
    const Explanation& found = explained.explanation;
    const bool has_pipeline = explained.report.stages.size() > 1;
    std::vector<ExplainedCause> rows = main_causes(found);
    rows.push_back({.cause = {"step", {}, {}}, .ticks = found.end.femtoseconds, .elsewhere = found.elsewhere()});
    const std::string table = table_text(causes_table(rows, found.end, has_pipeline), 2);
    if (!has_pipeline) return "the critical path of the step:\n" + table;
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

std::string change_text(Seconds changed, Seconds own) { return fmt::format("{:+.2f} %", 100 * (changed / own - 1.0)); }

// As long as what is saved; nothing for what costs time.
std::string bar(Seconds changed, Seconds own, double widest) {
    constexpr double columns = 24;
    const double share = 1.0 - changed / own;
    if (widest <= 0.0) return {};
    return std::string(static_cast<std::size_t>(std::max(0.0, columns * share / widest) + 0.5), '#');
}

std::string negligible_text(const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return fmt::format("less than {:.2f} % of difference: {}\n", 100 * no_difference, fmt::join(changes, ", "));
}

std::string unknown_text(const std::vector<std::string>& changes) {
    if (changes.empty()) return {};
    return fmt::format("not simulated, which alone would tell: {}\n", fmt::join(changes, ", "));
}

std::string knobs_text(const JobExplanation& explained) {
    const Seconds own = since_start(explained.explanation.end);
    double widest = 0;
    std::vector<std::string> negligible, unknown;
    for (const ExplainedKnob& knob : explained.knobs) {
        if (knob.is_told()) widest = std::max(widest, 1.0 - knob.step / own);
    }
    TextTable table({"<if it were otherwise", "<", "step", "", "<", "<"});
    for (const ExplainedKnob& knob : explained.knobs) {
        if (!knob.is_told()) {
            const double most = 100 * (1.0 - knob.step / own);
            unknown.push_back(fmt::format("{} {}{}", knob.knob, knob.change,
                                          most > 0 ? fmt::format(" (at most {:.2f} % less)", most) : ""));
            continue;
        }
        if (!makes_difference(knob.step, own)) {
            negligible.push_back(fmt::format("{} {}", knob.knob, knob.change));
            continue;
        }
        table.add({knob.knob, knob.change, to_text(knob.step), change_text(knob.step, own),
                   std::string(name(knob.means)), bar(knob.step, own, widest)});
    }
    return table.text() + negligible_text(negligible) + unknown_text(unknown);
}

std::string settings_text(const JobExplanation& explained) {
    const Seconds own = since_start(explained.explanation.end);
    TextTable table({"<with --set", "step", "", "<", "memory", "<"});
    bool numerics = false;
    std::vector<std::string> negligible, unknown;
    for (const ExplainedSetting& setting : explained.settings) {
        std::string text = assignments_text(setting);
        if (setting.means == Means::none) {
            unknown.push_back(std::move(text));
            continue;
        }
        if (setting.fits && !makes_difference(setting.step, own)) {
            negligible.push_back(std::move(text));
            continue;
        }
        numerics |= setting.changes_numerics;
        table.add({std::move(text), setting.fits ? to_text(setting.step) : "",
                   setting.fits ? change_text(setting.step, own) : "",
                   setting.fits ? std::string(name(setting.means)) : "", to_text(setting.memory),
                   !setting.fits              ? "does not fit"
                   : setting.changes_numerics ? "other numerics"
                                              : ""});
    }
    std::string out = table.text() + negligible_text(negligible) + unknown_text(unknown);
    if (numerics) out += "other numerics: what is computed is not the same to rounding\n";
    return out;
}

std::string means_text(const JobExplanation& explained) {
    const ChangesByMeans counts = changes_by_means(explained);
    std::string out = fmt::format("of {} changes simulated: {}", counts.all(), counts.simulated);
    if (counts.replayed > 0) {
        out +=
            fmt::format("; replayed: {} (every operation again, where links are shared as they were)", counts.replayed);
    }
    if (counts.first_order > 0) {
        out += fmt::format("; to first order: {} (what the path spends on it)", counts.first_order);
    }
    if (counts.closed_form > 0) {
        out += fmt::format("; in closed form: {}", counts.closed_form);
        if (explained.screening_error > 0) {
            out += fmt::format(" (against those simulated wrong by {} at most)", percent(explained.screening_error));
        }
    }
    return out + '\n';
}

std::string device_text(const Rooflines& rooflines) {
    const DeviceRoofline& device = rooflines.device;
    std::string out = fmt::format("roofline of a device of stage {}: peak {}, sustained {}, memory {}, sustained {}\n",
                                  rooflines.stage, to_text(device.peak), to_text(device.sustained),
                                  to_text(device.memory), to_text(device.sustained_memory));
    TextTable table(
        {"<kernels", "time", "FLOP", "memory", "FLOP/B", "FLOP/s", "of roof", "B/s", "of memory", "<bound by"});
    for (const KernelClassUse& use : device.kernels) {
        const bool has_flops = use.flops.value > 0.0, has_bytes = use.bytes.value > 0.0;
        table.add({use.name, to_text(use.time), has_flops ? fmt::format("{:.3g}", use.flops.value) : "",
                   has_bytes ? to_text(use.bytes) : "",
                   has_flops && has_bytes ? fmt::format("{:.3g}", use.intensity()) : "",
                   has_flops ? to_text(use.achieved()) : "",
                   has_flops && has_bytes ? percent(use.achieved() / device.roof(use)) : "",
                   has_bytes ? to_text(use.achieved_memory()) : "",
                   has_bytes ? percent(use.achieved_memory() / device.memory) : "", std::string(use.bound())});
    }
    if (device.other.value > 0.0) table.add({"all else", to_text(device.other), "", "", "", "", "", "", "", ""});
    table.add({"busy", to_text(device.busy()), "", "", "", "", "", "", "", ""});
    return out + table.text(2);
}

ResultTable fabric_table(const std::vector<FabricUse>& fabric) {
    using Use = FabricUse;
    // Of what moves nothing, or has no link, people get no rates.
    const auto rated = [](auto get) {
        return [get](const Use& use) {
            const bool has_rate = use.bytes.value > 0.0 && use.time.value > 0.0 && use.line.value > 0.0;
            return has_rate ? std::optional(get(use)) : std::nullopt;
        };
    };
    return table_of<Use>(fabric,
                         {{"dimension", "<calls", &Use::dimension},
                          {"link", "<over", &Use::link},
                          {"calls", "calls", whole(as<Count>(&Use::calls))},
                          {"bus_bytes", "bytes", &Use::bytes},
                          {"time_s", "time", &Use::time},
                          {"", "bus bandwidth", rated([](const Use& use) { return use.achieved(); })},
                          {"", "line rate", rated([](const Use& use) { return use.line_rate(); })},
                          {"", "of it", rated([](const Use& use) { return Share{use.achieved() / use.line_rate()}; })},
                          {"line_rate_time_s", {}, &Use::line},
                          {"bandwidth_s", {}, &Use::transfer},
                          {"endpoint_s", {}, &Use::endpoint},
                          {"latency_s", {}, &Use::latency},
                          {"sharing_s", {}, &Use::sharing},
                          {"bound_by", "<bound by", &Use::bound}});
}

using Json = nlohmann::ordered_json;

Json device_json(const DeviceRoofline& device) {
    return json_list<Json>(device.kernels, [&](const KernelClassUse& use) {
        return Json{{"kernels", use.name},
                    {"time_s", use.time.value},
                    {"flops", use.flops.value},
                    {"memory_bytes", use.bytes.value},
                    {"peak_flops_per_s", use.peak.value},
                    {"bound_by_products_s", use.computing.value},
                    {"bound_by_memory_s", use.moving.value},
                    {"gaps_s", use.gaps.value},
                    {"bound_by", use.bound()}};
    });
}

Json rooflines_json(const Rooflines& found) {
    return {{"stage", found.stage},
            {"peak_flops_per_s", found.device.peak.value},
            {"sustained_flops_per_s", found.device.sustained.value},
            {"memory_bytes_per_s", found.device.memory.value},
            {"sustained_memory_bytes_per_s", found.device.sustained_memory.value},
            {"busy_s", found.device.busy().value},
            {"device", device_json(found.device)},
            {"fabric", table_json(fabric_table(found.fabric))}};
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

std::string explanation_text(const JobExplanation& explained) {
    std::string out = fmt::format("{}step time {}\n\n", subject_text(explained.report),
                                  to_text(since_start(explained.explanation.end)));
    out += causes_text(explained) + '\n' + stretches_text(explained.explanation) + '\n';
    if (!explained.explanation.slack.empty()) out += table_text(slack_table(explained.explanation)) + '\n';
    out += rooflines_text(explained.explanation.rooflines) + '\n';
    if (!explained.knobs.empty()) out += knobs_text(explained) + '\n';
    if (!explained.settings.empty()) out += settings_text(explained) + '\n';
    if (!explained.knobs.empty() || !explained.settings.empty()) out += means_text(explained);
    return out;
}

std::string rooflines_text(const Rooflines& rooflines) {
    const std::string device = device_text(rooflines);
    if (rooflines.fabric.empty()) return device;
    return fmt::format("{}\nroofline of the fabric for a rank of stage {}:\n{}", device, rooflines.stage,
                       table_text(fabric_table(rooflines.fabric), 2));
}

std::string explanation_json(const JobExplanation& explained, const JobRecord& record) {
    const Explanation& found = explained.explanation;
    const Plan& plan = explained.step.run.plan;
    Json json{{"step_s", since_start(found.end).value},
              {"path",
               {{"main_stage", found.main_stage},
                {"causes", table_json(causes_table(found.causes, found.end, true))},
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
