// A torus or mesh of any number of dimensions, whose nodes are single chips or boards that forward the traffic of
// others, as TPU v4 does (Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning with
// Hardware Support for Embeddings", ISCA 2023).
//
// Every position has a switch, the router on the chip: traffic passes there without touching the chip's memory, and
// what the chip itself sends and receives goes through its port, which is as fast as all links of the router together
// unless the machine file says otherwise. Routes through accelerators would make transit and own traffic compete inside
// the node, which they do not. A node with several NICs has all of them on the router of its position.
//
// Numbering: position p = x + X (y + Y (z + ...)) is the node and its switch. Links dimension by dimension; inside one,
// line by line (a line is numbered like a position, without its own dimension); inside a line cable i joins coordinates
// i and i + 1: 2 i up, 2 i + 1 down. A dimension of two that wraps has two cables between its two positions.
//
// Routes correct one dimension after another, each the shorter direction round (dimension order: Dally and Seitz,
// "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Trans. Comput. C-36 (1987) 547-553).
// Where both directions are equally long, the parity of the salt and of the sender's and the receiver's coordinates
// decides, which sends half of all pairs in each direction.
#include <fmt/format.h>

#include <algorithm>

#include "topologies/blocks/block.hpp"

namespace weft::blocks {
namespace {

enum class Wrap : std::uint8_t { no, yes };

struct Dimension {
    std::uint32_t size = 1;
    Wrap wrap = Wrap::yes;
    std::uint32_t stride = 1;      // of positions that differ by one in it
    std::uint32_t first_link = 0;  // both follow from all dimensions

    std::uint32_t coordinate(std::uint32_t position) const { return position / stride % size; }
    std::uint32_t line(std::uint32_t position) const { return position / (stride * size) * stride + position % stride; }
    std::uint32_t start(std::uint32_t line) const { return line / stride * stride * size + line % stride; }
    std::uint32_t cables() const { return size == 1 ? 0 : wrap == Wrap::yes ? size : size - 1; }  // of one line
    std::uint32_t longest() const { return wrap == Wrap::yes ? size / 2 : size - 1; }             // hops along it
};

class Torus final : public Network {
  public:
    Torus(std::vector<Dimension> dimensions, LinkClassId port, LinkClassId link)
        : dimensions_(std::move(dimensions)), port_(port), link_(link) {
        for (Dimension& dimension : dimensions_) {
            dimension.stride = switches_;
            switches_ *= dimension.size;
        }
        for (Dimension& dimension : dimensions_) {
            dimension.first_link = links_;
            links_ += links_along(dimension);
        }
    }

    // The route between two of the first nodes may lead past any other.
    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return nodes == 1 ? std::make_unique<Torus>(std::vector<Dimension>{}, port_, link_)
                          : std::make_unique<Torus>(*this);
    }

    std::uint32_t switches() const override { return switches_; }
    LinkClassId port_class() const override { return port_; }
    std::uint32_t leaf(Port port) const override { return port.node; }
    std::vector<LinkRun> links() const override { return {{link_, links_}}; }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        const Dimension& dimension = dimension_of(link);
        const std::uint32_t cable = (number - dimension.first_link) / 2;
        const std::uint32_t line = cable / dimension.cables(), i = cable % dimension.cables();
        const std::uint32_t start = dimension.start(line);
        return SwitchPair{start + i * dimension.stride, start + (i + 1) % dimension.size * dimension.stride}
            .in_direction(number);
    }

    std::vector<LinkMatrix> matrices() const override {
        std::vector<LinkMatrix> all;
        for (const Dimension& dimension : dimensions_) {
            all.push_back({.title = fmt::format("Along dimension {}", all.size() + 1),
                           .row = "from coordinate",
                           .column = "to coordinate",
                           .rows = dimension.size,
                           .columns = dimension.size});
        }
        return all;
    }

    MatrixPlace place(LinkId link) const override {
        const SwitchPair pair = ends(link);
        const Dimension& along = dimension_of(link);
        return {.matrix = static_cast<std::uint32_t>(&along - dimensions_.data()),
                .row = along.coordinate(pair.tail),
                .column = along.coordinate(pair.head)};
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        Route route;
        const std::uint64_t parity = salt + coordinate_sum(from.node) + coordinate_sum(to.node);
        std::uint32_t here = from.node;
        for (const Dimension& dimension : dimensions_) {
            const std::uint32_t a = dimension.coordinate(here), b = dimension.coordinate(to.node);
            const std::uint32_t upwards = (b + dimension.size - a) % dimension.size;
            const std::uint32_t downwards = (a + dimension.size - b) % dimension.size;
            const bool up = dimension.wrap == Wrap::no ? a < b
                            : upwards == downwards     ? (parity + a) % 2 == 0
                                                       : upwards < downwards;
            for (std::uint32_t step = up ? upwards : downwards; step > 0; --step)
                here = add_step(route, dimension, here, up ? Direction::up : Direction::down);
        }
        return route;
    }

    bool routes_by_leaf() const override { return true; }

    // How many nodes fill a line, a plane and so on.
    std::vector<std::uint32_t> neighbourhoods() const override {
        std::vector<std::uint32_t> sizes;
        for (const Dimension& dimension : dimensions_) {
            if (dimension.stride < switches_ && dimension.stride > (sizes.empty() ? 1 : sizes.back()))
                sizes.push_back(dimension.stride);
        }
        return sizes;
    }

    // The thinnest cut across one dimension, twice where it wraps.
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        double least = 0.0;
        for (const Dimension& dimension : dimensions_) {
            if (dimension.size == 1) continue;
            const double cables =
                static_cast<double>(switches_ / dimension.size) * (dimension.wrap == Wrap::yes ? 2.0 : 1.0);
            least = least == 0.0 ? cables : std::min(least, cables);
        }
        return switches_ == 1 ? classes[port_].nominal / 2.0 : classes[link_].nominal * least;
    }

  private:
    enum class Direction : std::uint8_t { up, down };

    std::uint32_t links_along(const Dimension& dimension) const {
        return switches_ / dimension.size * 2 * dimension.cables();
    }

    const Dimension& dimension_of(LinkId link) const {
        std::size_t d = 0;
        while (index(link) - dimensions_[d].first_link >= links_along(dimensions_[d])) ++d;
        return dimensions_[d];
    }

    std::uint64_t coordinate_sum(std::uint32_t position) const {
        return sum_of<std::uint64_t>(dimensions_, [&](const Dimension& each) { return each.coordinate(position); });
    }

    // Returns the next position.
    static std::uint32_t add_step(Route& route, const Dimension& dimension, std::uint32_t here, Direction direction) {
        const std::uint32_t a = dimension.coordinate(here);
        const std::uint32_t b = (a + (direction == Direction::up ? 1 : dimension.size - 1)) % dimension.size;
        const std::uint32_t cable = dimension.line(here) * dimension.cables() + (direction == Direction::up ? a : b);
        route.push_back(LinkId(dimension.first_link + 2 * cable + (direction == Direction::up ? 0 : 1)));
        return here - a * dimension.stride + b * dimension.stride;
    }

    std::vector<Dimension> dimensions_;
    LinkClassId port_, link_;
    std::uint32_t switches_ = 1, links_ = 0;
};

constexpr std::uint64_t most_positions = 1U << 20;

std::vector<Dimension> read_torus_dimensions(Field& block) {
    std::vector<Dimension> dimensions;
    for (Field& size : block.list("dimensions")) {
        dimensions.emplace_back().size = size.as_whole();
        if (dimensions.back().size > 0) continue;
        size.error("", "expected at least one node, got 0");
        dimensions.back().size = 1;  // harmless
    }
    if (!block.has("wrap")) return dimensions;
    std::vector<Field> wraps = block.list("wrap");
    if (wraps.size() != dimensions.size()) {
        block.error("wrap", "expected true or false for each of the {} dimensions, got {} values", dimensions.size(),
                    wraps.size());
        return dimensions;
    }
    for (std::size_t i = 0; i < wraps.size(); ++i) {
        dimensions[i].wrap = wraps[i].as_flag() ? Wrap::yes : Wrap::no;
    }
    return dimensions;
}

// False after an error.
bool check_dimensions(Field& block, const std::vector<Dimension>& dimensions, NetworkSize size) {
    std::uint64_t positions = 1;
    std::uint32_t hops = 0;
    for (const Dimension& dimension : dimensions) {
        positions = std::min(positions * dimension.size, 2 * most_positions);
        hops = std::min(hops, most_hops) + dimension.longest();
    }
    if (dimensions.empty()) {
        block.error("dimensions", "expected at least one");
    } else if (positions < size.nodes || positions > most_positions) {
        block.error("dimensions", "expected room for the {} nodes, and for at most {}; got {}", size.nodes,
                    most_positions, positions);
    } else if (hops > most_hops) {
        block.error("dimensions", "the longest route has {} hops; at most {} are possible", hops, most_hops);
    } else {
        return true;
    }
    return false;
}

std::unique_ptr<const Network> read_torus(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    std::vector<Dimension> dimensions = read_torus_dimensions(block);
    const LinkClassId port = classes.read(block, "port"), link = classes.read(block, "link");
    const bool sound = check_dimensions(block, dimensions, size);
    block.done();
    return sound ? std::make_unique<Torus>(std::move(dimensions), port, link) : nullptr;
}

}  // namespace

extern const BlockKind torus{.name = "torus", .read_network = read_torus};

}  // namespace weft::blocks
