// ZeRO-3's gathers over whole steps: the published counts and volumes, gradient accumulation, and what must hold for
// any settings.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/workloads/data_parallel/stage_driver.hpp"
#include "workloads/data_parallel/parameter_coordinator.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

struct Gathered {
    double forward_calls = 0, forward_elements = 0, backward_calls = 0, backward_elements = 0;
};

Gathered gathered(const std::vector<PlayedCall>& calls) {
    Gathered sum;
    for (const PlayedCall& played : calls) {
        if (played.call.op != Collective::all_gather) continue;
        if (played.part == Part::forward) {
            sum.forward_calls += 1;
            sum.forward_elements += played.call.message.value / 2;
        } else if (played.part == Part::backward) {
            sum.backward_calls += 1;
            sum.backward_elements += played.call.message.value / 2;
        }
    }
    return sum;
}

ShardingInput zero3(StepKind step = StepKind::steady) {
    ShardingInput input{.step = step, .ranks = 16, .zero = 3, .gradient_overlap = Setting::on};
    input.checkpointing = Checkpointing::every_layer;
    return input;
}

struct Row {
    const char* model;
    double forward_calls, forward_share, backward_calls, backward_share, share, first_calls, first_share;
};

// Reading of DeepSpeed 0.14.0 under GPT-NeoX, 16 ranks: all-gathers relative to the parameters P, two decimals.
constexpr Row published[] = {
    {"19M", 1, 1.00, 0, 0, 1.00, 114, 2.27},        {"125M", 3, 1.00, 0, 0, 1.00, 222, 2.52},
    {"1.3B", 33, 1.04, 15, 0.29, 1.32, 438, 2.85},  {"13B", 124, 1.02, 113, 0.92, 1.93, 726, 2.96},
    {"20B", 136, 1.02, 128, 0.95, 1.96, 798, 2.97},
};

TEST(zero3, gathers_as_often_and_as_much_as_published) {
    for (const Row& row : published) {
        for (const test::NamedModel& model : test::neox_models()) {
            if (model.name != row.model) continue;
            const auto modules = test::neox_stage(model.layers, model.hidden);
            const double elements = static_cast<double>(test::elements_of(modules));
            const auto off = [&](double found, double share) { return std::abs(found / elements - share); };
            const Gathered steady = gathered(test::play_step(make_deepspeed_zero3, zero3(), modules));
            EXPECT_EQ(steady.forward_calls, row.forward_calls) << model.name;
            EXPECT_EQ(steady.backward_calls, row.backward_calls) << model.name;
            // The parts of the sum are published with an error of up to one in the last place.
            EXPECT_LT(off(steady.forward_elements, row.forward_share), 0.01) << model.name;
            EXPECT_LT(off(steady.backward_elements, row.backward_share), 0.01) << model.name;
            EXPECT_LE(off(steady.forward_elements + steady.backward_elements, row.share), 0.0051) << model.name;
            const Gathered first = gathered(test::play_step(make_deepspeed_zero3, zero3(StepKind::first), modules));
            EXPECT_EQ(first.forward_calls + first.backward_calls, row.first_calls) << model.name;
            EXPECT_LE(off(first.forward_elements + first.backward_elements, row.first_share), 0.0051) << model.name;
        }
    }
}

// The third step of a run is the steady step, and so is the fourth.
TEST(zero3, a_steady_step_is_what_a_run_settles_to) {
    for (const std::uint32_t micro_batches : {1U, 3U}) {
        const auto modules = test::neox_stage(24, 2048);
        ShardingInput input = zero3(StepKind::first);
        input.modules = modules;
        input.micro_batches = micro_batches;
        const auto engine = make_deepspeed_zero3(input);
        test::Player player{modules, *engine};
        for (int step = 0; step < 2; ++step) player.step(micro_batches);
        std::size_t before = player.calls().size();
        input.step = StepKind::steady;
        const auto steady = test::play_step(make_deepspeed_zero3, input, modules);
        for (int step = 2; step < 4; ++step) {
            player.step(micro_batches);
            const auto all = player.calls();
            ASSERT_EQ(all.size() - before, steady.size());
            for (std::size_t i = 0; i < steady.size(); ++i) EXPECT_EQ(all[before + i].call, steady[i].call);
            before = all.size();
        }
    }
}

// A small model stays resident from one micro-batch to the next: only the first gathers.
TEST(zero3, residency_carries_over_between_micro_batches) {
    const auto modules = test::neox_stage(6, 512);
    ShardingInput input = zero3();
    input.micro_batches = 4;
    double calls = 0, scatters = 0;
    for (const PlayedCall& played : test::play_step(make_deepspeed_zero3, input, modules)) {
        calls += played.call.op == Collective::all_gather && played.part == Part::forward ? 1 : 0;
        scatters += played.call.op == Collective::reduce_scatter ? 1 : 0;
    }
    EXPECT_EQ(calls, 4) << "tensors are released after the last use of a trace";
    EXPECT_EQ(scatters, 4);
}

TEST(zero3, one_rank_gathers_nothing_but_still_reduces) {
    ShardingInput input = zero3();
    input.ranks = 1;
    std::map<Collective, int> calls;
    for (const PlayedCall& played : test::play_step(make_deepspeed_zero3, input, test::neox_stage(6, 512))) {
        ++calls[played.call.op];
    }
    EXPECT_EQ(calls[Collective::all_gather], 0);
    EXPECT_EQ(calls[Collective::reduce_scatter], 1);
}

TEST(zero3, start_up_broadcasts_every_tensor_twice_and_gathers_it_once) {
    const auto modules = test::neox_stage(6, 512);
    double broadcasts = 0, gathers = 0, broadcast_bytes = 0, gathered_bytes = 0;
    for (const PlayedCall& played : test::play_start_up(make_deepspeed_zero3, zero3(), modules)) {
        const bool gather = played.call.op == Collective::all_gather;
        (gather ? gathers : broadcasts) += 1;
        (gather ? gathered_bytes : broadcast_bytes) += played.call.message.value;
    }
    EXPECT_EQ(gathers, 12 * 6 + 4);
    EXPECT_EQ(broadcasts, 2 * (12 * 6 + 4));
    EXPECT_EQ(gathered_bytes, 2.0 * 70426624);
    EXPECT_EQ(broadcast_bytes, 2 * 2.0 * 70426624);
}

// A coordinator under random settings, followed module by module.
struct RandomModel {
    std::vector<CoordinatedTensor> tensors;
    std::vector<CoordinatedModule> modules;
    CoordinatorLimits limits;
    std::vector<std::uint32_t> order;  // of one pass: each module forward, then again in reverse
};

RandomModel random_model() {
    RandomModel model;
    const int modules = *rc::gen::inRange(1, 12);
    for (int m = 0; m < modules; ++m) {
        model.modules.emplace_back();
        for (int t = *rc::gen::inRange(0, 3); t > 0; --t) {
            model.modules.back().own.push_back(static_cast<std::uint32_t>(model.tensors.size()));
            const auto elements = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1000));
            model.tensors.push_back({elements, elements < 50, *rc::gen::inRange(0, 8) == 0});
        }
        model.order.push_back(static_cast<std::uint32_t>(m));
    }
    for (int m = modules; m-- > 0;) model.order.push_back(static_cast<std::uint32_t>(m));
    model.limits = {.prefetch = static_cast<double>(*rc::gen::inRange(0, 3000)),
                    .live = static_cast<double>(*rc::gen::inRange(0, 6000)),
                    .reuse = static_cast<double>(*rc::gen::inRange(0, 6000))};
    return model;
}

TEST(parameter_coordinator, always_has_what_a_module_needs_and_gathers_only_what_is_missing) {
    EXPECT_TRUE(rc::check([] {
        const RandomModel model = random_model();
        ParameterCoordinator coordinator(model.tensors, model.modules, model.limits);
        std::set<std::uint32_t> resident;
        for (int pass = 0; pass < 5; ++pass) {
            for (const std::uint32_t module : model.order) {
                const auto gathers = coordinator.before(module);
                for (const auto* list : {&gathers.fetch, &gathers.prefetch}) {
                    for (const std::uint32_t tensor : *list) RC_ASSERT(resident.insert(tensor).second);
                }
                for (const std::uint32_t tensor : model.modules[module].own) RC_ASSERT(coordinator.resident(tensor));
                coordinator.after(module);
                for (std::uint32_t tensor = 0; tensor < model.tensors.size(); ++tensor) {
                    if (!coordinator.resident(tensor)) resident.erase(tensor);
                    RC_ASSERT(coordinator.resident(tensor) == resident.contains(tensor));
                }
            }
            RC_ASSERT(!coordinator.left_trace());
            coordinator.end_trace();
            if (pass % 2 == 1) {
                coordinator.release_all();
                RC_ASSERT(coordinator.resident_elements() == 0U);
                coordinator.gather_persistent();
                resident.clear();
                for (std::uint32_t tensor = 0; tensor < model.tensors.size(); ++tensor) {
                    if (coordinator.resident(tensor)) resident.insert(tensor);
                    RC_ASSERT(coordinator.resident(tensor) == model.tensors[tensor].persistent);
                }
            }
        }
    }));
}

// Prefetching stops at the limit with at most one tensor above it; a fetch adds a module. Persistent and external
// tensors are outside the coordinator's count, and a limit below what reuse keeps cannot bind.
TEST(parameter_coordinator, prefetching_overshoots_the_limits_by_no_more_than_a_tensor) {
    EXPECT_TRUE(rc::check([] {
        RandomModel model = random_model();
        std::uint64_t largest = 0;
        for (CoordinatedTensor& tensor : model.tensors) {
            tensor.persistent = tensor.external = false;
            largest = std::max(largest, tensor.elements);
        }
        ParameterCoordinator coordinator(model.tensors, model.modules, model.limits);
        for (int step = 0; step < 3; ++step) {
            for (const std::uint32_t module : model.order) {
                const auto gathers = coordinator.before(module);
                double prefetched = 0;
                for (const std::uint32_t tensor : gathers.prefetch) {
                    prefetched += static_cast<double>(model.tensors[tensor].elements);
                }
                const double bound = static_cast<double>(largest);
                RC_ASSERT(prefetched <= model.limits.prefetch + bound);
                if (prefetched > 0) {
                    RC_ASSERT(static_cast<double>(coordinator.resident_elements()) <= model.limits.live + bound);
                }
                coordinator.after(module);
            }
            coordinator.end_trace();
            coordinator.release_all();
        }
    }));
}

TEST(parameter_coordinator, records_anew_after_modules_ran_in_another_order) {
    ParameterCoordinator coordinator({{10}, {20}}, {{{0}, {}}, {{1}, {}}}, {});
    bool left_trace = false;
    const auto pass = [&](std::uint32_t a, std::uint32_t b) {
        std::vector<std::size_t> prefetched;
        for (const std::uint32_t module : {a, b}) {
            prefetched.push_back(coordinator.before(module).prefetch.size());
            coordinator.after(module);
        }
        left_trace = coordinator.left_trace();
        coordinator.end_trace();
        coordinator.release_all();
        return prefetched;
    };
    const std::vector<std::size_t> none{0, 0}, second{1, 0};
    EXPECT_EQ(pass(0, 1), none) << "recording";
    EXPECT_EQ(pass(0, 1), second);
    EXPECT_EQ(pass(1, 0), none) << "out of order";
    EXPECT_TRUE(left_trace);
    EXPECT_EQ(pass(1, 0), none) << "recording again";
    EXPECT_EQ(pass(1, 0), second);
}

}  // namespace
}  // namespace weft
