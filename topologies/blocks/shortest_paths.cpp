#include "topologies/blocks/shortest_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/check.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint64_t most_entries = std::uint64_t{1} << 26;  // of the tables of distances and paths
constexpr std::uint32_t most_paths = std::uint32_t{1} << 30;    // that are told apart

}  // namespace

std::string Cabling::name(std::uint32_t number) const {
    return names.empty() ? fmt::format("{}", number) : fmt::format("{} (\"{}\")", number, names[number]);
}

ShortestPaths::ShortestPaths(Cabling cabling) : cabling_(std::move(cabling)), branches_(cabling_.switches) {
    for (const Bundle& bundle : cabling_.bundles) {
        branches_[bundle.a].push_back({bundle.b, bundle.cables, bundle.first_link, bundle.link_class});
        branches_[bundle.b].push_back({bundle.a, bundle.cables, bundle.first_link + 1, bundle.link_class});
    }
    for (std::vector<Branch>& each : branches_) std::ranges::sort(each);
    find_sets();
    number_ports();
}

bool ShortestPaths::fill() {
    if (std::uint64_t{sets_.size()} * cabling_.switches > most_entries) return false;
    distance_.assign(sets_.size() * cabling_.switches, static_cast<std::uint8_t>(unreachable));
    paths_.assign(distance_.size(), 0);
    for (std::size_t set = 0; set < sets_.size(); ++set) fill(set);
    return true;
}

Route ShortestPaths::route(std::uint32_t from, std::uint32_t to, std::uint64_t number) const {
    WEFT_CHECK(distance(from, to) != unreachable, "no path between two switches");
    Route route;
    for (std::uint32_t here = from; here != to;) here = add_hop(route, here, to, number);
    return route;
}

// Leaves with equal branches, which have their links in other places.
void ShortestPaths::find_sets() {
    std::map<std::vector<Branch>, std::uint32_t> known;
    set_of_.assign(cabling_.switches, 0);
    std::vector<std::uint8_t> is_leaf(cabling_.switches);
    for (const std::uint32_t leaf : cabling_.leaves) is_leaf[leaf] = 1;
    for (std::uint32_t leaf = 0; leaf < cabling_.switches; ++leaf) {
        if (is_leaf[leaf] == 0) continue;
        std::vector<Branch> key = branches_[leaf];
        for (Branch& each : key) each.first_link = 0;
        // A switch without cables is like no other.
        if (key.empty()) key.push_back({.to = leaf, .cables = 0});
        const auto [place, is_new] = known.try_emplace(std::move(key), static_cast<std::uint32_t>(sets_.size()));
        if (is_new) sets_.push_back(leaf);
        set_of_[leaf] = place->second;
    }
}

void ShortestPaths::number_ports() {
    std::vector<std::uint32_t> next(std::size_t{cabling_.switches} + 1);
    for (const std::uint32_t leaf : cabling_.leaves) ++next[leaf + 1];
    for (std::uint32_t i = 0; i < cabling_.switches; ++i) next[i + 1] += next[i];
    for (const std::uint32_t leaf : cabling_.leaves) number_.push_back(next[leaf]++);
}

// Distances of all switches from a leaf of the set, which its equals see as if it were themselves: a leaf of the
// set counts as far as any neighbour of it is, and one hop.
void ShortestPaths::fill(std::size_t set) {
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
ShortestPaths::Choices ShortestPaths::choices(std::uint32_t here, std::uint32_t to) const {
    Choices found;
    const std::uint32_t left = distance(here, to);
    for (const Branch& branch : branches_[here]) {
        if (distance(branch.to, to) + 1 == left) found.push_back({&branch, branch.cables, count(branch.to, to)});
    }
    return found;
}

// Leaves out those of which nothing is left, and says how much is left of the least of the others.
std::uint64_t ShortestPaths::least_left(Choices& open, std::uint64_t dealt, std::uint64_t Choice::*amount) {
    open.erase(std::remove_if(open.begin(), open.end(), [&](const Choice& c) { return c.*amount == dealt; }),
               open.end());
    return *std::ranges::min_element(open, {}, amount).*amount - dealt;
}

// Deals the paths to the cables in turn, and the cables to the neighbours; where some have fewer, the others go on.
// `number` becomes that of the path on, moved on by the number of the cable, so that the cables up and those down are
// not bound to each other.
std::uint32_t ShortestPaths::add_hop(Route& route, std::uint32_t here, std::uint32_t to, std::uint64_t& number) const {
    Choices open = choices(here, to);
    const auto cables = [&] {
        std::uint64_t sum = 0;
        for (const Choice& choice : open) sum += choice.cables;
        return sum;
    };
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

}  // namespace weft::blocks
