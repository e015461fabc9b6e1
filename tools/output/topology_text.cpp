#include "tools/output/topology_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {

namespace {

std::string classes_text(const TopologyFacts& facts) {
    TextTable table({"<class", "links", "nominal", "achievable", "latency"});
    for (const ClassFacts& row : facts.classes) {
        if (row.links == 0) continue;
        table.add({row.link_class.name, fmt::to_string(row.links), to_text(row.link_class.nominal),
                   to_text(row.link_class.bandwidth), to_text(row.link_class.latency)});
    }
    return fmt::format("\nLinks (counted and measured one way)\n{}", table.text(2));
}

std::string node_links_text(const TopologyFacts& facts) {
    const bool direct = std::any_of(facts.node_links.begin(), facts.node_links.end(), [](const auto& row) {
        return std::any_of(row.begin(), row.end(), [](BytesPerSecond rate) { return rate > BytesPerSecond{}; });
    });
    if (!direct) return "\nInside a node: no direct links, all accelerators meet in the node's switch\n";
    std::vector<std::string> headings{""};
    for (std::size_t i = 0; i < facts.node_links.size(); ++i) headings.push_back(fmt::to_string(i));
    TextTable table(headings);
    for (std::size_t i = 0; i < facts.node_links.size(); ++i) {
        std::vector<std::string> cells{fmt::to_string(i)};
        for (const BytesPerSecond rate : facts.node_links[i]) {
            cells.push_back(rate > BytesPerSecond{} ? fmt::format("{:g}", rate.value / 1e9) : ".");
        }
        table.add(std::move(cells));
    }
    return fmt::format("\nDirect links inside a node (GB/s nominal, one way)\n{}", table.text(2));
}

constexpr std::size_t widest = 120;  // line of ranks

std::string rings_text(const RingFacts& rings) {
    if (rings.orders.empty() || rings.orders.front().size() < 2) return {};
    std::string text = fmt::format("\nRings inside a node: together {} nominal, {} achievable\n",
                                   to_text(rings.nominal), to_text(rings.bandwidth));
    for (const std::vector<RankId>& order : rings.orders) {
        std::string line = " ";
        for (const RankId rank : order) {
            const std::string next = fmt::format(" {}", index(rank));
            if (line.size() + next.size() > widest) {
                text += line + "\n";
                line = "   ";  // the ring goes on
            }
            line += next;
        }
        text += line + "\n";
    }
    return text;
}

}  // namespace

std::string to_text(const RouteFacts& route) {
    std::string text = fmt::format("\nRank {} to rank {}{}{}: ", index(route.from), index(route.to),
                                   route.relation.empty() ? "" : ", ", route.relation);
    if (route.hops.empty()) return text + "the same accelerator\n";
    text += fmt::format("{} {}, latency {}, at most {} ({} nominal)\n", route.hops.size(),
                        route.hops.size() == 1 ? "hop" : "hops", to_text(route.latency), to_text(route.bandwidth),
                        to_text(route.nominal));
    TextTable table({"<from", "<to", "<link", "achievable", "latency"});
    for (const Hop& hop : route.hops) {
        table.add({hop.from, hop.to, hop.link_class.name, to_text(hop.link_class.bandwidth),
                   to_text(hop.link_class.latency)});
    }
    text += table.text(2);
    for (const RouteFacts& detour : route.detours) text += to_text(detour);
    return text;
}

std::string to_text(const MachineInfo& machine, const TopologyFacts& facts) {
    TextTable figures({"<", "<"});
    figures.add({"nodes", fmt::format("{} of {}", facts.nodes, machine.nodes)});
    figures.add({"accelerators", fmt::format("{} ({}; {} per node)", facts.accelerators, machine.device,
                                             machine.accelerators_per_node)});
    figures.add({"NICs", fmt::format("{} ({} per node)", facts.nics, machine.nics_per_node)});
    figures.add({"switches", fmt::to_string(facts.switches)});
    figures.add({"injection of a node", fmt::format("{} nominal, {} achievable", to_text(facts.injection_nominal),
                                                    to_text(facts.injection_bandwidth))});
    figures.add({"bisection of the whole machine", fmt::format("{} nominal", to_text(machine.bisection))});
    std::string text = figures.text(2);
    text.erase(0, text.find('\n') + 1);  // the headings are blank
    text.insert(0, fmt::format("{}: {}\n", machine.name, machine.title));
    text += classes_text(facts) + node_links_text(facts) + rings_text(facts.node_rings);
    for (const RouteFacts& route : facts.routes) text += to_text(route);
    return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json class_json(const LinkClass& link_class) {
    return {{"class", link_class.name},
            {"nominal_bytes_per_s", link_class.nominal.value},
            {"bandwidth_bytes_per_s", link_class.bandwidth.value},
            {"latency_s", link_class.latency.value}};
}

Json route_json(const RouteFacts& route) {
    Json hops = Json::array();
    for (const Hop& hop : route.hops) {
        Json row{{"from", hop.from}, {"to", hop.to}};
        row.update(class_json(hop.link_class));
        hops.push_back(std::move(row));
    }
    Json json{{"relation", route.relation},
              {"from", index(route.from)},
              {"to", index(route.to)},
              {"latency_s", route.latency.value},
              {"nominal_bytes_per_s", route.nominal.value},
              {"bandwidth_bytes_per_s", route.bandwidth.value},
              {"hops", std::move(hops)}};
    for (const RouteFacts& detour : route.detours) json["detours"].push_back(route_json(detour));
    return json;
}

Json rings_json(const RingFacts& rings) {
    Json orders = Json::array();
    for (const std::vector<RankId>& order : rings.orders) {
        Json ranks = Json::array();
        for (const RankId rank : order) ranks.push_back(index(rank));
        orders.push_back(std::move(ranks));
    }
    return {{"orders", std::move(orders)},
            {"nominal_bytes_per_s", rings.nominal.value},
            {"bandwidth_bytes_per_s", rings.bandwidth.value}};
}

}  // namespace

std::string to_json(const RouteFacts& route) { return json_text(route_json(route)); }

std::string to_json(const MachineInfo& machine, const TopologyFacts& facts) {
    Json json{{"machine", machine.name},
              {"title", machine.title},
              {"device", machine.device},
              {"library", machine.library().name},
              {"nodes", facts.nodes},
              {"machine_nodes", machine.nodes},
              {"accelerators", facts.accelerators},
              {"nics", facts.nics},
              {"switches", facts.switches},
              {"injection_nominal_bytes_per_s", facts.injection_nominal.value},
              {"injection_bytes_per_s", facts.injection_bandwidth.value},
              {"bisection_nominal_bytes_per_s", machine.bisection.value}};
    json["links"] = Json::array();
    for (const ClassFacts& row : facts.classes) {
        Json link_class = class_json(row.link_class);
        link_class["links"] = row.links;
        json["links"].push_back(std::move(link_class));
    }
    json["node_links_nominal_bytes_per_s"] = Json::array();
    for (const auto& row : facts.node_links) {
        Json cells = Json::array();
        for (const BytesPerSecond rate : row) cells.push_back(rate.value);
        json["node_links_nominal_bytes_per_s"].push_back(std::move(cells));
    }
    json["node_rings"] = rings_json(facts.node_rings);
    json["routes"] = Json::array();
    for (const RouteFacts& route : facts.routes) json["routes"].push_back(route_json(route));
    return json_text(json);
}

}  // namespace weft
