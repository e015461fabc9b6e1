// What holds for the gradients of every engine: each element is reduced once per micro-batch or step, over the right
// group, and every call that runs beside the computation is waited for.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <map>
#include <set>

#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

// The engine's padding is avoided by shapes that divide by everything in use.
std::vector<StageModule> even_stage() {
    auto modules = test::neox_stage(3, 128, 256);
    modules[6].expert = modules[11].expert = true;
    return modules;
}

double expert_elements(const std::vector<StageModule>& modules) {
    double sum = 0;
    for (const StageModule& module : modules) {
        for (const std::uint64_t elements : module.tensors) sum += module.expert ? static_cast<double>(elements) : 0;
    }
    return sum;
}

struct Engine {
    const char* name;
    test::Factory make;
    std::uint32_t zero;
    bool every_micro_batch;
};
constexpr std::array engines{
    Engine{"DeepSpeed stage 0", make_deepspeed_stage0, 0, false},
    Engine{"ZeRO-1", make_deepspeed_zero12, 1, false},
    Engine{"ZeRO-2", make_deepspeed_zero12, 2, true},
    Engine{"ZeRO-3", make_deepspeed_zero3, 3, true},
    Engine{"torch DDP", make_torch_ddp, 0, false},
    Engine{"FSDP", make_fsdp, 0, true},
    Engine{"Megatron DDP", make_megatron_ddp, 0, false},
    Engine{"Megatron, distributed", make_megatron_ddp, 1, false},
};

ShardingInput random_input(const Engine& engine) {
    ShardingInput input{.zero = engine.zero};
    const auto choice = [](int below) { return *rc::gen::inRange(0, below); };
    const auto setting = [&] { return choice(2) == 0 ? Setting::off : Setting::on; };
    input.step = choice(2) == 0 ? StepKind::first : StepKind::steady;
    input.micro_batches = static_cast<std::uint32_t>(choice(3) + 1);
    input.ranks = 1U << choice(5);
    input.expert_ranks = 1U << choice(3);
    input.gradient_overlap = setting();
    input.bucket_elements = choice(2) == 0 ? 0 : 100.0 * (choice(3000) + 1);
    input.checkpointing = choice(2) == 0 ? Checkpointing::none : Checkpointing::every_layer;
    input.deepspeed.multi_rank_allreduce = setting();
    input.deepspeed.log_calls = setting();
    input.deepspeed.prefetch_elements = 1e4 * choice(100);
    input.deepspeed.max_live_elements = 1e4 * choice(100);
    input.deepspeed.max_reuse_elements = 1e4 * choice(100);
    input.deepspeed.persistence_elements = 100.0 * choice(10);
    if (engine.zero == 3 && choice(2) == 0) input.deepspeed.reduce_scatter = Setting::off;
    input.megatron.overlap_parameters = setting();
    input.fsdp.limit_all_gathers = setting();
    input.fsdp.forward_prefetch = setting();
    return input;
}

TEST(gradients, are_each_reduced_once) {
    for (const Engine& engine : engines) {
        EXPECT_TRUE(rc::check(engine.name, [&engine] {
            const auto modules = even_stage();
            const ShardingInput input = random_input(engine);
            std::map<RankGroups, double> bytes;
            for (const PlayedCall& played : test::play_step(engine.make, input, modules)) {
                if (played.call.label.find("gradients") != std::string_view::npos) {
                    bytes[played.call.group] += played.call.message.value;
                }
            }
            const double times = engine.every_micro_batch ? input.micro_batches : 1;
            const double expert = expert_elements(modules);
            RC_ASSERT(bytes[RankGroups{"expert_data"}] == 2 * expert * times);
            RC_ASSERT(bytes[copy_axes()] == 2 * (static_cast<double>(test::elements_of(modules)) - expert) * times);
        })) << engine.name;
    }
}

TEST(gradients, and_all_else_that_runs_beside_the_computation_is_waited_for) {
    for (const Engine& engine : engines) {
        EXPECT_TRUE(rc::check(engine.name, [&engine] {
            const auto modules = even_stage();
            ShardingInput input = random_input(engine);
            input.modules = modules;
            const auto data_parallel = engine.make(input);
            test::Player player{modules, *data_parallel, input.checkpointing};
            player.step(input.micro_batches);
            std::set<ActionId> open;
            for (ActionId i = 0; i < player.script.actions().size(); ++i) {
                const Action& action = player.script.actions()[i];
                if (action.kind == Action::Kind::issue) {
                    open.insert(i);
                    RC_ASSERT(action.after == Action::none || action.after < i);
                    RC_ASSERT(engine.zero == 0 || input.deepspeed.log_calls == Setting::off ||
                              engine.make == make_megatron_ddp);
                }
                if (action.kind == Action::Kind::wait) open.erase(action.subject);
            }
            RC_ASSERT(open.empty());
        })) << engine.name;
    }
}

// Where in a step the reductions stand: whole-step ones once, the others with their micro-batch.
TEST(gradients, say_which_micro_batch_they_belong_to) {
    for (const Engine& engine : engines) {
        ShardingInput input{.micro_batches = 3, .ranks = 4, .zero = engine.zero};
        std::map<std::uint32_t, int> calls;
        for (const PlayedCall& played : test::play_step(engine.make, input, even_stage())) {
            if (played.call.label.find("gradients") != std::string_view::npos) ++calls[played.where.micro_batch];
        }
        EXPECT_EQ(calls.contains(Where::whole_step), !engine.every_micro_batch) << engine.name;
        EXPECT_EQ(calls.size(), engine.every_micro_batch ? 3U : 1U) << engine.name;
        EXPECT_EQ(calls[0], calls[2]) << engine.name;
    }
}

}  // namespace
}  // namespace weft
