// Proofs that run for every registered algorithm: semantics by symbolic execution, equal traffic of both forms, and
// the bandwidth lower bounds.
#include "sim/collective/algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// What a member holds of a chunk: who contributed to it, each as often as it was added in. No entry: nothing yet.
using Contributions = std::multiset<std::uint32_t>;
using Member = std::map<std::uint32_t, Contributions>;  // by chunk
using State = std::vector<Member>;

Contributions everyone(std::uint32_t n) {
    Contributions all;
    for (std::uint32_t i = 0; i < n; ++i) all.insert(i);
    return all;
}

// all_to_all and send_receive number chunks across all members, so they have n times as many names as a message has
// pieces.
std::uint32_t chunk_names(const Algorithm& algorithm, const GroupShape& shape) {
    const bool across = algorithm.op == Collective::all_to_all || algorithm.op == Collective::send_receive;
    return algorithm.chunks(shape) * (across ? shape.members : 1);
}

State before(const Algorithm& algorithm, const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    State state(n);
    for (std::uint32_t member = 0; member < n; ++member) {
        for (std::uint32_t chunk = 0; chunk < chunk_names(algorithm, shape); ++chunk) {
            bool holds = false;
            switch (algorithm.op) {
                case Collective::all_reduce:
                case Collective::reduce_scatter:
                case Collective::reduce:
                    holds = true;
                    break;
                case Collective::all_gather:
                case Collective::send_receive:
                    holds = chunk == member;
                    break;
                case Collective::all_to_all:
                    holds = chunk / n == member;
                    break;
                case Collective::broadcast:
                case Collective::point_to_point:
                    holds = member == 0;
                    break;
            }
            if (holds) state[member][chunk] = {member};
        }
    }
    return state;
}

// What a member must hold of a chunk at the end; nothing: it does not matter.
std::optional<Contributions> wanted(const Algorithm& algorithm, std::uint32_t n, std::uint32_t member,
                                    std::uint32_t chunk) {
    switch (algorithm.op) {
        case Collective::all_reduce:
            return everyone(n);
        case Collective::reduce_scatter:
            if (chunk == member) return everyone(n);
            return std::nullopt;
        case Collective::reduce:
            if (member == n - 1) return everyone(n);
            return std::nullopt;
        case Collective::all_gather:
            return Contributions{chunk};
        case Collective::all_to_all:
            if (chunk % n == member) return Contributions{chunk / n};
            return std::nullopt;
        case Collective::send_receive:
            if (chunk == (member + n - 1) % n) return Contributions{chunk};
            return std::nullopt;
        case Collective::broadcast:
        case Collective::point_to_point:
            return Contributions{0};
    }
    return std::nullopt;
}

std::string said(const Transfer& t) {
    return "round " + std::to_string(t.round) + ", " + std::to_string(t.from) + " to " + std::to_string(t.to) +
           ", chunk " + std::to_string(t.chunk);
}

// Executes the transfers; the messages of one round read what their senders held before it. Returns what is wrong
// first, or "".
std::string fault(const Algorithm& algorithm, const GroupShape& shape, const std::vector<Transfer>& transfers) {
    const std::uint32_t n = shape.members;
    State state = before(algorithm, shape);
    for (auto first = transfers.begin(); first != transfers.end();) {
        const auto last =
            std::find_if(first, transfers.end(), [&](const Transfer& t) { return t.round != first->round; });
        std::vector<Contributions> sent;
        for (auto t = first; t != last; ++t) {
            const bool exists = t->from < n && t->to < n && t->from != t->to && state[t->from].contains(t->chunk);
            if (!exists) return said(*t) + ": nothing to send, or nobody to send it to";
            sent.push_back(state[t->from].at(t->chunk));
        }
        for (const Contributions& message : sent) {
            Contributions& target = state[first->to][first->chunk];
            if (!first->reduce) target.clear();
            target.insert(message.begin(), message.end());
            ++first;
        }
        if (first != transfers.end() && first->round < std::prev(first)->round) return "rounds out of order";
    }
    for (std::uint32_t member = 0; member < n; ++member) {
        for (std::uint32_t chunk = 0; chunk < chunk_names(algorithm, shape); ++chunk) {
            const auto want = wanted(algorithm, n, member, chunk);
            if (want && state[member][chunk] != *want) {
                return "member " + std::to_string(member) + " ends with a wrong chunk " + std::to_string(chunk);
            }
        }
    }
    return "";
}

struct Case {
    const Algorithm* algorithm;
    GroupShape shape;
};

std::string title(const Case& c) {
    return std::string(name(c.algorithm->op)) + "_" + std::string(c.algorithm->name) + "_" +
           std::to_string(c.shape.members) + "_on_" + std::to_string(c.shape.nodes) + (c.shape.even ? "" : "_uneven");
}
void PrintTo(const Case& c, std::ostream* out) { *out << title(c); }

// Shapes that make no difference to an algorithm are proven once.
bool is_new(const Algorithm& algorithm, const GroupShape& shape, const std::vector<Case>& known) {
    const std::vector<Transfer> transfers = algorithm.transfers(shape);
    return std::none_of(known.begin(), known.end(), [&](const Case& c) {
        return c.algorithm == &algorithm && c.shape.members == shape.members &&
               c.algorithm->transfers(c.shape) == transfers;
    });
}

std::vector<GroupShape> shapes(std::uint32_t n) {
    std::vector<GroupShape> all;
    for (std::uint32_t nodes = 1; nodes <= n; ++nodes) {
        if (n % nodes == 0) all.push_back({.members = n, .nodes = nodes});
    }
    if (n > 2) all.push_back({.members = n, .nodes = 2, .even = false});
    return all;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Algorithm* const algorithm : collective::all()) {
        for (std::uint32_t n = 2; n <= 17; ++n) {
            for (const GroupShape& shape : shapes(n)) {
                if (algorithm->runs(shape) && is_new(*algorithm, shape, all)) all.push_back({algorithm, shape});
            }
        }
    }
    return all;
}

class every_algorithm : public testing::TestWithParam<Case> {
  protected:
    const Algorithm& algorithm = *GetParam().algorithm;
    const GroupShape shape = GetParam().shape;
    const std::uint32_t n = shape.members;
    const std::vector<Transfer> transfers = algorithm.transfers(shape);
    const std::vector<Phase> phases = algorithm.phases(shape);
};
INSTANTIATE_TEST_SUITE_P(registered, every_algorithm, testing::ValuesIn(cases()),
                         [](const auto& test) { return title(test.param); });

TEST_P(every_algorithm, delivers_each_contribution_exactly_once) { EXPECT_EQ(fault(algorithm, shape, transfers), ""); }

// The judge itself is judged, on transfers spread evenly over the algorithm.
std::size_t stride(const std::vector<Transfer>& transfers) { return transfers.size() / 12 + 1; }

TEST_P(every_algorithm, is_refuted_without_any_one_of_its_messages) {
    for (std::size_t lost = 0; lost < transfers.size(); lost += stride(transfers)) {
        auto fewer = transfers;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(lost));
        EXPECT_NE(fault(algorithm, shape, fewer), "") << "without transfer " << lost;
    }
}

TEST_P(every_algorithm, is_refuted_with_any_one_wrong_chunk) {
    const std::uint32_t names = std::max(2u, chunk_names(algorithm, shape));
    for (std::size_t wrong = 0; wrong < transfers.size(); wrong += stride(transfers)) {
        auto mutated = transfers;
        mutated[wrong].chunk = (mutated[wrong].chunk + 1) % names;
        EXPECT_NE(fault(algorithm, shape, mutated), "") << "with another chunk in transfer " << wrong;
    }
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Traffic = std::map<Pair, double>;  // in messages

// What a phase moves between each pair, if a sender moves `share` of the message to each of its peers.
Traffic traffic_of(const Phase& phase, std::uint32_t n, double share) {
    Traffic traffic;
    for (const Edge& edge : phase.edges) traffic[{edge.from, edge.to}] += share * edge.weight;
    if (phase.peer == Peer::listed) return traffic;
    for (std::uint32_t i = 0; i < n; ++i) {
        if (phase.peer == Peer::all) {
            for (std::uint32_t j = 0; j < n; ++j) {
                if (j != i) traffic[{i, j}] += share;
            }
        } else if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) {
            traffic[{i, peer}] += share;
        }
    }
    return traffic;
}

void expect_same(const Traffic& phases, const Traffic& transfers) {
    ASSERT_EQ(phases.size(), transfers.size());
    for (const auto& [pair, moved] : phases) {
        ASSERT_TRUE(transfers.contains(pair)) << pair.first << " to " << pair.second;
        EXPECT_NEAR(moved, transfers.at(pair), 1e-9) << pair.first << " to " << pair.second;
    }
}

// All links of a listed phase work at once on small chunks; the transfers spell the rounds of one chunk.
bool is_pipeline_of_rounds(const std::vector<Phase>& phases) {
    return std::any_of(phases.begin(), phases.end(), [](const Phase& phase) { return phase.peer == Peer::listed; });
}

// What transfers inside nodes load a member's link with where a switch adds and copies: a sum enters its owner once,
// for which the switch reads every member's part, the owner's too; a copy leaves its owner once and enters every
// member. The busier direction, in messages; the same for all members.
double switched_load(const std::vector<Transfer>& transfers, const GroupShape& shape, double chunks) {
    using Piece = std::pair<std::uint32_t, std::uint32_t>;    // owner or member, chunk
    std::map<std::uint32_t, std::set<Piece>> sent, received;  // by round
    for (const Transfer& t : transfers) {
        if (t.from / shape.per_node() != t.to / shape.per_node()) continue;
        const std::uint32_t owner = t.reduce ? t.to : t.from;
        sent[t.round].insert({t.from, t.chunk});
        received[t.round].insert({t.to, t.chunk});
        (t.reduce ? sent : received)[t.round].insert({owner, t.chunk});
    }
    double out = 0.0, in = 0.0;
    for (const auto& [round, pieces] : sent) out += static_cast<double>(pieces.size()) / chunks / shape.members;
    for (const auto& [round, pieces] : received) in += static_cast<double>(pieces.size()) / chunks / shape.members;
    return std::max(out, in);
}

// In its node every member sends to one neighbour what a switch would have its links carry; between nodes the forms
// agree.
void expect_switched(const std::vector<Phase>& phases, const std::vector<Transfer>& transfers, const GroupShape& shape,
                     const Algorithm& algorithm) {
    ASSERT_EQ(phases.size(), 1u);
    const double chunks = algorithm.chunks(shape);
    Traffic expected;
    for (const Transfer& t : transfers) {
        if (t.from / shape.per_node() != t.to / shape.per_node()) expected[{t.from, t.to}] += 1.0 / chunks;
    }
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        const std::uint32_t first = i - i % shape.per_node();
        expected[{i, first + (i + 1 - first) % shape.per_node()}] = switched_load(transfers, shape, chunks);
    }
    expect_same(traffic_of(phases.front(), shape.members, phases.front().volume()), expected);
}

TEST_P(every_algorithm, moves_the_same_bytes_between_the_same_pairs_in_both_forms) {
    if (algorithm.needs == Needs::reducing_switch) return expect_switched(phases, transfers, shape, algorithm);
    std::map<std::uint32_t, Traffic> by_round;
    Traffic total;
    for (const Transfer& t : transfers) {
        by_round[t.round][{t.from, t.to}] += 1.0 / algorithm.chunks(shape);
        total[{t.from, t.to}] += 1.0 / algorithm.chunks(shape);
    }
    if (is_pipeline_of_rounds(phases)) {
        ASSERT_EQ(phases.size(), 1u);
        return expect_same(traffic_of(phases.front(), n, phases.front().volume()), total);
    }
    std::uint32_t round = 0;
    for (const Phase& phase : phases) {
        if (phase.duty == 1.0) {
            for (std::uint32_t r = 0; r < phase.repeat; ++r) {
                expect_same(traffic_of(phase, n, phase.fraction), by_round[round + r]);
            }
        } else {  // a pipeline that fills and drains: equal over the whole phase, and never more than a round holds
            Traffic sum;
            for (std::uint32_t r = 0; r < phase.repeat; ++r) {
                for (const auto& [pair, moved] : by_round[round + r]) {
                    EXPECT_LE(moved, phase.fraction + 1e-9);
                    sum[pair] += moved;
                }
            }
            expect_same(traffic_of(phase, n, phase.volume()), sum);
        }
        round += phase.repeat;
    }
    EXPECT_EQ(by_round.size(), round) << "as many rounds in both forms";
}

TEST_P(every_algorithm, says_which_rounds_reduce) {
    if (is_pipeline_of_rounds(phases) || algorithm.needs == Needs::reducing_switch) {  // sums and results in one phase
        const auto reduces = [](const Transfer& t) { return t.reduce; };
        EXPECT_EQ(phases.front().reduce, std::any_of(transfers.begin(), transfers.end(), reduces));
        return;
    }
    std::uint32_t round = 0;
    for (const Phase& phase : phases) {
        for (const Transfer& t : transfers) {
            if (t.round >= round && t.round < round + phase.repeat) {
                EXPECT_EQ(t.reduce, phase.reduce) << "round " << t.round;
            }
        }
        round += phase.repeat;
    }
}

// The least that the busiest member must send, as a fraction of the message. All-reduce: Patarasuk and Yuan (2009),
// 2 (n - 1)/n; the others: n - 1 of n blocks have to reach or leave each member, the root has to send everything.
double lower_bound(Collective op, std::uint32_t n) {
    const double others = (n - 1.0) / n;
    switch (op) {
        case Collective::all_reduce:
            return 2.0 * others;
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return others;
        case Collective::broadcast:
        case Collective::reduce:  // all but the root have to send what they hold
        case Collective::send_receive:
        case Collective::point_to_point:
            return 1.0;
    }
    return 0.0;
}

// With a switch that adds, what a member contributes leaves it once, and a result enters it once.
double lower_bound(const Algorithm& algorithm, std::uint32_t n) {
    const bool both = algorithm.op == Collective::all_reduce && algorithm.needs == Needs::reducing_switch;
    return both ? 1.0 : lower_bound(algorithm.op, n);
}

// What the member that sends most sends in all phases, or receives, whichever is more: what the simulation makes of
// the phases where every member has one link each way. In messages, waits of a chain included.
double duration(const std::vector<Phase>& phases, std::uint32_t n) {
    double sum = 0.0;
    for (const Phase& phase : phases) {
        std::vector<double> sent(n), received(n);
        for (const auto& [pair, moved] : traffic_of(phase, n, phase.volume() / phase.duty)) {
            sent[pair.first] += moved;
            received[pair.second] += moved;
        }
        sum +=
            std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end()));
    }
    return sum;
}

TEST_P(every_algorithm, never_sends_less_than_the_lower_bound) {
    std::vector<double> sent(n);
    for (const Transfer& t : transfers) sent[t.from] += 1.0 / algorithm.chunks(shape);
    EXPECT_GE(*std::max_element(sent.begin(), sent.end()), lower_bound(algorithm.op, n) - 1e-12);

    const double bound = lower_bound(algorithm, n);
    EXPECT_GE(duration(phases, n), bound - 1e-12);
    const bool fills_a_chain = algorithm.op == Collective::broadcast || algorithm.op == Collective::reduce;
    if (algorithm.name == "ring" && !fills_a_chain) {
        EXPECT_NEAR(duration(phases, n), bound, 1e-12) << "the ring is optimal";
    }
}

TEST_P(every_algorithm, has_its_latencies_on_a_path_no_longer_than_its_rounds) {
    std::uint32_t hops = 0;
    for (const Phase& phase : phases) {
        EXPECT_GE(phase.hops + phase.hops_across, 1u);
        const bool in_rounds = phase.peer != Peer::listed && algorithm.needs == Needs::nothing;
        EXPECT_TRUE(!in_rounds || phase.hops <= phase.repeat);
        hops += phase.hops + phase.hops_across;
    }
    EXPECT_LE(hops, transfers.back().round + 1);
}

TEST(algorithm, names_are_unique_per_operation) {
    std::set<std::pair<Collective, std::string_view>> names;
    for (const Algorithm* const a : collective::all()) EXPECT_TRUE(names.insert({a->op, a->name}).second) << a->name;
}

TEST(algorithm, is_found_by_operation_and_name) {
    for (const Algorithm* const a : collective::all()) EXPECT_EQ(find_algorithm(a->op, a->name), a);
    EXPECT_EQ(find_algorithm(Collective::all_gather, "no such thing"), nullptr);
}

TEST(algorithm, halving_doubling_needs_few_latencies_and_folds_what_exceeds_a_power_of_two) {
    const Algorithm& algorithm = *find_algorithm(Collective::all_reduce, "halving_doubling");
    EXPECT_EQ(algorithm.phases({.members = 16}).size(), 8u);   // 2 log2(16)
    EXPECT_EQ(algorithm.phases({.members = 17}).size(), 10u);  // fold and unfold besides
    EXPECT_EQ(algorithm.phases({.members = 17}).front().peer, Peer::fold);
    EXPECT_EQ(algorithm.phases({.members = 17}).back().peer, Peer::unfold);
}

TEST(algorithm, a_broadcast_fills_its_chain_at_most_an_eighth_of_the_time) {
    const Phase phase = find_algorithm(Collective::broadcast, "ring")->phases({.members = 512}).front();
    EXPECT_NEAR(phase.volume(), 1.0, 1e-12);
    EXPECT_LT(phase.fraction * phase.repeat, 1.125);
    EXPECT_EQ(phase.hops, 511u);
}

TEST(algorithm, an_exchange_leaves_out_the_members_beyond_its_span) {
    const Phase phase{.peer = Peer::exchange, .distance = 2, .span = 4};
    EXPECT_EQ(peer_of(phase, 1, 6), 3u);
    EXPECT_EQ(peer_of(phase, 3, 6), 1u);
    EXPECT_EQ(peer_of(phase, 4, 6), 6u);
    EXPECT_THROW(peer_of({.peer = Peer::all}, 0, 4), LogicError);
}

TEST(algorithm, a_binomial_tree_grows_from_the_first_member_and_shrinks_to_the_last) {
    const Phase grow{.peer = Peer::grow, .distance = 4}, shrink{.peer = Peer::shrink, .distance = 4};
    // Seven members: 0 1 2 have the message and send it 4 on (3 has nobody); mirrored, 0 1 2 send their sums to 4 5 6.
    for (const std::uint32_t i : {0U, 1U, 2U}) {
        EXPECT_EQ(peer_of(grow, i, 7), i + 4);
        EXPECT_EQ(peer_of(shrink, i, 7), i + 4);
    }
    for (const std::uint32_t i : {3U, 4U, 5U, 6U}) {
        EXPECT_EQ(peer_of(grow, i, 7), 7u);
        EXPECT_EQ(peer_of(shrink, i, 7), 7u);
    }
    const Phase last{.peer = Peer::shrink, .distance = 1};
    EXPECT_EQ(peer_of(last, 5, 7), 6u);
    EXPECT_EQ(peer_of(last, 4, 7), 7u);
}

TEST(algorithm, few_rounds_are_what_the_logarithmic_ones_are_for) {
    const auto rounds = [](Collective op, std::string_view name, std::uint32_t n) {
        return find_algorithm(op, name)->phases({.members = n}).size();
    };
    EXPECT_EQ(rounds(Collective::all_reduce, "recursive_doubling", 16), 4u);
    EXPECT_EQ(rounds(Collective::all_reduce, "recursive_doubling", 17), 6u);
    EXPECT_EQ(rounds(Collective::all_gather, "recursive_doubling", 16), 4u);
    EXPECT_EQ(rounds(Collective::all_gather, "bruck", 17), 5u);
    EXPECT_EQ(rounds(Collective::reduce_scatter, "halving_doubling", 16), 4u);
    EXPECT_EQ(rounds(Collective::broadcast, "binomial", 17), 5u);
    EXPECT_EQ(rounds(Collective::reduce, "binomial", 17), 5u);
}

TEST(algorithm, runs_only_in_the_shapes_that_it_is_made_for) {
    const auto runs = [](Collective op, std::string_view name, const GroupShape& shape) {
        return find_algorithm(op, name)->runs(shape);
    };
    EXPECT_FALSE(runs(Collective::all_gather, "recursive_doubling", {.members = 12}));
    EXPECT_FALSE(runs(Collective::reduce_scatter, "halving_doubling", {.members = 12}));
    for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
        EXPECT_TRUE(runs(op, "hierarchical", {.members = 12, .nodes = 3}));
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 1})) << "one node";
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 12})) << "one member in each";
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 5, .even = false}));
        EXPECT_TRUE(runs(op, "nvls", {.members = 8, .nodes = 1}));
        EXPECT_FALSE(runs(op, "nvls", {.members = 8, .nodes = 2}));
    }
    EXPECT_TRUE(runs(Collective::all_reduce, "nvls_tree", {.members = 16, .nodes = 2}));
    EXPECT_FALSE(runs(Collective::all_reduce, "nvls_tree", {.members = 8, .nodes = 1}));
}

// All-reduce of eight dies by a switch: 9/8 of the message on every link instead of the ring's 14/8.
TEST(algorithm, a_reducing_switch_saves_bytes) {
    const GroupShape shape{.members = 8};
    EXPECT_DOUBLE_EQ(duration(find_algorithm(Collective::all_reduce, "nvls")->phases(shape), 8), 1.125);
    EXPECT_DOUBLE_EQ(duration(find_algorithm(Collective::all_reduce, "ring")->phases(shape), 8), 1.75);
}

}  // namespace
}  // namespace weft
