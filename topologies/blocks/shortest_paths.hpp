// Shortest paths through switches that are cabled in any manner.
//
// Leaves with the same neighbours (by as many cables of a class) look the same from everywhere else: distances and
// paths are kept per set of such leaves, not per leaf.
#pragma once

#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

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
    std::string name(std::uint32_t number) const;
};

// Computed once, shared by all parts of a machine.
class ShortestPaths {
  public:
    static constexpr std::uint32_t most_hops =
        Route::capacity - 8;  // leaves room for two ports and three links in each node
    static constexpr std::uint32_t unreachable = 0xff;

    explicit ShortestPaths(Cabling cabling);

    // Whether the tables are small enough; they are empty otherwise.
    bool fill();

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
    Route route(std::uint32_t from, std::uint32_t to, std::uint64_t number) const;

  private:
    struct Choice {
        const Branch* branch;
        std::uint64_t cables, paths;  // paths onwards, by one cable
    };
    using Choices = boost::container::small_vector<Choice, 64>;

    std::size_t slot(Port port) const { return std::size_t{port.node} * cabling_.nics + port.nic; }
    std::size_t entry(std::uint32_t from, std::uint32_t to) const {
        return std::size_t{set_of_[to]} * cabling_.switches + from;
    }
    void find_sets();
    void number_ports();
    void fill(std::size_t set);
    Choices choices(std::uint32_t here, std::uint32_t to) const;
    static std::uint64_t least_left(Choices& open, std::uint64_t dealt, std::uint64_t Choice::*amount);
    std::uint32_t add_hop(Route& route, std::uint32_t here, std::uint32_t to, std::uint64_t& number) const;

    Cabling cabling_;
    std::vector<std::vector<Branch>> branches_;  // by switch
    std::vector<std::uint32_t> sets_;            // one leaf of each
    std::vector<std::uint32_t> set_of_;          // by switch; of leaves
    std::vector<std::uint32_t> number_;          // of ports, leaf by leaf
    std::vector<std::uint8_t> distance_;         // by set and switch
    std::vector<std::uint32_t> paths_;           // as distance_
};

}  // namespace weft::blocks
