// Shortest paths through switches that are cabled in any manner.
//
// Leaves with the same neighbours (by as many cables of a class) look the same from everywhere else: distances and
// paths are kept per set of such leaves, not per leaf.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "topologies/blocks/block.hpp"

namespace weft::blocks {

// Cables between two switches, of one class.
struct Bundle {
    std::uint32_t a = 0, b = 0, cables = 1;
    LinkClassId link_class{};
    std::uint32_t first_link = 0;
};

// A bundle as one of its switches sees it.
struct Branch {
    std::uint32_t to = 0, cables = 1;
    std::uint32_t first_link = 0;  // the link out by cable k is first_link + 2 k
    LinkClassId link_class{};
    auto operator<=>(const Branch&) const = default;
};

struct Cabling {
    LinkClassId port{};
    std::uint32_t switches = 0, nics = 1;  // NICs of a node
    std::vector<std::string> names;        // of switches; empty: numbers are their names
    std::vector<Bundle> bundles;
    std::vector<std::uint32_t> leaves;  // of node n, NIC i: n * nics + i

    std::uint32_t nodes() const { return static_cast<std::uint32_t>(leaves.size() / nics); }
    std::string name(std::uint32_t number) const {
        return names.empty() ? fmt::format("{}", number) : fmt::format("{} (\"{}\")", number, names[number]);
    }
};

// Computed once, shared by all parts of a machine.
class ShortestPaths {
  public:
    static constexpr std::uint32_t unreachable = 0xff;

    explicit ShortestPaths(Cabling cabling) : cabling_(std::move(cabling)), branches_(cabling_.switches) {
        for (const Bundle& bundle : cabling_.bundles) {
            branches_[bundle.a].push_back({bundle.b, bundle.cables, bundle.first_link, bundle.link_class});
            branches_[bundle.b].push_back({bundle.a, bundle.cables, bundle.first_link + 1, bundle.link_class});
        }
        for (std::vector<Branch>& each : branches_) std::ranges::sort(each);
        find_sets();
        number_ports();
    }

    // Whether the tables are small enough; they are empty otherwise.
    bool fill() {
        if (std::uint64_t{sets_.size()} * cabling_.switches > most_entries) return false;
        distance_.assign(sets_.size() * cabling_.switches, static_cast<std::uint8_t>(unreachable));
        paths_.assign(distance_.size(), 0);
        for (std::size_t set = 0; set < sets_.size(); ++set) fill(set);
        return true;
    }

    const Cabling& cabling() const { return cabling_; }
    std::size_t sets() const { return sets_.size(); }
    std::uint32_t leaf(Port port) const { return cabling_.leaves[slot(port)]; }
    // The number of a port: those of one leaf follow one another.
    std::uint64_t destination(Port port) const { return number_[slot(port)]; }

    // Cables to cross from one leaf to another; `unreachable` if there is no path of at most most_hops.
    std::uint32_t distance(std::uint32_t from, std::uint32_t to) const {
        return from == to ? 0U : distance_[entry(from, to)];
    }
    // How many paths of this length there are, up to a limit.
    std::uint32_t count(std::uint32_t from, std::uint32_t to) const {
        return from == to ? 1U : paths_[entry(from, to)];
    }
    // Path number `number`, of count(from, to).
    Route route(std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
        WEFT_CHECK(distance(from, to) != unreachable, "no path between two switches");
        Route route;
        for (std::uint32_t here = from; here != to;) here = add_hop(route, here, to, number);
        return route;
    }

  private:
    static constexpr std::uint64_t most_entries = std::uint64_t{1} << 26;  // of the tables of distances and paths
    static constexpr std::uint32_t most_paths = std::uint32_t{1} << 30;    // that are told apart

    struct Choice {
        const Branch* branch;
        std::uint64_t cables, paths;  // paths onwards, by one cable
    };
    using Choices = boost::container::small_vector<Choice, 64>;

    std::size_t slot(Port port) const { return std::size_t{port.node} * cabling_.nics + port.nic; }
    std::size_t entry(std::uint32_t from, std::uint32_t to) const {
        return std::size_t{set_of_[to]} * cabling_.switches + from;
    }

    // Leaves with equal branches, which have their links in other places.
    void find_sets() {
        std::map<std::vector<Branch>, std::uint32_t> known;
        set_of_.assign(cabling_.switches, 0);
        std::vector<std::uint8_t> is_leaf(cabling_.switches);
        for (const std::uint32_t leaf : cabling_.leaves) is_leaf[leaf] = 1;
        for (std::uint32_t leaf = 0; leaf < cabling_.switches; ++leaf) {
            if (is_leaf[leaf] == 0) continue;
            std::vector<Branch> view = branches_[leaf];
            for (Branch& each : view) each.first_link = 0;
            // A switch without cables is like no other.
            if (view.empty()) view.push_back({.to = leaf, .cables = 0});
            const auto [place, is_new] = known.try_emplace(std::move(view), static_cast<std::uint32_t>(sets_.size()));
            if (is_new) sets_.push_back(leaf);
            set_of_[leaf] = place->second;
        }
    }

    void number_ports() {
        std::vector<std::uint32_t> next(std::size_t{cabling_.switches} + 1);
        for (const std::uint32_t leaf : cabling_.leaves) ++next[leaf + 1];
        for (std::uint32_t i = 0; i < cabling_.switches; ++i) next[i + 1] += next[i];
        for (const std::uint32_t leaf : cabling_.leaves) number_.push_back(next[leaf]++);
    }

    // Distances of all switches from a leaf of the set, which its equals see as if it were themselves: a leaf of the
    // set counts as far as any neighbour of it is, and one hop.
    void fill(std::size_t set) {
        const std::uint32_t end = sets_[set];
        std::uint8_t* const distance = &distance_[set * cabling_.switches];
        std::uint32_t* const paths = &paths_[set * cabling_.switches];
        std::vector<std::uint32_t> order{end};
        distance[end] = 0;
        paths[end] = 1;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const std::uint32_t here = order[i];
            if (distance[here] > most_hops) break;
            for (const Branch& branch : branches_[here]) {
                if (distance[branch.to] == unreachable) {
                    distance[branch.to] = static_cast<std::uint8_t>(distance[here] + 1);
                    order.push_back(branch.to);
                }
                if (distance[branch.to] != distance[here] + 1) continue;
                const std::uint64_t sum = paths[branch.to] + std::uint64_t{paths[here]} * branch.cables;
                paths[branch.to] = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, most_paths));
            }
        }
        if (branches_[end].empty()) return;
        // From one leaf of the set to another: by a neighbour of both.
        distance[end] = 2;
        std::uint64_t sum = 0;
        for (const Branch& branch : branches_[end]) sum += std::uint64_t{paths[branch.to]} * branch.cables;
        paths[end] = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, most_paths));
    }

    // The cables that lead nearer.
    Choices choices(std::uint32_t here, std::uint32_t to) const {
        Choices found;
        const std::uint32_t left = distance(here, to);
        for (const Branch& branch : branches_[here]) {
            if (distance(branch.to, to) + 1 == left) found.push_back({&branch, branch.cables, count(branch.to, to)});
        }
        return found;
    }

    // Leaves out those of which nothing is left, and says how much is left of the least of the others.
    static std::uint64_t least_left(Choices& open, std::uint64_t dealt, std::uint64_t Choice::*amount) {
        open.erase(std::remove_if(open.begin(), open.end(), [&](const Choice& c) { return c.*amount == dealt; }),
                   open.end());
        return *std::ranges::min_element(open, {}, amount).*amount - dealt;
    }

    // Deals the paths to the cables in turn, and the cables to the neighbours; where some have fewer, the others go on.
    // `number` becomes that of the path on, moved on by the number of the cable, so that the cables up and those down
    // are not bound to each other.
    std::uint32_t add_hop(Route& route, std::uint32_t here, std::uint32_t to, std::uint64_t& number) const {
        Choices open = choices(here, to);
        const auto cables = [&] { return sum_of<std::uint64_t>(open, &Choice::cables); };
        std::uint64_t onwards = 0;  // dealt to each cable before
        for (std::uint64_t left = 0; left = least_left(open, onwards, &Choice::paths), number >= left * cables();) {
            number -= left * cables();
            onwards += left;
        }
        onwards += number / cables();
        number %= cables();
        std::uint64_t cable = 0;  // dealt to each neighbour before
        for (std::uint64_t left = 0; left = least_left(open, cable, &Choice::cables), number >= left * open.size();) {
            number -= left * open.size();
            cable += left;
        }
        cable += number / open.size();
        const Choice& taken = open[number % open.size()];
        route.push_back(LinkId(taken.branch->first_link + 2 * static_cast<std::uint32_t>(cable)));
        number = (onwards + cable) % taken.paths;
        return taken.branch->to;
    }

    Cabling cabling_;
    std::vector<std::vector<Branch>> branches_;  // by switch
    std::vector<std::uint32_t> sets_;            // one leaf of each
    std::vector<std::uint32_t> set_of_;          // by switch; of leaves
    std::vector<std::uint32_t> number_;          // of ports, leaf by leaf
    std::vector<std::uint8_t> distance_;         // by set and switch
    std::vector<std::uint32_t> paths_;           // as distance_
};

}  // namespace weft::blocks
