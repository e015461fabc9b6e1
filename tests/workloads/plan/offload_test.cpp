// Parameters and states that are not on the device: what is moved, by closed forms, and what memory that frees.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/refusal.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Eight layers on one node of a DGX A100 under ZeRO-3, whose drives are known.
Settings settings(const Settings& more) {
    Settings all{"machine=dgx-a100",  "framework=deepspeed", "zero=3",         "layout.tensor=1",
                 "layout.pipeline=1", "layout.data=8",       "batch.global=16"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
Plan plan_of(const Settings& more) { return make_plan(test::small_study(settings(more))); }

std::string refusal(const Settings& more) {
    return test::refusal_of([&] { test::small_study(settings(more)); });
}
bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Bytes of shards that are gathered in a step, and time of the copies that bring them.
struct Moved {
    std::size_t gathers = 0, fetches = 0;
    double shards = 0, copying = 0;
    bool in_order = true;  // each gather waits for the copy before it
};

Moved moved(const Plan& plan) {
    const Script script = step_script(plan, 0, StepKind::steady);
    Moved sum;
    ActionId last = Action::none;
    for (ActionId id = 0; id < script.actions().size(); ++id) {
        const Action& action = script.actions()[id];
        if (action.kind == Action::Kind::load && script.labels()[action.label] == "fetch parameters") {
            ++sum.fetches;
            sum.copying += script.work()[action.subject].value;
            last = id;
        }
        if (action.kind != Action::Kind::issue && action.kind != Action::Kind::call) continue;
        const Call& call = script.calls()[action.subject];
        if (call.label != "all-gather parameters") continue;
        ++sum.gathers;
        sum.shards += call.message.value / plan.job.layout.data;
        if (action.kind == Action::Kind::issue) sum.in_order = sum.in_order && action.after == last;
    }
    return sum;
}

TEST(offloaded_parameters, come_over_the_link_before_every_gather) {
    const Plan device = plan_of({}), host = plan_of({"deepspeed.offload_parameters=host", "optimizer.states=host"});
    const Moved stays = moved(device), comes = moved(host);
    EXPECT_EQ(stays.fetches, 0U);
    EXPECT_GT(stays.gathers, 8U);
    EXPECT_EQ(comes.gathers, stays.gathers);
    EXPECT_EQ(comes.fetches, comes.gathers);
    EXPECT_TRUE(comes.in_order);
    EXPECT_NEAR(comes.copying, stays.shards / host.machine.host->link.value, 1e-9 * comes.copying);
}

// As many elements as eight ranks gather together, whose coordinators decide alike.
TEST(offloaded_parameters, of_one_rank_are_fetched_though_nothing_is_gathered) {
    const Plan alone = plan_of({"layout.data=1", "batch.global=2", "deepspeed.offload_parameters=host"});
    const Moved own = moved(alone), shared = moved(plan_of({}));
    EXPECT_EQ(own.gathers, 0U);
    EXPECT_EQ(own.fetches, shared.gathers);
    EXPECT_NEAR(own.copying * alone.machine.host->link.value, 8 * shared.shards, 1e-6 * 8 * shared.shards);
}

// The slower of the link and of the rank's share of the drives.
TEST(offloaded_parameters, on_drives_take_the_slower_way) {
    const Settings nvme{"deepspeed.offload_parameters=nvme", "optimizer.states=host"};
    const Plan plan = plan_of(nvme);
    const HostInfo& host = *plan.machine.host;
    const double rate = std::min(host.link.value, host.drives_read.value / plan.job.ranks_per_node);
    EXPECT_LT(rate, host.link.value);
    EXPECT_NEAR(moved(plan).copying, moved(plan_of({})).shards / rate, 1e-9 * moved(plan).copying);
    EXPECT_TRUE(mentions(refusal({"machine=dgx-h100", "deepspeed.offload_parameters=nvme"}), "nothing of its drives"));
    EXPECT_TRUE(mentions(refusal({"zero=2", "deepspeed.offload_parameters=host"}), "under ZeRO-3"));
}

TEST(offloaded_parameters, free_their_memory_and_nothing_else) {
    const MemoryUse device = plan_of({}).stages[0].memory,
                    host = plan_of({"deepspeed.offload_parameters=host"}).stages[0].memory;
    const Plan plan = plan_of({});
    EXPECT_NEAR(device.parameters.value, 2 * plan.stages[0].dense / 8, 1);
    EXPECT_EQ(host.parameters, 0_B);
    EXPECT_EQ(host.optimizer, device.optimizer);
    EXPECT_EQ(host.activations, device.activations);
}

TEST(offloaded_parameters, fold_as_they_are) {
    for (const char* place : {"host", "nvme"}) {
        const Study study = test::small_study(settings({std::string("deepspeed.offload_parameters=") + place}));
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::exact), report(Folding::none)), "") << place;
    }
}

// DeepSpeedCPUAdam moves 36 bytes of each of U parameters in the host's memory; drives give 16 of them and take 12, and
// 2 more where the parameters are there, too. All ranks of a node share both.
TEST(states_on_drives, are_read_and_written_around_the_update) {
    const auto time = [](const Settings& more) { return plan_of(more).stages[0].optimizer.value; };
    const Plan plan = plan_of({"optimizer.states=nvme"});
    const HostInfo& host = *plan.machine.host;
    const double all = updated_parameters(plan.job, plan.stages[0]) * plan.job.ranks_per_node;
    EXPECT_NEAR(time({"optimizer.states=nvme"}) - time({"optimizer.states=host"}),
                all * (16 / host.drives_read.value + 12 / host.drives_write.value), 1e-12);
    EXPECT_NEAR(time({"optimizer.states=nvme", "deepspeed.offload_parameters=nvme"}) - time({"optimizer.states=nvme"}),
                all * 2 / host.drives_write.value, 1e-12);
    EXPECT_EQ(plan.stages[0].memory.optimizer, 0_B);
    EXPECT_TRUE(mentions(refusal({"zero=2", "optimizer.states=nvme"}), "deepspeed with zero 3"));
}

// --- Megatron-core's hybrid optimizer ---

TEST(states_on_the_host, are_a_fraction_of_them_under_megatron) {
    const auto plan = [](const std::string& optimizer) {
        return plan_of(
            {"framework=megatron", "zero=1", "megatron.version=core-0.13", "precision=bf16", "optimizer=" + optimizer});
    };
    const Plan device = plan("adam"), half = plan(R"({"states": "host", "fraction": 0.5})"),
               whole = plan(R"({"states": "host"})");
    const Stage& stage = device.stages[0];
    EXPECT_DOUBLE_EQ(half.stages[0].memory.optimizer.value, stage.memory.optimizer.value / 2);
    EXPECT_EQ(whole.stages[0].memory.optimizer, 0_B);
    EXPECT_EQ(whole.stages[0].memory.gradients, stage.memory.gradients);
    // Gradients there in fp32, 28 bytes of memory traffic of all ranks of the node, parameters back in bf16.
    const HostInfo& host = *device.machine.host;
    const double updated = updated_parameters(device.job, stage);
    const double on_host = updated * ((4 + 2) / host.link.value + 28 * 8 / host.memory_bandwidth.value);
    const UpdateTraffic traffic = device.job.framework->update_traffic(device.job);
    const auto on_device = [&](double share) {
        return pass_time(device.device, Bytes{traffic.held * stage.parameters() + traffic.updated * updated * share});
    };
    EXPECT_NEAR(stage.optimizer.value, on_device(1).value, 1e-12);
    EXPECT_NEAR(half.stages[0].optimizer.value, on_device(0.5).value + on_host / 2, 1e-9);
    EXPECT_NEAR(whole.stages[0].optimizer.value, on_device(0).value + on_host, 1e-9);
}

TEST(states_on_the_host, are_refused_where_no_framework_has_them) {
    EXPECT_TRUE(
        mentions(refusal({"framework=megatron", "zero=0", "optimizer.states=host"}), "--optimizer-cpu-offload"));
    EXPECT_TRUE(
        mentions(refusal({R"(optimizer={"states": "host", "fraction": 0.5})"}), "--optimizer-offload-fraction"));
}

}  // namespace
}  // namespace weft
