#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/output/background_text.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/number.hpp"
#include "tools/output/traffic_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const TrafficSpread& spread) {
    return {{"min", spread.least}, {"median", spread.median}, {"max", spread.most}};
}

// No limit is null.
Json way_json(const SendingWay& way) {
    return {{"protocol", way.protocol},
            {"across_nodes", way.across},
            {"messages", way.messages},
            {"endpoint_efficiency", way.efficiency},
            {"sender_rate_bytes_per_s", std::isinf(way.most.value) ? Json() : Json(way.most.value)}};
}

Json link_json(const TrafficLinkFacts& link) {
    return {{"from", link.from},         {"to", link.to},       {"class", link.link_class},
            {"messages", link.messages}, {"bound", link.bound}, {"bytes", number<Json>(link.bytes.value)},
            {"busy", link.busy}};
}

}  // namespace

std::string traffic_json(const TrafficRequest& request, const TrafficFacts& facts) {
    const SetLayout& layout = request.layout;
    Json json{{"pattern", request.pattern},
              {"machine", request.machine.info().name},
              {"library", request.library->name},
              {"ranks", layout.ranks},
              {"nodes", layout.nodes()},
              {"ranks_per_node", layout.ranks_per_node},
              {"calls", request.calls == Calls::blocking ? "blocking" : "queued"},
              {"routing", routing_name(request)},
              {"background", background_json(request.fabric)},
              {"meets_background", facts.meets_others},
              {"time_s", facts.time.value},
              {"messages", facts.run.messages.size()},
              {"bytes", number<Json>(facts.bytes.value)},
              {"link_bytes", number<Json>(facts.link_bytes.value)},
              {"rates_bytes_per_s", spread_json(facts.rates)},
              {"times_s", spread_json(facts.times)},
              {"links_used", facts.links},
              {"bound_by_library", facts.run.bound_by_library}};
    json["ways"] = Json::array();
    for (const SendingWay& way : facts.run.ways) json["ways"].push_back(way_json(way));
    json["links"] = Json::array();
    for (const TrafficLinkFacts& link : facts.busiest) json["links"].push_back(link_json(link));
    return json_text(json);
}

}  // namespace weft
