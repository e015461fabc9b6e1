#include "sim/explicit/message_runner.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/engine/explicit_twin.hpp"

namespace weft {
namespace {

using Kind = MessageActionKind;
using testing_support::toy_crossbar;

constexpr InboxId first_inbox{0};

// Messages of 10 GB take a second on an idle crossbar and 1 s of latency.
MessageProgram program_of(const std::vector<std::vector<MessageAction>>& actors) {
    MessageProgram program;
    program.tables.inboxes = 1;
    program.tables.shapes = {{.bytes = 10_GB}};
    program.tables.durations = {3_s};
    std::uint32_t rank = 0;
    for (const auto& actions : actors) {
        program.begin({RankId(rank++), 0});
        for (const MessageAction& action : actions) program.add(action);
    }
    return program;
}

MessageRun run(const MessageProgram& program) {
    const auto ranks = static_cast<std::uint32_t>(program.tables.seats.size());
    const Topology topology = toy_crossbar(ranks, 1, 10_GBps, 0.5_s);
    return MessageRunner<MessageProgram>(program, program.tables, topology).run();
}

MessageAction work() { return {.kind = Kind::work}; }
MessageAction receive(std::uint32_t repeat = 1) {
    return {.kind = Kind::receive, .inbox = first_inbox, .repeat = repeat};
}
MessageAction message(Kind kind, std::uint32_t to, std::uint32_t repeat = 1) {
    return {.kind = kind, .inbox = first_inbox, .to = ActorId(to), .repeat = repeat};
}

TEST(message_runner, a_send_waits_for_its_message_and_a_post_does_not) {
    EXPECT_NEAR(run(program_of({{message(Kind::send, 1), work()}, {receive()}})).time.value, 5.0, 1e-9);
    EXPECT_NEAR(run(program_of({{message(Kind::post, 1), work()}, {receive()}})).time.value, 3.0, 1e-9);
    EXPECT_NEAR(run(program_of({{message(Kind::post, 1), {.kind = Kind::settle}, work()}, {receive()}})).time.value,
                5.0, 1e-9);
}

TEST(message_runner, an_arrival_waits_in_the_inbox_until_it_is_received) {
    EXPECT_NEAR(run(program_of({{message(Kind::send, 1)}, {work(), receive()}})).time.value, 3.0, 1e-9);
    EXPECT_NEAR(run(program_of({{message(Kind::send, 1)}, {receive(), work()}})).time.value, 5.0, 1e-9);
}

// Two posts share the links: two seconds after the latency. Two sends follow each other.
TEST(message_runner, posts_share_links_and_sends_follow_one_another) {
    EXPECT_NEAR(run(program_of({{message(Kind::post, 1, 2)}, {receive(2)}})).time.value, 3.0, 1e-9);
    EXPECT_NEAR(run(program_of({{message(Kind::send, 1, 2)}, {receive(2)}})).time.value, 4.0, 1e-9);
    EXPECT_EQ(run(program_of({{message(Kind::send, 1, 2)}, {receive(2)}})).messages, 2U);
}

// Nobody is further than its neighbour lets it: the worker holds up everybody, once.
TEST(message_runner, exchanges_wait_for_sends_and_arrivals) {
    const MessageAction ring[] = {message(Kind::exchange, 1, 5), message(Kind::exchange, 2, 5),
                                  message(Kind::exchange, 0, 5)};
    EXPECT_NEAR(run(program_of({{ring[0]}, {ring[1]}, {ring[2]}})).time.value, 10.0, 1e-9);
    EXPECT_NEAR(run(program_of({{work(), ring[0]}, {ring[1]}, {ring[2]}})).time.value, 13.0, 1e-9);
}

TEST(message_runner, a_message_of_nothing_takes_its_latency) {
    MessageProgram program = program_of({{message(Kind::send, 1)}, {receive()}});
    program.tables.shapes.front() = {.step = 2_s};
    EXPECT_NEAR(run(program).time.value, 3.0, 1e-9);
}

TEST(message_runner, refuses_to_wait_for_ever) {
    EXPECT_THROW(run(program_of({{receive()}, {}})), LogicError);
    EXPECT_THROW(run(program_of({{receive(), message(Kind::send, 1)}, {receive(), message(Kind::send, 0)}})),
                 LogicError);
}

// A program for the engine with an exchange per message, grown beside the script. Posts have lanes of their own.
class Pair {
  public:
    explicit Pair(std::uint32_t actors, const Topology& topology)
        : topology_(topology), builder_(lanes(actors)), actions_(actors), before_(actors) {
        script.tables.inboxes = actors;
        builder_.begin_class("all", RankId(0), actors);
    }

    void work(std::uint32_t actor, Seconds duration) {
        actions_[actor].push_back(
            {.kind = Kind::work, .subject = static_cast<std::uint32_t>(script.tables.durations.size())});
        script.tables.durations.push_back(duration);
        add(actor, actor,
            {.kind = OpKind::compute, .label = builder_.label("work"), .subject = builder_.work(duration)});
    }

    void message(std::uint32_t from, std::uint32_t to, Kind kind, const MessageShape& shape) {
        const auto inbox = InboxId(static_cast<std::uint16_t>(from));
        const auto subject = static_cast<std::uint32_t>(script.tables.shapes.size());
        script.tables.shapes.push_back(shape);
        actions_[from].push_back({kind, inbox, subject, ActorId(to), 1});
        actions_[to].push_back({.kind = Kind::receive, .inbox = inbox});
        const Route route = topology_.route(RankId(from), RankId(to));
        Pattern pattern = testing_support::pattern_of(route, shape.load, topology_);
        pattern.cap = shape.cap;
        const Leg leg{builder_.pattern(pattern), shape.step + topology_.latency(route), shape.bytes};
        const CommunicationId communication = builder_.communication(
            {.op = Collective::point_to_point, .group_size = 2, .message = shape.bytes}, {&leg, 1});
        const std::uint32_t lane = kind == Kind::post ? static_cast<std::uint32_t>(actions_.size()) + posts_++ : from;
        const OpId op = add(from, lane,
                            {.kind = OpKind::exchange,
                             .label = builder_.label("message"),
                             .subject = static_cast<std::uint32_t>(builder_.exchange(communication, 1))});
        before_[to].push_back(op);
    }

    Program finish() {
        for (std::uint32_t a = 0; a < actions_.size(); ++a) {
            script.begin({RankId(a), 0});
            for (const MessageAction& action : actions_[a]) script.add(action);
        }
        return builder_.finish();
    }

    MessageProgram script;

  private:
    static std::vector<std::string> lanes(std::uint32_t actors) {
        std::vector<std::string> names;
        for (std::uint32_t i = 0; i < actors + 60; ++i) names.push_back("lane " + std::to_string(i));
        return names;
    }

    // What comes later for the actor waits for the op, unless it is a post.
    OpId add(std::uint32_t actor, std::uint32_t lane, Op op) {
        op.lane = LaneId(static_cast<std::uint8_t>(lane));
        const OpId id = builder_.add(op, before_[actor]);
        if (lane == actor) before_[actor] = {id};
        return id;
    }

    const Topology& topology_;
    ProgramBuilder builder_;
    std::vector<std::vector<MessageAction>> actions_;
    std::vector<std::vector<OpId>> before_;  // what the next op of each actor waits for
    std::uint32_t posts_ = 0;
};

RC_GTEST_PROP(message_runner, agrees_with_a_program_that_has_an_exchange_per_message, ()) {
    const auto actors = *rc::gen::inRange<std::uint32_t>(2, 7);
    const Topology topology = toy_crossbar(actors, 1, 10_GBps, 1_us);
    Pair pair(actors, topology);
    const auto steps = *rc::gen::inRange(1, 60);
    for (int i = 0; i < steps; ++i) {
        const auto from = *rc::gen::inRange<std::uint32_t>(0, actors);
        const auto to = *rc::gen::inRange<std::uint32_t>(0, actors);
        if (from == to) {
            pair.work(from, Seconds{1e-6 * *rc::gen::inRange(1, 200)});
            continue;
        }
        // Equal between the same two, or one posted later might arrive before.
        const MessageShape shape{Bytes{1e5 * (1.0 + from % 3) * (1.0 + to % 2)}, 1.0 + 0.25 * (from % 2),
                                 from == 1 ? 3_GBps : 100_GBps, 1_us};
        pair.message(from, to, *rc::gen::element(Kind::send, Kind::post), shape);
    }
    const Program program = pair.finish();
    const double twin = since_start(simulate(program, topology, NetworkKind::flow).end).value;
    const double time = MessageRunner<MessageProgram>(pair.script, pair.script.tables, topology).run().time.value;
    RC_ASSERT(std::abs(time - twin) <= 1e-9 * twin);
}

}  // namespace
}  // namespace weft
