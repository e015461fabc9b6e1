// What a stage with joint passes hands on when, and what its host waits for, against the order in which Megatron-core
// issues both (TransformerModelChunkSchedulePlan.run; token_dispatcher.py, token_dispatch).
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

Study study_of(const std::string& schedule, const Settings& more = {}) {
    Settings all{"machine=dgx-h100",
                 "precision=bf16",
                 "megatron.version=core-0.14",
                 "experts.overlap=passes",
                 "schedule=" + schedule,
                 "layout.tensor=1",
                 "layout.data=4",
                 "layout.expert=4",
                 "model.layers=8",
                 "batch.global=32",
                 R"(model.experts={"count": 16, "top_k": 4, "ffn_hidden": 512, "shared": 1, "first_dense": 1})"};
    if (schedule == "interleaved") all.emplace_back("layout.virtual_stages=2");
    all.insert(all.end(), more.begin(), more.end());
    return test::small_study(all);
}

struct Written {
    Plan plan;
    std::uint32_t stage;
    Script script;

    const Stage& of() const { return plan.stages[stage]; }
    const Action& action(ActionId id) const { return script.actions()[id]; }
    const std::string& label(ActionId id) const { return script.labels()[action(id).label]; }
    bool computes(ActionId id) const { return action(id).kind == Action::Kind::compute; }
    ActionId end() const { return static_cast<ActionId>(script.actions().size()); }
};

std::vector<Written> written(const Study& study) {
    const Plan plan = make_plan(study);
    std::vector<Written> all;
    for (std::uint32_t s = 0; s < plan.stages.size(); ++s)
        all.push_back({plan, s, step_script(plan, s, StepKind::steady)});
    return all;
}

// Of the layers of a slot, without what embeds and what follows the last layer; the weights' gradients that are put
// off do not count.
bool makes_output(const Written& of, ActionId id, const Slot& slot) {
    if (!of.computes(id) || of.action(id).where.micro_batch != slot.micro_batch) return false;
    const Chunk& chunk = of.of().chunks[slot.chunk];
    const std::uint32_t layer = of.action(id).where.layer;
    const std::string& label = of.label(id);
    const bool forward = label.starts_with("forward");
    return layer >= chunk.first_layer && layer < chunk.first_layer + chunk.layers &&
           forward == (slot.kind == SlotKind::forward) && label != "backward weights" &&
           label.find("embedding") == std::string::npos;
}

// Sends of the stage in order, with their slots.
struct Send {
    ActionId id;
    const Slot* slot;
    bool joint;
};

std::vector<Send> sends(const Written& of) {
    std::vector<Send> all;
    std::vector<std::pair<const Slot*, bool>> slots;
    const std::vector<Slot>& own = of.of().slots;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const Chunk& chunk = of.of().chunks[own[i].chunk];
        const bool last = own[i].kind == SlotKind::forward ? chunk.has_head() : chunk.has_embedding();
        const bool joint = own[i].runs == Slot::Runs::with_next || (i > 0 && own[i - 1].runs == Slot::Runs::with_next);
        if (own[i].kind != SlotKind::weight_backward && !last) slots.emplace_back(&own[i], joint);
    }
    for (ActionId id = 0; id < of.end(); ++id) {
        const Action& action = of.action(id);
        if (action.kind != Action::Kind::issue) continue;
        const Call& call = of.script.calls()[action.subject];
        if (!call.crosses_boundary() || call.direction != Direction::send) continue;
        if (all.size() == slots.size()) break;
        all.push_back({id, slots[all.size()].first, slots[all.size()].second});
        EXPECT_EQ(action.where.micro_batch, all.back().slot->micro_batch);
    }
    EXPECT_EQ(all.size(), slots.size());
    return all;
}

std::size_t computed_between(const Written& of, ActionId first, ActionId end) {
    std::size_t count = 0;
    for (ActionId id = first; id < end; ++id) count += of.computes(id) ? 1 : 0;
    return count;
}

ActionId last_of_output(const Written& of, const Slot& slot, ActionId before) {
    ActionId last = Action::none;
    for (ActionId id = 0; id < before; ++id) last = makes_output(of, id, slot) ? id : last;
    return last;
}

TEST(joint_scripts, send_what_each_half_made_when_that_half_is_over) {
    for (const char* delay : {"true", "false"}) {
        std::size_t early = 0;
        for (const Written& of : written(study_of(
                 "interleaved", {"layout.pipeline=2", std::string("experts.delay_weight_gradients=") + delay}))) {
            for (const Send& send : sends(of)) {
                if (!send.joint) continue;
                const ActionId after = of.action(send.id).after, last = last_of_output(of, *send.slot, send.id);
                ASSERT_NE(last, Action::none);
                ASSERT_GE(after, last);
                EXPECT_EQ(computed_between(of, last + 1, after), 0U) << "nothing is computed before it leaves";
                early += computed_between(of, after + 1, send.id) > 0 ? 1 : 0;
            }
        }
        EXPECT_GT(early, 0U) << "ends of the model, and weights, are computed meanwhile";
    }
}

TEST(joint_scripts, of_dualpipe_send_what_the_whole_pass_made) {
    std::size_t joint = 0;
    for (const Written& of : written(study_of("dualpipe", {"layout.pipeline=2"}))) {
        for (const Send& send : sends(of)) {
            if (!send.joint) continue;
            ++joint;
            EXPECT_EQ(computed_between(of, of.action(send.id).after + 1, send.id), 0U);
        }
    }
    EXPECT_GT(joint, 0U);
}

// --- the host ---

Study host_bound(const Settings& more) {
    Settings own{"layout.pipeline=1", "megatron.check_for_nan=false", "model.experts.shared=0"};
    own.insert(own.end(), more.begin(), more.end());
    Study study = study_of("1f1b", own);
    study.device.host_launch = {2e-5};
    return study;
}

double launched(const Written& of) {
    double sum = 0;
    for (ActionId id = 0; id < of.end(); ++id) {
        if (of.action(id).kind == Action::Kind::launch) sum += of.script.work()[of.action(id).subject].value;
    }
    return sum;
}

// By layers of experts that run forward in a joint pass: what the host launches once it knows the counts comes after a
// launch, made without them, of the backward half's MLP.
TEST(joint_scripts, let_the_host_wait_for_the_router_once_it_has_launched_the_mlp_backward) {
    for (const char* delay : {"true", "false"}) {
        const std::string delays = std::string("experts.delay_weight_gradients=") + delay;
        const Written of = written(host_bound({delays})).front();
        ASSERT_TRUE(of.plan.host_bound);
        const auto computed = [&](ActionId first, ActionId end, std::string_view label) {
            std::size_t count = 0;
            for (ActionId id = first; id < end; ++id)
                count += of.computes(id) && of.label(id).starts_with(label) ? 1 : 0;
            return count;
        };
        std::size_t waits = 0, joint = 0;
        ActionId launch_before = 0;
        for (ActionId id = 0; id < of.end(); ++id) {
            const Action& action = of.action(id);
            if (action.kind != Action::Kind::launch) continue;
            const ActionId before = std::exchange(launch_before, id);
            if (action.after == Action::none) continue;
            ++waits;
            ASSERT_LT(action.after, before);
            ActionId counts = action.after;
            while (of.action(counts).kind == Action::Kind::join) --counts;
            EXPECT_EQ(of.label(counts), "all-gather expert counts");
            joint += computed(action.after, before, "backward") > 0 ? 1 : 0;  // not where layers run forward alone
            EXPECT_EQ(computed(action.after, before, "forward experts"), 0U);
            EXPECT_GT(computed(before, id, "forward experts"), 0U);
        }
        const std::uint32_t micro_batches = of.plan.job.micro_batches(), layers = of.plan.job.model.layers - 1;
        EXPECT_EQ(waits, micro_batches * layers);
        EXPECT_EQ(joint, (micro_batches - 1) * layers);
    }
}

// Under a capacity it knows beforehand; it launches as much either way.
TEST(joint_scripts, launch_as_much_whether_the_host_waits_or_not) {
    const Written waits = written(host_bound({"experts.capacity_factor=0"})).front(),
                  knows = written(host_bound({"experts.capacity_factor=1"})).front();
    EXPECT_NEAR(launched(waits) / launched(knows), 1, 1e-9);
    for (ActionId id = 0; id < knows.end(); ++id) {
        if (knows.action(id).kind == Action::Kind::launch) {
            EXPECT_EQ(knows.action(id).after, Action::none);
        }
    }
}

}  // namespace
}  // namespace weft
