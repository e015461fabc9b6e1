#include "workloads/sharing/laid_step.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/unfold.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/needed_calls.hpp"
#include "workloads/plan.hpp"

namespace weft {
namespace {

// Where the first nodes of a topology lie in one of as many nodes that has so many others before them.
LinkMove move_behind(std::uint32_t others, const Topology& topology) {
    const std::uint32_t all = topology.ranks / topology.ranks_per_node, inside = all * topology.node_links;
    const std::uint32_t ports = 2 * topology.vertices_of(NodeKind::nic);  // a link each way
    LinkMove move(static_cast<std::int32_t>(others * topology.ranks_per_node));
    move.add_stretch(LinkId{0}, std::int64_t{others} * topology.node_links);
    move.add_stretch(LinkId{inside}, std::int64_t{others} * (ports / all));
    move.add_stretch(LinkId{inside + ports}, 0);
    return move;
}

}  // namespace

Topology topology_on(const Study& study, std::vector<std::uint32_t> nodes) {
    const auto count = static_cast<std::uint32_t>(nodes.size());
    Fabric fabric = study.job.fabric;
    fabric.placement = std::move(nodes);
    return study.machine.topology(count, fabric);
}

LaidStep lay_step(const Study& study, std::span<const std::uint32_t> nodes, std::uint32_t first,
                  const SizeListener& on_size) {
    const Plan plan = make_plan(study);
    check_calls(plan);
    std::vector<std::uint32_t> own_first(nodes.begin(), nodes.end());
    const auto begin = own_first.begin() + first;
    std::rotate(own_first.begin(), begin, begin + study.job.nodes);
    PreparedTopology prepared(topology_on(study, std::move(own_first)));
    LaidStep laid{.program = {}, .move = move_behind(first, prepared.topology()), .size = {}};
    const StepOptions options{.folding = Folding::none,
                              .on_size =
                                  [&](const StepSize& size) {
                                      laid.size = size;
                                      on_size(size);
                                  },
                              .merges_alike_links = false};
    laid.program = build_step(plan, prepared.costs(plan), options).program;
    if (!laid.program.routines.empty()) laid.program = unfold(laid.program);
    return laid;
}

Table<LinkId, Bytes> carried(const LaidStep& step, const Topology& topology) {
    const Program& program = step.program;
    Table<PatternId, Bytes> moved(program.patterns.size());
    for (const Exchange& exchange : program.exchanges) {
        const Communication& what = program.communications[exchange.communication];
        for (const Leg& leg : std::span(program.legs).subspan(what.first_leg, what.legs))
            moved[leg.pattern] += leg.bytes;
    }
    Table<LinkId, Bytes> carried(topology.links());
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        for (const LinkLoad& each : program.patterns[id].loads) carried[step.move(each.link)] += moved[id] * each.load;
    }
    return carried;
}

}  // namespace weft
