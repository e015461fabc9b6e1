#include "workloads/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/transformer/flops.hpp"
#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/engine/breakdown.hpp"
#include "topologies/fabric.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job_reading.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

constexpr std::size_t hottest_of_class = 3;

// Where several lanes communicate in the open at once, the moment goes to the innermost dimension.
std::vector<LaneId> exposure_order() {
    using Groups = RankGroups;
    std::vector<Groups> groups{{"tensor"}, {"context"}};
    for (const std::string& axis : further_axes()) groups.push_back({axis});
    for (const Groups& further :
         {Groups{"expert"}, Groups::inner({"expert"}), Groups::outer({"expert"}), Groups({"expert_tensor", "expert"}),
          Groups::inner(copy_axes()), Groups{"expert_tensor"}, Groups{copy_axes()}, Groups::outer({"data"}),
          Groups{"expert_data"}, Groups::inner({"expert_data"}), Groups::outer({"expert_data"}), Groups{part_axes()},
          Groups::embedding()}) {
        groups.push_back(further);
    }
    auto order = list_of<LaneId>(groups, [&](const Groups& each) { return lanes::of(each); });
    order.insert(order.end(), {lanes::pipeline_send, lanes::pipeline_receive});
    return order;
}

Seconds optimizer_time(const Simulation& run, RankClassId id) { return run.plan.stages[run.step.stage[id]].optimizer; }

// Means over what is in `sum` and a class that is `share` of both. Several lanes (the ports of a pipeline) may be of
// one dimension.
void add_dimensions(std::vector<DimensionTime>& sum, const Breakdown& breakdown, double share) {
    for (DimensionTime& known : sum) known.time = known.time * (1.0 - share);
    for (LaneId lane{}; lane != breakdown.lanes.end_id(); lane = next(lane)) {
        const Seconds exposed = breakdown.lanes[lane].exposed;
        if (exposed == Seconds{}) continue;
        const std::string dimension = lanes::dimension_name(lane);
        auto known = std::ranges::find(sum, dimension, &DimensionTime::dimension);
        if (known == sum.end()) known = sum.insert(sum.end(), {dimension, {}});
        known->time += exposed * share;
    }
}

void add_class(StageReport& stage, const RankClass& rank_class, const Breakdown& breakdown) {
    const double before = stage.ranks, share = rank_class.weight / (before + rank_class.weight);
    const auto mean = [&](Seconds& sum, Seconds own) { sum += (own - sum) * share; };
    mean(stage.compute, breakdown.busy);
    mean(stage.exposed, breakdown.exposed());
    mean(stage.idle, breakdown.idle);
    add_dimensions(stage.dimensions, breakdown, share);
    stage.ranks += rank_class.weight;
}

// Of a plan: times are zero.
std::vector<StageReport> stage_reports(const Plan& plan) {
    std::vector<StageReport> stages;
    for (std::uint32_t number = 0; number < plan.stages.size(); ++number) {
        const Stage& stage = plan.stages[number];
        stages.push_back({.name = fmt::format("stage {}", number),
                          .stage = number,
                          .layers = stage.layers(),
                          .compute = {},
                          .optimizer = stage.optimizer,
                          .exposed = {},
                          .idle = {},
                          .dimensions = {},
                          .memory = stage.memory});
    }
    return stages;
}

// Calls on several lanes may carry the same by the same method.
void add_calls(CommunicationReport& row, const CallTime& call, const Method& method) {
    auto& all = row.by_message;
    const auto known = std::ranges::find_if(
        all, [&](const CallReport& each) { return each.message == call.message && each.method == method; });
    CallReport& one = known != all.end() ? *known : all.emplace_back();
    one.message = call.message;
    one.method = method;
    one.calls += call.time.calls;
    one.time += call.time.transfer;
    if (one.time == Seconds{}) return;
    one.bus_bandwidth = one.message * (one.calls * bus_factor(call.op, call.group_size)) / one.time;
}

// Calls of one kind on several lanes (the ports of a pipeline) are one row.
std::vector<CommunicationReport> communication_reports(const Program& program, const Breakdown& mean) {
    std::vector<CommunicationReport> rows;
    for (const CallTime& call : mean.calls) {
        const std::string dimension = lanes::dimension_name(call.lane), op = lanes::operation_name(call.op, call.lane);
        auto row = std::ranges::find_if(rows, [&](const CommunicationReport& known) {
            return known.dimension == dimension && known.op == op && known.group_size == call.group_size;
        });
        if (row == rows.end()) {
            rows.emplace_back();
            row = rows.end() - 1;
            row->dimension = dimension;
            row->op = op;
            row->group_size = call.group_size;
        }
        row->calls += call.time.calls;
        row->bytes += wire_volume(call.op, call.messages, call.group_size);
        row->time += call.time.transfer;
        row->exposed += call.time.exposed;
        add_calls(*row, call, program.methods[call.method]);
    }
    for (CommunicationReport& row : rows) std::ranges::stable_sort(row.by_message, {}, &CallReport::message);
    return rows;
}

std::vector<LinkReport> link_reports(const Simulation& run) {
    const Table<LinkClassId, LinkClass>& classes = run.topology().classes;
    auto rows = list_of<LinkReport>(numbers_below<LinkClassId>(classes.size()), [&](LinkClassId id) {
        return LinkReport{classes[id].name, run.timeline.utilization[id], run.timeline.peak_utilization[id]};
    });
    std::ranges::stable_sort(rows, std::ranges::greater{}, &LinkReport::peak_utilization);
    return rows;
}

StepFigures figures(const Simulation& run, const Breakdown& mean, Seconds bubble, Seconds optimizer) {
    const Job& job = run.plan.job;
    const Seconds step = since_start(run.timeline.end);
    const double ranks = job.layout.ranks();
    const double tokens = double(job.batch.global) * job.batch.sequence;
    const FlopsPerSecond model = run.plan.model_flops / step, hardware = run.plan.hardware_flops / step;
    return {.plan = run.plan,
            .step = step,
            .compute = mean.busy,
            .interference = mean.interference,
            .waiting_for_host = mean.beside,
            .optimizer = optimizer,
            .exposed = mean.exposed(),
            .bubble = bubble,
            .imbalance = mean.idle - bubble,
            .tokens_per_second = tokens / step.value,
            .model_rate = model.value / ranks,
            .hardware_rate = hardware.value / ranks,
            .mfu = model.value / ranks / run.plan.device.peak(job.precision).value};
}

std::vector<Metric> metrics_of(const StepFigures& figures) {
    return list_of<Metric>(known_metrics(), [&](const StepMetric& each) -> Metric {
        return {each.key, each.value(figures), each.unit, each.meaning, each.kind};
    });
}

// "16 nodes", or what a job takes of its nodes.
std::string place(const Job& job, const MachineInfo& machine) {
    const std::uint32_t whole = machine.accelerators_per_node + machine.idle_per_node;
    const std::uint32_t used = job.nodes == 1 ? job.layout.ranks() : job.ranks_per_node;
    if (used == whole) return job.nodes == 1 ? "1 node" : fmt::format("{} nodes", job.nodes);
    const std::string node = job.nodes == 1 ? "a node" : fmt::format("each of {} nodes", job.nodes);
    return fmt::format("{} of the {} GPUs of {}", used, whole, node);
}

// That other traffic is on links which the job leaves alone; "" if it meets any.
std::string unmet_traffic(const Fabric& fabric, std::span<const LinkReport> links) {
    std::vector<std::string> unmet;
    for (const LinkReport& link : links) {
        if (!has_background(fabric, link.link_class)) continue;
        if (link.peak_utilization > 0.0) return "";
        unmet.push_back(link.link_class);
    }
    if (unmet.empty()) return "";
    return fmt::format("no message of the job meets other traffic: it sends nothing over {}", fmt::join(unmet, ", "));
}

}  // namespace

double Report::metric(std::string_view key) const {
    const auto it = std::ranges::find(metrics, key, &Metric::key);
    WEFT_CHECK(it != metrics.end(), "no metric " + std::string(key));
    return it->value;
}

bool Report::has(std::string_view key) const { return std::ranges::find(metrics, key, &Metric::key) != metrics.end(); }

Report planned_report(const Plan& plan, NetworkKind network) {
    const Job& job = plan.job;
    Report report;
    report.job = job.name;
    report.machine = plan.machine.name;
    report.model = job.model.name;
    report.parameters = parameters(job.model);
    report.active_parameters = active_parameters(job.model);
    report.trained_parameters = trained_parameters(job.model, job.trained);
    report.framework = job.framework->name;
    report.layout = fmt::format("{} ranks = {} on {}", job.layout.ranks(), axes(job.layout), place(job, plan.machine));
    const bool joint = job.pipeline_shape().passes == PassOrder::joint;
    report.batch = fmt::format("{} sequences of {} tokens in {} micro-batches of {}, ZeRO {}, {}{}, recompute {}, {}",
                               job.batch.global, job.batch.sequence, job.micro_batches(), job.batch.micro, job.zero,
                               job.schedule->key, joint ? " in joint passes" : "", recompute_text(job.recompute),
                               enumerator_name(job.precision));
    if (const std::string assumed = imbalance_assumption(job); !assumed.empty()) report.batch += ", " + assumed;
    if (const std::string packed = packing_text(job); !packed.empty()) report.batch += ", " + packed;
    report.network = enumerator_name(network);
    for (const JobError& feature : lacking_features(job)) report.lacking.push_back(feature.message);
    report.remarks = remarks_on(job);
    report.stages = stage_reports(plan);
    report.metrics = metrics_of(StepFigures{plan});
    std::erase_if(report.metrics, [](const Metric& metric) { return !metric.key.starts_with("memory."); });
    report.ranks = job.layout.ranks();
    return report;
}

Report make_report(const Simulation& run) {
    const Program& program = run.step.program;
    const Table<RankClassId, Breakdown> breakdowns =
        break_down(program, run.timeline, lanes::compute, exposure_order());
    const Breakdown average = mean(program, breakdowns);
    Report report = planned_report(run.plan, run.options.network);
    Seconds optimizer, bubble = since_start(run.timeline.end);
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        bubble = std::min(bubble, breakdowns[id].idle);
        optimizer += optimizer_time(run, id) * (double(program.classes[id].weight) / report.ranks);
        add_class(report.stages[run.step.stage[id]], program.classes[id], breakdowns[id]);
    }
    report.metrics = metrics_of(figures(run, average, bubble, optimizer));
    report.communication = communication_reports(program, average);
    report.links = link_reports(run);
    const std::string unmet = unmet_traffic(run.plan.job.fabric, report.links);
    if (!unmet.empty()) report.remarks.push_back(unmet);
    report.hottest = hottest_links(run.topology(), listed_links(program.patterns, run.timeline.moved),
                                   since_start(run.timeline.end), hottest_of_class);
    report.classes = static_cast<std::uint32_t>(program.classes.size());
    report.folding = run.step.folding;
    report.exact = run.step.exact;
    report.splits = run.step.splits;
    report.events = run.timeline.events;
    report.solves = run.timeline.solves;
    return report;
}

Flops step_flops(const Job& job, FlopConvention convention) {
    const double sequences = job.batch.global, sequence = job.batch.sequence;
    switch (convention) {
        case FlopConvention::megatron:
            return megatron_flops(job.model, sequences, sequence,
                                  job.recompute == Recompute::full ? Passes::with_recompute : Passes::forward_backward);
        case FlopConvention::neox:
            return neox_2022_flops(job.model, sequences, sequence);
        case FlopConvention::megatron_core:
            return has_since(job.megatron.version, half_attention_since)
                       ? megatron_core_flops(job.model, sequences, sequence)
                       : megatron_core_2024_flops(job.model, sequences, sequence);
        case FlopConvention::model:
            break;
    }
    return model_flops(job.model, sequences, sequence, job.trained);
}

FlopsPerSecond flop_rate(const Job& job, FlopConvention convention, Seconds step) {
    return step_flops(job, convention) / step / static_cast<double>(job.layout.ranks());
}

Metric flop_metric(const Job& job, FlopConvention convention, Seconds step) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> all{{
        {"throughput.model_tflops_per_gpu",
         "matrix products of forward and backward, no recomputation, attention in full"},
        {"throughput.megatron_tflops_per_gpu",
         "as Megatron-LM printed it in 2021, and GPT-NeoX since 2023-09-27: full recomputation counts"},
        {"throughput.neox_tflops_per_gpu",
         "as GPT-NeoX printed it before 2023-09-27: attention five times, no recomputation"},
        {"throughput.megatron_core_tflops_per_gpu",
         "as the version of Megatron-core prints it: since core-0.12 half of causal attention, no recomputation"},
    }};
    const auto& [key, meaning] = all[static_cast<std::size_t>(convention)];
    return {key, flop_rate(job, convention, step).value / 1e12, "TFLOP/s", meaning};
}

}  // namespace weft
