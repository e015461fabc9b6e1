#include "sim/cost/group_costs.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/rccl_tuner.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"

namespace weft {
namespace {

using testing_support::first_ranks;
using testing_support::toy_crossbar;

// All ranks of a crossbar of 10 GB/s without latencies of its own, on one node.
class group_costs : public testing::Test {
  protected:
    GroupCosts of(std::uint32_t n, Library library) {
        library_ = std::move(library);
        topology_ = std::make_unique<Topology>(toy_crossbar(n, n, 10_GBps, 0_us));
        return {*topology_, library_, {.members = n}, [this, n](Order order) {
                    laid_.push_back(order);
                    return std::vector<Communicator>{{{first_ranks(n)}}};
                }};
    }

    Library library_;
    std::unique_ptr<Topology> topology_;
    std::vector<Order> laid_;
};

ProtocolCost row(std::string algorithm, std::string protocol, Seconds step, double efficiency = 1.0) {
    ProtocolCost cost{.algorithm = std::move(algorithm), .protocol = std::move(protocol)};
    cost.step_in_node = cost.step_across = step;
    cost.efficiency_in_node = cost.efficiency_across = cost.efficiency_shared = efficiency;
    return cost;
}

std::string said(const std::optional<Choice>& choice) {
    if (!choice) return "nothing";
    return std::string(choice->algorithm->name) + " " + choice->protocol->protocol;
}

TEST_F(group_costs, candidates_are_rows_whose_algorithm_exists_serves_and_runs) {
    ProtocolCost only_gathers = row("ring", "LL", 1_us);
    only_gathers.ops = {Collective::all_gather};
    GroupCosts costs = of(6, {.name = "toy",
                              .costs = {only_gathers, row("ring", "Simple", 1_us), row("bruck", "Simple", 1_us),
                                        row("recursive_doubling", "Simple", 1_us), row("no such", "Simple", 1_us)}});
    const auto said_of = [&](Collective op) {
        std::vector<std::string> all;
        for (const Choice& choice : costs.candidates(op)) all.push_back(said(choice));
        return all;
    };
    // Six members are no power of two: recursive doubling cannot gather.
    EXPECT_EQ(said_of(Collective::all_gather), (std::vector<std::string>{"ring LL", "ring Simple", "bruck Simple"}));
    EXPECT_EQ(said_of(Collective::all_reduce), (std::vector<std::string>{"ring Simple", "recursive_doubling Simple"}));
    EXPECT_TRUE(costs.candidates(Collective::point_to_point).empty());
    EXPECT_EQ(said(costs.choose(Collective::point_to_point, 1_MiB)), "nothing");
}

// Eight members, 1 us a step. Ring: 14 us + 1.75 S/B; recursive doubling: 3 us + 3 S/B: they cross at S/B = 8.8 us, 88
// kB.
TEST_F(group_costs, without_a_tuner_the_cheapest_is_taken) {
    GroupCosts costs =
        of(8, {.name = "toy", .costs = {row("ring", "Simple", 1_us), row("recursive_doubling", "Simple", 1_us)}});
    EXPECT_EQ(said(costs.choose(Collective::all_reduce, {87e3})), "recursive_doubling Simple");
    EXPECT_EQ(said(costs.choose(Collective::all_reduce, {89e3})), "ring Simple");
    const auto ring = costs.candidates(Collective::all_reduce).front();
    EXPECT_NEAR(costs.idle_time(ring, {88e3}).value, 14e-6 + 1.75 * 8.8e-6, 1e-15);
    EXPECT_EQ(laid_, std::vector{Order::rings}) << "groups are laid once for each order";
}

TEST_F(group_costs, of_equals_the_first_is_taken) {
    GroupCosts costs = of(8, {.name = "toy", .costs = {row("ring", "A", 1_us), row("ring", "B", 1_us)}});
    EXPECT_EQ(said(costs.choose(Collective::all_reduce, 1_MiB)), "ring A");
}

// Bounds hold for a message between two members: an eighth of the buffer in a direct all-to-all among eight.
TEST_F(group_costs, protocols_serve_the_message_sizes_that_they_are_made_for) {
    ProtocolCost eager = row("direct", "eager", 5_us), rendezvous = row("direct", "rendezvous", 1_us);
    eager.most = 8_KiB;
    rendezvous.over = 8_KiB;
    GroupCosts costs = of(8, {.name = "toy", .costs = {eager, rendezvous}});
    EXPECT_EQ(said(costs.choose(Collective::all_to_all, 64_KiB)), "direct eager");
    EXPECT_EQ(said(costs.choose(Collective::all_to_all, 64_KiB + 8_B)), "direct rendezvous");
    EXPECT_EQ(said(costs.choose(Collective::all_to_all, 64_KiB, {.algorithm = "direct"})), "direct eager");
    EXPECT_EQ(said(costs.choose(Collective::all_to_all, 64_KiB, {.algorithm = {}, .protocol = "rendezvous"})),
              "direct rendezvous")
        << "a forced protocol takes any message";
}

TEST_F(group_costs, a_message_that_no_protocol_serves_has_no_choice) {
    ProtocolCost eager = row("ring", "eager", 1_us);
    eager.most = 1_KiB;
    GroupCosts costs = of(4, {.name = "toy", .costs = {eager}});
    EXPECT_EQ(said(costs.choose(Collective::all_reduce, 4_KiB)), "ring eager");
    EXPECT_EQ(said(costs.choose(Collective::all_reduce, 5_KiB)), "nothing");
}

TEST_F(group_costs, what_the_caller_forces_is_taken) {
    GroupCosts costs = of(8, {.name = "toy",
                              .costs = {row("ring", "LL", 1_us, 0.5), row("ring", "Simple", 2_us),
                                        row("halving_doubling", "Simple", 2_us)}});
    const auto forced = [&](std::string algorithm, std::string protocol) {
        return said(costs.choose(Collective::all_reduce, 1_GiB, {std::move(algorithm), std::move(protocol)}));
    };
    EXPECT_EQ(forced("", ""), "halving_doubling Simple");
    EXPECT_EQ(forced("ring", ""), "ring Simple");
    EXPECT_EQ(forced("", "LL"), "ring LL");
    EXPECT_EQ(forced("tree", ""), "nothing");
}

// The tuner leaves LL above 256 KiB, whatever the rows cost: here Simple costs nearly nothing.
TEST_F(group_costs, a_tuner_chooses_by_its_own_prediction) {
    Library library{.name = "toy", .costs = {row("ring", "LL", 1000_us, 0.01), row("ring", "Simple", 0_us)}};
    library.tuner = testing_support::rccl_tuner();
    GroupCosts costs = of(8, library);
    EXPECT_EQ(said(costs.choose(Collective::all_gather, 256_KiB)), "ring LL");
    EXPECT_EQ(said(costs.choose(Collective::all_gather, 512_KiB)), "ring Simple");
}

// The first decision that holds, whatever rows cost; of what it leaves, the cheapest.
TEST_F(group_costs, a_tuner_may_decide_by_conditions) {
    Library library{
        .name = "toy",
        .costs = {row("ring", "LL", 9_us), row("ring", "Simple", 8_us), row("recursive_doubling", "LL", 0_us)}};
    library.tuner =
        Tuner{.decisions = {{.algorithm = "ring", .ops = {Collective::all_gather}, .most = 1_KiB},
                            {.algorithm = "recursive_doubling", .ops = {Collective::all_gather}, .most = 1_MiB},
                            {.algorithm = "bruck", .ops = {Collective::all_gather}}}};
    GroupCosts costs = of(8, library);
    EXPECT_EQ(said(costs.choose(Collective::all_gather, 1_KiB)), "ring Simple");
    EXPECT_EQ(said(costs.choose(Collective::all_gather, 2_KiB)), "recursive_doubling LL");
    EXPECT_TRUE(costs.is_tuned(Collective::all_gather, 1_KiB));
    EXPECT_EQ(said(costs.choose(Collective::all_gather, 2_MiB)), "recursive_doubling LL") << "no row of Bruck's";
    EXPECT_FALSE(costs.is_tuned(Collective::all_gather, 2_MiB));
    EXPECT_FALSE(costs.is_tuned(Collective::all_reduce, 1_KiB)) << "no decision is for it";
}

TEST_F(group_costs, a_library_may_run_all_in_the_order_of_ranks) {
    for (const bool in_rank_order : {false, true}) {
        GroupCosts costs = of(8, {.name = "toy", .costs = {row("ring", "LL", 9_us)}, .in_rank_order = in_rank_order});
        laid_.clear();
        costs.phases(*costs.choose(Collective::all_gather, 1_KiB));
        EXPECT_EQ(laid_, std::vector{in_rank_order ? Order::given : Order::rings});
    }
}

TEST_F(group_costs, where_the_tuner_knows_no_candidate_the_cheapest_is_taken) {
    Library library{.name = "toy", .costs = {row("direct", "LL", 9_us), row("pairwise", "Simple", 1_us)}};
    library.tuner = testing_support::rccl_tuner();
    GroupCosts costs = of(4, library);
    EXPECT_EQ(said(costs.choose(Collective::all_to_all, 1_KiB)), "pairwise Simple");
}

TEST_F(group_costs, a_group_of_one_costs_a_launch_under_any_choice) {
    Library library{.name = "toy", .launch = 3_us, .costs = {row("ring", "LL", 9_us), row("ring", "Simple", 1_us)}};
    library.tuner = testing_support::rccl_tuner();
    GroupCosts costs = of(1, library);
    const auto choice = costs.choose(Collective::all_reduce, 1_KiB);
    ASSERT_TRUE(choice);
    EXPECT_EQ(costs.idle_time(*choice, 1_KiB), 3_us);
}

TEST_F(group_costs, a_call_without_costs_is_refused_with_what_the_machine_file_lacks) {
    GroupCosts costs = of(6, {.name = "toy", .costs = {row("recursive_doubling", "Simple", 1_us)}});
    try {
        costs.require(Collective::all_gather, 1_MiB);
        ADD_FAILURE() << "six members are no power of two";
    } catch (const RangeError& error) {
        const std::string_view text = error.what();
        for (const std::string_view part : {"toy on ", "all_gather of 1048576 B among 6 ranks", "costs", "bruck or "}) {
            EXPECT_NE(text.find(part), text.npos) << part << " in " << text;
        }
    }
    EXPECT_EQ(costs.require(Collective::all_reduce, 1_MiB).algorithm->name, "recursive_doubling");
}

}  // namespace
}  // namespace weft
