// A binary hypercube of nodes, each with a switch; routes correct the lowest bit first (e-cube: Sullivan and Bashkow,
// "A large scale, homogeneous, fully distributed parallel machine", ISCA 1977).
//
//   "network": { "kind": "hypercube", "dimensions": 6, "port": "...", "link": "...", "source": "..." }
//
// Along dimension k, cable c joins the two nodes whose numbers without bit k are c: links k 2^d + 2c up, + 1 down.
#include <fmt/format.h>

#include "topologies/blocks/block.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint32_t most_dimensions = 12;

struct Cube {
    std::uint32_t dimensions = 0;
    LinkClassId port{}, link{};
};

class Hypercube final : public Network {
  public:
    explicit Hypercube(const Cube& cube) : cube_(cube) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        Cube inner = cube_;
        while (inner.dimensions > 0 && nodes <= 1U << (inner.dimensions - 1)) --inner.dimensions;
        return std::make_unique<Hypercube>(inner);
    }
    std::uint32_t switches() const override { return 1U << cube_.dimensions; }
    std::vector<LinkRun> links() const override { return {{cube_.link, cube_.dimensions << cube_.dimensions}}; }
    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        const std::uint32_t k = number >> cube_.dimensions, cable = number % switches() / 2;
        const std::uint32_t low = (cable >> k << (k + 1)) | (cable & ((1U << k) - 1));
        return SwitchPair{low, low | 1U << k}.in_direction(number);
    }
    LinkClassId port_class() const override { return cube_.port; }
    std::uint32_t leaf(Port port) const override { return port.node; }
    bool has_one_route(Port, Port) const override { return true; }
    Route route(Port from, Port to, std::uint64_t) const override {
        Route route;
        std::uint32_t here = from.node;
        for (std::uint32_t k = 0; k < cube_.dimensions; ++k) {
            if (((here ^ to.node) >> k & 1U) == 0) continue;
            const std::uint32_t cable = (here >> (k + 1) << k) | (here & ((1U << k) - 1));
            route.push_back(LinkId((k << cube_.dimensions) + 2 * cable + (here >> k & 1U)));
            here ^= 1U << k;
        }
        return route;
    }
    std::vector<std::uint32_t> neighbourhoods() const override {
        std::vector<std::uint32_t> sizes;
        for (std::uint32_t k = 1; k < cube_.dimensions; ++k) sizes.push_back(1U << k);
        return sizes;
    }
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        return cube_.dimensions == 0 ? classes[cube_.port].nominal / 2.0
                                     : classes[cube_.link].nominal * (switches() / 2.0);
    }

  private:
    Cube cube_;
};

std::unique_ptr<const Network> read(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source");
    const Cube cube{block.count("dimensions"), classes.read(block, "port"), classes.read(block, "link")};
    block.done();
    if (cube.dimensions <= most_dimensions && size.nodes <= 1U << cube.dimensions) {
        return std::make_unique<Hypercube>(cube);
    }
    block.error("dimensions", fmt::format("expected room for the {} nodes, at most {}; got {}", size.nodes,
                                          most_dimensions, cube.dimensions));
    return nullptr;
}

}  // namespace

extern const BlockKind hypercube;
const BlockKind hypercube{.name = "hypercube", .read_network = read};

}  // namespace weft::blocks
