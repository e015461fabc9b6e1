// Computation at the host's pace: closed forms where the host binds, nothing where it does not.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

struct Outcome {
    Plan plan;
    double step = 0, compute = 0;
    std::size_t ops = 0;
};

Outcome run(const std::vector<std::string>& settings, Seconds host_launch) {
    Study study = test::small_study(settings);
    study.device.host_launch = host_launch;
    Plan plan = make_plan(study);
    const Simulation simulation = simulate_step(study, plan);
    const Report report = make_report(simulation);
    return {std::move(plan), report.metric("step.time_s"), report.metric("step.compute_s"),
            simulation.step.program.ops.size()};
}

const std::vector<std::string> alone{"machine=dgx-a100", "layout.tensor=1", "layout.pipeline=1", "layout.data=1",
                                     "batch.global=4"};

double operations_of_a_layer(const Plan& plan) {
    const HostOperations& host = plan.costs.layers[0].host;
    return host.forward + host.input_backward + host.weight_backward;
}

// A millisecond per launch is slower than any kernel here: four micro-batches through eight layers are n launches each,
// after the last of which the device only has the tail of a pass, the embedding and the optimizer to do.
TEST(host_stream, sets_the_pace_of_a_step_that_it_binds) {
    const Seconds launch{1e-3};
    const Outcome slow = run(alone, launch);
    ASSERT_TRUE(slow.plan.host_bound);
    const double launches = 4 * 8 * operations_of_a_layer(slow.plan);
    const double tensors = slow.plan.stages.front().optimizer.value;  // a launch per tensor
    EXPECT_NEAR(slow.step, launches * 1e-3 + tensors, 0.01 * slow.step);
    EXPECT_GE(slow.step, launches * 1e-3 + tensors);
}

TEST(host_stream, launches_recomputation_again) {
    std::vector<std::string> full = alone;
    full.emplace_back("recompute=full");
    const Outcome once = run(alone, {1e-3}), twice = run(full, {1e-3});
    EXPECT_NEAR(twice.step - once.step, 4 * 8 * once.plan.costs.layers[0].host.forward * 1e-3, 0.01 * once.step);
}

TEST(host_stream, counts_as_computing_where_nothing_communicates) {
    const Outcome slow = run(alone, {1e-3});
    EXPECT_NEAR(slow.compute, slow.step, 1e-9);
}

TEST(host_stream, is_not_written_where_the_device_is_slower) {
    const std::vector<std::string> large{"machine=dgx-a100", "model.hidden=8192", "model.heads=64", "batch.micro=4",
                                         "batch.sequence=2048"};
    const Outcome none = run(large, {}), fast = run(large, {1e-6});
    EXPECT_FALSE(fast.plan.host_bound);
    EXPECT_EQ(fast.ops, none.ops);
    EXPECT_EQ(fast.step, none.step);
}

// Written but idle: a launch that is faster than every pass changes nothing.
TEST(host_stream, changes_nothing_where_it_keeps_ahead) {
    const Outcome none = run(alone, {});
    const LayerCosts& layer = none.plan.costs.layers[0];
    Seconds forward, backward;
    for (const PieceCost& piece : layer.pieces) {
        forward += piece.forward;
        backward += piece.input_backward + piece.weight_backward;
    }
    const HostOperations& n = layer.host;
    const double least = std::min(forward.value / n.forward, backward.value / (n.input_backward + n.weight_backward));
    const Outcome ahead = run(alone, {0.9 * least});
    EXPECT_TRUE(ahead.plan.host_bound);
    EXPECT_GT(ahead.ops, none.ops);
    EXPECT_EQ(ahead.step, none.step);
}

TEST(host_stream, never_makes_a_step_faster) {
    double before = 0;
    for (const double launch : {0.0, 5e-6, 2e-5, 5e-5, 2e-4}) {
        const Outcome now = run({"machine=dgx-a100", "batch.global=16"}, {launch});
        EXPECT_GE(now.step, before);
        before = now.step;
    }
}

TEST(host_stream, is_taken_away_by_graphs) {
    const auto with = [](const char* setting) {
        std::vector<std::string> settings = alone;
        settings.emplace_back(setting);
        return run(settings, {1e-3}).step;
    };
    const double eager = with("cuda_graphs=none"), layers = with("cuda_graphs=layer"), full = with("cuda_graphs=full");
    EXPECT_GT(eager, 5 * layers);
    EXPECT_GT(layers, full);
    const double tensors = run(alone, {1e-3}).plan.stages[0].optimizer.value, free = run(alone, {}).step,
                 traffic = run(alone, {}).plan.stages[0].optimizer.value;
    EXPECT_NEAR(full, free - traffic + tensors, 1e-2 * full);
}

// Two hundred layers' worth of micro-batches ahead, or never more than one.
TEST(host_stream, falls_behind_where_it_waits_after_every_layer) {
    const auto with = [](const char* setting) {
        std::vector<std::string> settings{"machine=dgx-a100",  "framework=deepspeed", "layout.tensor=1",
                                          "layout.pipeline=1", "layout.data=1",       "batch.global=4"};
        settings.emplace_back(setting);
        return run(settings, {5e-6}).step;
    };
    EXPECT_GT(with("deepspeed.synchronize_each_layer=true"), with("deepspeed.synchronize_each_layer=false"));
}

TEST(host_stream, falls_behind_where_timers_of_passes_synchronise) {
    const auto with = [](const char* setting) {
        return run({"machine=dgx-a100", "framework=deepspeed", "layout.tensor=1", "layout.pipeline=1", "layout.data=1",
                    "batch.global=4", setting},
                   {2e-5})
            .step;
    };
    EXPECT_GT(with("deepspeed.wall_clock_breakdown=true"), with("deepspeed.wall_clock_breakdown=false"));
}

// Of the loss of every micro-batch, and of the gradients of each bucket that is reduced under the backward pass.
TEST(host_stream, falls_behind_where_it_looks_for_numbers_that_are_none) {
    const auto with = [](std::vector<std::string> settings, const char* setting) {
        settings.insert(settings.end(), {"machine=dgx-a100", "layout.tensor=1", "layout.pipeline=1", setting});
        return run(settings, {2e-5}).step;
    };
    constexpr const char *on = "megatron.check_for_nan=true", *off = "megatron.check_for_nan=false";
    const std::vector<std::string> losses{"layout.data=1", "batch.global=4"},
        gradients{"layout.data=4", "batch.global=4", "overlap_gradients=true", "bucket_elements=10000000"};
    EXPECT_GT(with(losses, on), with(losses, off));
    EXPECT_GT(with(gradients, on), with(gradients, off));
    EXPECT_EQ(with(losses, "megatron.version=2022"),
              with(losses, "megatron={\"version\": 2022, \"check_for_nan\": false}"));
}

// Without a capacity the host learns from the router how many tokens each expert has, and launches the rest then.
TEST(host_stream, launches_the_rest_of_a_layer_once_it_knows_the_routing) {
    const auto launches = [](const char* capacity) {
        return run({"machine=dgx-a100", "model.experts.count=8", "layout.tensor=1", "layout.pipeline=1",
                    "layout.data=8", "layout.expert=8", capacity},
                   {2e-5})
            .ops;
    };
    EXPECT_GT(launches("experts.capacity_factor=0"), launches("experts.capacity_factor=1"));
}

TEST(host_stream, is_waited_for_as_long_as_nothing_else_goes_on) {
    const auto waiting = [](Seconds launch) {
        Study study = test::small_study(alone);
        study.device.host_launch = launch;
        const Report report = make_report(simulate_step(study, make_plan(study)));
        return std::pair(report.metric("step.waiting_for_host_s"), report.metric("step.time_s"));
    };
    EXPECT_EQ(waiting({}).first, 0.0);
    const auto [none, free] = waiting({});
    const auto [slow, step] = waiting({1e-3});
    const double update =
        run(alone, {1e-3}).plan.stages[0].optimizer.value - run(alone, {}).plan.stages[0].optimizer.value;
    EXPECT_NEAR(slow, step - free - update, 1e-9 * step);
}

// Alone on its device, a rank whose host waits for every kernel is longer by the launch of each, less the gap that
// there would have been anyway.
TEST(host_stream, waits_for_every_kernel_where_launches_block) {
    const Seconds launch{1e-3};
    std::vector<std::string> blocking = alone;
    blocking.push_back("blocking_launches=true");
    const Outcome waits = run(blocking, launch), ahead = run(alone, {});
    EXPECT_FALSE(waits.plan.host_bound);
    const double gap = 1e-3 - test::small_study(alone).device.kernel_launch.value;
    const double of_layers = 4 * 8 * operations_of_a_layer(waits.plan) * gap;
    EXPECT_GT(waits.compute - ahead.compute, 0.99 * of_layers);
    EXPECT_LT(waits.compute - ahead.compute, 1.2 * of_layers);  // embedding, head and optimizer
}

}  // namespace
}  // namespace weft
