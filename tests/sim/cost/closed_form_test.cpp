// Collectives end to end, through costs, program, engine and both networks, against their closed forms on an idle
// crossbar: a ring all-reduce of S bytes among n takes 2 (n - 1)/n S/B + 2 (n - 1) alpha, and so on.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/cost/cost.hpp"
#include "sim/engine/engine.hpp"
#include "sim/program/program_builder.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/cost/algorithm_cost.hpp"

namespace weft {
namespace {

using testing_support::toy_crossbar;

constexpr BytesPerSecond bandwidth = 25_GBps;
const Library library{.name = "toy", .launch = 5_us};
const ProtocolCost protocol{.launch = 2_us, .step_in_node = 1_us, .step_across = 3_us};
const Seconds launch = library.launch + protocol.launch;
constexpr Seconds link_latency = 0.25_us;
const Seconds alpha = protocol.step_across + 2.0 * link_latency;  // per message: a link up and a link down

// How often alpha and S/B occur in the time of a collective.
struct Terms {
    double messages, volumes;
};

struct Formula {
    Collective op;
    std::string_view algorithm;
    Terms (*terms)(double n);
};

double core(double n) { return static_cast<double>(std::bit_floor(static_cast<std::uint32_t>(n))); }
double rounds_to(double n) { return static_cast<double>(std::bit_width(static_cast<std::uint32_t>(n) - 1)); }
double log2_of_core(double n) { return static_cast<double>(std::bit_width(static_cast<std::uint32_t>(n)) - 1); }

// Ring and halving/doubling: Thakur, Rabenseifner, Gropp (2005). A broadcast or reduce of k = 8 n chunks: k + n - 2
// rounds.
constexpr Formula formulas[] = {
    {Collective::all_reduce, "ring",
     [](double n) -> Terms {
         return {2 * (n - 1), 2 * (n - 1) / n};
     }},
    {Collective::all_gather, "ring",
     [](double n) -> Terms {
         return {n - 1, (n - 1) / n};
     }},
    {Collective::reduce_scatter, "ring",
     [](double n) -> Terms {
         return {n - 1, (n - 1) / n};
     }},
    {Collective::broadcast, "ring",
     [](double n) -> Terms {
         return {n - 1, (9 * n - 2) / (8 * n)};
     }},
    {Collective::reduce, "ring",
     [](double n) -> Terms {
         return {n - 1, (9 * n - 2) / (8 * n)};
     }},
    {Collective::send_receive, "ring",
     [](double) -> Terms {
         return {1, 1};
     }},
    {Collective::all_to_all, "direct",
     [](double n) -> Terms {
         return {1, (n - 1) / n};
     }},
    {Collective::all_reduce, "halving_doubling",
     [](double n) -> Terms {
         const double folds = core(n) < n ? 2 : 0;
         return {2 * log2_of_core(n) + folds, 2 * (core(n) - 1) / core(n) + folds};
     }},
    {Collective::all_reduce, "recursive_doubling",
     [](double n) -> Terms {
         const double folds = core(n) < n ? 2 : 0;
         return {log2_of_core(n) + folds, log2_of_core(n) + folds};
     }},
    {Collective::all_gather, "bruck",
     [](double n) -> Terms {
         return {rounds_to(n), (n - 1) / n};
     }},
    {Collective::all_to_all, "pairwise",
     [](double n) -> Terms {
         return {n - 1, (n - 1) / n};
     }},
    {Collective::broadcast, "binomial",
     [](double n) -> Terms {
         return {rounds_to(n), rounds_to(n)};
     }},
    {Collective::reduce, "binomial",
     [](double n) -> Terms {
         return {rounds_to(n), rounds_to(n)};
     }},
};

// One call among all ranks of the topology, which all belong to one class.
Program one_call(const Algorithm& algorithm, const Topology& topology, Bytes message) {
    Communicator communicator{{{}}};
    for (std::uint32_t r = 0; r < topology.ranks; ++r) communicator.channels.front().push_back(RankId(r));
    const GroupShape shape{.members = topology.ranks, .nodes = topology.ranks / topology.ranks_per_node};
    ProgramBuilder builder({"communication"});
    std::vector<Leg> legs;
    for (const PhaseCost& one : cost(algorithm, shape, std::span(&communicator, 1), topology, library, protocol)) {
        legs.push_back({builder.pattern(one.pattern), one.latency(message), one.bytes(message)});
    }
    const CommunicationId communication =
        builder.communication({.op = algorithm.op, .group_size = topology.ranks, .message = message}, legs);
    const ExchangeId exchange = builder.exchange(communication, 1);
    builder.begin_class("all", RankId(0), topology.ranks);
    builder.add({.kind = OpKind::exchange,
                 .label = builder.label(algorithm.name),
                 .subject = static_cast<std::uint32_t>(index(exchange))},
                {});
    return builder.finish();
}

using Case = std::tuple<Formula, std::uint32_t, NetworkKind>;
class closed_form : public testing::TestWithParam<Case> {};

std::string title(const Case& c) {
    const auto& [formula, n, kind] = c;
    return std::string(name(formula.op)) + "_" + std::string(formula.algorithm) + "_" + std::to_string(n) +
           (kind == NetworkKind::flow ? "_flow" : "_ideal");
}

INSTANTIATE_TEST_SUITE_P(on_a_crossbar, closed_form,
                         testing::Combine(testing::ValuesIn(formulas),
                                          testing::Values(2u, 3u, 7u, 8u, 31u, 64u, 129u, 512u),
                                          testing::Values(NetworkKind::flow, NetworkKind::ideal)),
                         [](const auto& test) { return title(test.param); });

TEST_P(closed_form, is_met_from_a_kibibyte_to_four_gibibytes) {
    const auto& [formula, n, kind] = GetParam();
    const Topology topology = toy_crossbar(n, 1, bandwidth, link_latency);
    const Terms terms = formula.terms(n);
    for (Bytes message = 1_KiB; message <= 4_GiB; message *= 4.0) {
        const Program program = one_call(*find_algorithm(formula.op, formula.algorithm), topology, message);
        const Seconds expected = launch + terms.messages * alpha + terms.volumes * (message / bandwidth);
        EXPECT_NEAR(since_start(simulate(program, topology, kind).end) / expected, 1.0, 1e-9) << message.value << " B";
    }
}

// Nodes of four on a crossbar whose links are all alike: m = 4 members in each of N nodes, in-node steps of 1 us.
struct TwoLevelFormula {
    Collective op;
    std::string_view algorithm;
    double in_node, across;  // messages per m - 1, and per N - 1
    double volumes;          // per (n - 1)/n; 0: see the test
};

TEST(closed_form_on_two_levels, is_met_by_hierarchical_algorithms) {
    constexpr TwoLevelFormula two_levels[] = {{Collective::reduce_scatter, "hierarchical", 1, 1, 1},
                                              {Collective::all_gather, "hierarchical", 1, 1, 1},
                                              {Collective::all_reduce, "hierarchical", 2, 2, 2},
                                              {Collective::all_to_all, "hierarchical", 1, 1, 0}};
    constexpr double m = 4;
    for (const std::uint32_t n : {8U, 12U, 64U, 512U}) {
        const Topology topology = toy_crossbar(n, 4, bandwidth, link_latency);
        const double nodes = n / m;
        for (const TwoLevelFormula& formula : two_levels) {
            // An all-to-all sends most blocks twice: (m - 1)/m in the node and (N - 1)/N across.
            const double volumes = formula.volumes > 0 ? formula.volumes * (n - 1.0) / n : 2.0 - 1.0 / m - 1.0 / nodes;
            const Seconds latencies = formula.in_node * (m - 1) * (protocol.step_in_node + 2.0 * link_latency) +
                                      formula.across * (nodes - 1) * alpha;
            for (const Bytes message : {1_KiB, 1_MiB, 1_GiB}) {
                const Program program = one_call(*find_algorithm(formula.op, formula.algorithm), topology, message);
                const Seconds expected = launch + latencies + volumes * (message / bandwidth);
                EXPECT_NEAR(since_start(simulate(program, topology, NetworkKind::flow).end) / expected, 1.0, 1e-9)
                    << name(formula.op) << " of " << message.value << " B among " << n;
            }
        }
    }
}

// Pipelines and switches, on two nodes of four or one of eight: the volume is what the busiest link carries.
struct ShapedFormula {
    Collective op;
    std::string_view algorithm;
    std::uint32_t members, per_node;
    double in_node, across, volumes;
};

TEST(closed_form_of_pipelines, is_met_by_trees_and_switches) {
    constexpr ShapedFormula formulas_of_shapes[] = {
        {Collective::all_reduce, "nvls", 8, 8, 2, 0, 1.125},
        {Collective::all_gather, "nvls", 8, 8, 1, 0, 1},
        {Collective::reduce_scatter, "nvls", 8, 8, 1, 0, 1},
        // Down a chain of eight and up again.
        {Collective::all_reduce, "tree", 8, 8, 14, 0, 2},
        // The member by the NIC sends the message down its chain, a half up in one tree, a half down in the other.
        {Collective::all_reduce, "tree", 8, 4, 6, 2, 2},
        {Collective::all_reduce, "tree", 2, 1, 0, 2, 1},
        // 1 + 1/4 by the switch, and a half of a quarter each way in each tree.
        {Collective::all_reduce, "nvls_tree", 8, 4, 2, 2, 1.5},
    };
    for (const ShapedFormula& formula : formulas_of_shapes) {
        const Topology topology = toy_crossbar(formula.members, formula.per_node, bandwidth, link_latency);
        for (const Bytes message : {1_KiB, 1_MiB, 1_GiB}) {
            const Program program = one_call(*find_algorithm(formula.op, formula.algorithm), topology, message);
            const Seconds latencies =
                formula.in_node * (protocol.step_in_node + 2.0 * link_latency) + formula.across * alpha;
            const Seconds expected = launch + latencies + formula.volumes * (message / bandwidth);
            EXPECT_NEAR(since_start(simulate(program, topology, NetworkKind::flow).end) / expected, 1.0, 1e-9)
                << name(formula.op) << " " << formula.algorithm << " of " << message.value << " B";
        }
    }
}

// The other way round: least squares over simulated times of many sizes finds the constants that went in.
TEST(closed_form_fit, recovers_launch_latency_and_bandwidth_from_ring_all_reduces) {
    std::vector<std::array<double, 3>> rows;
    std::vector<double> times;
    for (const std::uint32_t n : {2U, 4U, 8U, 16U, 64U}) {
        const Topology topology = toy_crossbar(n, 1, bandwidth, link_latency);
        const Terms terms = formulas[0].terms(n);
        for (Bytes message = 1_KiB; message <= 64_MiB; message *= 4.0) {
            const Program program = one_call(*find_algorithm(Collective::all_reduce, "ring"), topology, message);
            const double time = since_start(simulate(program, topology, NetworkKind::flow).end).value;
            // Relative residuals: every row is divided by its time. Microseconds and seconds per 100 GB keep the
            // columns of one size.
            rows.push_back({1e-6 / time, terms.messages * 1e-6 / time, terms.volumes * message.value * 1e-11 / time});
            times.push_back(1.0);
        }
    }
    const auto count = static_cast<Eigen::Index>(rows.size());
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>> matrix(rows.front().data(), count,
                                                                                             3);
    const Eigen::Map<const Eigen::VectorXd> ones(times.data(), count);
    const Eigen::Vector3d fit = matrix.colPivHouseholderQr().solve(ones);
    EXPECT_NEAR(fit[0] * 1e-6 / launch.value, 1.0, 1e-6);
    EXPECT_NEAR(fit[1] * 1e-6 / alpha.value, 1.0, 1e-6);
    EXPECT_NEAR(1.0 / (fit[2] * 1e-11) / bandwidth.value, 1.0, 1e-6);
}

}  // namespace
}  // namespace weft
