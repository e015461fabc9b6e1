// Which ranks, groups and links are equal, by colour refinement. Ranks that start equal (same program, same speed) are
// told apart only by what can make their times differ: the costs of the groups they are in, whom they meet there, and
// the links that these groups share with others.
//
// The colours found are the coarsest equitable partition (Cardon & Crochemore, Theoret. Comput. Sci. 19 (1982) 85-98,
// on ranks, groups and links at once): members of a colour see equally many of every other colour, each with the same
// weight. Starting all at once, ranks of a colour then do everything at the same moments, and flows of a colour have
// the same rate, because max-min rates are unique: one rank, group and link of each colour stand for all, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/cost/cost.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class Symmetry {
  public:
    // `start`: numbers of ranks that start equal, for all ranks of the job.
    Symmetry(const Topology& topology, std::vector<std::uint32_t> start);

    // Groups of different kinds are never equal. Groups are numbered in the order added.
    std::uint32_t add_group(std::uint32_t kind, std::span<const RankId> members);
    // A stretch of a call that the group added last makes, on its own traffic alone. Of its stretches at most one is
    // under way at a time.
    void add_stretch(const PhaseCost& stretch);

    struct Colours {
        std::vector<std::uint32_t> of_rank, of_group;  // numbered in order of first appearance
        // Colours of ranks, as more and more is looked at: how they start, with whom they are grouped, what their
        // groups cost on idle links, and which links these share with others.
        std::uint32_t at_start = 0, by_members = 0, by_costs = 0, by_links = 0;
        std::vector<std::uint32_t> uneven_kinds;  // of groups that are equal but for their costs; ascending
        std::vector<LinkClassId> shared_links;    // classes of links that groups share and can fill; ascending
    };
    Colours refine();

  private:
    struct Load {
        LinkId link{};
        std::uint32_t stretch = 0;  // of the group
        std::uint64_t units = 0;    // LinkLoads::units: sums do not depend on their order
        std::uint32_t group = 0;
        double most = 0.0;  // that a flow of the stretch uses of the link, bytes per second
    };

    enum class Look : std::uint8_t { members, costs, links };
    void list_groups_of_ranks();
    void keep_links_that_can_fill();
    void settle(Look look);
    void add_costs();
    void colour_links();
    void colour_groups(Look look);
    void colour_ranks();

    const Topology& topology_;
    std::vector<std::uint32_t> rank_, group_, link_;    // colours; of links by place in crossed_
    std::uint32_t ranks_ = 0, groups_ = 0, links_ = 0;  // how many
    std::vector<std::uint32_t> kind_;                   // of a group
    std::vector<RankId> members_;
    std::vector<std::size_t> member_end_{0};
    std::vector<std::uint64_t> facts_;  // what a group's stretches cost
    std::vector<std::size_t> fact_end_{0};
    std::vector<Load> loads_;  // group by group
    std::vector<std::size_t> load_end_{0};
    std::vector<LinkId> crossed_;            // links that can fill, ascending
    std::vector<std::uint32_t> by_link_;     // loads in order of links
    std::vector<std::size_t> by_link_end_;   // by place in crossed_
    std::vector<std::uint32_t> link_place_;  // of each load: in crossed_, or none
    std::vector<std::uint32_t> groups_of_;   // of ranks, CSR
    std::vector<std::size_t> groups_of_end_;
    std::uint32_t stretches_ = 0;  // of the group added last
    std::vector<std::uint32_t> uneven_kinds_;
};

}  // namespace weft
