#include "tools/study/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"
#include "sim/io/units.hpp"
#include "tools/obstacle.hpp"
#include "tools/output/histogram.hpp"
#include "tools/output/volume_text.hpp"
#include "tools/study/volumes.hpp"
#include "workloads/report/logged_calls.hpp"
#include "workloads/report/report.hpp"

namespace weft::measures {
namespace {

Measured missing(std::string series, std::string why) {
    return {std::move(series), std::numeric_limits<double>::quiet_NaN(), std::move(why)};
}

// What `measured` finds, or the reason why the job cannot be read.
template <class Function>
std::vector<Measured> or_reason(const std::string& series, Function measured) {
    try {
        return measured();
    } catch (const ConfigError& error) {
        return {missing(series, obstacle(error))};
    } catch (const RangeError& error) {
        return {missing(series, error.what())};
    }
}

// A table of calls can be had of a job that does not fit in memory; the note says that it could not run.
std::string memory_note(const Study& study) { return obstacle(make_plan(study)); }

template <class Wanted>
std::vector<Measured> rank_0_volume(const StudyJob& job, const std::string& series, Wanted wanted) {
    return or_reason(series, [&]() -> std::vector<Measured> {
        const Study study = job.read(Purpose::simulation);
        return {{series, steady_volume(stage_volume(study, 0), wanted).value, memory_note(study)}};
    });
}

template <class Wanted>
std::vector<Measured> paper_rows(const StudyJob& job, const std::string& series, Wanted wanted) {
    return or_reason(series, [&]() -> std::vector<Measured> {
        return {{series, steady_volume(paper_volume(job.read(Purpose::equations).job), wanted).value}};
    });
}

std::vector<Measured> joined(std::vector<Measured> first, const std::vector<Measured>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
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

std::vector<Measured> by_collective(const Study& study, const VolumeTable& table) {
    std::vector<Measured> values;
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
}

VolumeTable steady_rows(VolumeTable table) {
    std::erase_if(table.rows, [&](const VolumeRow& row) { return repeats_per_step(table, row) == 0; });
    return table;
}

VolumeTable logged_rows(VolumeTable table) {
    std::erase_if(table.rows, [](const VolumeRow& row) { return row.logged < 0; });
    return table;
}

// Simulated times are whole picoseconds; less is rounding of the sums.
double whole_picoseconds(double seconds) { return std::max(0.0, std::round(seconds * 1e12) / 1e12); }

bool any(const VolumeRow&) { return true; }
bool tensor_reduction(const VolumeRow& row) { return row.dimension == "tensor" && row.op == "all_reduce"; }
bool pipeline_send(const VolumeRow& row) { return row.dimension == "pipeline" && row.op == "send"; }

}  // namespace

std::vector<Measured> step_breakdown(const StudyJob& job) {
    return or_reason("", [&]() -> std::vector<Measured> {
        const Study study = job.read(Purpose::simulation);
        Plan plan = make_plan(study);
        if (const std::string why = obstacle(plan); !why.empty()) return {missing("", why)};
        const Report report = make_report(simulate_step(study, std::move(plan), {.kept = Kept::sums}));
        double tensor = 0, data = 0;
        for (const CommunicationReport& row : report.communication) {
            (row.dimension == "tensor" ? tensor : data) += row.exposed.value;
        }
        const double step = report.metric("step.time_s"), compute = report.metric("step.compute_s");
        return {{"computation", compute, "", 0},
                {"tensor-parallel communication", tensor, "", 1},
                {"data-parallel communication", data, "", 2},
                {"waiting", whole_picoseconds(step - compute - tensor - data), "", 3}};
    });
}

std::vector<Measured> run_volume_by_collective(const StudyJob& job) {
    return or_reason("", [&] {
        const Study study = job.read(Purpose::simulation);
        return by_collective(study, stage_volume(study, 0));
    });
}

std::vector<Measured> volume_by_collective(const StudyJob& job) {
    return or_reason("", [&] {
        const Study study = job.read(Purpose::simulation);
        return by_collective(study, steady_rows(stage_volume(study, 0)));
    });
}

std::vector<Measured> logged_volume_by_collective(const StudyJob& job) {
    return or_reason("", [&] {
        const Study study = job.read(Purpose::simulation);
        return by_collective(study, logged_rows(steady_rows(stage_volume(study, 0))));
    });
}

std::vector<Measured> logged_sizes_by_collective(const StudyJob& job) {
    return or_reason("", [&] {
        const Study study = job.read(Purpose::simulation);
        VolumeTable table = logged_rows(steady_rows(stage_volume(study, 0)));
        for (VolumeRow& row : table.rows) row.volume = Bytes{row.logged} * row.calls;
        return by_collective(study, table);
    });
}

std::vector<Measured> receive_times(const StudyJob& job) {
    return or_reason("", [&] {
        const Study study = job.read(Purpose::simulation);
        std::vector<Measured> values;
        for (const LoggedCall& call : logged_step(study, RankId{0}, study.job.step)) {
            if (call.name != "recv") continue;
            const auto number = static_cast<double>(values.size() + 1);
            values.push_back({fmt::format("{}: {}", number, to_text(call.size)), call.latency.value, "", number});
        }
        return values;
    });
}

std::vector<Measured> total_volume(const StudyJob& job) { return rank_0_volume(job, "framework", any); }

std::vector<Measured> all_gather_sizes(const StudyJob& job) {
    return or_reason("", [&] {
        const VolumeTable table = stage_volume(job.read(Purpose::simulation), 0);
        std::vector<MessageCount> messages;
        for (const VolumeRow& row : table.rows) {
            if (row.op == "all_gather" && row.logged >= 0) {
                messages.push_back({row.op, Bytes{row.logged}, row.calls * repeats_per_step(table, row)});
            }
        }
        std::vector<Measured> values;
        for (const HistogramBin& bin : message_histogram(messages)) {
            values.push_back({to_text(bin.from) + " to " + to_text(bin.to), bin.calls, "", bin.from.value});
        }
        return values;
    });
}

std::vector<Measured> data_parallel_theory(const StudyJob& job) {
    return joined(paper_rows(job, "equations 2 and 3", any), rank_0_volume(job, "framework", any));
}

std::vector<Measured> pipeline_theory(const StudyJob& job) {
    std::vector<Measured> equations = or_reason("equation 4", [&]() -> std::vector<Measured> {
        const Job asked = job.read(Purpose::equations).job;
        const double equation = steady_volume(paper_volume(asked), pipeline_send).value;
        // Every activation is sent with its attention mask, s^2 booleans cast to half precision.
        const double s = asked.batch.sequence, boundaries = asked.layout.pipeline - 1.0;
        return {{"equation 4", equation}, {"equation 4 and masks", equation + boundaries * 2 * s * s}};
    });
    const std::vector<Measured> framework = or_reason("sends of all stages", [&]() -> std::vector<Measured> {
        const Study study = job.read(Purpose::simulation);
        Bytes sends;
        for (std::uint32_t stage = 0; stage < study.job.layout.pipeline; ++stage) {
            sends += steady_volume(stage_volume(study, stage), pipeline_send);
        }
        return {{"sends of all stages", sends.value, memory_note(study)}};
    });
    return joined(std::move(equations), framework);
}

std::vector<Measured> tensor_theory(const StudyJob& job) {
    return joined(paper_rows(job, "equation 5", tensor_reduction),
                  rank_0_volume(job, "framework, all-reduces among tensor ranks", tensor_reduction));
}

std::vector<Measured> all_gather_volume(const StudyJob& job) {
    return rank_0_volume(job, "all-gather", [](const VolumeRow& row) { return row.op == "all_gather"; });
}

std::vector<Measured> receive_volume(const StudyJob& job) {
    return rank_0_volume(job, "receive", [](const VolumeRow& row) { return row.op == "recv"; });
}

std::vector<Measured> send_volume(const StudyJob& job) { return rank_0_volume(job, "send", pipeline_send); }

std::vector<Measured> throughput(const StudyJob& job) {
    return or_reason("throughput", [&]() -> std::vector<Measured> {
        const Study study = job.read(Purpose::simulation);
        Plan plan = make_plan(study);
        if (const std::string why = obstacle(plan); !why.empty()) return {missing("throughput", why)};
        const Report report = make_report(simulate_step(study, std::move(plan), {.kept = Kept::sums}));
        return {{"throughput", report.metric("throughput.hardware_tflops_per_gpu")}};
    });
}

}  // namespace weft::measures
