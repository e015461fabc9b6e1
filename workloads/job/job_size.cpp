#include "workloads/job/job_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {
namespace {

std::uint32_t clamped(std::uint64_t number) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(number, 1, 0xffffffffU));
}

// `nodes` nodes whose data ranks follow: whole ones, or where the layout or the batch cannot be dealt to these, parts
// to which they can.
JobSize size_of_nodes(std::uint32_t nodes, std::uint32_t whole, const Job& job) {
    const std::uint64_t inner = job.layout.ranks_of_replica();
    const auto can_be_dealt = [&](std::uint32_t each) {
        const std::uint64_t ranks = std::uint64_t{nodes} * each;
        return ranks % inner == 0 && job.batch.global % (ranks / inner * job.batch.micro) == 0;
    };
    const std::uint32_t part = std::bit_floor(whole);
    return {nodes, nodes > 1 && !can_be_dealt(whole) && can_be_dealt(part) ? part : whole};
}

// Numbers of accelerators around `gpus` that a replica of `inner` ranks divides.
std::string nearest_counts(std::uint64_t gpus, std::uint64_t inner) {
    const std::uint64_t below = gpus / inner * inner, above = below + inner;
    return below == 0 ? fmt::format("{}", above) : fmt::format("{} or {}", below, above);
}

// gpus with nodes: as many of each.
std::optional<JobSize> size_of_both(Field& root, std::uint32_t gpus, std::uint32_t nodes, std::uint32_t whole) {
    const std::uint32_t each = gpus / nodes;
    if (gpus % nodes == 0 && each <= whole) return JobSize{nodes, each};
    root.error("gpus", "{} accelerators on {} nodes of {}: expected as many on each, at most all", gpus, nodes, whole);
    return std::nullopt;
}

std::optional<JobSize> asked_size(Field& root, const AskedSize& asked, std::uint32_t whole, const Job& job) {
    const std::uint64_t inner = job.layout.ranks_of_replica(), ranks = inner * job.layout.data;
    if (asked.gpus && asked.data && *asked.gpus != ranks) {
        root.error("gpus", "the layout has {} ranks, not {}; leave out one of gpus and layout.data", ranks,
                   *asked.gpus);
        return std::nullopt;
    }
    if (asked.gpus && asked.nodes) return size_of_both(root, *asked.gpus, *asked.nodes, whole);
    if (asked.gpus) return size_of(*asked.gpus, whole);
    if (!asked.nodes) return size_of(ranks, whole);
    if (!asked.data) return size_of_nodes(*asked.nodes, whole, job);
    const std::uint32_t part = std::bit_floor(whole);
    return JobSize{*asked.nodes, *asked.nodes > 1 && ranks == std::uint64_t{*asked.nodes} * part ? part : whole};
}

void complete_data(Field& root, const AskedSize& asked, JobSize size, Job& job) {
    if (asked.data || (!asked.nodes && !asked.gpus)) return;
    const std::uint64_t inner = job.layout.ranks_of_replica();
    const std::uint64_t all = asked.gpus ? *asked.gpus : std::uint64_t{size.nodes} * size.per_node;
    if (all % inner != 0) {
        root.error("layout",
                   "tensor {} x pipeline {} = {} does not divide the {} accelerators of {} nodes; gpus {} would do",
                   job.layout.tensor, job.layout.pipeline, inner, all, size.nodes, nearest_counts(all, inner));
    }
    job.layout.data = clamped(all / inner);
}

// Whether a group of these axes has members on several nodes though one could hold it.
bool straddles(const Job& job, RankGroups groups) {
    const std::uint32_t size = group_size(groups, job.layout, RankId{0}), each = job.ranks_per_node;
    if (job.nodes == 1 || size > each || each % size == 0) return false;
    const PlacedGroups placed(groups, job.layout);
    for (std::uint32_t rank = 0; rank < job.layout.ranks(); ++rank) {
        for (const RankId member : placed.members(RankId(rank))) {
            if (static_cast<std::uint32_t>(member) / each != rank / each) return true;
        }
    }
    return false;
}

}  // namespace

JobSize size_of(std::uint64_t ranks, std::uint32_t whole) {
    const std::uint32_t part = std::bit_floor(whole);
    if (ranks > whole && ranks % whole != 0 && ranks % part == 0) return {clamped(ranks / part), part};
    return {clamped((ranks + whole - 1) / whole), whole};
}

std::vector<std::string> remarks_on(const Job& job) {
    std::vector<std::string> remarks = job.assumed;
    for (const auto& [name, groups] :
         {std::pair("tensor", RankGroups{"tensor"}), std::pair("expert", RankGroups{"expert_tensor", "expert"})}) {
        if (!straddles(job, groups)) continue;
        remarks.push_back(fmt::format(
            "{} groups of {} straddle nodes of {} accelerators; machine.node.uses={} keeps "
            "each inside one",
            name, group_size(groups, job.layout, RankId{0}), job.ranks_per_node, std::bit_floor(job.ranks_per_node)));
    }
    if (job.experts.paged_stash == Setting::on) {
        remarks.emplace_back("copies of experts.paged_stash are counted as if no other kernel ran beside them");
    }
    return remarks;
}

Machine settle_size(Field& root, const AskedSize& asked, const Machine& machine, Job& job) {
    const MachineInfo& info = machine.info();
    const std::uint32_t whole = info.accelerators_per_node;
    const std::optional<JobSize> size = asked_size(root, asked, whole, job);
    job.nodes = size ? size->nodes : asked.nodes.value_or(1);
    if (!size) return machine;
    // One node is filled from its first accelerator on; more nodes than there can be are reported by check_job().
    const std::uint32_t per_node = size->nodes == 1 ? whole : size->per_node;
    complete_data(root, asked, {std::min(size->nodes, info.most_nodes), per_node}, job);
    if (size->nodes > info.most_nodes) return machine;
    try {
        const Machine sized = machine.sized(size->nodes, per_node);
        if (per_node < whole) {
            job.assumed.push_back(fmt::format("{} of the {} accelerators of each node take part", per_node, whole));
        }
        if (std::string grown = info.growth(sized.info().nodes); !grown.empty())
            job.assumed.push_back(std::move(grown));
        return sized;
    } catch (const RangeError& error) {
        root.error(asked.gpus ? "gpus" : "nodes", error.what());
        return machine;
    }
}

}  // namespace weft
