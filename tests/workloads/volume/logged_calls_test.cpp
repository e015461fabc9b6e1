// The log of a simulated run against the counted calls of the same job, and its times against what must hold of calls
// that block one another.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

Study deepspeed(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"framework=deepspeed", "recompute=full"});
    return test::small_study(overrides);
}

Study laid_out(std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t data, std::uint32_t zero,
               std::uint32_t micro_batches) {
    return deepspeed({"layout.tensor=" + std::to_string(tensor), "layout.pipeline=" + std::to_string(pipeline),
                      "layout.data=" + std::to_string(data), "zero=" + std::to_string(zero),
                      "batch.global=" + std::to_string(data * micro_batches)});
}

using Sizes = std::map<std::pair<std::string, double>, double>;  // calls by name and logged bytes

Sizes sizes_of(const std::vector<LoggedCall>& log) {
    Sizes sizes;
    for (const LoggedCall& call : log) ++sizes[{std::string(call.name), call.size.value}];
    return sizes;
}

void add(Sizes& sizes, const VolumeTable& table, const VolumeRow& row) {
    const double times = row.when == "micro-batch" ? table.micro_batches : 1;
    sizes[{row.op, row.logged}] += row.calls * times;
}

Sizes counted(const VolumeTable& table, const std::set<std::string>& when) {
    Sizes sizes;
    for (const VolumeRow& row : table.rows) {
        if (when.contains(row.when)) add(sizes, table, row);
    }
    return sizes;
}

// The first step: its own rows, and those of a steady step of whose kind it has none.
Sizes counted_first(const VolumeTable& table) {
    const auto kind = [](const VolumeRow& row) { return row.dimension + "/" + row.op + "/" + row.label; };
    std::set<std::string> own;
    for (const VolumeRow& row : table.rows) {
        if (row.when == "first-step") own.insert(kind(row));
    }
    Sizes sizes = counted(table, {"first-step"});
    for (const VolumeRow& row : table.rows) {
        const bool steady = row.when == "step" || row.when == "micro-batch";
        if (steady && !own.contains(kind(row))) add(sizes, table, row);
    }
    return sizes;
}

// Tensor, pipeline and data ranks, ZeRO stage, micro-batches.
using Layouts = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
class every_log : public testing::TestWithParam<Layouts> {
  protected:
    static Study study() {
        const auto& [tensor, pipeline, data, zero, micro_batches] = GetParam();
        return laid_out(tensor, pipeline, data, zero, micro_batches);
    }
};

TEST_P(every_log, has_the_calls_that_are_counted) {
    const Study job = study();
    const std::uint32_t ranks = job.job.layout.ranks();
    for (const std::uint32_t rank : {0U, ranks - 1}) {
        const VolumeTable table = logger_volume(make_plan(job), RankId{rank});
        EXPECT_EQ(sizes_of(logged_calls(job, RankId{rank}, 1)), counted(table, {"step", "micro-batch"})) << rank;
        Sizes run = counted(table, {"start-up"});
        for (const auto& [size, calls] : counted_first(table)) run[size] += calls;
        for (const auto& [size, calls] : counted(table, {"step", "micro-batch"})) run[size] += 2 * calls;
        EXPECT_EQ(sizes_of(logged_calls(job, RankId{rank}, 3)), run) << rank;
    }
}

// Calls that block one another fit into the step, one after the other, and each takes at least the library's launch.
TEST_P(every_log, has_calls_that_do_not_overlap) {
    Study job = study();
    job.job.deepspeed.log_calls = Setting::on;
    const Seconds step = since_start(simulate_step(job, make_plan(job)).timeline.end);
    const Seconds launch = job.machine.info().library().launch + job.machine.info().library().blocking;
    Seconds sum;
    for (const LoggedCall& call : logged_calls(job, RankId{0}, 1)) {
        sum += call.latency;
        EXPECT_GE(call.latency.value, launch.value * (1 - 1e-6)) << call.name << " of " << call.size.value << " bytes";
    }
    EXPECT_GT(sum.value, 0);
    EXPECT_LT(sum.value, step.value);
}

INSTANTIATE_TEST_SUITE_P(layouts, every_log,
                         testing::Values(Layouts{1, 1, 8, 0, 2}, Layouts{1, 1, 8, 1, 2}, Layouts{1, 1, 8, 2, 3},
                                         Layouts{1, 1, 8, 3, 2}, Layouts{2, 1, 4, 3, 1}, Layouts{1, 4, 2, 1, 6},
                                         Layouts{2, 2, 2, 1, 4}, Layouts{1, 8, 1, 1, 2}, Layouts{4, 2, 1, 0, 3}));

// One data rank: ZeRO-1 reduces its gradients with nobody, and DeepSpeed logs it at full size.
TEST(logged_calls, in_groups_of_one_last_as_long_as_a_launch) {
    const Study job = laid_out(1, 8, 1, 1, 2);
    const std::vector<LoggedCall> log = logged_calls(job, RankId{0}, 1);
    const auto largest = std::ranges::max_element(
        log, {}, [](const LoggedCall& call) { return call.name == "all_reduce" ? call.size : Bytes{}; });
    EXPECT_EQ(largest->name, "all_reduce");
    EXPECT_EQ(largest->size.value, 2 * make_plan(job).stages.front().parameters());
    const Library& library = job.machine.info().library();
    EXPECT_EQ(largest->latency, library.launch + library.blocking);
}

// 1F1B with one micro-batch: rank 0 posts its receive at once after its sends, and waits there until the other stage
// has run forward and backward, which takes longer than all that is sent.
TEST(logged_calls, of_receives_contain_the_wait_for_the_sender) {
    const Study job = laid_out(1, 2, 1, 1, 1);
    Seconds longest, sent;
    for (const LoggedCall& call : logged_calls(job, RankId{0}, 1)) {
        if (call.name == "recv") longest = std::max(longest, call.latency);
        if (call.name == "send") sent += call.latency;
    }
    const Plan plan = make_plan(job);
    Seconds pass;
    for (const PieceCost& piece : plan.costs.layer(LayerKind::dense).pieces) {
        pass += piece.forward * 2 + piece.input_backward + piece.weight_backward;
    }
    EXPECT_GT(longest, pass * plan.stages.back().layers());
    EXPECT_GT(longest, sent);
}

// DeepSpeed's start-up sends 4 bytes from each stage to the next, which connects them forward. What is left to the
// first step is the way back: on rank 0, its first receive.
TEST(logged_calls, of_the_first_step_connect_the_stages_backward) {
    const Study job =
        deepspeed({"layout.tensor=1", "layout.pipeline=2", "layout.data=1", "batch.global=4", "first_use=2 s"});
    const auto slow = [](const std::vector<LoggedCall>& log, std::string_view name) {
        return std::ranges::count_if(log,
                                     [&](const LoggedCall& call) { return call.name == name && call.latency > 2_s; });
    };
    const std::vector<LoggedCall> first = logged_step(job, RankId{0}, StepKind::first);
    const std::vector<LoggedCall> later = logged_step(job, RankId{0}, StepKind::steady);
    const std::vector<LoggedCall> run = logged_calls(job, RankId{0}, 3);
    EXPECT_EQ(slow(first, "send"), 0);
    EXPECT_EQ(slow(first, "recv"), 1);
    EXPECT_EQ(slow(later, "send") + slow(later, "recv"), 0);
    EXPECT_EQ(slow(run, "send"), 1);
    EXPECT_EQ(slow(run, "recv"), 1);
}

}  // namespace
}  // namespace weft
