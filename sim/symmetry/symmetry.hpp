// Which ranks, groups and links are equal, by colour refinement. Ranks that start equal (same program, same speed) are
// told apart only by what can make their times differ: the costs of the groups they are in, whom they meet there, and
// the links that these groups share with others.
//
// The colours found are the coarsest equitable partition (Cardon & Crochemore, Theoret. Comput. Sci. 19 (1982) 85-98,
// on ranks, groups and links at once): members of a colour see equally many of every other colour, each with the same
// weight. Starting all at once, ranks of a colour then do everything at the same moments, and flows of a colour have
// the same rate, because max-min rates are unique: one rank, group and link of each colour stand for all, exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/palette.hpp"
#include "sim/base/table.hpp"
#include "sim/cost/cost.hpp"
#include "sim/cost/link_loads.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class Symmetry {
  public:
    // `start`: numbers of ranks that start equal, for all ranks of the job.
    Symmetry(const Topology& topology, std::vector<std::uint32_t> start)
        : topology_(topology), rank_(std::move(start)) {
        Palette palette(rank_.size());
        for (std::uint32_t& colour : rank_) {
            const std::uint64_t signature[] = {colour};
            colour = palette.colour_of(signature);
        }
        ranks_ = palette.colours();
    }

    // Groups of different kinds are never equal. Groups are numbered in the order added.
    std::uint32_t add_group(std::uint32_t kind, std::span<const RankId> members) {
        kind_.push_back(kind);
        members_.insert(members_.end(), members.begin(), members.end());
        member_end_.push_back(members_.size());
        fact_end_.push_back(facts_.size());
        load_end_.push_back(loads_.size());
        stretches_ = 0;
        return static_cast<std::uint32_t>(kind_.size() - 1);
    }

    // A stretch of a call that the group added last makes, on its own traffic alone. Of its stretches at most one is
    // under way at a time.
    // Latencies are compared in ticks of the clock: sums of equal terms in another order are equal there.
    void add_stretch(const PhaseCost& stretch) {
        const auto group = static_cast<std::uint32_t>(kind_.size() - 1);
        double rate = stretch.pattern.cap.value;
        for (const LinkLoad& each : stretch.pattern.loads) {
            rate = std::min(rate, topology_.link(each.link).bandwidth.value / each.load);
        }
        for (const LinkLoad& each : stretch.pattern.loads) {
            loads_.push_back({.link = each.link,
                              .stretch = stretches_,
                              .units = static_cast<std::uint64_t>(LinkLoads::units(each.load)),
                              .group = group,
                              .most = rate * each.load});
        }
        const auto ticks = (Instant{} + stretch.path).femtoseconds;
        for (const std::uint64_t word : {static_cast<std::uint64_t>(ticks), bits(stretch.pattern.cap.value),
                                         bits(stretch.pattern.alone.value), bits(rate)}) {
            facts_.push_back(word);
        }
        ++stretches_;
        fact_end_.back() = facts_.size();
        load_end_.back() = loads_.size();
    }

    struct Colours {
        std::vector<std::uint32_t> of_rank, of_group;  // numbered in order of first appearance
        // Colours of ranks, as more and more is looked at: how they start, with whom they are grouped, what their
        // groups cost on idle links, and which links these share with others.
        std::uint32_t at_start = 0, by_members = 0, by_costs = 0, by_links = 0;
        std::vector<std::uint32_t> uneven_kinds;  // of groups that are equal but for their costs; ascending
        std::vector<LinkClassId> shared_links;    // classes of links that groups share and can fill; ascending
    };

    Colours refine() {
        list_groups_of_ranks();
        group_ = kind_;
        Colours colours;
        colours.at_start = ranks_;
        settle(Look::members);
        colours.by_members = ranks_;
        if (!facts_.empty()) {
            add_costs();
            settle(Look::costs);
        }
        colours.by_costs = ranks_;
        keep_links_that_can_fill();
        link_.assign(crossed_.size(), 0);
        if (!crossed_.empty()) settle(Look::links);
        colours.by_links = ranks_;
        colours.of_rank = rank_;
        colours.of_group = group_;
        colours.uneven_kinds = uneven_kinds_;
        for (const LinkId link : crossed_) colours.shared_links.push_back(topology_.link_class(link));
        make_set(colours.shared_links);
        return colours;
    }

  private:
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
    struct Load {
        LinkId link{};
        std::uint32_t stretch = 0;  // of the group
        std::uint64_t units = 0;    // LinkLoads::units: sums do not depend on their order
        std::uint32_t group = 0;
        double most = 0.0;  // that a flow of the stretch uses of the link, bytes per second
    };

    enum class Look : std::uint8_t { members, costs, links };

    static std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }
    // Sorted, each once.
    template <class T>
    static void make_set(std::vector<T>& all, std::size_t from = 0) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
        std::sort(begin, all.end());
        all.erase(std::unique(begin, all.end()), all.end());
    }

    void list_groups_of_ranks() {
        groups_of_end_.assign(rank_.size() + 1, 0);
        for (const RankId rank : members_) ++groups_of_end_[index(rank) + 1];
        std::partial_sum(groups_of_end_.begin(), groups_of_end_.end(), groups_of_end_.begin());
        groups_of_.resize(members_.size());
        std::vector<std::size_t> next(groups_of_end_.begin(), groups_of_end_.end() - 1);
        for (std::uint32_t g = 0; g < kind_.size(); ++g) {
            for (std::size_t i = member_end_[g]; i < member_end_[g + 1]; ++i)
                groups_of_[next[index(members_[i])]++] = g;
        }
    }

    // A link that all flows together cannot use up, each at the most that the others' absence would allow, never
    // decides a rate. Of a group, one stretch at a time counts.
    void keep_links_that_can_fill() {
        by_link_ = numbers_below<std::uint32_t>(loads_.size());
        std::sort(by_link_.begin(), by_link_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return loads_[a].link != loads_[b].link ? loads_[a].link < loads_[b].link : a < b;
        });
        link_place_.assign(loads_.size(), nowhere);
        std::vector<std::uint32_t> kept;
        for (std::size_t begin = 0, end = 0; begin < by_link_.size(); begin = end) {
            const LinkId link = loads_[by_link_[begin]].link;
            double most = 0.0, of_group = 0.0;
            std::uint32_t group = nowhere;
            for (end = begin; end < by_link_.size() && loads_[by_link_[end]].link == link; ++end) {
                const Load& load = loads_[by_link_[end]];
                if (load.group != group) most += std::exchange(of_group, 0.0);
                group = load.group;
                of_group = std::max(of_group, load.most);
            }
            most += of_group;
            // What a link allows a group that has it to itself is among the group's facts.
            const bool is_shared = loads_[by_link_[begin]].group != loads_[by_link_[end - 1]].group;
            if (!is_shared || most <= topology_.link(link).bandwidth.value * (1.0 + 1e-9)) continue;
            for (std::size_t i = begin; i < end; ++i) {
                link_place_[by_link_[i]] = static_cast<std::uint32_t>(crossed_.size());
                kept.push_back(by_link_[i]);
            }
            crossed_.push_back(link);
            by_link_end_.push_back(kept.size());
        }
        by_link_ = std::move(kept);
    }

    // Until nothing splits any more. Where links are not looked at, groups differ by the colours of their ranks alone:
    // if no rank has split since, no group will.
    void settle(Look look) {
        for (bool splits = true; splits;) {
            const std::uint32_t ranks = ranks_, groups = groups_, links = links_;
            if (look == Look::links) colour_links();
            colour_groups(look);
            colour_ranks();
            splits = ranks != ranks_ || (look == Look::links && (groups != groups_ || links != links_));
        }
    }

    // Tells groups apart by what they cost, and notes the kinds of those that nothing else told apart.
    void add_costs() {
        Palette palette(groups_);
        std::vector<std::uint32_t> before(group_), representative;
        std::vector<std::uint64_t> signature;
        for (std::size_t g = 0; g < kind_.size(); ++g) {
            signature.assign(1, group_[g]);
            signature.insert(signature.end(), facts_.begin() + static_cast<std::ptrdiff_t>(fact_end_[g]),
                             facts_.begin() + static_cast<std::ptrdiff_t>(fact_end_[g + 1]));
            group_[g] = palette.colour_of(signature);
            if (before[g] >= representative.size()) representative.resize(before[g] + 1, nowhere);
            std::uint32_t& known = representative[before[g]];
            if (known == nowhere) known = group_[g];
            if (known != group_[g]) uneven_kinds_.push_back(kind_[g]);
        }
        groups_ = palette.colours();
        make_set(uneven_kinds_);
    }

    void colour_links() {
        Palette palette(links_);
        std::vector<std::uint64_t> signature;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> sums;  // (group colour, stretch), units
        std::size_t begin = 0;
        for (std::size_t place = 0; place < crossed_.size(); begin = by_link_end_[place++]) {
            sums.clear();
            for (std::size_t i = begin; i < by_link_end_[place]; ++i) {
                const Load& load = loads_[by_link_[i]];
                sums.emplace_back(std::uint64_t{group_[load.group]} << 32U | load.stretch, load.units);
            }
            std::sort(sums.begin(), sums.end());
            signature.assign({link_[place], bits(topology_.link(crossed_[place]).bandwidth.value)});
            for (std::size_t i = 0; i < sums.size(); ++i) {
                if (i == 0 || sums[i].first != sums[i - 1].first) {
                    signature.push_back(sums[i].first);
                    signature.push_back(0);
                }
                signature.back() += sums[i].second;
            }
            link_[place] = palette.colour_of(signature);
        }
        links_ = palette.colours();
    }

    // Whom a group meets counts, not how often: it starts with the last.
    void colour_groups(Look look) {
        Palette palette(groups_);
        std::vector<std::uint64_t> signature;
        std::vector<std::array<std::uint64_t, 2>> crossed;  // (stretch, link colour), units
        for (std::size_t g = 0; g < kind_.size(); ++g) {
            signature.assign(1, group_[g]);
            for (std::size_t i = member_end_[g]; i < member_end_[g + 1]; ++i) {
                signature.push_back(rank_[index(members_[i])]);
            }
            make_set(signature, 1);
            signature.push_back(std::uint64_t{1} << 40U);  // no colour: ends the list of ranks
            crossed.clear();
            for (std::size_t i = load_end_[g]; look == Look::links && i < load_end_[g + 1]; ++i) {
                if (link_place_[i] == nowhere) continue;
                crossed.push_back({std::uint64_t{loads_[i].stretch} << 32U | link_[link_place_[i]], loads_[i].units});
            }
            make_set(crossed);
            for (const auto& each : crossed) signature.insert(signature.end(), each.begin(), each.end());
            group_[g] = palette.colour_of(signature);
        }
        groups_ = palette.colours();
    }

    void colour_ranks() {
        Palette palette(ranks_);
        std::vector<std::uint64_t> signature;
        for (std::size_t rank = 0; rank < rank_.size(); ++rank) {
            signature.assign(1, rank_[rank]);
            for (std::size_t i = groups_of_end_[rank]; i < groups_of_end_[rank + 1]; ++i) {
                signature.push_back(group_[groups_of_[i]]);
            }
            std::sort(signature.begin() + 1, signature.end());
            rank_[rank] = palette.colour_of(signature);
        }
        ranks_ = palette.colours();
    }

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
