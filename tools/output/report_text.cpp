#include "tools/output/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "topologies/other_traffic.hpp"

namespace weft {
namespace {

// Two columns of facts: where the time goes, and what it buys.
std::string headline(const Report& report) {
    const double step = report.metric("step.time_s");
    constexpr double always = -1, worth_a_line = 0.001;  // of the step
    constexpr std::tuple<const char*, std::string_view, double> parts[] = {
        {"  compute", "step.compute_s", always},
        {"    optimizer", "step.optimizer_s", always},
        {"    lost to interference", "step.interference_s", 0},
        {"    waiting for the host", "step.waiting_for_host_s", worth_a_line},
        {"  exposed communication", "step.exposed_communication_s", always},
        {"  pipeline bubble", "step.bubble_s", always},
        {"  stage imbalance", "step.imbalance_s", always}};
    std::vector<std::array<std::string, 3>> left{{"step time", to_text(Seconds{step}), ""}};
    for (const auto& [name, key, least] : parts) {
        const double seconds = report.metric(key);
        if (least < 0 || seconds > least * step)
            left.push_back({name, to_text(Seconds{seconds}), percent(seconds / step)});
    }
    std::vector<std::array<std::string, 2>> right{
        {"tokens/s", grouped(report.metric("throughput.tokens_per_s"))},
        {"model TFLOP/s per GPU", fmt::format("{:.1f}", report.metric("throughput.model_tflops_per_gpu"))},
        {"hardware TFLOP/s per GPU", fmt::format("{:.1f}", report.metric("throughput.hardware_tflops_per_gpu"))},
        {"MFU", percent(report.metric("throughput.mfu"))},
        {"memory", fmt::format("{} of {}, {}", to_text(Bytes{report.metric("memory.peak_bytes")}),
                               to_text(Bytes{report.metric("memory.capacity_bytes")}), memory_verdict(report))},
        {"links, busiest", report.links.empty() ? "" : report.links.front().link_class}};
    const std::vector<StepMetric> known = known_metrics();
    for (std::size_t i = metrics::step.rows.size(); i < known.size(); ++i) {  // of others, which have no place above
        right.push_back(
            {std::string(known[i].key), fmt::format("{:.6g} {}", report.metric(known[i].key), known[i].unit)});
    }
    left.resize(std::max(left.size(), right.size()));
    std::string out;
    for (std::size_t i = 0; i < left.size(); ++i) {
        out += fmt::format("{:<24}{:>10}{:>9}", left[i][0], left[i][1], left[i][2]);
        out += i < right.size() ? fmt::format("    {:<26}{}\n", right[i][0], right[i][1]) : "\n";
    }
    return out;
}

// Parts of a rank's memory, of stages by name.
Columns<StageReport> memory_columns() {
    using Row = StageReport;
    const auto part = [](auto of) { return inside(&Row::memory, of); };
    const auto fullest = [](const Row& row) { return place_name(row.memory.at); };
    return {{"parameters_bytes", "parameters", part(&MemoryUse::parameters)},
            {"gradients_bytes", "gradients", part(&MemoryUse::gradients)},
            {"optimizer_bytes", "optimizer", part(&MemoryUse::optimizer)},
            {"activations_bytes", "activations", part(&MemoryUse::activations)},
            {"buffers_bytes", "buffers", part(&MemoryUse::buffers)},
            {"workspace_bytes", "workspace", part(&MemoryUse::workspace)},
            {"overhead_bytes", "overhead", [](const Row& row) { return row.memory.overhead.expected; }},
            {"peak_at", {}, fullest},
            {"allocated_bytes", {}, part(&MemoryUse::allocated)},
            {"total_bytes", "memory", part(&MemoryUse::total)},
            {"least_bytes", {}, part(&MemoryUse::least)},
            {"most_bytes", {}, part(&MemoryUse::most)},
            {"", "<fullest", fullest}};
}

Columns<StageReport> time_columns() {
    using Row = StageReport;
    return {{"name", "<", &Row::name},
            {"stage", {}, &Row::stage},
            {"ranks", "ranks", &Row::ranks},
            {"layers", "layers", &Row::layers},
            {"compute_s", "compute", &Row::compute},
            {"optimizer_s", {}, &Row::optimizer},
            {"exposed_communication_s", "exposed", &Row::exposed},
            {"waiting_s", "waiting", &Row::idle}};
}

Columns<StageReport> joined(Columns<StageReport> columns, const Columns<StageReport>& others) {
    columns.insert(columns.end(), others.begin(), others.end());
    return columns;
}

// All stages, or where there are many: the first and last three, the slowest and the fullest.
std::vector<StageReport> shown_stages(const std::vector<StageReport>& stages) {
    const auto slowest = std::ranges::max_element(stages, {}, &StageReport::compute);
    const auto fullest = std::ranges::max_element(stages, {}, [](const StageReport& c) { return c.memory.total(); });
    std::vector<StageReport> shown;
    for (auto stage = stages.begin(); stage != stages.end(); ++stage) {
        const bool is_at_an_end = stage - stages.begin() < 3 || stages.end() - stage <= 3;
        if (stages.size() <= 10 || is_at_an_end || stage == slowest || stage == fullest) shown.push_back(*stage);
    }
    return shown;
}

}  // namespace

ResultTable stage_table(std::span<const StageReport> stages) { return table_of(stages, time_columns()); }

ResultTable memory_table(std::span<const StageReport> stages) {
    return table_of(
        stages, joined({{"", "<stage", &StageReport::name}, {"", "layers", &StageReport::layers}}, memory_columns()));
}

ResultTable communication_table(const Report& report) {
    using Row = CommunicationReport;
    return table_of<Row>(report.communication, {{"dimension", "<communication per rank", &Row::dimension},
                                                {"op", "<", &Row::op},
                                                {"group_size", "group", &Row::group_size},
                                                {"calls", "calls", as<Figure<significant<4>>>(&Row::calls)},
                                                {"bytes", "volume", &Row::bytes},
                                                {"time_s", "time", &Row::time},
                                                {"exposed_s", "exposed", &Row::exposed}});
}

ResultTable link_table(std::span<const LinkReport> links) {
    using Row = LinkReport;
    return table_of<Row>(links, {{"class", "<link class", &Row::link_class},
                                 {"utilization", "utilization", as<Share>(&Row::utilization)},
                                 {"peak_utilization", "busiest link", as<Share>(&Row::peak_utilization)}});
}

ResultTable hot_links_table(std::span<const HotLink> links) {
    return table_of<HotLink>(links, {{"from", "<from", &HotLink::from},
                                     {"to", "<to", &HotLink::to},
                                     {"class", "<class", &HotLink::link_class},
                                     {"load_bytes", "carried", &HotLink::bytes},
                                     {"utilization", "utilization", as<Share>(&HotLink::busy)},
                                     {"links_alike", "alike", &HotLink::links}});
}

std::string background_text(const Fabric& fabric) {
    return comma_list(fabric.background, [](const auto& each) {
        return fmt::format("{} {:g} % (a packet waits {:.3g} times its own time)", each.first, 100.0 * each.second,
                           waiting_time(each.second, largest_packet / Seconds{1.0}).value);
    });
}

Json background_json(const Fabric& fabric) {
    return json_list<Json>(fabric.background, [](const auto& each) {
        return Json{{"class", each.first}, {"share", each.second}};
    });
}

std::string subject_text(const Report& report) {
    std::string out =
        fmt::format("{} on {}: {}\n{}, {}, network {}\n",
                    model_text(report.model, report.parameters, report.active_parameters, report.trained_parameters),
                    report.machine, report.layout, report.framework, report.batch, report.network);
    if (!report.lacking.empty()) out += fmt::format("modelled, cannot be run: {}\n", fmt::join(report.lacking, "; "));
    for (const std::string& remark : report.remarks) out += fmt::format("note: {}\n", remark);
    return out;
}

std::string report_text(const Report& report) {
    std::string out = subject_text(report) + '\n' + headline(report) + '\n';
    const std::vector<StageReport> shown = shown_stages(report.stages);
    out += table_text(table_of(shown, joined(time_columns(), memory_columns())));
    if (shown.size() < report.stages.size()) {
        out += fmt::format("{} of {} stages: those at both ends, the slowest and the fullest\n", shown.size(),
                           report.stages.size());
    }
    if (!report.communication.empty()) out += '\n' + table_text(communication_table(report));
    constexpr std::size_t most = 6;
    const std::span<const LinkReport> links(report.links);
    if (!links.empty()) out += '\n' + table_text(link_table(links.first(std::min(most, links.size()))));
    if (report.congested) {
        const auto more = [step = Seconds{report.metric("step.time_s")}](Seconds time) {
            return fmt::format("{:+.1f} %", std::round(1000 * (time / step - 1)) / 10 + 0.0);  // no "-0.0"
        };
        const auto& [mean, p50, p95, p99] = *report.congested;
        out += fmt::format(
            "\nIf what others send between switches is flows as fast as a NIC that come at random (assumed), a "
            "step takes {} on average ({});\nhalf of the steps take up to {}, 95 % up to {}, 99 % up to {}\n",
            to_text(mean), more(mean), more(p50), more(p95), more(p99));
    }
    return out;
}

std::string folding_text(const Report& report) {
    if (report.folding == Folding::none) return fmt::format("each of {} ranks simulated on its own\n", report.ranks);
    std::string out = fmt::format("{} of {} ranks simulated", report.classes, report.ranks);
    if (report.folding == Folding::stages) {
        out += fmt::format(
            ", each for a stage at the pace of its slowest group; of jobs tried both ways, none took {:.1f} % less or "
            "{:.1f} % more than with --fold exact, nor had {:.0f} % more exposed communication",
            100 * folding_error.step_below, 100 * folding_error.step_above, 100 * folding_error.exposed);
        if (report.exact) {
            out += fmt::format("; that is foreseen to take {} and {}", to_text(report.exact->time()),
                               to_text(report.exact->memory()));
        }
    } else if (report.classes < report.ranks) {
        out += ", symmetry makes the others equal to these";
    }
    out += '\n';
    for (const Split& split : report.splits) out += fmt::format("  {} because of {}\n", split.classes, split.reason);
    return out;
}

std::string memory_verdict(const Report& report) {
    if (report.metric("memory.fits") == 0) return "DOES NOT FIT";
    const Bytes least{report.metric("memory.least_bytes")}, most{report.metric("memory.most_bytes")};
    if (most.value <= report.metric("memory.capacity_bytes")) return "fits";
    return fmt::format("may not fit: needs {} to {}", to_text(least), to_text(most));
}

std::string memory_text(const Plan& plan) {
    std::vector<StageReport> stages = planned_report(plan, NetworkKind::flow).stages;
    std::erase_if(stages, [&](const StageReport& stage) { return stage.memory.least() <= plan.device.memory; });
    return table_text(memory_table(stages), 2);
}

std::string advice_text(const Plan& plan, const std::vector<MemoryAdvice>& advice) {
    const MemoryUse& use = plan.stages[plan.fullest_stage()].memory;
    const LargestPart largest = largest_part(use);
    std::string out =
        fmt::format("  largest part of stage {}, {}: {}, {} ({})\n", plan.fullest_stage(), place_name(use.at),
                    largest.name, to_text(largest.bytes), percent(largest.bytes / use.total()));
    if (advice.empty()) return out + "  no single change would need less\n";
    for (const MemoryAdvice& each : advice) {
        out += fmt::format("  {} would save {}: {}, {}\n", fmt::join(each.changes, " "), to_text(each.saved),
                           to_text(each.peak), each.fits ? "fits" : "not enough");
    }
    return out;
}

}  // namespace weft
