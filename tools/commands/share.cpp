// `weft share FILE`: jobs that share a machine, and how much slower each of them is.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/output/topology_facts.hpp"
#include "tools/refusals.hpp"
#include "tools/share/sharing_file.hpp"
#include "topologies/placement.hpp"
#include "topologies/vertex_names.hpp"

namespace weft::commands {
namespace {

// The links of a class where jobs meet, together.
struct MeetingClass {
    std::string name;
    std::uint32_t links = 0;
    std::vector<Bytes> bytes;  // of each job
    double busiest = 0.0;
};

std::vector<MeetingClass> meeting_classes(const Sharing& sharing) {
    std::vector<MeetingClass> classes;
    for (const SharedLink& link : sharing.links) {
        const std::string& name = sharing.topology.link(link.link).name;
        auto known = std::ranges::find(classes, name, &MeetingClass::name);
        if (known == classes.end()) {
            known = classes.insert(classes.end(), {name, 0, std::vector<Bytes>(link.bytes.size()), 0.0});
        }
        ++known->links;
        for (std::size_t i = 0; i < link.bytes.size(); ++i) known->bytes[i] += link.bytes[i];
        known->busiest = std::max(known->busiest, link.busy);
    }
    return classes;
}

std::span<const SharedLink> busiest(const Sharing& sharing, std::uint32_t links) {
    return std::span(sharing.links).first(std::min<std::size_t>(links, sharing.links.size()));
}

std::string nodes_text(const PlacedReport& job) {
    constexpr std::size_t widest = 24;
    std::string ranges = node_ranges(job.nodes);
    return ranges.size() <= widest ? ranges : fmt::format("{} nodes", job.nodes.size());
}

std::string jobs_table(const Sharing& sharing) {
    TextTable table({"<", "nodes", "ranks", "steps", "alone", "together", "slower", "exposed alone", "together"});
    for (const PlacedReport& job : sharing.jobs) {
        table.add({job.name, nodes_text(job), grouped(job.ranks), grouped(job.steps), to_text(job.alone.time),
                   to_text(job.together.time), percent(job.slowdown() - 1), to_text(job.alone.exposed),
                   to_text(job.together.exposed)});
    }
    return table.text();
}

std::vector<std::string> headings(const Sharing& sharing, std::vector<std::string> first, const char* last) {
    for (const PlacedReport& job : sharing.jobs) first.push_back(job.name);
    first.emplace_back(last);
    return first;
}

void add_row(TextTable& table, std::vector<std::string> cells, std::span<const Bytes> bytes, double busy) {
    for (const Bytes each : bytes) cells.push_back(each == Bytes{} ? "" : to_text(each));
    cells.push_back(percent(busy));
    table.add(std::move(cells));
}

std::string meetings_table(const Sharing& sharing, std::uint32_t links) {
    if (sharing.links.empty()) return "no two of them use the same link\n";
    TextTable classes(headings(sharing, {"<they meet on", "links"}, "busiest"));
    for (const MeetingClass& each : meeting_classes(sharing)) {
        add_row(classes, {each.name, grouped(each.links)}, each.bytes, each.busiest);
    }
    TextTable table(headings(sharing, {"<busiest of these links", "<"}, "busy"));
    const VertexNames names(sharing.topology);
    for (const SharedLink& each : busiest(sharing, links)) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        add_row(table,
                {fmt::format("{} -> {}", names[ends.tail], names[ends.head]), sharing.topology.link(each.link).name},
                each.bytes, each.busy);
    }
    return classes.text() + (links > 0 ? "\n" + table.text() : "");
}

nlohmann::ordered_json step_json(const PlacedStep& step) {
    return {{"step_s", step.time.value},
            {"compute_s", step.compute.value},
            {"exposed_communication_s", step.exposed.value}};
}

nlohmann::ordered_json bytes_json(std::span<const Bytes> bytes) {
    return json_list<nlohmann::ordered_json>(bytes, [](Bytes each) { return each.value; });
}

std::string sharing_text(const Sharing& sharing, std::uint32_t links) {
    std::size_t nodes = 0;
    for (const PlacedReport& job : sharing.jobs) nodes += job.nodes.size();
    return fmt::format("{} jobs on {} nodes of {}; together: steps from {} to {}, while all run\n\n{}\n{}",
                       sharing.jobs.size(), grouped(static_cast<double>(nodes)), sharing.topology.name,
                       to_text(sharing.begin), to_text(sharing.end), jobs_table(sharing),
                       meetings_table(sharing, links));
}

std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall) {
    using Json = nlohmann::ordered_json;
    Json json{{"machine", sharing.topology.name},
              {"window", {{"begin_s", sharing.begin.value}, {"end_s", sharing.end.value}}},
              {"jobs", Json::array()},
              {"meetings", Json::array()},
              {"links", Json::array()}};
    for (const PlacedReport& job : sharing.jobs) {
        json["jobs"].push_back({{"name", job.name},
                                {"nodes", job.nodes},
                                {"ranks", job.ranks},
                                {"start_s", job.start.value},
                                {"steps", job.steps},
                                {"alone", step_json(job.alone)},
                                {"together", step_json(job.together)},
                                {"slowdown", job.slowdown()}});
    }
    for (const MeetingClass& each : meeting_classes(sharing)) {
        json["meetings"].push_back({{"class", each.name},
                                    {"links", each.links},
                                    {"bytes", bytes_json(each.bytes)},
                                    {"busiest", each.busiest}});
    }
    const VertexNames names(sharing.topology);
    for (const SharedLink& each : busiest(sharing, links)) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        json["links"].push_back({{"class", sharing.topology.link(each.link).name},
                                 {"from", names[ends.tail]},
                                 {"to", names[ends.head]},
                                 {"bytes", bytes_json(each.bytes)},
                                 {"busy", each.busy}});
    }
    json["simulation"] = {
        {"classes", sharing.program.classes.size()}, {"events", sharing.timeline.events}, {"wall_s", wall.value}};
    return json_text(json);
}

Answer answer_share(const po::variables_map& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const std::string trace = output_option(arguments, "trace", {".json", ".json.gz", ".pftrace"});
    const std::uint32_t links = *count_option(arguments, {.name = "links", .least = 0});
    const SharingOptions options{.steps = *count_option(arguments, {.name = "steps", .most = 1000}),
                                 .recording = trace.empty() ? Recording::spans : Recording::spans_and_links,
                                 .on_size = refuse_above(memory_limit(arguments))};
    const SharingFile file = read_sharing_file(arguments["file"].as<std::string>(), option_texts(arguments, "set"));
    print_notes(file.notes);
    const Sharing sharing = weft::share(file.jobs, options);
    if (!trace.empty()) {
        const std::string warning = write_trace(trace, sharing.program, sharing.timeline, sharing.topology,
                                                {.title = arguments["file"].as<std::string>()});
        if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
    }
    const Seconds wall{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    return {given(arguments, "json") ? sharing_json(sharing, links, wall) : sharing_text(sharing, links)};
}

}  // namespace

extern const Command share{
    .name = "share",
    .summary = "jobs that share a machine: how much slower each gets, and where they meet",
    .run = answer_share,
    .group = CommandGroup::run,
    .is_of_library = true,
};

}  // namespace weft::commands
