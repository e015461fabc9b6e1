// Recorded programs against SimGrid: the same ranks compute, send and receive, as GOAL that weft replays and as actors
// that SimGrid runs. Messages are eager on both sides: they leave when their sender comes to them, whoever waits. Both
// are told what a message takes by itself; who waits for whom, and how long, each finds out.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/outside/simgrid/fair_engine.hpp"
#include "tests/workloads/recorded/traces.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft {
namespace {

struct Step {
    enum class Kind : std::uint8_t { compute, send, receive } kind{};
    std::uint32_t other = 0;
    std::uint64_t amount = 0;  // ns or bytes
    std::uint32_t tag = 0;
};

// What each rank does, one after another.
struct Conversation {
    std::string name;
    std::vector<std::vector<Step>> ranks;

    void compute(std::uint32_t rank, std::uint64_t nanoseconds) {
        ranks[rank].push_back({Step::Kind::compute, 0, nanoseconds, 0});
    }
    void message(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
        ranks[from].push_back({Step::Kind::send, to, bytes, messages});
        ranks[to].push_back({Step::Kind::receive, from, bytes, messages++});
    }
    std::uint32_t messages = 0;
};

Conversation ping_pong(std::uint64_t bytes) {
    Conversation conversation{fmt::format("ping_pong_{}", bytes), std::vector<std::vector<Step>>(2)};
    for (std::uint32_t i = 0; i < 20; ++i) {
        conversation.message(i % 2, 1 - i % 2, bytes);
        conversation.compute(1 - i % 2, 700);
    }
    return conversation;
}

Conversation ring(std::uint32_t ranks, std::uint64_t bytes) {
    Conversation conversation{fmt::format("ring_{}_{}", ranks, bytes), std::vector<std::vector<Step>>(ranks)};
    for (std::uint32_t hop = 0; hop < 2 * ranks; ++hop) conversation.message(hop % ranks, (hop + 1) % ranks, bytes);
    return conversation;
}

// Each message meets nobody on its way: its sender computes long enough for those before it to have arrived.
Conversation tree(std::uint32_t ranks, std::uint64_t bytes) {
    Conversation conversation{fmt::format("tree_{}_{}", ranks, bytes), std::vector<std::vector<Step>>(ranks)};
    for (std::uint32_t level = 1; level < ranks; level *= 2) {
        for (std::uint32_t rank = 0; rank < level; ++rank) conversation.message(rank, rank + level, bytes);
    }
    return conversation;
}

Conversation at_random(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(random() % bound); };
    const std::uint32_t ranks = 2 + below(15);
    Conversation conversation{fmt::format("random_{}", seed), std::vector<std::vector<Step>>(ranks)};
    for (int i = 0; i < 60; ++i) {
        const std::uint32_t from = below(ranks), to = below(ranks);
        if (from != to) conversation.message(from, to, 1 + below(1U << below(12)));
        conversation.compute(from, below(200'000));
    }
    return conversation;
}

std::string goal_text(const Conversation& conversation) {
    std::string text = fmt::format("num_ranks {}\n", conversation.ranks.size());
    for (std::size_t rank = 0; rank < conversation.ranks.size(); ++rank) {
        text += fmt::format("rank {} {{\n", rank);
        for (std::size_t i = 0; i < conversation.ranks[rank].size(); ++i) {
            const Step& step = conversation.ranks[rank][i];
            text += step.kind == Step::Kind::compute ? fmt::format("n{}: calc {}\n", i, step.amount)
                    : step.kind == Step::Kind::send
                        ? fmt::format("n{}: send {}b to {} tag {}\n", i, step.amount, step.other, step.tag)
                        : fmt::format("n{}: recv {}b from {} tag {}\n", i, step.amount, step.other, step.tag);
            if (i > 0) text += fmt::format("n{} requires n{}\n", i, i - 1);
        }
        text += "}\n";
    }
    return text;
}

// What a message takes: launched before its bytes leave, these at a rate, and until they have arrived.
struct Carried {
    double launch = 0, rate = 0, flight = 0;
};

struct Here {
    double step = 0;
    std::vector<Carried> messages;  // by tag
};

Here replay_here(const Conversation& conversation) {
    static const Machine machine = Machine::load("dgx-h100");
    const auto ranks = static_cast<std::uint32_t>(conversation.ranks.size());
    const Topology topology = machine.topology((ranks - 1) / machine.info().accelerators_per_node + 1);
    const RecordedProgram program = test::read_goal_text(goal_text(conversation));
    const Meetings meetings = meet(program);
    const RecordedCosts costs = recorded_costs(program, meetings, topology, machine.info().library());
    Here here{since_start(replay(program, meetings, costs, topology, NetworkKind::flow).over).value,
              std::vector<Carried>(conversation.messages)};
    for (std::size_t i = 0; i < meetings.meetings.size(); ++i) {
        const RecordedCall& call = costs.calls[costs.call_of[i]];
        EXPECT_EQ(call.stretches, 1U);
        const CallStretch& stretch = costs.stretches[call.first];
        const double sent = meetings.node(program, meetings.of(meetings.meetings[i])[0]).bytes.value;
        const double rate = idle_rate(costs.patterns[stretch.pattern], topology).value * sent / stretch.bytes.value;
        const std::uint32_t tag = meetings.node(program, meetings.of(meetings.meetings[i])[0]).tag;
        here.messages.at(tag) = {since_start({stretch.ticks}).value, rate, since_start({call.flight}).value};
    }
    return here;
}

struct There {
    std::vector<double> left;  // by tag: when its last byte did; below 0: not yet
    double step = 0;
};

void act(const Conversation& conversation, std::uint32_t rank, const Here& here, There& there) {
    using namespace simgrid::s4u;
    const auto mailbox = [&](std::uint32_t tag) {
        return Mailbox::by_name(fmt::format("{}_{}", conversation.name, tag));
    };
    for (const Step& step : conversation.ranks[rank]) {
        if (step.kind == Step::Kind::receive) mailbox(step.tag)->set_receiver(Actor::self());
    }
    this_actor::sleep_until(1.0);  // all mailboxes have their receivers
    static int byte = 0;
    for (const Step& step : conversation.ranks[rank]) {
        if (step.kind == Step::Kind::compute) {
            this_actor::sleep_for(static_cast<double>(step.amount) * 1e-9);
        } else if (step.kind == Step::Kind::send) {
            this_actor::sleep_for(here.messages[step.tag].launch);
            mailbox(step.tag)->put(&byte, step.amount);
            there.left[step.tag] = Engine::get_clock();
        } else {
            mailbox(step.tag)->get<int>();
            const double left = there.left[step.tag] < 0 ? Engine::get_clock() : there.left[step.tag];
            this_actor::sleep_until(std::max(Engine::get_clock(), left + here.messages[step.tag].flight));
        }
    }
    there.step = std::max(there.step, Engine::get_clock() - 1.0);
}

// A host per rank, and between them a link for each message: what shares links is simgrid_test.cpp's.
void build_there(const Conversation& conversation, const Here& here, simgrid::s4u::NetZone& zone, There& there) {
    using namespace simgrid::s4u;
    there.left.assign(conversation.messages, -1.0);
    std::vector<Host*> hosts;
    for (std::uint32_t rank = 0; rank < conversation.ranks.size(); ++rank) {
        hosts.push_back(zone.create_host(fmt::format("{}_{}", conversation.name, rank), 1e9)->seal());
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> linked;
    for (std::uint32_t from = 0; from < conversation.ranks.size(); ++from) {
        for (const Step& step : conversation.ranks[from]) {
            if (step.kind != Step::Kind::send || !linked.emplace(from, step.other).second) continue;
            Link* const link = zone.create_link(fmt::format("{}_{}_{}", conversation.name, from, step.other),
                                                here.messages[step.tag].rate)
                                   ->set_latency(0.0)
                                   ->seal();
            zone.add_route(hosts[from]->get_netpoint(), hosts[step.other]->get_netpoint(), nullptr, nullptr,
                           {LinkInRoute(link)}, false);
        }
        Actor::create(fmt::format("{}_{}", conversation.name, from), hosts[from],
                      [&conversation, &here, &there, from] { act(conversation, from, here, there); });
    }
}

// SimGrid has one engine per process, so one test holds all conversations.
TEST(simgrid_replay, takes_as_long_there) {
    std::vector<Conversation> conversations;
    for (const std::uint64_t bytes : {8U, 65536U, 67108864U}) {
        conversations.push_back(ping_pong(bytes));
        conversations.push_back(ring(16, bytes));
        conversations.push_back(tree(8, bytes));
    }
    for (std::uint64_t seed = 0; seed < 30; ++seed) conversations.push_back(at_random(seed));

    FairEngine engine;
    simgrid::s4u::NetZone* const zone = simgrid::s4u::create_full_zone("all");
    std::vector<Here> here;
    for (const Conversation& conversation : conversations) here.push_back(replay_here(conversation));
    std::vector<There> there(conversations.size());
    for (std::size_t i = 0; i < conversations.size(); ++i) build_there(conversations[i], here[i], *zone, there[i]);
    zone->seal();
    engine.run();
    double worst = 0;
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        const double difference = std::abs(here[i].step / there[i].step - 1);
        EXPECT_LT(difference, 0.02) << conversations[i].name << ": " << here[i].step << " s, there " << there[i].step;
        worst = std::max(worst, difference);
    }
    RecordProperty("largest_difference", fmt::format("{:.1e}", worst));
}

}  // namespace
}  // namespace weft
