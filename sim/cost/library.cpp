#include "sim/cost/library.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/check.hpp"

namespace weft {

bool serves(const std::vector<Collective>& ops, Collective op) {
    return ops.empty() || std::ranges::find(ops, op) != ops.end();
}

bool Decision::holds(Collective op, const GroupShape& shape, Bytes message) const {
    const std::uint32_t n = shape.members;
    const bool here = where == Where::anywhere || (where == Where::in_node) == (shape.nodes == 1);
    const bool is_for = std::ranges::find(ops, op) != ops.end();
    return is_for && here && n >= least_members && n <= most_members && (!power_of_two || std::has_single_bit(n)) &&
           message > over && message <= most;
}

namespace {

// How many rounds of a ring cross nodes.
std::uint32_t rounds_across(const TunerTable& table, Collective op, std::uint32_t n, std::uint32_t nodes) {
    if (nodes == 1) return 0;
    if (op == Collective::all_gather || op == Collective::reduce_scatter) return nodes - 1;
    if (op != Collective::all_reduce) return nodes;
    return std::min(2 * (nodes - 1) + table.extra_across, ring_rounds(op, n));
}

Seconds ring_latency(const TunerTable& table, const TunerRow& row, Collective op, const GroupShape& shape) {
    const std::uint32_t n = shape.members, nodes = shape.nodes;
    const std::uint32_t all = ring_rounds(op, n), across = rounds_across(table, op, n, nodes);
    const Seconds in_node = nodes > 1 ? std::max(row.in_node, row.post) : row.in_node;
    const Seconds between = n == nodes ? row.across_alone.value_or(row.across) : row.across;
    const double plateau = op == Collective::all_reduce && nodes > 1 ? row.plateau : 1.0;
    return (row.base + in_node * (all - across) + between * across) * plateau;
}

double correction(const TunerRow& row, Bytes message) {
    if (row.correction.empty()) return 1.0;
    const double lines = message.value / 64.0;
    const auto place = lines < 1.0 ? std::size_t{0} : static_cast<std::size_t>(std::ilogb(lines));
    return row.correction[std::min(place, row.correction.size() - 1)];
}

}  // namespace

bool is_predicted(Collective op) {
    return op != Collective::send_receive && op != Collective::point_to_point && op != Collective::all_to_all;
}

std::uint32_t ring_rounds(Collective op, std::uint32_t n) {
    if (op == Collective::all_reduce) return 2 * (n - 1);
    return op == Collective::all_gather || op == Collective::reduce_scatter ? n - 1 : n;
}

Seconds predicted_time(const TunerTable& table, const TunerRow& row, BytesPerSecond bus, Collective op,
                       const GroupShape& shape, Bytes message) {
    const std::uint32_t n = shape.members, nodes = shape.nodes;
    const double per_node = static_cast<double>(n) / nodes, levels = std::bit_width(nodes) - 1;
    const double ring_share = static_cast<double>(n) / ring_rounds(op, n);
    const bool is_doubled = !row.algorithm.starts_with("nvls") && per_node <= table.doubled_up_to;
    const BytesPerSecond channels = row.channel.of(nodes) * (is_doubled ? 2.0 * per_node : per_node);
    const BytesPerSecond reached =
        std::min({bus * row.ratio.of(nodes), row.most.of(nodes), channels}) * correction(row, message);
    const auto time = [&](Seconds latency, double share) { return latency + message / (reached * share); };
    if (row.algorithm == "ring") return time(ring_latency(table, row, op, shape), ring_share);
    if (row.algorithm == "tree") {
        return time(row.base + (row.in_node * (per_node - 1.0) + row.across * levels) * 2.0, 0.5);
    }
    if (row.algorithm == "nvls") return time(row.base + row.in_node, ring_share * (n - 1.0) / n);
    if (row.algorithm == "nvls_tree") return time(row.base + row.in_node + row.across * (2.0 * levels), ring_share);
    WEFT_CHECK(row.algorithm == "pat", "a tuner knows rings, trees, NVLS and PAT");
    return time(row.base + row.in_node * n + row.across * levels, 1.0);
}

const ProtocolCost* Library::find(Collective op, std::string_view algorithm, std::string_view protocol) const {
    return first_of(costs, [&](const ProtocolCost& cost) {
        return cost.algorithm == algorithm && cost.protocol == protocol && cost.serves(op);
    });
}

bool Library::runs(Collective op) const {
    return std::any_of(costs.begin(), costs.end(), [op](const ProtocolCost& cost) {
        return cost.serves(op) && find_algorithm(op, cost.algorithm) != nullptr;
    });
}

std::vector<std::string> algorithms_of(Collective op) {
    const auto is_of_op = [&](const Algorithm* algorithm) { return algorithm->op == op; };
    return list_of_those<std::string>(collective::all(), is_of_op, &Algorithm::name);
}

}  // namespace weft
