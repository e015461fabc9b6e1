// Rank classes that share what they do, against those that have it written for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program_builder.hpp"

namespace weft {
namespace {

using testing::ElementsAre;

constexpr LaneId compute{0}, network{1};

// What a class has in common with another, for all to see.
auto seen(const Program& program, RankClassId id) {
    const RankClass& own = program.classes[id];
    std::vector<std::tuple<OpKind, std::uint32_t, std::uint32_t, std::vector<std::size_t>>> all;
    for (OpId op{own.begin_op()}; index(op) < own.end_op(); op = next(op)) {
        EXPECT_EQ(program.class_of(op), id);
        const Op what = program.ops[op];
        std::uint32_t subject = what.subject;
        if (what.kind == OpKind::exchange) subject = program.exchanges[ExchangeId(subject)].parties;
        if (what.kind == OpKind::routine) subject = program.routine_of(op, id).first_op - own.begin_op();
        std::vector<std::size_t> after;
        for (const OpId each : program.successors_of(op)) after.push_back(index(each) - own.begin_op());
        all.emplace_back(what.kind, subject, program.predecessors_of(op), after);
    }
    return all;
}

// Two classes that meet, the second written out or like the first, and one between that is like none.
Program pair_of_classes(bool is_like) {
    ProgramBuilder builder({"compute", "network"});
    const CommunicationId communication = builder.communication({.op = Collective::all_reduce}, {});
    const ExchangeId shared = builder.exchange(communication, 2), last = builder.exchange(communication, 2);
    const auto write = [&](RankId rank, std::span<const ExchangeId> exchanges) {
        const auto call = [&](std::size_t i) {
            return Op{OpKind::exchange, network, builder.label("call"),
                      static_cast<std::uint32_t>(index(exchanges[i]))};
        };
        const Op work{OpKind::compute, compute, builder.label("work"), builder.work({1.0})};
        const RankClassId id = builder.begin_class("class", rank, 1);
        const RoutineId routine =
            builder.routine(std::vector<ProgramBuilder::RoutineUnit>{{work, {}}, {call(0), work}, {work, {}}});
        const Op run{OpKind::routine, compute, builder.label("run"), static_cast<std::uint32_t>(routine)};
        const OpId first = builder.add(run, {});
        const OpId meeting = builder.add(call(1), {first});
        builder.add(run, {meeting});
        return id;
    };
    const std::vector<ExchangeId> own{shared, last};
    const RankClassId first = write(RankId{0}, own);
    builder.begin_class("other", RankId{1}, 1);
    builder.add({OpKind::join, compute, builder.label("join")}, {});
    if (is_like) {
        builder.add_class_like(first, "class", RankId{2}, 1, own);
    } else {
        write(RankId{2}, own);
    }
    return builder.finish();
}

TEST(courses, a_class_like_another_is_what_it_would_be_if_it_were_written) {
    const Program like = pair_of_classes(true), written = pair_of_classes(false);
    EXPECT_EQ(like.ops.size(), written.ops.size());
    EXPECT_LT(like.ops.kept.size(), written.ops.kept.size());
    for (const std::uint32_t id : {0U, 1U, 2U}) EXPECT_EQ(seen(like, RankClassId{id}), seen(written, RankClassId{id}));
    const Program a = unfold(like), b = unfold(written);
    EXPECT_LT(a.ops.kept.size(), b.ops.kept.size());
    for (const std::uint32_t id : {0U, 1U, 2U}) EXPECT_EQ(seen(a, RankClassId{id}), seen(b, RankClassId{id}));
    EXPECT_EQ(a.ops.exchanges, b.ops.exchanges);
}

// As a change does that drops a communication: what follows in the list of exchanges stays whose it was.
TEST(courses, an_op_that_is_no_exchange_any_more_takes_part_in_none) {
    for (const bool is_like : {false, true}) {
        Program program = pair_of_classes(is_like);
        const RankClass &first = program.classes[RankClassId{0}], &last = program.classes[RankClassId{2}];
        program.ops.shared(OpId{first.begin_op() + 1}).kind = OpKind::join;  // in its routine
        program.ops.shared(OpId{last.begin_op() + 1}).kind = OpKind::join;
        const ExchangeOps parties(program);
        EXPECT_TRUE(parties.of(ExchangeId{0}).empty());
        EXPECT_EQ(parties.of(ExchangeId{1}).size(), 2U);
        std::vector<std::uint32_t> seen;
        for_each_run(program, [&seen](const Op& op, std::uint32_t) {
            if (op.kind == OpKind::exchange) seen.push_back(op.subject);
        });
        EXPECT_THAT(seen, ElementsAre(1, 1));
    }
}

TEST(courses, a_class_like_another_needs_exchanges_like_its_own) {
    ProgramBuilder builder({"compute", "network"});
    const CommunicationId communication = builder.communication({.op = Collective::all_reduce}, {});
    const ExchangeId alone = builder.exchange(communication, 1), pair = builder.exchange(communication, 2);
    const RankClassId first = builder.begin_class("class", RankId{0}, 1);
    builder.add({OpKind::exchange, network, builder.label("call"), static_cast<std::uint32_t>(index(alone))}, {});
    const auto like = [&](std::vector<ExchangeId> exchanges) {
        builder.add_class_like(first, "like", RankId{1}, 1, exchanges);
    };
    EXPECT_THROW(like({}), LogicError);
    EXPECT_THROW(like({pair}), LogicError);
    EXPECT_THROW(like({alone, alone}), LogicError);
    EXPECT_THROW(like({ExchangeId{7}}), LogicError);
    EXPECT_THROW(builder.add_class_like(RankClassId{9}, "like", RankId{1}, 1, {}), LogicError);
}

}  // namespace
}  // namespace weft
