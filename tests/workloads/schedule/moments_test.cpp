// The fullest moments of a stage, against all moments.
#include "workloads/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

// A forward that runs as one with a backward is done when that one is.
std::vector<Moment> all_moments(const std::vector<Slot>& slots, std::uint32_t chunks) {
    std::vector<Moment> all;
    Moment now{.kind = SlotKind::forward, .chunk = 0, .alive = std::vector<std::uint32_t>(chunks)};
    const Slot* beside = nullptr;
    const auto forward_done = [&](const Slot& slot) {
        ++now.alive[slot.chunk];
        all.push_back({SlotKind::forward, 0, now.alive});
    };
    for (const Slot& slot : slots) {
        if (slot.runs == Slot::Runs::with_next) {
            beside = &slot;
            continue;
        }
        if (slot.kind == SlotKind::forward) forward_done(slot);
        if (slot.kind == SlotKind::backward || slot.kind == SlotKind::input_backward) {
            all.push_back({SlotKind::backward, slot.chunk, now.alive});
            if (beside != nullptr) all.back().ahead = beside->chunk;
        }
        if (slot.kind == SlotKind::backward || slot.kind == SlotKind::weight_backward) --now.alive[slot.chunk];
        if (beside != nullptr) forward_done(*std::exchange(beside, nullptr));
    }
    return all;
}

bool covered(const Moment& moment, const std::vector<Moment>& by) {
    return std::ranges::any_of(by, [&](const Moment& other) {
        return other.kind == moment.kind && other.chunk == moment.chunk && other.ahead == moment.ahead &&
               std::ranges::equal(other.alive, moment.alive, std::ranges::greater_equal{});
    });
}

// None that could be the fullest is lost, whatever the parts keep, and none is made up.
TEST(moments, cover_all_moments_of_every_schedule) {
    for (const Schedule* schedule : schedule::all()) {
        for (const std::uint32_t stages : {1U, 2U, 4U, 8U}) {
            for (const PipelineShape& shape : legal_shapes(*schedule, stages)) {
                for (std::uint32_t stage = 0; stage < stages; ++stage) {
                    const std::vector<Slot> slots = schedule->slots(shape, stage);
                    const std::vector<Moment> all = all_moments(slots, shape.chunks),
                                              kept = fullest_moments(slots, shape.chunks);
                    for (const Moment& moment : all) EXPECT_TRUE(covered(moment, kept)) << schedule->key;
                    for (const Moment& moment : kept) {
                        EXPECT_NE(std::ranges::find(all, moment), all.end()) << schedule->key << ", " << text(shape);
                    }
                }
            }
        }
    }
}

TEST(moments, of_one_part_are_the_most_alive_after_and_before_a_backward) {
    const std::vector<Slot> slots = find_schedule("1f1b")->slots({4, 16, 1}, 1);
    const std::vector<Moment> kept = fullest_moments(slots, 1);
    ASSERT_EQ(kept.size(), 2);
    EXPECT_EQ(kept[0], (Moment{SlotKind::forward, 0, {3}}));
    EXPECT_EQ(kept[1], (Moment{SlotKind::backward, 0, {3}}));
}

// One under way beside the one that goes back, never two whole ones.
TEST(moments, of_joint_passes_have_one_whole_micro_batch_alive) {
    const std::vector<Slot> slots = find_schedule("1f1b")->slots({1, 4, 1, PassOrder::joint}, 0);
    const std::vector<Moment> kept = fullest_moments(slots, 1);
    ASSERT_EQ(kept.size(), 3);
    EXPECT_EQ(kept[0], (Moment{SlotKind::forward, 0, {1}}));
    EXPECT_EQ(kept[1], (Moment{SlotKind::backward, 0, {1}, 0}));
    EXPECT_EQ(kept[2], (Moment{SlotKind::backward, 0, {1}}));
}

}  // namespace
}  // namespace weft
