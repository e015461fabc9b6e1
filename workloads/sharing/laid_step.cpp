#include "workloads/sharing/laid_step.hpp"

#include <algorithm>
#include <variant>

#include "sim/engine/unfold.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/plan/needed_calls.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

// Where the first nodes of a topology lie in one of as many nodes that has so many others before them. Links of nodes
// come before those of ports, with faults or without.
LinkMove move_behind(std::uint32_t others, const Topology& topology) {
    const std::uint32_t all = topology.ranks / topology.ranks_per_node;
    const std::uint32_t ports = 2 * topology.vertices_of(NodeKind::nic);  // a link in each direction
    const std::uint32_t inside = ports > 0 ? static_cast<std::uint32_t>(topology.wiring->port(0)) : topology.links();
    LinkMove move(static_cast<std::int32_t>(others * topology.ranks_per_node));
    move.add_stretch(LinkId{0}, std::int64_t{others} * (inside / all));
    move.add_stretch(LinkId{inside}, std::int64_t{others} * (ports / all));
    move.add_stretch(LinkId{inside + ports}, 0);
    return move;
}

// Where what it names is `place(node)`, of nodes that are counted anew.
template <class Place>
LinkFault moved(LinkFault fault, std::uint32_t ranks_per_node, Place place) {
    const auto moved_rank = [&](RankId rank) {
        const auto number = static_cast<std::uint32_t>(rank);
        return RankId(place(number / ranks_per_node) * ranks_per_node + number % ranks_per_node);
    };
    if (auto* const cable = std::get_if<NicCable>(&fault.where)) {
        cable->node = place(cable->node);
    } else {
        auto& route = std::get<RouteCables>(fault.where);
        route.from = moved_rank(route.from);
        route.to = moved_rank(route.to);
    }
    return fault;
}

}  // namespace

void JointNodes::add(const Job& job, std::span<const std::uint32_t> own) {
    const auto others = static_cast<std::uint32_t>(nodes.size());
    nodes.insert(nodes.end(), own.begin(), own.end());
    for (const LinkFault& fault : job.fabric.link_faults) {
        faults.push_back(moved(fault, job.ranks_per_node, [&](std::uint32_t node) { return others + node; }));
    }
}

JointNodes JointNodes::beginning_with(std::uint32_t first, std::uint32_t count, std::uint32_t ranks_per_node) const {
    JointNodes turned = *this;
    const auto begin = turned.nodes.begin() + first;
    std::rotate(turned.nodes.begin(), begin, begin + count);
    for (LinkFault& fault : turned.faults) {
        fault = moved(fault, ranks_per_node, [&](std::uint32_t node) {
            return node < first ? node + count : node < first + count ? node - first : node;
        });
    }
    return turned;
}

Topology topology_on(const Study& study, const JointNodes& all) {
    Fabric fabric = study.job.fabric;
    fabric.placement = all.nodes;
    fabric.link_faults = all.faults;
    return study.machine.topology(static_cast<std::uint32_t>(all.nodes.size()), fabric);
}

LaidStep lay_step(const Study& study, const JointNodes& all, std::uint32_t first, const SizeListener& on_size) {
    const Plan plan = make_plan(study);
    check_calls(plan);
    PreparedTopology prepared(topology_on(study, all.beginning_with(first, study.job.nodes, study.job.ranks_per_node)));
    LaidStep laid{.program = {}, .move = move_behind(first, prepared.topology()), .size = {}};
    const StepOptions options{.folding = Folding::none,
                              .on_size =
                                  [&](const StepSize& size) {
                                      laid.size = size;
                                      on_size(size);
                                  },
                              .merges_equal_links = false};
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
