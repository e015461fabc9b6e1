// Proofs that run for every registered algorithm: semantics by symbolic execution, equal traffic of both forms, and
// the bandwidth lower bounds.
#include "sim/collective/algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/base/check.hpp"
#include "tests/sim/collective/forms.hpp"
#include "tests/sim/collective/judge.hpp"

namespace weft {
namespace {

using testing_support::chunk_names;
using testing_support::duration;
using testing_support::expect_same;
using testing_support::expect_switched;
using testing_support::fault;
using testing_support::is_pipeline_of_rounds;
using testing_support::Traffic;
using testing_support::traffic_of;

struct Case {
    const Algorithm* algorithm;
    GroupShape shape;
};

std::string title(const Case& c) {
    return std::string(name(c.algorithm->op)) + "_" + std::string(c.algorithm->name) + "_" +
           std::to_string(c.shape.members) + "_on_" + std::to_string(c.shape.nodes) + (c.shape.even ? "" : "_uneven") +
           (c.shape.before_last == 0 ? "" : std::to_string(c.shape.before_last));
}

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
    for (const std::uint32_t m : {2U, 3U, 8U}) {
        if (n > m && n % m != 0)
            all.push_back({.members = n, .nodes = (n - 1) / m + 1, .even = false, .before_last = m});
    }
    return all;
}

std::vector<Case> cases(const Algorithm& algorithm) {
    std::vector<Case> all;
    for (std::uint32_t n = 2; n <= 17; ++n) {
        for (const GroupShape& shape : shapes(n)) {
            if (algorithm.runs(shape) && is_new(algorithm, shape, all)) all.push_back({&algorithm, shape});
        }
    }
    return all;
}

// An algorithm in one shape, both forms.
struct Subject {
    const Algorithm& algorithm;
    GroupShape shape;
    std::uint32_t n;
    std::vector<Transfer> transfers;
    std::vector<Phase> phases;
};

class every_algorithm : public testing::TestWithParam<const Algorithm*> {
  protected:
    void for_every_shape(void (*property)(const Subject&)) const {
        const Algorithm& algorithm = *GetParam();
        for (const Case& c : cases(algorithm)) {
            SCOPED_TRACE(title(c));
            property({algorithm, c.shape, c.shape.members, algorithm.transfers(c.shape), algorithm.phases(c.shape)});
        }
    }
};
INSTANTIATE_TEST_SUITE_P(registered, every_algorithm,
                         testing::ValuesIn(collective::all().begin(), collective::all().end()), [](const auto& test) {
                             return std::string(name(test.param->op)) + "_" + std::string(test.param->name);
                         });

void delivers_each_contribution_exactly_once(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
    EXPECT_EQ(fault(algorithm, shape, transfers), "");
}
TEST_P(every_algorithm, delivers_each_contribution_exactly_once) {
    for_every_shape(delivers_each_contribution_exactly_once);
}

// The judge itself is judged, on transfers spread evenly over the algorithm.
std::size_t stride(const std::vector<Transfer>& transfers) { return transfers.size() / 12 + 1; }

void is_refuted_without_any_one_of_its_messages(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
    for (std::size_t lost = 0; lost < transfers.size(); lost += stride(transfers)) {
        auto fewer = transfers;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(lost));
        EXPECT_NE(fault(algorithm, shape, fewer), "") << "without transfer " << lost;
    }
}
TEST_P(every_algorithm, is_refuted_without_any_one_of_its_messages) {
    for_every_shape(is_refuted_without_any_one_of_its_messages);
}

void is_refuted_with_any_one_wrong_chunk(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
    const std::uint32_t names = std::max(2u, chunk_names(algorithm, shape));
    for (std::size_t wrong = 0; wrong < transfers.size(); wrong += stride(transfers)) {
        auto mutated = transfers;
        mutated[wrong].chunk = (mutated[wrong].chunk + 1) % names;
        EXPECT_NE(fault(algorithm, shape, mutated), "") << "with another chunk in transfer " << wrong;
    }
}
TEST_P(every_algorithm, is_refuted_with_any_one_wrong_chunk) { for_every_shape(is_refuted_with_any_one_wrong_chunk); }

void moves_the_same_bytes_between_the_same_pairs_in_both_forms(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
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
TEST_P(every_algorithm, moves_the_same_bytes_between_the_same_pairs_in_both_forms) {
    for_every_shape(moves_the_same_bytes_between_the_same_pairs_in_both_forms);
}

void says_which_rounds_reduce(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
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
TEST_P(every_algorithm, says_which_rounds_reduce) { for_every_shape(says_which_rounds_reduce); }

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

void never_sends_less_than_the_lower_bound(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
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
TEST_P(every_algorithm, never_sends_less_than_the_lower_bound) {
    for_every_shape(never_sends_less_than_the_lower_bound);
}

void has_its_latencies_on_a_path_no_longer_than_its_rounds(const Subject& subject) {
    const auto& [algorithm, shape, n, transfers, phases] = subject;
    std::uint32_t hops = 0;
    for (const Phase& phase : phases) {
        EXPECT_GE(phase.hops + phase.hops_across, 1u);
        const bool in_rounds = phase.peer != Peer::listed && algorithm.needs == Needs::nothing;
        EXPECT_TRUE(!in_rounds || phase.hops <= phase.repeat);
        hops += phase.hops + phase.hops_across;
    }
    EXPECT_LE(hops, transfers.back().round + 1);
}
TEST_P(every_algorithm, has_its_latencies_on_a_path_no_longer_than_its_rounds) {
    for_every_shape(has_its_latencies_on_a_path_no_longer_than_its_rounds);
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
    EXPECT_EQ(rounds(Collective::reduce_scatter, "halving_doubling", 17), 6u);
    EXPECT_EQ(rounds(Collective::all_to_all, "bruck", 17), 5u);
    for (const Collective op : {Collective::all_gather, Collective::reduce_scatter}) {
        EXPECT_EQ(rounds(op, "pat", 16), 4u);
        EXPECT_EQ(rounds(op, "pat", 17), 5u);
    }
    EXPECT_EQ(rounds(Collective::broadcast, "binomial", 17), 5u);
    EXPECT_EQ(rounds(Collective::reduce, "binomial", 17), 5u);
}

TEST(algorithm, runs_only_in_the_shapes_that_it_is_made_for) {
    const auto runs = [](Collective op, std::string_view name, const GroupShape& shape) {
        return find_algorithm(op, name)->runs(shape);
    };
    EXPECT_FALSE(runs(Collective::all_gather, "recursive_doubling", {.members = 12}));
    for (const std::string_view name : {"one_shot", "two_shot"}) {
        EXPECT_TRUE(runs(Collective::all_reduce, name, {.members = 12}));
        EXPECT_FALSE(runs(Collective::all_reduce, name, {.members = 12, .nodes = 2}));
    }
    for (const Collective op : {Collective::all_gather, Collective::reduce_scatter}) {
        EXPECT_TRUE(runs(op, "pat", {.members = 12, .nodes = 12}));
        EXPECT_FALSE(runs(op, "pat", {.members = 12, .nodes = 6})) << "NCCL: one GPU per node";
    }
    for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter}) {
        EXPECT_TRUE(runs(op, "hierarchical", {.members = 12, .nodes = 3}));
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 1})) << "one node";
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 12})) << "one member in each";
        EXPECT_FALSE(runs(op, "hierarchical", {.members = 12, .nodes = 5, .even = false}));
        EXPECT_TRUE(runs(op, "nvls", {.members = 8, .nodes = 1}));
        EXPECT_FALSE(runs(op, "nvls", {.members = 8, .nodes = 2}));
    }
    EXPECT_TRUE(runs(Collective::all_reduce, "nvls_tree", {.members = 16, .nodes = 2}));
    EXPECT_TRUE(runs(Collective::all_reduce, "collnet", {.members = 16, .nodes = 2}));
    EXPECT_FALSE(runs(Collective::all_reduce, "collnet", {.members = 16, .nodes = 1}));
    EXPECT_FALSE(runs(Collective::all_reduce, "nvls_tree", {.members = 8, .nodes = 1}));
}

// Bruck's all-gather leaves the largest messages for the farthest members, these trees for the nearest: of 16 members,
// half of the message goes to the next one.
TEST(algorithm, aggregated_trees_send_least_to_the_farthest) {
    const std::vector<Phase> gather = find_algorithm(Collective::all_gather, "pat")->phases({.members = 16});
    EXPECT_EQ(gather.front().distance, 8u);
    EXPECT_DOUBLE_EQ(gather.front().fraction, 1.0 / 16);
    EXPECT_EQ(gather.back().distance, 1u);
    EXPECT_DOUBLE_EQ(gather.back().fraction, 0.5);
    EXPECT_DOUBLE_EQ(duration(gather, 16), 15.0 / 16);
}

// Of six members two are beyond the core of four: the first two of it carry for them, too. In the first round 0 and 1
// send chunks 2 and 3, and 2 and 3 send 0 and 1, and 4 and 5.
TEST(algorithm, a_halving_round_weighs_what_members_carry_for_others) {
    const std::vector<Phase> phases =
        find_algorithm(Collective::reduce_scatter, "halving_doubling")->phases({.members = 6});
    ASSERT_EQ(phases.size(), 4u);
    EXPECT_EQ(phases[1].distance, 2u);
    EXPECT_DOUBLE_EQ(phases[1].fraction, 2.0 / 6);
    EXPECT_DOUBLE_EQ(weight_of(phases[1], 0), 1.0);
    EXPECT_DOUBLE_EQ(weight_of(phases[1], 1), 1.0);
    EXPECT_DOUBLE_EQ(weight_of(phases[1], 2), 2.0);
    EXPECT_DOUBLE_EQ(weight_of(phases[1], 3), 2.0);
    EXPECT_DOUBLE_EQ(weight_of(phases[2], 0), 2.0) << "one chunk of the neighbour's, and that of member 5";
    EXPECT_DOUBLE_EQ(weight_of(phases[2], 2), 1.0);
}

// All-reduce of eight dies by a switch: 9/8 of the message on every link instead of the ring's 14/8.
TEST(algorithm, a_reducing_switch_saves_bytes) {
    const GroupShape shape{.members = 8};
    EXPECT_DOUBLE_EQ(duration(find_algorithm(Collective::all_reduce, "nvls")->phases(shape), 8), 1.125);
    EXPECT_DOUBLE_EQ(duration(find_algorithm(Collective::all_reduce, "ring")->phases(shape), 8), 1.75);
}

// Between nodes 1/8 of the message and two latencies, on 2 nodes as on 64.
TEST(algorithm, reducing_switches_between_nodes_take_as_long_for_any_number_of_them) {
    for (const std::uint32_t nodes : {2U, 64U}) {
        const std::vector<Phase> phases =
            find_algorithm(Collective::all_reduce, "collnet")->phases({.members = 8 * nodes, .nodes = nodes});
        ASSERT_EQ(phases.size(), 3u);
        EXPECT_DOUBLE_EQ(phases[1].volume(), 0.125);
        EXPECT_EQ(phases[1].hops, 2u);
    }
}

}  // namespace
}  // namespace weft
