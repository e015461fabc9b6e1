#include "sim/program/program_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using testing::ElementsAre;

constexpr LaneId compute{0}, network{1};
constexpr double infinity = std::numeric_limits<double>::infinity();

ProgramBuilder two_lanes() { return ProgramBuilder({"compute", "network"}); }

std::vector<OpId> successors(const Program& program, OpId op) {
    std::vector<OpId> list;
    for (const OpId after : program.successors_of(op)) list.push_back(after);
    return list;
}

Op join(ProgramBuilder& builder, LaneId lane) { return {OpKind::join, lane, builder.label("join")}; }

TEST(program_builder, ops_of_one_lane_wait_for_one_another_and_other_lanes_do_not) {
    ProgramBuilder builder = two_lanes();
    builder.begin_class("all", RankId{0}, 1);
    const OpId a = builder.add(join(builder, compute), {});
    const OpId b = builder.add(join(builder, network), {});
    const OpId c = builder.add(join(builder, compute), {});
    const Program program = builder.finish();
    EXPECT_THAT(successors(program, a), ElementsAre(c));
    EXPECT_THAT(successors(program, b), ElementsAre());
    EXPECT_EQ(program.predecessors_of(a), 0U);
    EXPECT_EQ(program.predecessors_of(b), 0U);
    EXPECT_EQ(program.predecessors_of(c), 1U);
}

TEST(program_builder, a_dependency_named_twice_or_implied_by_the_lane_counts_once) {
    ProgramBuilder builder = two_lanes();
    builder.begin_class("all", RankId{0}, 1);
    const OpId a = builder.add(join(builder, compute), {});
    const OpId b = builder.add(join(builder, compute), {a, a});
    const Program program = builder.finish();
    EXPECT_EQ(program.predecessors_of(b), 1U);
    EXPECT_THAT(successors(program, a), ElementsAre(b));
}

TEST(program_builder, lanes_of_different_classes_are_independent) {
    ProgramBuilder builder = two_lanes();
    builder.begin_class("first", RankId{0}, 3);
    builder.add(join(builder, compute), {});
    builder.begin_class("second", RankId{5}, 2);
    const OpId b = builder.add(join(builder, compute), {});
    const Program program = builder.finish();
    EXPECT_EQ(program.predecessors_of(b), 0U);
    ASSERT_EQ(program.classes.size(), 2U);
    const RankClass& second = program.classes[RankClassId{1}];
    EXPECT_EQ(second.name, "second");
    EXPECT_EQ(second.representative, RankId{5});
    EXPECT_EQ(second.weight, 2U);
    EXPECT_EQ(second.first_op, 1U);
    EXPECT_EQ(second.ops, 1U);
}

TEST(program_builder, equal_labels_work_and_patterns_share_one_id) {
    ProgramBuilder builder = two_lanes();
    EXPECT_EQ(builder.label("forward"), builder.label(std::string("forward")));
    EXPECT_NE(builder.label("forward"), builder.label("backward"));
    EXPECT_EQ(builder.work({1.5}), builder.work({1.5}));
    EXPECT_NE(builder.work({1.5}), builder.work({1.25}));
    EXPECT_EQ(builder.work({0.0}), builder.work({-0.0}));
    const Pattern pattern{{{LinkId{1}, 2.0}, {LinkId{4}, 1.0}}, {5e9}};
    Pattern other_load = pattern, other_cap = pattern, other_alone = pattern;
    other_load.loads[1].load = 3.0;
    other_cap.cap = {6e9};
    other_alone.alone = {7e9};
    const std::set<PatternId> ids{builder.pattern(pattern), builder.pattern(other_load), builder.pattern(other_cap),
                                  builder.pattern(other_alone), builder.pattern(pattern)};
    EXPECT_EQ(ids.size(), 4U);
}

TEST(program_builder, the_legs_of_a_communication_follow_one_another) {
    ProgramBuilder builder = two_lanes();
    const PatternId pattern = builder.pattern({});
    const std::vector<Leg> two{{pattern, {1e-6}, {100.0}}, {pattern, {2e-6}, {0.0}}};
    const std::vector<Leg> one{{pattern, {3e-6}, {7.0}}};
    builder.communication({.dimension = network}, two);
    const CommunicationId last = builder.communication({.dimension = network, .message = {7.0}}, one);
    const Program program = builder.finish();
    EXPECT_EQ(program.communications[last].first_leg, 2U);
    EXPECT_EQ(program.communications[last].legs, 1U);
    EXPECT_EQ(program.legs[2].bytes, Bytes{7.0});
    EXPECT_EQ(program.communications[last].message, Bytes{7.0});
}

TEST(program_builder, an_exchange_with_too_few_or_too_many_ops_is_refused) {
    for (const std::uint32_t parties : {1U, 3U}) {
        ProgramBuilder builder = two_lanes();
        const auto exchange = index(builder.exchange(builder.communication({.dimension = network}, {}), parties));
        const Op op{OpKind::exchange, network, builder.label("send"), static_cast<std::uint32_t>(exchange)};
        builder.begin_class("all", RankId{0}, 1);
        builder.add(op, {});
        builder.add(op, {});
        try {
            builder.finish();
            FAIL() << parties << " parties were accepted";
        } catch (const LogicError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("exchange 0 has 2 ops for " + std::to_string(parties)));
        }
    }
}

TEST(program_builder, is_empty_after_finish) {
    ProgramBuilder builder = two_lanes();
    builder.begin_class("all", RankId{0}, 1);
    builder.add(join(builder, compute), {});
    builder.finish();
    const Program empty = builder.finish();
    EXPECT_TRUE(empty.ops.empty());
    EXPECT_TRUE(empty.classes.empty());
    EXPECT_EQ(empty.lanes.size(), 2U);
}

class refused_work : public testing::TestWithParam<double> {};
TEST_P(refused_work, is_negative_or_not_a_number) { EXPECT_THROW(two_lanes().work({GetParam()}), LogicError); }
INSTANTIATE_TEST_SUITE_P(program_builder, refused_work, testing::Values(-1e-9, infinity, std::nan("")));

struct Misuse {
    const char* name;
    void (*commit)(ProgramBuilder&);
};
void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.name; }

using Link = ProgramBuilder::RoutineUnit;

const Misuse misuses[] = {
    {"routine_without_class",
     [](ProgramBuilder& b) {
         b.routine(std::vector<Link>{{join(b, compute), {}}});
     }},
    {"empty_routine", [](ProgramBuilder& b) { b.begin_class("c", RankId{0}, 1), b.routine({}); }},
    {"routine_after_an_op",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1), b.add(join(b, compute), {});
         b.routine(std::vector<Link>{{join(b, compute), {}}});
     }},
    {"routine_that_begins_with_two",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1);
         b.routine(std::vector<Link>{{join(b, compute), join(b, compute)}, {join(b, compute), {}}});
     }},
    {"exchange_that_one_party_comes_to_more_often",
     [](ProgramBuilder& b) {
         const ExchangeId exchange = b.exchange(b.communication({.dimension = network}, {}), 2);
         const Op call{OpKind::exchange, network, b.label("x"), static_cast<std::uint32_t>(exchange)};
         for (std::uint32_t runs = 1; runs < 3; ++runs) {
             b.begin_class("c", RankId{runs}, 1);
             const RoutineId routine = b.routine(std::vector<Link>{{call, {}}});
             const Op run{OpKind::routine, compute, b.label("x"), static_cast<std::uint32_t>(routine)};
             for (std::uint32_t i = 0; i < runs; ++i) b.add(run, {});
         }
         b.finish();
     }},
    {"routine_of_another_class",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1);
         const RoutineId routine = b.routine(std::vector<Link>{{join(b, compute), {}}});
         b.begin_class("d", RankId{1}, 1);
         b.add({OpKind::routine, compute, b.label("x"), static_cast<std::uint32_t>(routine)}, {});
     }},
    {"no_class", [](ProgramBuilder& b) { b.add(join(b, compute), {}); }},
    {"unknown_lane", [](ProgramBuilder& b) { b.begin_class("c", RankId{0}, 1), b.add(join(b, LaneId{2}), {}); }},
    {"unknown_label",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1), b.add({OpKind::join, compute, LabelId{9}}, {});
     }},
    {"unknown_work",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1), b.add({OpKind::compute, compute, b.label("x"), 0}, {});
     }},
    {"unknown_exchange",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1), b.add({OpKind::exchange, network, b.label("x"), 0}, {});
     }},
    {"waits_for_itself",
     [](ProgramBuilder& b) { b.begin_class("c", RankId{0}, 1), b.add(join(b, compute), {OpId{0}}); }},
    {"waits_for_another_class",
     [](ProgramBuilder& b) {
         b.begin_class("c", RankId{0}, 1);
         const OpId other = b.add(join(b, compute), {});
         b.begin_class("d", RankId{1}, 1);
         b.add(join(b, compute), {other});
     }},
    {"zero_weight", [](ProgramBuilder& b) { b.begin_class("c", RankId{0}, 0); }},
    {"zero_parties", [](ProgramBuilder& b) { b.exchange(b.communication({.dimension = network}, {}), 0); }},
    {"unknown_communication", [](ProgramBuilder& b) { b.exchange(CommunicationId{0}, 1); }},
    {"unknown_dimension", [](ProgramBuilder& b) { b.communication({.dimension = LaneId{9}}, {}); }},
    {"unknown_pattern",
     [](ProgramBuilder& b) {
         b.communication({.dimension = network}, std::vector<Leg>{{PatternId{0}, {}, {}}});
     }},
    {"negative_bytes",
     [](ProgramBuilder& b) {
         b.communication({.dimension = network}, std::vector<Leg>{{b.pattern({}), {}, {-1.0}}});
     }},
    {"latency_not_a_number",
     [](ProgramBuilder& b) {
         b.communication({.dimension = network}, std::vector<Leg>{{b.pattern({}), {std::nan("")}, {}}});
     }},
    {"unsorted_loads",
     [](ProgramBuilder& b) {
         b.pattern({{{LinkId{2}, 1.0}, {LinkId{1}, 1.0}}});
     }},
    {"a_link_twice",
     [](ProgramBuilder& b) {
         b.pattern({{{LinkId{2}, 1.0}, {LinkId{2}, 1.0}}});
     }},
    {"zero_load",
     [](ProgramBuilder& b) {
         b.pattern({{{LinkId{2}, 0.0}}});
     }},
    {"zero_cap",
     [](ProgramBuilder& b) {
         b.pattern({{}, {0.0}});
     }},
};

class refused_misuse : public testing::TestWithParam<Misuse> {};
TEST_P(refused_misuse, is_a_logic_error) {
    ProgramBuilder builder = two_lanes();
    EXPECT_THROW(GetParam().commit(builder), LogicError);
}
INSTANTIATE_TEST_SUITE_P(program_builder, refused_misuse, testing::ValuesIn(misuses),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(program_builder, a_routine_waits_on_all_lanes_of_its_ops) {
    ProgramBuilder builder = two_lanes();
    const Op work{OpKind::compute, compute, builder.label("work"), builder.work({1})};
    const auto own = static_cast<std::uint32_t>(builder.exchange(builder.communication({}, {}), 1));
    const Op call{OpKind::exchange, network, builder.label("call"), own};
    builder.begin_class("c", RankId{0}, 1);
    const RoutineId routine = builder.routine(std::vector<Link>{{work, {}}, {call, work}, {work, {}}});
    const Op run{OpKind::routine, compute, builder.label("run"), static_cast<std::uint32_t>(routine)};
    const OpId before = builder.add(work, {}), beside = builder.add(join(builder, network), {});
    const OpId first = builder.add(run, {before});
    EXPECT_FALSE(builder.is_free(routine, std::vector<OpId>{before}));
    EXPECT_TRUE(builder.is_free(routine, std::vector<OpId>{first}));
    const OpId after = builder.add(join(builder, network), {});
    const Program program = builder.finish();
    const RankClass& rank_class = program.classes[RankClassId{0}];
    EXPECT_EQ(rank_class.routine_ops, 5U) << "four ops and the one that leaves";
    EXPECT_EQ(index(before), rank_class.first_op);
    EXPECT_EQ(rank_class.ops, 4U);
    EXPECT_EQ(program.routines[routine].ops, 4U);
    const auto waits = [&](OpId a, OpId b) {
        const std::vector<OpId> next = successors(program, a);
        return std::ranges::find(next, b) != next.end();
    };
    EXPECT_TRUE(waits(before, first) && waits(beside, first) && waits(first, after));
    EXPECT_TRUE(waits(OpId{0}, OpId{1}) && waits(OpId{0}, OpId{2}) && waits(OpId{1}, OpId{3}) &&
                waits(OpId{2}, OpId{3}) && waits(OpId{3}, OpId{4}));
    EXPECT_EQ(program.predecessors_of(OpId{3}), 2U);
}

// What waits for what, whether or not another op is in between: waits[a][b] if b waits for a.
using Closure = std::vector<std::vector<bool>>;

Closure closure_of(const std::set<std::pair<OpId, OpId>>& edges, std::uint32_t ops) {
    Closure waits(ops, std::vector<bool>(ops, false));
    for (std::uint32_t b = 0; b < ops; ++b) {
        for (std::uint32_t a = 0; a < b; ++a) {
            if (!edges.contains({OpId{a}, OpId{b}})) continue;
            waits[a][b] = true;
            for (std::uint32_t before = 0; before < a; ++before) {
                if (waits[before][a]) waits[before][b] = true;
            }
        }
    }
    return waits;
}

// Oracle: the edges as a plain set of pairs.
RC_GTEST_PROP(program_builder, successor_lists_hold_the_edges_asked_for_but_for_what_others_imply, ()) {
    ProgramBuilder builder({"a", "b", "c"});
    builder.begin_class("all", RankId{0}, 1);
    std::set<std::pair<OpId, OpId>> expected;
    std::vector<int> tail(3, -1);
    const auto ops = *rc::gen::inRange<std::uint32_t>(1, 40);
    for (std::uint32_t i = 0; i < ops; ++i) {
        const auto lane = *rc::gen::inRange<std::uint8_t>(0, 3);
        std::vector<OpId> after;
        if (i > 0) {
            after = *rc::gen::container<std::vector<OpId>>(
                rc::gen::map(rc::gen::inRange<std::uint32_t>(0, i), [](std::uint32_t j) { return OpId{j}; }));
        }
        const OpId op = builder.add(join(builder, LaneId{lane}), after);
        for (const OpId before : after) expected.emplace(before, op);
        if (tail[lane] >= 0) expected.emplace(OpId(static_cast<std::uint32_t>(tail[lane])), op);
        tail[lane] = static_cast<int>(i);
    }
    const Program program = builder.finish();
    std::set<std::pair<OpId, OpId>> found;
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        for (const OpId after : program.successors_of(op)) RC_ASSERT(found.emplace(op, after).second);
    }
    RC_ASSERT(std::ranges::includes(expected, found));
    RC_ASSERT(closure_of(found, ops) == closure_of(expected, ops));
}

TEST(program_builder, what_a_lane_implies_twice_over_is_left_out) {
    ProgramBuilder builder = two_lanes();
    builder.begin_class("all", RankId{0}, 1);
    const OpId a = builder.add(join(builder, compute), {});
    const OpId b = builder.add(join(builder, network), {a});
    const OpId c = builder.add(join(builder, compute), {b});
    const Program program = builder.finish();
    EXPECT_THAT(successors(program, a), ElementsAre(b));
    EXPECT_EQ(program.predecessors_of(c), 1U);
}

}  // namespace
}  // namespace weft
