#include "tools/study/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"
#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/output/volume_text.hpp"
#include "workloads/report/report.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

using Values = std::vector<Measured>;
using Wanted = bool (*)(const VolumeRow&);

// The calls of the rank with tensor and data index 0 in pipeline stage `stage`.
VolumeTable stage_volume(const Study& study, std::uint32_t stage = 0) {
    const Plan plan = make_plan(study);
    return framework_volume(plan, study.job.layout.grid().slice("pipeline", stage).front());
}

// Wire bytes of one steady step.
Bytes steady_volume(const VolumeTable& table, Wanted wanted) {
    return sum_of<Bytes>(table.rows, [&](const VolumeRow& row) {
        return wanted(row) ? row.volume * repeats_per_step(table, row) : Bytes{};
    });
}

// A table of calls can be had of a job that does not fit in memory; the note says that it could not run.
std::string memory_note(const Study& study) { return obstacle(make_plan(study)); }

MeasurePart rank_0_volume(const std::string& series, Wanted wanted) {
    return {series, Purpose::simulation, [=](const Study& study) -> Values {
                return {{series, steady_volume(stage_volume(study), wanted).value, memory_note(study)}};
            }};
}

MeasurePart equation(const std::string& series, Wanted wanted) {
    return {series, Purpose::equations, [=](const Study& study) -> Values {
                return {{series, steady_volume(paper_volume(study.job), wanted).value}};
            }};
}

std::string spoken(std::string op) {
    if (op == "recv") return "receive";
    std::ranges::replace(op, '_', '-');
    return op;
}

// Collectives stand in the same order in every figure.
double order_of(const std::string& op) {
    constexpr std::array<std::string_view, 7> ops{"all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                                  "send",       "recv",       "reduce"};
    return static_cast<double>(std::ranges::find(ops, op) - ops.begin());
}

MeasurePart by_collective(VolumeTable (*table_of)(const Study&)) {
    return {
        "", Purpose::simulation, [=](const Study& study) {
            Values values;
            const VolumeTable table = table_of(study);
            const std::string note = memory_note(study);
            for (const std::vector<CollectiveTotal>& part : {steady_totals(table), once_totals(table, "start-up")}) {
                for (const CollectiveTotal& total : part) {
                    auto value = std::ranges::find(values, spoken(total.op), &Measured::series);
                    if (value == values.end()) {
                        value = values.insert(values.end(), {spoken(total.op), 0, note, order_of(total.op)});
                    }
                    value->value += total.volume.value;
                }
            }
            return values;
        }};
}

VolumeTable steady_volume_table(const Study& study) {
    VolumeTable table = stage_volume(study);
    std::erase_if(table.rows, [&](const VolumeRow& row) { return repeats_per_step(table, row) == 0; });
    return table;
}

VolumeTable logged_volume_table(const Study& study) {
    VolumeTable table = steady_volume_table(study);
    std::erase_if(table.rows, [](const VolumeRow& row) { return row.logged < 0; });
    return table;
}

VolumeTable logged_sizes_table(const Study& study) {
    VolumeTable table = logged_volume_table(study);
    for (VolumeRow& row : table.rows) row.volume = Bytes{row.logged} * row.calls;
    return table;
}

// Of the step, or why it cannot run.
MeasurePart of_report(const std::string& series, Values (*values_of)(const Report&)) {
    return {series, Purpose::simulation, [=](const Study& study) -> Values {
                Plan plan = make_plan(study);
                if (const std::string why = obstacle(plan); !why.empty()) {
                    return {{series, std::numeric_limits<double>::quiet_NaN(), why}};
                }
                return values_of(make_report(simulate_step(study, std::move(plan), {.kept = Kept::sums})));
            }};
}

// Simulated times are whole picoseconds; less is rounding of the sums.
double whole_picoseconds(double seconds) { return std::max(0.0, std::round(seconds * 1e12) / 1e12); }

Values breakdown(const Report& report) {
    double tensor = 0, data = 0;
    for (const CommunicationReport& row : report.communication) {
        (row.dimension == "tensor" ? tensor : data) += row.exposed.value;
    }
    const double step = report.metric("step.time_s"), compute = report.metric("step.compute_s");
    return {{"computation", compute, "", 0},
            {"tensor-parallel communication", tensor, "", 1},
            {"data-parallel communication", data, "", 2},
            {"waiting", whole_picoseconds(step - compute - tensor - data), "", 3}};
}

Values printed_throughput(const Report& report) {
    return {{"throughput", report.metric("throughput.hardware_tflops_per_gpu")}};
}

Values receives(const Study& study) {
    Values values;
    for (const LoggedCall& call : logged_step(study, RankId{0}, study.job.step)) {
        if (call.name != "recv") continue;
        const auto number = static_cast<double>(values.size() + 1);
        values.push_back({fmt::format("{}: {}", number, to_text(call.size)), call.latency.value, "", number});
    }
    return values;
}

Values gathers_by_size(const Study& study) {
    const VolumeTable table = stage_volume(study);
    std::vector<MessageCount> messages;
    for (const VolumeRow& row : table.rows) {
        if (row.op == "all_gather" && row.logged >= 0) {
            messages.push_back({row.op, Bytes{row.logged}, row.calls * repeats_per_step(table, row)});
        }
    }
    return list_of<Measured>(message_histogram(messages), [](const HistogramBin& bin) {
        return Measured{to_text(bin.from) + " to " + to_text(bin.to), bin.calls, "", bin.from.value};
    });
}

bool any(const VolumeRow&) { return true; }
bool tensor_reduction(const VolumeRow& row) { return row.dimension == "tensor" && row.op == "all_reduce"; }
bool is_gather(const VolumeRow& row) { return row.op == "all_gather"; }
bool is_receive(const VolumeRow& row) { return row.op == "recv"; }
bool pipeline_send(const VolumeRow& row) { return row.dimension == "pipeline" && row.op == "send"; }

Values equation_4(const Study& study) {
    const Job& asked = study.job;
    const double equation = steady_volume(paper_volume(asked), pipeline_send).value;
    // Every activation is sent with its attention mask, s^2 booleans cast to half precision.
    const double s = asked.batch.sequence, boundaries = asked.layout.pipeline - 1.0;
    return {{"equation 4", equation}, {"equation 4 and masks", equation + boundaries * 2 * s * s}};
}

Values sends_of_stages(const Study& study) {
    const auto of_stage = [&](std::uint32_t stage) { return steady_volume(stage_volume(study, stage), pipeline_send); };
    const auto sends = sum_of<Bytes>(numbers_below<std::uint32_t>(study.job.layout.pipeline), of_stage);
    return {{"sends of all stages", sends.value, memory_note(study)}};
}

using NamedMeasure = std::pair<std::string_view, Measure>;

const std::vector<NamedMeasure>& named_measures() {
    static const std::vector<NamedMeasure> all{
        // Seconds of one step, mean over ranks: computation, communication that nothing hides, by dimension, and
        // waiting.
        {"step_breakdown", {of_report("", breakdown)}},
        // Bytes of rank 0 per collective: start-up and one steady step; the step alone.
        {"run_volume_by_collective", {by_collective([](const Study& study) { return stage_volume(study); })}},
        {"volume_by_collective", {by_collective(steady_volume_table)}},
        // Of them, the calls that DeepSpeed's logger sees: tensor-parallel reductions and batch broadcasts go past it.
        {"logged_volume_by_collective", {by_collective(logged_volume_table)}},
        // The same by the sizes that the logger prints: shards of gathers, and reductions in groups of one.
        {"logged_sizes_by_collective", {by_collective(logged_sizes_table)}},
        // All-gathers of rank 0 in one steady step by the size that the logger shows, the shard: calls per power of
        // two.
        {"all_gather_sizes", {MeasurePart{"", Purpose::simulation, gathers_by_size}}},
        // Bytes per step as the study's equations have them and as the framework's calls add up: of rank 0, but of
        // equation 4 of all stages.
        {"data_parallel_theory", {equation("equations 2 and 3", any), rank_0_volume("framework", any)}},
        {"pipeline_theory",
         {{"equation 4", Purpose::equations, equation_4},
          {"sends of all stages", Purpose::simulation, sends_of_stages}}},
        {"tensor_theory",
         {equation("equation 5", tensor_reduction),
          rank_0_volume("framework, all-reduces among tensor ranks", tensor_reduction)}},
        // Bytes of rank 0 in one steady step.
        {"total_volume", {rank_0_volume("framework", any)}},
        {"all_gather_volume", {rank_0_volume("all-gather", is_gather)}},
        {"receive_volume", {rank_0_volume("receive", is_receive)}},
        {"send_volume", {rank_0_volume("send", pipeline_send)}},
        // Seconds of each receive of rank 0 as the logger has them, in the job's kind of step: "1: 72 B", "2: 16 MiB",
        // ...
        {"receive_times", {MeasurePart{"", Purpose::simulation, receives}}},
        // TFLOP/s per GCD that GPT-NeoX would print: recomputation counts.
        {"throughput", {of_report("throughput", printed_throughput)}},
    };
    return all;
}

}  // namespace

const Measure& find_measure(std::string_view name) {
    const auto found = std::ranges::find(named_measures(), name, &NamedMeasure::first);
    WEFT_CHECK(found != named_measures().end(), "no measure is called " + std::string(name));
    return found->second;
}

}  // namespace weft
