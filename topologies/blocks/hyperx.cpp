// A HyperX: switches at the points of a lattice, each joined to all others of its line in every dimension (Ahn,
// Binkert, Davis, McLaren, Schreiber, "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks",
// SC09). With dimensions of 2 it is a hypercube, with one dimension a full mesh of switches.
//
//   "network": {
//     "kind": "hyperx",
//     "nodes_per_switch": 4,
//     "dimensions": [
//       { "size": 8, "link": "ethernet.row", "cables": 1 },   // cables between each two (absent: 1)
//       { "size": 4, "link": "ethernet.column" }
//     ],
//     "radix": 64,
//     "port": "ethernet.nic",
//     "source": "..."
//   }
//
// Numbering: switch of node i: i / nodes_per_switch; the first dimension varies fastest. Links dimension by dimension,
// line by line, pair by pair, cable by cable, there and back.
//
// Routes correct one coordinate after another, beginning with dimension (salt + receiver's node) mod dimensions, so
// that traffic to the nodes of a switch comes by all of its dimensions; cables of a pair are dealt out so, too. Detours
// go through another switch of the line in the first dimension that differs (Valiant's, minimal elsewhere).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/base/hash.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/blocks/networks.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint64_t most_hyperx_switches = std::uint64_t{1} << 22;
constexpr std::size_t most_dimensions = 8;

struct HyperXDimension : LatticeDimension {
    std::uint32_t cables = 1;
    LinkClassId link{};

    std::uint32_t moved(std::uint32_t point, std::uint32_t to) const {
        return point + (to - coordinate(point)) * stride;  // modulo 2^32
    }
    std::uint32_t links_of_line() const { return size * (size - 1) * cables; }
    // The pair a < b of a line, among all of them.
    std::uint32_t pair(std::uint32_t a, std::uint32_t b) const { return a * (2 * size - a - 1) / 2 + b - a - 1; }
};

class HyperX final : public Lattice<HyperXDimension> {
  public:
    HyperX(std::vector<HyperXDimension> dimensions, LinkClassId port, std::uint32_t nodes_per_switch)
        : Lattice(std::move(dimensions), port), nodes_per_switch_(nodes_per_switch) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return nodes > nodes_per_switch_
                   ? std::make_unique<HyperX>(*this)
                   : std::make_unique<HyperX>(std::vector<HyperXDimension>{}, port_, nodes_per_switch_);
    }
    std::uint32_t leaf(Port port) const override { return port.node / nodes_per_switch_; }

    std::vector<LinkRun> links() const override {
        std::vector<LinkRun> runs;
        for (const HyperXDimension& dimension : dimensions_) runs.push_back({dimension.link, links_along(dimension)});
        return runs;
    }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        const HyperXDimension& dimension = dimension_of(link);
        const std::uint32_t here = number - dimension.first_link, line = here / dimension.links_of_line();
        const std::uint32_t start = dimension.start(line);
        std::uint32_t pair = here % dimension.links_of_line() / 2 / dimension.cables, a = 0;
        for (; pair >= dimension.size - 1 - a; ++a) pair -= dimension.size - 1 - a;
        return SwitchPair{start + a * dimension.stride, start + (a + 1 + pair) * dimension.stride}.in_direction(number);
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        Route route;
        add_minimal(route, leaf(from), to, salt);
        return route;
    }

    bool has_one_route(Port from, Port to) const override { return leaf(from) == leaf(to); }

    std::uint32_t detours(Port from, Port to) const override {
        const HyperXDimension* const dimension = first_other(leaf(from), leaf(to));
        return dimension == nullptr ? 0 : detours_among(dimension->size);
    }

    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        const HyperXDimension& dimension = *first_other(leaf(from), leaf(to));
        const std::uint32_t here = dimension.coordinate(leaf(from)), there = dimension.coordinate(leaf(to));
        const std::uint32_t middle =
            group_between(here, there, dimension.size, pair_hash(from, to, salt), i, detours_among(dimension.size));
        Route route;
        const std::uint32_t next = dimension.moved(leaf(from), middle);
        add_hop(route, dimension, leaf(from), next, to, salt);
        add_minimal(route, next, to, salt);
        return route;
    }

    std::vector<std::uint32_t> neighbourhoods() const override {
        return with_runs({nodes_per_switch_}, nodes_per_switch_);
    }

    // The thinnest cut through one dimension, half of each line against the other half (equation 3 of the paper).
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        BytesPerSecond least;
        for (const HyperXDimension& dimension : dimensions_) {
            if (dimension.size == 1) continue;
            const double pairs = static_cast<double>(dimension.size / 2) * (dimension.size - dimension.size / 2);
            const BytesPerSecond cut =
                classes[dimension.link].nominal * (pairs * dimension.cables * (switches_ / dimension.size));
            least = least == BytesPerSecond{} ? cut : std::min(least, cut);
        }
        return least;
    }

  private:
    const HyperXDimension* first_other(std::uint32_t a, std::uint32_t b) const {
        for (const HyperXDimension& dimension : dimensions_) {
            if (dimension.coordinate(a) != dimension.coordinate(b)) return &dimension;
        }
        return nullptr;
    }

    void add_minimal(Route& route, std::uint32_t here, Port to, std::uint64_t salt) const {
        const std::uint32_t there = leaf(to);
        const std::size_t n = dimensions_.size();
        for (std::size_t k = 0; k < n; ++k) {
            const HyperXDimension& dimension = dimensions_[(salt % n + to.node + k) % n];
            if (dimension.coordinate(here) == dimension.coordinate(there)) continue;
            const std::uint32_t next = dimension.moved(here, dimension.coordinate(there));
            add_hop(route, dimension, here, next, to, salt);
            here = next;
        }
    }

    // Of one line, from one switch to another.
    void add_hop(Route& route, const HyperXDimension& dimension, std::uint32_t from, std::uint32_t to, Port receiver,
                 std::uint64_t salt) const {
        const std::uint32_t a = dimension.coordinate(from), b = dimension.coordinate(to);
        const auto cable = static_cast<std::uint32_t>((salt + receiver.node + receiver.nic) % dimension.cables);
        const std::uint32_t pair = dimension.pair(std::min(a, b), std::max(a, b));
        route.push_back(LinkId(dimension.first_link + dimension.line(from) * dimension.links_of_line() +
                               2 * (pair * dimension.cables + cable) + (a < b ? 0 : 1)));
    }

    std::uint32_t nodes_per_switch_;
};

std::vector<HyperXDimension> read_hyperx_dimensions(Field& block, const LinkClasses& classes, std::uint64_t& switches) {
    std::vector<HyperXDimension> dimensions;
    for (Field& field : block.list("dimensions")) {
        HyperXDimension& dimension = dimensions.emplace_back();
        dimension.size = field.count("size");
        dimension.cables = field.count("cables", 1);
        dimension.link = classes.read(field, "link");
        if (switches * dimension.size > most_hyperx_switches) {
            field.error("size", fmt::format("more than {} switches in all", most_hyperx_switches));
            dimension.size = 1;
        }
        field.done();
        switches *= dimension.size;
    }
    if (dimensions.empty() || dimensions.size() > most_dimensions) {
        block.error("dimensions",
                    fmt::format("expected 1 to {} dimensions, got {}", most_dimensions, dimensions.size()));
    }
    std::uint64_t links = 0;
    for (const HyperXDimension& dimension : dimensions) {
        links += switches * (dimension.size - 1) * dimension.cables;
        if (links <= std::uint64_t{1} << 30U) continue;
        block.error("dimensions", "more than 2^30 links between switches");
        break;
    }
    return dimensions;
}

std::unique_ptr<const Network> read_hyperx(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    const LinkClassId port = classes.read(block, "port");
    const std::uint32_t nodes_per_switch = block.count("nodes_per_switch");
    std::uint64_t switches = 1;
    std::vector<HyperXDimension> dimensions = read_hyperx_dimensions(block, classes, switches);
    if (switches * nodes_per_switch < size.nodes) {
        block.error("dimensions", fmt::format("{} switches of {} nodes have no room for {} nodes", switches,
                                              nodes_per_switch, size.nodes));
    }
    const std::uint32_t radix = block.count("radix");
    std::uint64_t ports = std::uint64_t{nodes_per_switch} * size.nics_per_node;
    for (const HyperXDimension& dimension : dimensions) {
        ports += (dimension.size - std::uint64_t{1}) * dimension.cables;
    }
    if (ports > radix) block.error("radix", fmt::format("a switch needs {} ports, but has {}", ports, radix));
    block.done();
    return std::make_unique<HyperX>(std::move(dimensions), port, nodes_per_switch);
}

}  // namespace

extern const BlockKind hyperx{.name = "hyperx", .read_network = read_hyperx};

}  // namespace weft::blocks
