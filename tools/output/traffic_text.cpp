#include "tools/output/traffic_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/collective_text.hpp"
#include "tools/output/fabric_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {

namespace {

std::string limit_text(BytesPerSecond most) { return std::isinf(most.value) ? "as fast as links" : to_text(most); }

std::string spreads_text(const TrafficFacts& facts) {
    TextTable table({"<a message", "least", "median", "most"});
    const auto add = [&](const char* what, const TrafficSpread& spread, auto quantity) {
        table.add(
            {what, to_text(quantity(spread.least)), to_text(quantity(spread.median)), to_text(quantity(spread.most))});
    };
    add("rate", facts.rates, [](double value) { return BytesPerSecond{value}; });
    add("time", facts.times, [](double value) { return Seconds{value}; });
    return table.text();
}

std::string ways_text(const TrafficRequest& request, const TrafficFacts& facts) {
    TextTable table(
        {"<sent by " + request.library->name, "<", "messages", "of the endpoints' bandwidth", "a sender's most"});
    for (const SendingMethod& way : facts.run.methods) {
        table.add({std::string(way.protocol), way.across ? "between nodes" : "in a node", fmt::to_string(way.messages),
                   percent(way.efficiency), limit_text(way.most)});
    }
    return table.text();
}

std::string links_text(const TrafficFacts& facts) {
    TextTable table({"<link", "<", "<class", "bytes", "messages", "binds", "busy"});
    for (const TrafficLinkFacts& link : facts.busiest) {
        table.add({link.from, "to " + link.to, link.link_class, to_text(link.bytes), fmt::to_string(link.messages),
                   fmt::to_string(link.bound), percent(link.busy)});
    }
    std::string text = table.text();
    if (facts.links > facts.busiest.size())
        text += fmt::format("and {} more links\n", facts.links - facts.busiest.size());
    if (facts.run.bound_by_library > 0) {
        text += fmt::format("{} messages bound by what a sender sends at most\n", facts.run.bound_by_library);
    }
    return text;
}

}  // namespace

std::string routing_name(const TrafficRequest& request) {
    return to_text(request.fabric.routing.value_or(request.machine.info().routing));
}

std::string traffic_text(const TrafficRequest& request, const TrafficFacts& facts) {
    std::string text = fmt::format("{} on {}: {}, {}, {} calls, {} routing\n", request.pattern,
                                   request.machine.info().name, layout_text(request.layout), request.library->name,
                                   request.calls == Calls::blocking ? "blocking" : "queued", routing_name(request));
    if (const std::string others = background_text(request.fabric); !others.empty()) {
        text += fmt::format("other traffic: {}{}\n", others, facts.meets_others ? "" : "; no message meets it");
    }
    text += fmt::format("{} message{}, {} in all, in {}: {} together\n\n", facts.run.messages.size(),
                        facts.run.messages.size() == 1 ? "" : "s", to_text(facts.bytes), to_text(facts.time),
                        to_text(facts.bytes / facts.time));
    return text + spreads_text(facts) + "\n" + ways_text(request, facts) + "\n" + links_text(facts);
}

std::string traffic_csv(const TrafficRequest& request, const TrafficFacts& facts) {
    std::string text = "source,destination,bytes,start_s,arrival_s,rate_bytes_per_s,hops,protocol\n";
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
        const RankMessage& message = request.messages[i];
        const SentMessage& sent = facts.run.messages[i];
        text += fmt::format("{},{},{},{},{},{},{},{}\n", message.from, message.to, number_text(message.bytes.value),
                            number_text(message.start.value), number_text(sent.arrival.value),
                            number_text(sent.rate(message.bytes).value), sent.hops,
                            facts.run.methods[sent.method].protocol);
    }
    return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const TrafficSpread& spread) {
    return {{"min", spread.least}, {"median", spread.median}, {"max", spread.most}};
}

// No limit is null.
Json way_json(const SendingMethod& way) {
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
    for (const SendingMethod& way : facts.run.methods) json["ways"].push_back(way_json(way));
    json["links"] = Json::array();
    for (const TrafficLinkFacts& link : facts.busiest) json["links"].push_back(link_json(link));
    return json_text(json);
}

}  // namespace weft
