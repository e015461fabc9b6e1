// What calls cost sets of groups, worked out once for each set. Programs of jobs that share a layout communicate in the
// same groups; where the channels of these run, and what they load, is the costly part of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"

namespace weft {

// The members of groups that sit in the same places of their nodes, group by group.
struct GroupMembers {
    std::uint32_t size = 1;  // of each group
    std::vector<RankId> ranks{};

    std::size_t groups() const { return ranks.size() / size; }
    std::span<const RankId> operator[](std::size_t group) const { return std::span(ranks).subspan(group * size, size); }
    bool operator==(const GroupMembers&) const = default;
};

// Not for several threads. The topology must outlive this.
class CostsPool {
  public:
    CostsPool(const Topology& topology, Library library);
    CostsPool(const CostsPool&) = delete;
    CostsPool& operator=(const CostsPool&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // Of all groups of a family together. Equal members in equal order share costs; those of groups that are known ones
    // moved by whole nodes are moved likewise, where the fabric looks the same from there. As long-lived as this.
    GroupCosts& find(GroupMembers groups);
    // Of some groups of a family, or of one, which lay the same channels and share the detours of `whole`.
    GroupCosts part(GroupMembers groups, GroupCosts& whole);

    std::size_t routed_links() const;  // GroupCosts::routed_links of all that was found

  private:
    // The costs refer to the groups beside them.
    struct Known {
        Known(CostsPool& pool, GroupMembers members);
        Known(GroupMembers members, Known& base, LinkMove move);
        GroupMembers groups;
        GroupCosts costs;
        bool is_moved = false;
    };
    std::optional<LinkMove> move(const GroupMembers& from, const GroupMembers& to) const;
    std::vector<Communicator> lay(const GroupMembers& groups, Order order);
    Communicator lay(std::span<const RankId> members, Order order);
    bool add_copy(Communicator& base, std::span<const RankId> from, std::span<const RankId> to, Order order,
                  std::optional<Communicator>& own);

    const Topology& topology_;
    const Library library_;
    ChannelPlanner planner_;
    // By a hash of where members sit behind the first; compared before it is believed.
    std::unordered_multimap<std::uint64_t, std::unique_ptr<Known>> known_;
};

}  // namespace weft
