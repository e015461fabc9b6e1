// SimGrid platforms: one <cluster>, flat or a fat tree, torus or dragonfly. Attributes and defaults:
// simgrid/simgrid, src/kernel/xml/simgrid.dtd; what topo_parameters say:
// src/kernel/routing/{FatTree,Torus,Dragonfly}Zone.cpp and the documentation, "Platform Examples". Links are two-way by
// default (SPLITDUPLEX), `lat` is of one link.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "sim/io/syntaxes.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/machine_on.hpp"
#include "workloads/formats/simgrid_values.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

bool recognises(const SourceFile& file) {
    const std::string_view text = file.text;
    return text.find("<platform") != std::string_view::npos || text.find("simgrid.dtd") != std::string_view::npos;
}

std::string rate_text(double bytes) { return fmt::format("{} B/s", bytes); }
std::string time_text(double value) { return fmt::format("{} s", value); }

class SimGridCluster {
  public:
    SimGridCluster(Import& import, Field cluster) : import_(import), cluster_(std::move(cluster)) {}

    void read() {
        nodes_ = simgrid_hosts(cluster_.text("radical"));
        if (nodes_ == 0 && cluster_.is_text("radical")) {
            cluster_.error("radical", "expected numbers of hosts, such as \"0-15\"");
        }
        bandwidth_ = figure("bw", simgrid_bandwidth, "a bandwidth, such as \"125MBps\"");
        latency_ = figure("lat", simgrid_seconds, "a time, such as \"50us\"");
        if (bandwidth_ == 0 && cluster_.is_text("bw")) cluster_.error("bw", "expected more than 0");
        without_effect(import_, cluster_, {"id", "prefix", "suffix", "router_id", "loopback_bw", "loopback_lat"});
        for (const char* const key : {"speed", "core", "power"}) {
            if (cluster_.has(key)) note(key, "computing is left to the device of --like");
        }
        for (const char* const key : {"availability_file", "state_file"}) {
            refuse_key(import_, cluster_, key, "a platform that changes over time is not represented");
        }
        const std::string sharing = cluster_.text("sharing_policy", "SPLITDUPLEX");
        if (sharing != "SPLITDUPLEX" && sharing != "FULLDUPLEX") {
            refuse_key(import_, cluster_, "sharing_policy",
                       "links of weft carry both directions at once, and share their bandwidth among flows");
        }
    }

    void write() {
        import_.object.set("nodes", nodes_, origin("radical"));
        const std::string topology = cluster_.text("topology", "FLAT");
        cluster_.text("topo_parameters", "");
        if (topology == "FLAT") return write_flat();
        const auto parameters = simgrid_parameters(cluster_.text("topo_parameters", ""));
        if (parameters.empty()) return refuse("topo_parameters", "expected numbers of at least 1 between , and ;");
        if (topology == "FAT_TREE") return write_fat_tree(parameters);
        if (topology == "TORUS") return write_torus(parameters);
        if (topology == "DRAGONFLY") return write_dragonfly(parameters);
        refuse("topology", fmt::format("expected FLAT, FAT_TREE, TORUS or DRAGONFLY, got \"{}\"", topology));
    }

  private:
    Origin origin(std::string_view key) const {
        Origin place = cluster_.origin(key);
        place.key = key;
        return place;
    }
    void note(std::string_view key, std::string message) {
        import_.note(Severity::note, origin(key), std::move(message));
    }
    void refuse(std::string_view key, std::string message) {
        import_.note(Severity::error, origin(key), std::move(message));
    }

    double figure(std::string_view key, std::optional<double> (*read)(std::string_view), std::string_view what) {
        const std::string text = cluster_.text(key);
        const std::optional<double> value = read(text);
        if (!value && cluster_.is_text(key)) cluster_.error(key, fmt::format("expected {}, got \"{}\"", what, text));
        return value.value_or(0);
    }

    // Whether the parameters make as many nodes as there are hosts, which SimGrid wants too.
    bool fits(std::uint64_t made) {
        if (made == nodes_) return true;
        refuse("topo_parameters", fmt::format("make {} nodes, and radical names {}", made, nodes_));
        return false;
    }

    void write_link(std::string_view name, double cables, double latency) {
        add_link(import_, name, rate_text(bandwidth_ * cables), origin("bw"), time_text(latency), origin("lat"));
    }

    // A host of one accelerator, which reaches its link without delay.
    void write_node(double link_bandwidth) {
        double bandwidth = link_bandwidth;
        Origin from = origin("bw");
        if (cluster_.has("limiter_link")) {
            const double limit = figure("limiter_link", simgrid_bandwidth, "a bandwidth");
            bandwidth = limit > 0 ? std::min(bandwidth, limit) : bandwidth;
            from = origin("limiter_link");
            warn_key(import_, cluster_, "limiter_link",
                     "limits what a host sends and what it receives each, in SimGrid both together");
        }
        add_link(import_, "host", rate_text(bandwidth), from, "0 s", {});
        Draft& node = import_.object.object("node");
        node.set("kind", "crossbar", {});
        node.set("accelerators", 1, {});
        node.set("link", "host", {});
        add_nics(node, 1, "host", {});
    }

    // All hosts on one router. A backbone delays whatever passes, and must not be what limits it.
    void write_flat() {
        double latency = latency_;
        if (cluster_.has("bb_bw") || cluster_.has("bb_lat")) {
            const double backbone = figure("bb_bw", simgrid_bandwidth, "a bandwidth"),
                         delay = figure("bb_lat", simgrid_seconds, "a time");
            const bool shared = cluster_.text("bb_sharing_policy", "SHARED") != "FATPIPE";
            const double needed = shared ? bandwidth_ * static_cast<double>(nodes_) : bandwidth_;
            if (backbone < needed) {
                refuse("bb_bw", fmt::format("a backbone of {:g} B/s that all hosts share is narrower than the {:g} B/s "
                                            "of their links, which no network of weft is",
                                            backbone, needed));
            }
            latency += delay / 2;
        }
        write_node(bandwidth_);
        write_link("cluster", 1, latency);
        Draft& network = import_.object.object("network");
        network.set("kind", "fat_tree", origin("topology"));
        network.set("nodes_per_leaf", nodes_, origin("radical"));
        network.set("radix", 2 * nodes_, {});
        network.set("oversubscription", 1, {});
        network.set("port", "cluster", {});
        network.set("link", "cluster", {});
    }

    // "levels; children of each level from below; parents; cables": the first level joins hosts and leaf switches.
    void write_fat_tree(const SimGridParameters& parameters) {
        const bool sound = parameters.size() == 4 && parameters[0].size() == 1 &&
                           std::ranges::all_of(parameters.begin() + 1, parameters.end(),
                                               [&](const auto& list) { return list.size() == parameters[0][0]; });
        if (!sound) return refuse("topo_parameters", "expected \"levels;children;parents;cables\", a number per level");
        const std::size_t levels = parameters[0][0];
        const std::vector<std::uint32_t>&children = parameters[1], &parents = parameters[2], &cables = parameters[3];
        double made = 1;
        for (const std::uint32_t each : children) made *= each;
        constexpr double most = 1U << 31U;
        if (!fits(static_cast<std::uint64_t>(std::min(made, most)))) return;
        if (parents[0] > 1) return refuse("topo_parameters", "a host that is plugged into several leaf switches");
        std::vector<std::string> above;
        std::uint64_t radix = 1;
        for (std::size_t level = 0; level < levels; ++level) {
            const std::uint64_t up = level + 1 < levels ? std::uint64_t{parents[level + 1]} * cables[level + 1] : 0;
            radix = std::max(radix, std::uint64_t{children[level]} * (level == 0 ? 1 : cables[level]) + up);
            if (level == 0) continue;
            above.push_back(fmt::format(R"({{"link": "cluster", "children": {}, "parents": {}, "cables": {}}})",
                                        children[level], parents[level], cables[level]));
        }
        if (above.empty()) above.emplace_back(R"({"link": "cluster", "children": 1, "parents": 1})"), ++radix;
        write_node(bandwidth_ * cables[0]);
        write_link("cluster", 1, latency_);
        write_link("cluster.port", cables[0], latency_);
        Draft& network = import_.object.object("network");
        network.set("kind", "fat_tree", origin("topology"));
        network.set("nodes_per_leaf", children[0], origin("topo_parameters"));
        network.set("radix", radix, {});
        network.set("port", "cluster.port", {});
        network.set_json("levels", fmt::format("[{}]", fmt::join(above, ", ")), origin("topo_parameters"));
    }

    void write_torus(const SimGridParameters& parameters) {
        if (parameters.size() != 1) return refuse("topo_parameters", "expected sizes between commas");
        double made = 1;
        for (const std::uint32_t size : parameters[0]) made *= size;
        if (!fits(static_cast<std::uint64_t>(std::min(made, 1e18)))) return;
        const double ways = 2.0 * static_cast<double>(parameters[0].size());
        write_node(bandwidth_ * ways);
        add_link(import_, "cluster.port", rate_text(bandwidth_ * ways), origin("bw"), "0 s", {});
        write_link("cluster", 1, latency_);
        Draft& network = import_.object.object("network");
        network.set("kind", "torus", origin("topology"));
        network.set_json("dimensions", fmt::format("[{}]", fmt::join(parameters[0], ", ")), origin("topo_parameters"));
        network.set("port", "cluster.port", {});
        network.set("link", "cluster", {});
    }

    // "groups,links between two; chassis of a group,links; routers of a chassis,links; hosts of a router".
    void write_dragonfly(const SimGridParameters& parameters) {
        const bool sound = parameters.size() == 4 && parameters[0].size() == 2 && parameters[1].size() == 2 &&
                           parameters[2].size() == 2 && parameters[3].size() == 1;
        if (!sound) return refuse("topo_parameters", "expected \"groups,links;chassis,links;routers,links;hosts\"");
        const std::uint64_t groups = parameters[0][0], chassis = parameters[1][0], routers = parameters[2][0],
                            hosts = parameters[3][0];
        const double made = static_cast<double>(groups) * static_cast<double>(chassis) * static_cast<double>(routers) *
                            static_cast<double>(hosts);
        if (!fits(static_cast<std::uint64_t>(std::min(made, 1e18)))) return;
        if (chassis > 1 && routers > 1) {
            return refuse(
                "topo_parameters",
                fmt::format("{} chassis of {} routers: in a group of weft every two switches are joined, here "
                            "only those of one chassis or one place",
                            chassis, routers));
        }
        const std::uint64_t switches = chassis * routers, local = chassis > 1 ? parameters[1][1] : parameters[2][1],
                            global = parameters[0][1];
        write_node(bandwidth_);
        write_link("cluster", 1, latency_);
        write_link("cluster.local", static_cast<double>(local), latency_);
        Draft& network = import_.object.object("network");
        network.set("kind", "dragonfly", origin("topology"));
        network.set("nodes_per_group", switches * hosts, origin("topo_parameters"));
        network.set("switches_per_group", switches, origin("topo_parameters"));
        network.set("nodes_per_chassis", hosts, origin("topo_parameters"));
        network.set("switches_per_chassis", 1, {});
        network.set("global_links", global, origin("topo_parameters"));
        network.set("radix", hosts + switches - 1 + (groups - 1) * global, {});
        network.set("port", "cluster", {});
        network.set("local", "cluster.local", {});
        network.set("global", "cluster", {});
    }

    Import& import_;
    Field cluster_;
    std::uint64_t nodes_ = 0;
    double bandwidth_ = 0, latency_ = 0;
};

// The clusters within zones; all else there is a platform that was written link by link.
void find_clusters(Import& import, Field element, std::vector<Field>& clusters) {
    const std::string name = element.text("#name");
    Origin origin = element.origin("#name");
    origin.key = name;
    if (name == "cluster") {
        clusters.push_back(element);
    } else if (name == "platform" || name == "zone" || name == "AS") {
        without_effect(import, element, {"id", "routing", "version"});
        if (!element.has("#elements")) return;
        for (Field& inner : element.list("#elements")) find_clusters(import, inner, clusters);
    } else if (name == "config" || name == "prop") {
        import.note(Severity::note, origin, "settings of SimGrid are not known to weft, and left out");
    } else {
        import.note(
            Severity::error, origin,
            fmt::format("<{}>: a platform that is written host by host and link by link is not represented; one "
                        "<cluster> is",
                        name));
    }
}

// One error of a kind is enough: such platforms have thousands of hosts.
void keep_first_of_each(Import& import) {
    std::vector<std::string> seen;
    std::erase_if(import.notes, [&](const FormatNote& note) {
        const std::string text = note.origin.key + note.message;
        if (std::ranges::find(seen, text) != seen.end()) return true;
        seen.push_back(text);
        return false;
    });
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1) {
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "SimGrid reads one platform"}});
    }
    Document document = parse_xml(files.front().path, files.front().text);
    Import import;
    import.kind = FormatKind::machine;
    std::vector<Field> clusters;
    find_clusters(import, document.root(), clusters);
    keep_first_of_each(import);
    if (clusters.size() != 1 && !import.has_errors()) {
        import.note(Severity::error, {.file = files.front().path, .line = 0, .key = "cluster"},
                    fmt::format("the platform has {} of them; weft makes a machine of one", clusters.size()));
    }
    if (import.has_errors()) return import;
    SimGridCluster cluster(import, clusters.front());
    cluster.read();
    document.check();
    if (!begin_machine(import, options, "from " + std::string(files.front().name()), files.front().path)) return import;
    cluster.write();
    document.check();
    clusters.front().text("#name");
    note_rest(import, clusters.front());
    import.note(Severity::note, {.file = files.front().path, .line = 0, .key = "cluster"},
                "the factors of SimGrid's network models on bandwidth and latency are not taken over");
    if (!import.has_errors()) end_machine(import, options);
    return import;
}

}  // namespace

extern const Format simgrid;
const Format simgrid{"simgrid", "SimGrid platform", recognises, read};

}  // namespace weft::formats
