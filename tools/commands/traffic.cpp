// `weft traffic PATTERN --machine M --ranks N`: messages that are no collective, and the links that they meet on.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/io/files.hpp"
#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/page/result_data.hpp"
#include "tools/traffic/request.hpp"

namespace weft::commands {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const TrafficSpread& spread) {
    return {{"min", spread.least}, {"median", spread.median}, {"max", spread.most}};
}

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

std::string limit_text(double most) { return std::isinf(most) ? "as fast as links" : to_text(BytesPerSecond{most}); }

// No limit is null for programs.
ResultTable methods_table(const TrafficRequest& request, const TrafficFacts& facts) {
    return table_of<SendingMethod>(
        facts.run.methods,
        {{"protocol", "<sent by " + request.library->name, &SendingMethod::protocol},
         {"across_nodes", {}, &SendingMethod::across},
         {"", "<", [](const SendingMethod& method) { return method.across ? "between nodes" : "in a node"; }},
         {"messages", "messages", &SendingMethod::messages},
         {"endpoint_efficiency", "of the endpoints' bandwidth", as<Share>(&SendingMethod::efficiency)},
         {"sender_rate_bytes_per_s", "a sender's most", as<Figure<limit_text>>(&SendingMethod::most)}});
}

ResultTable links_table(const TrafficFacts& facts) {
    using Link = TrafficLinkFacts;
    return table_of<Link>(facts.busiest, {{"from", "<link", &Link::from},
                                          {"to", {}, &Link::to},
                                          {"", "<", [](const Link& link) { return "to " + link.to; }},
                                          {"class", "<class", &Link::link_class},
                                          {"", "bytes", &Link::bytes},
                                          {"messages", "messages", &Link::messages},
                                          {"bound", "binds", &Link::bound},
                                          {"bytes", {}, whole(&Link::bytes)},
                                          {"busy", "busy", as<Share>(&Link::busy)}});
}

std::string links_text(const TrafficFacts& facts) {
    std::string text = table_text(links_table(facts));
    if (facts.run.links.size() > facts.busiest.size())
        text += fmt::format("and {} more links\n", facts.run.links.size() - facts.busiest.size());
    if (facts.run.bound_by_library > 0) {
        text += fmt::format("{} messages bound by what a sender sends at most\n", facts.run.bound_by_library);
    }
    return text;
}

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
                        facts.run.messages.size() == 1 ? "" : "s", to_text(facts.bytes), to_text(facts.run.time),
                        to_text(facts.bytes / facts.run.time));
    return text + spreads_text(facts) + "\n" + table_text(methods_table(request, facts)) + "\n" + links_text(facts);
}

// A row per message, in the order asked.
ResultTable messages_table(const TrafficRequest& request, const TrafficFacts& facts) {
    ResultTable table{.columns = {{"source", "", "the rank that sends", ColumnKind::key},
                                  {"destination", "", "the rank that receives", ColumnKind::key},
                                  {"bytes", "B", "of the message"},
                                  {"start_s", "s", "when the source calls"},
                                  {"arrival_s", "s", "when all of it has arrived"},
                                  {.name = "time_s",
                                   .unit = "s",
                                   .meaning = "from the call to the arrival",
                                   .readers = Readers::of_json},
                                  {"rate_bytes_per_s", "B/s", "while its bytes are on the way"},
                                  {"hops", "", "links on its route"},
                                  {"protocol", "", "that the library sends it by", ColumnKind::note}},
                      .rows = {}};
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
        const RankMessage& message = request.messages[i];
        const SentMessage& sent = facts.run.messages[i];
        table.rows.push_back({std::int64_t{message.from}, std::int64_t{message.to}, message.bytes.value,
                              message.start.value, sent.arrival.value, (sent.arrival - message.start).value,
                              sent.rate(message.bytes).value, std::int64_t{sent.hops},
                              std::string(facts.run.methods[sent.method].protocol)});
    }
    return table;
}

// Of more messages, a page has those that take longest.
constexpr std::size_t most_messages_of_page = 20'000;

std::string page(const po::variables_map& arguments, const TrafficRequest& request, const TrafficFacts& facts) {
    ResultTable messages = messages_table(request, facts);
    const std::size_t all = messages.rows.size(), time = *find_column(messages, "time_s");
    if (all > most_messages_of_page) {
        std::ranges::stable_sort(messages.rows, std::ranges::greater{},
                                 [&](const auto& row) { return cell_number(row[time]); });
        messages.rows.resize(most_messages_of_page);
    }
    const std::string shown = all > messages.rows.size()
                                  ? fmt::format("; charts and rows have the {} that take longest",
                                                grouped(static_cast<double>(messages.rows.size())))
                                  : "";
    return sweep_page(
        {.title = fmt::format("{} on {}", request.pattern, request.machine.info().name),
         .command = typed_command(arguments.count("pattern") ? "traffic " + request.pattern : "traffic", arguments,
                                  {"list", "matrix", "ranks", "ranks-per-node", "size", "library", "protocol",
                                   "placement", "routing", "load", "background"}) +
                    (request.calls == Calls::queued ? " --calls queued" : ""),
         .summary =
             fmt::format("{} messages, {} in all, in {}: {} together{}.", grouped(static_cast<double>(all)),
                         to_text(facts.bytes), to_text(facts.run.time), to_text(facts.bytes / facts.run.time), shown),
         .row = "message",
         .further = "<section><h2>Links and protocols</h2>" + html_table("The busiest links.", links_table(facts)) +
                    html_table("How messages are sent.", methods_table(request, facts)) + "</section>\n"},
        messages);
}

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
              {"time_s", facts.run.time.value},
              {"messages", facts.run.messages.size()},
              {"bytes", number<Json>(facts.bytes.value)},
              {"link_bytes", number<Json>(facts.link_bytes.value)},
              {"rates_bytes_per_s", spread_json(facts.rates)},
              {"times_s", spread_json(facts.times)},
              {"links_used", facts.run.links.size()},
              {"bound_by_library", facts.run.bound_by_library}};
    json["ways"] = table_json(methods_table(request, facts));
    json["links"] = table_json(links_table(facts));
    return json_text(json);
}

Answer answer_traffic(const po::variables_map& arguments) {
    const bool json = given(arguments, "json"), csv = given(arguments, "csv");
    if (json && csv) throw OptionError("--json and --csv: only one of them");
    const std::uint32_t top = *count_option(arguments, {"top"});
    const std::string report = output_option(arguments, "report", {".html"});
    const TrafficRequest request = traffic_request(arguments);
    const TrafficFacts facts = traffic_facts(request, top);
    if (!report.empty()) write_file_atomically(report, page(arguments, request, facts));
    return {json  ? traffic_json(request, facts)
            : csv ? table_csv(messages_table(request, facts))
                  : traffic_text(request, facts)};
}

}  // namespace

extern const Command traffic{
    .name = "traffic", .run = answer_traffic, .group = CommandGroup::inspect, .is_of_library = true};

}  // namespace weft::commands
