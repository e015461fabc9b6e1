// The fullest moments of a stage, against all moments.
#include "workloads/schedule/moments.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/schedule/shapes.hpp"

namespace weft {
namespace {

std::vector<Moment> all_moments(const std::vector<Slot>& slots, std::uint32_t chunks) {
    std::vector<Moment> all;
    Moment now{.kind = SlotKind::forward, .chunk = 0, .alive = std::vector<std::uint32_t>(chunks)};
    for (const Slot& slot : slots) {
        if (slot.kind == SlotKind::forward) ++now.alive[slot.chunk];
        if (slot.kind != SlotKind::weight_backward) {
            const bool forward = slot.kind == SlotKind::forward;
            all.push_back({forward ? SlotKind::forward : SlotKind::backward, forward ? 0 : slot.chunk, now.alive});
        }
        if (slot.kind == SlotKind::backward || slot.kind == SlotKind::weight_backward) --now.alive[slot.chunk];
    }
    return all;
}

bool covered(const Moment& moment, const std::vector<Moment>& by) {
    return std::ranges::any_of(by, [&](const Moment& other) {
        return other.kind == moment.kind && other.chunk == moment.chunk &&
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

}  // namespace
}  // namespace weft
