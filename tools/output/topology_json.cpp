#include <nlohmann/json.hpp>

#include "tools/output/json_text.hpp"
#include "tools/output/topology_text.hpp"

namespace weft {

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
