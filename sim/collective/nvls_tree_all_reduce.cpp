// All-reduce on several nodes whose switches add: the switch leaves each member with its node's sum of its piece, a
// double tree across nodes among members of equal place adds those up, and the switch copies the results to all. All
// of it works at once on small chunks. Between nodes each member sends its 1/per_node of the message up and down.
#include "sim/collective/double_tree.hpp"
#include "sim/collective/nvls.hpp"
#include "sim/collective/two_level.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node(), nodes = shape.blocks();
    std::vector<Phase> phases{
        {.peer = Peer::listed, .hops = 2, .hops_across = 2 * double_tree_depth(nodes), .reduce = true}};
    std::vector<Edge>& edges = phases.front().edges;
    for (std::uint32_t i = 0; i < shape.members; ++i) {
        edges.push_back({i, i / m * m + (i + 1) % m, 1.0 + 1.0 / m});  // as switch_phase
    }
    for (const std::uint32_t tree : {0U, 1U}) {
        const std::vector<std::uint32_t> parents = tree_parents(nodes, tree);
        for (std::uint32_t i = 0; i < shape.members; ++i) {
            if (parents[i / m] == no_parent) continue;
            const std::uint32_t parent = parents[i / m] * m + i % m;
            edges.push_back({i, parent, 0.5 / m});
            edges.push_back({parent, i, 0.5 / m});
        }
    }
    return phases;
}

// One level of both trees: tree t carries chunk 2 p + t of the members at place p.
void append_level(std::vector<Transfer>& transfers, const GroupShape& shape, std::uint32_t round, std::uint32_t depth,
                  bool up) {
    const std::uint32_t m = shape.per_node();
    for (const std::uint32_t tree : {0U, 1U}) {
        const std::vector<std::uint32_t> parents = tree_parents(shape.blocks(), tree);
        const std::vector<std::uint32_t> depths = tree_depths(parents);
        for (std::uint32_t i = 0; i < shape.members; ++i) {
            if (depths[i / m] != depth) continue;
            const std::uint32_t parent = parents[i / m] * m + i % m;
            transfers.push_back({round, up ? i : parent, up ? parent : i, 2 * (i % m) + tree, up});
        }
    }
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t depth = double_tree_depth(shape.blocks());
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    append_switch_round(transfers, shape, round++, 2, true);
    for (std::uint32_t d = depth; d > 0; --d) append_level(transfers, shape, round++, d, true);
    for (std::uint32_t d = 1; d <= depth; ++d) append_level(transfers, shape, round++, d, false);
    append_switch_round(transfers, shape, round, 2, false);
    return transfers;
}

}  // namespace

extern const Algorithm nvls_tree_all_reduce{
    .name = "nvls_tree",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return 2 * shape.per_node(); },
    .phases = phases_of,
    .transfers = transfers_of,
    .runs = has_two_levels,
    .order = Order::trees,
    .needs = Needs::reducing_switch,
};

}  // namespace weft::collective
