// Every schedule as a whole step with free communication, against an executor of slots that knows only what waits for
// what, and against the published bubbles. Slot times are those of the plan's kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/workloads/schedule/executor.hpp"
#include "tests/workloads/schedule/shapes.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

constexpr std::uint32_t layers_of_part = 2;

enum class Parts : std::uint8_t { equal, unequal };  // equal: embedding, head and optimizer take no time

struct Whole {
    Seconds forward, input, weight;
};

// Of one part of the plan, from its pieces.
Whole time_of(const Plan& plan, const Chunk& chunk) {
    Whole sum;
    for (const PieceCost& piece : plan.costs.layer(layer_kind(plan.job.model, 0)).pieces) {
        sum.forward += piece.forward * chunk.layers;
        sum.input += piece.input_backward * chunk.layers;
        sum.weight += piece.weight_backward * chunk.layers;
    }
    const PartCosts& costs = plan.costs;
    if (chunk.has_embedding()) {
        sum.forward += costs.embedding_forward;
        sum.weight += costs.embedding_backward;
    }
    if (chunk.has_head()) {
        sum.forward += costs.final_norm_forward + costs.head_forward;
        sum.input += costs.final_norm_backward + costs.head_input_backward;
        sum.weight += costs.head_weight_backward;
    }
    return sum;
}

std::int64_t whole_ticks(Seconds time) { return std::llround(time.value * 1e12); }

SlotTimes slot_times(const Whole& time) {
    return {whole_ticks(time.forward), whole_ticks(time.input), whole_ticks(time.weight)};
}

Study study_of(const Schedule& schedule, const PipelineShape& shape) {
    const std::uint32_t parts = shape.stages * shape.chunks / schedule.copies;
    std::vector<std::string> own{"framework=megatron",
                                 "schedule=" + std::string(schedule.key),
                                 "layout.tensor=1",
                                 "layout.data=1",
                                 "layout.pipeline=" + std::to_string(shape.stages),
                                 "batch.global=" + std::to_string(shape.micro_batches),
                                 "model.layers=" + std::to_string(layers_of_part * parts)};
    if (schedule.chunks == 0) own.push_back("layout.virtual_stages=" + std::to_string(shape.chunks));
    if (shape.passes == PassOrder::joint) {
        own.insert(own.end(), {"layout.data=2", "layout.expert=2", "experts.overlap=passes",
                               "megatron.version=core-0.14", "batch.global=" + std::to_string(2 * shape.micro_batches),
                               R"(model.experts={"count": 4, "top_k": 2, "ffn_hidden": 1024, "shared": 1})"});
    }
    return test::small_study(own);
}

Plan plan_of(const Study& study, Parts parts) {
    Plan plan = make_plan(study);
    for (Stage& stage : plan.stages) stage.optimizer = {};
    if (parts == Parts::unequal) return plan;
    PartCosts& costs = plan.costs;
    costs.embedding_forward = costs.embedding_backward = {};
    costs.final_norm_forward = costs.final_norm_backward = {};
    costs.head_forward = costs.head_input_backward = costs.head_weight_backward = {};
    return plan;
}

double simulated(const Study& study, const Plan& plan) {
    return since_start(simulate_step(study, plan, {.network = NetworkKind::free}).timeline.end).value;
}

double executed(const Schedule& schedule, const PipelineShape& shape, const Plan& plan) {
    const SlotClock clock = [&plan](std::uint32_t stage, const Slot& slot) {
        return slot_times(time_of(plan, plan.stages[stage].chunks[slot.chunk])).of(slot.kind);
    };
    return static_cast<double>(execute(schedule, shape, clock).end) * 1e-12;
}

class every_schedule : public testing::TestWithParam<std::string_view> {
  protected:
    const Schedule& schedule() const { return *find_schedule(GetParam()); }
    std::vector<PipelineShape> shapes() const {
        std::vector<PipelineShape> all;
        for (const std::uint32_t p : stage_counts) {
            for (const PipelineShape& shape : legal_shapes(schedule(), p)) {
                const std::uint32_t most = shape.passes == PassOrder::joint ? 4 : 16;
                if (p <= most || shape.micro_batches == 2 * p) all.push_back(shape);
            }
        }
        return all;
    }
};

TEST_P(every_schedule, takes_as_long_as_its_slots_when_communication_is_free) {
    for (const PipelineShape& shape : shapes()) {
        const Study study = study_of(schedule(), shape);
        const Plan plan = plan_of(study, Parts::equal);
        const double expected = executed(schedule(), shape, plan);
        EXPECT_NEAR(simulated(study, plan), expected, 1e-9 * expected) << text(shape);
    }
}

// Hand-overs beside computation leave nothing but the slots' own dependencies. A blocking sender also waits until its
// neighbour takes what it has, which costs something where stages differ.
TEST_P(every_schedule, with_unequal_parts_waits_for_nothing_else) {
    for (const PipelineShape& shape : shapes()) {
        const Study study = study_of(schedule(), shape);
        const Plan plan = plan_of(study, Parts::unequal);
        const double expected = executed(schedule(), shape, plan), whole = simulated(study, plan);
        EXPECT_GE(whole, expected * (1 - 1e-9)) << text(shape);
        if (schedule().handover == Schedule::Handover::beside) {
            EXPECT_NEAR(whole, expected, 1e-9 * expected) << text(shape);
        }
    }
}

// Gives every piece that has weights the same times, and all others none.
void set_times(Plan& plan, const Whole& of_piece) {
    const LayerKind kind = layer_kind(plan.job.model, 0);
    for (PieceCost& piece : plan.costs.layers[static_cast<std::size_t>(kind)].pieces) {
        const Whole time = piece.weight_backward.value > 0 ? of_piece : Whole{};
        piece.forward = time.forward;
        piece.input_backward = time.input;
        piece.weight_backward = time.weight;
    }
}

bool schedule_splits(std::string_view key) { return key == "zb-h1" || key == "dualpipe"; }

// The bubble beside the work of a stage (the sources are in schedule/): F, B, W of one part. The forms of schedules
// that put weights' gradients off hold for W <= B <= F <= B + W and from as many micro-batches as stages; that of
// DualPipe's joint passes for F = B >= W.
double closed_bubble(std::string_view key, const PipelineShape& shape, const Whole& t) {
    const double p = shape.stages;
    const double forward = t.forward.value, input = t.input.value, weight = t.weight.value;
    if (key == "zb-h1") return (p - 1) * (forward + input - weight);
    if (key == "dualpipe" && shape.passes == PassOrder::joint) return (p / 2 - 1) * (forward + 2 * input - weight);
    if (key == "dualpipe") return (p / 2 - 1) * (forward + input - weight);
    return (p - 1) * (forward + input + weight);  // of one part: 1/v of a stage's
}

TEST(free_schedules, have_their_published_bubbles) {
    for (const std::string_view key : {"gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe"}) {
        for (const std::uint32_t p : stage_counts) {
            for (const PipelineShape& shape : legal_shapes(*find_schedule(key), p)) {
                if (shape.micro_batches < p || shape.micro_batches > 2 * p) continue;
                const Study study = study_of(*find_schedule(key), shape);
                Plan plan = plan_of(study, Parts::equal);
                const bool joint = shape.passes == PassOrder::joint;
                if (schedule_splits(key)) set_times(plan, joint ? Whole{2_us, 2_us, 1_us} : Whole{3_us, 2_us, 2_us});
                const Whole t = time_of(plan, plan.stages[0].chunks[0]);
                const double one = (t.forward + t.input + t.weight).value;
                const double busy = shape.micro_batches * shape.chunks / find_schedule(key)->copies * one;
                const double expected = busy + closed_bubble(key, shape, t);
                EXPECT_NEAR(simulated(study, plan), expected, 1e-9 * expected) << key << ": " << text(shape);
            }
        }
    }
}

// Zero bubble for F = B = W: the step is as long as the work and the offset between the first stage and the last.
TEST(free_schedules, zero_bubble_schedules_only_keep_their_offset_for_equal_halves) {
    for (const std::string_view key : {"zb-h2", "zb-v"}) {
        for (const std::uint32_t p : stage_counts) {
            for (const PipelineShape& shape : legal_shapes(*find_schedule(key), p)) {
                if (shape.micro_batches < 2 * p - 1 || shape.micro_batches > 2 * p) continue;
                const Study study = study_of(*find_schedule(key), shape);
                Plan plan = plan_of(study, Parts::equal);
                set_times(plan, {1_us, 1_us, 1_us});
                const Whole t = time_of(plan, plan.stages[0].chunks[0]);
                const double part = t.forward.value;
                const double expected = (3.0 * shape.micro_batches * shape.chunks + p - 1) * part;
                EXPECT_NEAR(simulated(study, plan), expected, 1e-9 * expected) << key << ": " << text(shape);
            }
        }
    }
}

double step_of(std::string_view key, std::uint32_t virtual_stages) {
    const Schedule& schedule = *find_schedule(key);
    Study study = test::small_study({"framework=megatron", "schedule=" + std::string(key), "layout.tensor=1",
                                     "layout.data=1", "layout.pipeline=8", "batch.global=8", "model.layers=32",
                                     "layout.virtual_stages=" + std::to_string(virtual_stages)});
    EXPECT_EQ(study.job.schedule, &schedule);
    return simulated(study, plan_of(study, Parts::equal));
}

TEST(free_schedules, shorten_the_step_in_the_order_that_they_promise) {
    const double plain = step_of("1f1b", 1);
    EXPECT_NEAR(step_of("gpipe", 1), plain, 1e-9 * plain);
    EXPECT_LT(step_of("interleaved", 2), plain);
    EXPECT_LT(step_of("interleaved", 4), step_of("interleaved", 2));
    EXPECT_LT(step_of("zb-h1", 1), plain);
    EXPECT_LT(step_of("zb-v", 1), step_of("zb-h1", 1));
}

std::string name_of(const testing::TestParamInfo<std::string_view>& info) {
    std::string name(info.param);
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(all, every_schedule,
                         testing::Values("gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"),
                         name_of);

}  // namespace
}  // namespace weft
