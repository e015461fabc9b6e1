// What happened of routines comes back as it was stored.
#include "sim/engine/timeline.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace weft {
namespace {

// Each likely part often, and each other one now and then.
RoutinePart random_part(const RoutinePart& before) {
    const auto often = [] { return *rc::gen::inRange(0, 4) > 0; };
    const auto instant = [] { return Instant{*rc::gen::inRange<std::int64_t>(0, end_of_clock)}; };
    RoutinePart part;
    part.first = often() ? before.end() : *rc::gen::arbitrary<std::uint32_t>() / 2;
    part.ops = often() ? 1 : *rc::gen::inRange(1U, 1U << 30U);
    part.beside = often() ? Disturbance::none : Disturbance::transfer;
    part.begin = often() ? before.over : instant();
    part.posted = often() ? part.begin : Instant{*rc::gen::inRange<std::int64_t>(0, part.begin.femtoseconds + 1)};
    part.over = {*rc::gen::inRange(part.begin.femtoseconds, end_of_clock)};
    return part;
}

bool is_same(const RoutinePart& a, const RoutinePart& b) {
    return a.first == b.first && a.ops == b.ops && a.beside == b.beside && a.posted == b.posted && a.begin == b.begin &&
           a.over == b.over;
}

RC_GTEST_PROP(routine_parts, come_back_in_order, ()) {
    RoutineParts parts;
    std::vector<RoutinePart> all;
    RoutinePart before;
    for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
        before = random_part(before);
        if (!all.empty() && *rc::gen::inRange(0, 4) == 0) {
            parts.add_before_last(before);
            all.insert(all.end() - 1, before);
        } else {
            parts.add(before);
            all.push_back(before);
        }
    }
    RoutineParts::Reader reader(parts);
    for (const RoutinePart& part : all) RC_ASSERT(is_same(reader.next(), part));
    RC_ASSERT_THROWS(reader.next());
}

TEST(routine_parts, of_a_run_end_with_its_routine) {
    const Routine routine{.first_op = 5, .ops = 4};
    RoutineParts parts;
    for (int run = 0; run < 2; ++run) {
        parts.add({.first = 5, .ops = 3, .posted = {}, .begin = {}, .over = {7}});
        parts.add({.first = 8, .ops = 1, .posted = {7}, .begin = {7}, .over = {9}});
    }
    RoutineParts::Reader reader(parts);
    for (int run = 0; run < 2; ++run) {
        std::vector<std::uint32_t> firsts;
        reader.visit_run(routine, [&](const RoutinePart& part) { firsts.push_back(part.first); });
        EXPECT_EQ(firsts, (std::vector<std::uint32_t>{5, 8}));
    }
}

}  // namespace
}  // namespace weft
