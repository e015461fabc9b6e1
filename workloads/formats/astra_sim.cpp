// The network.yml of ASTRA-sim's analytical network: building blocks by dimension, innermost first. Keys and what they
// mean: astra-sim/astra-network-analytical, src/common/NetworkParser.cpp, NetworkFunction.cpp (a GB there is 2^30 B)
// and the topologies of congestion_aware: `bandwidth` is of one link and direction, `latency` of one link, of which
// there are two through a switch; NPUs with one place in all other dimensions are joined along a dimension.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/io/syntaxes.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/machine_on.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

bool recognises(const SourceFile& file) {
    const std::string_view text = file.text;
    return text.find("npus_count:") != std::string_view::npos && text.find("topology:") != std::string_view::npos;
}

enum class Block : std::uint8_t { ring, fully_connected, all_on_switch };

struct NpuDimension {
    Block block = Block::ring;
    std::uint32_t npus = 1;
    double bandwidth = 0, latency = 0;  // GiB/s, ns
    Origin block_origin, npus_origin, bandwidth_origin, latency_origin;

    bool same_links(const NpuDimension& other) const {
        return bandwidth == other.bandwidth && latency == other.latency;
    }
};

Origin of_key(const Field& element, std::string_view key) {
    Origin origin = element.origin("");
    origin.key = key;
    return origin;
}

Block read_block(Field& element) {
    const std::string name = element.as_text();
    if (name == "Switch") return Block::all_on_switch;
    if (name == "FullyConnected") return Block::fully_connected;
    if (name != "Ring" && !name.empty()) {
        element.error("", fmt::format("expected Ring, FullyConnected or Switch, got \"{}\"", name));
    }
    return Block::ring;
}

double read_figure(Field& element, double least, double most) {
    const double value = element.as_number();
    if (value >= least && value <= most) return value;
    element.error("", fmt::format("expected a number from {} to {:g}, got {}", least, most, value));
    return least;
}

std::vector<NpuDimension> read_dimensions(Field& root) {
    constexpr double most_npus = 1U << 20U, least_bandwidth = 1e-6, most_bandwidth = 1e6, most_latency = 1e12;
    std::vector<Field> blocks = root.list("topology"), npus = root.list("npus_count"),
                       bandwidths = root.list("bandwidth"), latencies = root.list("latency");
    for (const auto& [key, size] :
         {std::pair{"npus_count", npus.size()}, {"bandwidth", bandwidths.size()}, {"latency", latencies.size()}}) {
        if (size == blocks.size() || !root.has(key)) continue;
        root.error(key, fmt::format("has {} entries for {} dimensions", size, blocks.size()));
    }
    if (root.has("topology") && blocks.empty()) root.error("topology", "expected at least one dimension");
    std::vector<NpuDimension> dimensions;
    for (std::size_t i = 0; i < std::min({blocks.size(), npus.size(), bandwidths.size(), latencies.size()}); ++i) {
        NpuDimension dimension;
        dimension.block = read_block(blocks[i]);
        dimension.npus = static_cast<std::uint32_t>(read_figure(npus[i], 1, most_npus));
        dimension.bandwidth = read_figure(bandwidths[i], least_bandwidth, most_bandwidth);
        dimension.latency = read_figure(latencies[i], 0, most_latency);
        dimension.block_origin = of_key(blocks[i], "topology");
        dimension.npus_origin = of_key(npus[i], "npus_count");
        dimension.bandwidth_origin = of_key(bandwidths[i], "bandwidth");
        dimension.latency_origin = of_key(latencies[i], "latency");
        dimensions.push_back(std::move(dimension));
    }
    return dimensions;
}

std::string gibibytes(double bandwidth) { return fmt::format("{} GiB/s", bandwidth); }
std::string nanoseconds(double latency) { return fmt::format("{} ns", latency); }

// One link between neighbours on a ring, or between every two.
std::string link_matrix(Block block, std::uint32_t npus) {
    std::string rows;
    for (std::uint32_t i = 0; i < npus; ++i) {
        rows += i == 0 ? "[" : ", [";
        for (std::uint32_t j = 0; j < npus; ++j) {
            const bool neighbours = (i + 1) % npus == j || (j + 1) % npus == i;
            const bool joined = i != j && (neighbours || block == Block::fully_connected);
            rows += fmt::format("{}{}", j == 0 ? "" : ", ", joined ? 1 : 0);
        }
        rows += "]";
    }
    return "[" + rows + "]";
}

class AstraNetwork {
  public:
    AstraNetwork(Import& import, std::vector<NpuDimension> dimensions)
        : import_(import), dimensions_(std::move(dimensions)) {}

    void write() {
        const NpuDimension alone{.block = Block::all_on_switch,
                                 .npus = 1,
                                 .bandwidth = dimensions_.front().bandwidth,
                                 .latency = 0,
                                 .block_origin = {},
                                 .npus_origin = {},
                                 .bandwidth_origin = {},
                                 .latency_origin = {}};
        std::erase_if(dimensions_, [](const NpuDimension& dimension) { return dimension.npus == 1; });
        const bool all_rings = std::ranges::all_of(dimensions_, [&](const NpuDimension& dimension) {
            return dimension.block == Block::ring && dimension.same_links(dimensions_.front());
        });
        // A torus is one of single chips; of one dimension it is a node.
        if (dimensions_.empty() || (all_rings && dimensions_.size() > 1)) {
            dimensions_.insert(dimensions_.begin(), alone);
        }
        if (dimensions_.size() == 1) dimensions_.push_back(alone);
        write_node(dimensions_.front());
        write_network();
    }

  private:
    void refuse(const NpuDimension& dimension, std::string message) {
        import_.note(Severity::error, dimension.block_origin, std::move(message));
    }

    void write_node(const NpuDimension& inner) {
        Draft& node = import_.object.object("node");
        const bool graph = inner.block != Block::all_on_switch;
        constexpr std::uint32_t most_in_graph = 256, most_on_switch = 4096;
        if (inner.npus > (graph ? most_in_graph : most_on_switch)) {
            return refuse(inner, fmt::format("{} NPUs in the innermost dimension are more than a node of weft has ({} "
                                             "on a switch, {} joined by links)",
                                             inner.npus, most_on_switch, most_in_graph));
        }
        const std::string bandwidth = gibibytes(inner.bandwidth), latency = nanoseconds(inner.latency);
        add_link(import_, graph ? "dimension_1.x1" : "dimension_1", bandwidth, inner.bandwidth_origin, latency,
                 inner.latency_origin);
        node.set("kind", graph ? "graph" : "crossbar", inner.block_origin);
        if (graph) {
            node.set_json("links", link_matrix(inner.block, inner.npus), inner.npus_origin);
        } else {
            node.set("accelerators", inner.npus, inner.npus_origin);
        }
        node.set("link", "dimension_1", {});
        const NpuDimension& outer = dimensions_[1];
        add_nics(node, inner.npus, "npu", outer.npus_origin);
    }

    void write_network() {
        const NpuDimension& outer = dimensions_[1];
        std::uint64_t nodes = 1;
        for (std::size_t i = 1; i < dimensions_.size(); ++i)
            nodes = std::min<std::uint64_t>(nodes * dimensions_[i].npus, 1U << 31U);
        import_.object.set("nodes", nodes, outer.npus_origin);
        const bool rings = std::ranges::all_of(
            dimensions_.begin() + 1, dimensions_.end(),
            [&](const NpuDimension& each) { return each.block == Block::ring && each.same_links(outer); });
        if (rings) return write_torus(outer);
        if (outer.block == Block::all_on_switch && dimensions_.size() == 2) return write_switches(outer);
        refuse(outer,
               "around a node weft has one network: switches of one dimension, or rings with equal links in all; "
               "other outer dimensions are not represented");
    }

    // The NPUs with one place on their nodes are on one switch.
    void write_switches(const NpuDimension& outer) {
        const std::uint32_t rails = dimensions_.front().npus;
        const std::string bandwidth = gibibytes(outer.bandwidth);
        add_link(import_, "npu", bandwidth, outer.bandwidth_origin, "0 ns", {});
        add_link(import_, "dimension_2", bandwidth, outer.bandwidth_origin, nanoseconds(outer.latency),
                 outer.latency_origin);
        Draft& network = import_.object.object("network");
        network.set("kind", "fat_tree", outer.block_origin);
        network.set("nodes_per_leaf", outer.npus, outer.npus_origin);
        network.set("rails", rails, {});
        network.set("leaf_order", "rail", {});
        network.set("radix", std::max(2 * outer.npus, rails), {});
        network.set("oversubscription", 1, {});
        network.set("port", "dimension_2", {});
        network.set("link", "dimension_2", {});
    }

    void write_torus(const NpuDimension& outer) {
        const std::uint32_t npus = dimensions_.front().npus;
        const auto count = static_cast<double>(dimensions_.size() - 1);
        std::vector<std::uint32_t> sizes;
        for (std::size_t i = 1; i < dimensions_.size(); ++i) sizes.push_back(dimensions_[i].npus);
        const std::string way_out = gibibytes(2 * count * outer.bandwidth);
        add_link(import_, "npu", way_out, outer.bandwidth_origin, "0 ns", {});
        add_link(import_, "ring.port", way_out, outer.bandwidth_origin, "0 ns", {});
        add_link(import_, "ring", gibibytes(npus * outer.bandwidth), outer.bandwidth_origin, nanoseconds(outer.latency),
                 outer.latency_origin);
        if (npus > 1) {
            import_.note(
                Severity::note, outer.block_origin,
                fmt::format("the rings of the {} NPUs of a node share one link of {} times the bandwidth", npus, npus));
        }
        Draft& network = import_.object.object("network");
        network.set("kind", "torus", outer.block_origin);
        network.set_json("dimensions", fmt::format("[{}]", fmt::join(sizes, ", ")), outer.npus_origin);
        network.set("port", "ring.port", {});
        network.set("link", "ring", {});
    }

    Import& import_;
    std::vector<NpuDimension> dimensions_;
};

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1) {
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "ASTRA-sim reads one network"}});
    }
    Document document = parse_yaml(files.front().path, files.front().text);
    Field root = document.root();
    Import import;
    std::vector<NpuDimension> dimensions = read_dimensions(root);
    note_rest(import, root);
    document.check();
    if (!begin_machine(import, options, "from " + std::string(files.front().name()), files.front().path)) return import;
    double npus = 1;
    for (const NpuDimension& dimension : dimensions) npus *= dimension.npus;
    import.facts.push_back({"npus", fmt::format("{:.0f}", npus)});
    import.facts.push_back({"dimensions", fmt::format("{}", dimensions.size())});
    import.note(Severity::note, dimensions.front().bandwidth_origin, "ASTRA-sim counts 2^30 bytes to a GB");
    AstraNetwork(import, std::move(dimensions)).write();
    if (!import.has_errors()) end_machine(import, options);
    return import;
}

}  // namespace

extern const Format astra_sim;
const Format astra_sim{"astra-sim", "network of ASTRA-sim", recognises, read};

}  // namespace weft::formats
