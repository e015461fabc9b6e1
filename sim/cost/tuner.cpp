#include "sim/cost/tuner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Rounds of a ring, and how many of them cross nodes.
struct Steps {
    std::uint32_t all = 0, across = 0;
};

Steps ring_steps(Collective op, std::uint32_t n, std::uint32_t nodes) {
    if (op == Collective::all_reduce) return {2 * (n - 1), nodes > 1 ? 2 * nodes : 0};
    if (op == Collective::all_gather || op == Collective::reduce_scatter) return {n - 1, nodes - 1};
    return {n, nodes > 1 ? nodes : 0};
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

Seconds predicted_time(const TunerTable& table, const TunerRow& row, Collective op, const GroupShape& shape,
                       Bytes message) {
    const std::uint32_t n = shape.members, nodes = shape.nodes;
    const BytesPerSecond bus = table.bus * (row.ratio(nodes) * correction(row, message));
    if (row.algorithm == "tree") {
        const double in_node = static_cast<double>(n) / nodes - 1.0;
        const double levels = std::bit_width(nodes) - 1;
        return row.base + (row.in_node * in_node + row.across * levels) * 2.0 + message / (bus * 0.5);
    }
    WEFT_CHECK(row.algorithm == "ring", "a tuner knows rings and trees");
    const Steps steps = ring_steps(op, n, nodes);
    const std::uint32_t across = std::min(steps.across, steps.all);  // RCCL counts 2 N for all-reduce
    const Seconds in_node = nodes > 1 ? std::max(row.in_node, row.post) : row.in_node;
    return row.base + in_node * (steps.all - across) + row.across * across +
           message / (bus * (static_cast<double>(n) / steps.all));
}

}  // namespace weft
