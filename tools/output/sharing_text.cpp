#include "tools/output/result_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "topologies/placement.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
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

Json step_json(const PlacedStep& step) {
    return {{"step_s", step.time.value},
            {"compute_s", step.compute.value},
            {"exposed_communication_s", step.exposed.value}};
}

Json bytes_json(std::span<const Bytes> bytes) {
    return json_list<Json>(bytes, [](Bytes each) { return each.value; });
}

}  // namespace

TextTable sharing_jobs(const Sharing& sharing) {
    TextTable table({"<", "nodes", "ranks", "steps", "alone", "together", "slower", "exposed alone", "together"});
    for (const PlacedReport& job : sharing.jobs) {
        table.add({job.name, nodes_text(job), grouped(job.ranks), grouped(job.steps), to_text(job.alone.time),
                   to_text(job.together.time), percent(job.slowdown() - 1), to_text(job.alone.exposed),
                   to_text(job.together.exposed)});
    }
    return table;
}

TextTable meeting_classes_table(const Sharing& sharing) {
    TextTable classes(headings(sharing, {"<they meet on", "links"}, "busiest"));
    for (const MeetingClass& each : meeting_classes(sharing)) {
        add_row(classes, {each.name, grouped(each.links)}, each.bytes, each.busiest);
    }
    return classes;
}

TextTable meeting_links_table(const Sharing& sharing, std::uint32_t links) {
    TextTable table(headings(sharing, {"<busiest of these links", "<"}, "busy"));
    const VertexNames names(sharing.topology);
    for (const SharedLink& each : busiest(sharing, links)) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        add_row(table,
                {fmt::format("{} -> {}", names[ends.tail], names[ends.head]), sharing.topology.link(each.link).name},
                each.bytes, each.busy);
    }
    return table;
}

std::string sharing_heading(const Sharing& sharing) {
    const auto nodes = sum_of<std::size_t>(sharing.jobs, [](const PlacedReport& job) { return job.nodes.size(); });
    return fmt::format("{} jobs on {} nodes of {}; together: steps from {} to {}, while all run", sharing.jobs.size(),
                       grouped(static_cast<double>(nodes)), sharing.topology.name, to_text(sharing.begin),
                       to_text(sharing.end));
}

std::string sharing_text(const Sharing& sharing, std::uint32_t links) {
    const std::string heading = fmt::format("{}\n\n{}\n", sharing_heading(sharing), sharing_jobs(sharing).text());
    if (sharing.links.empty()) return heading + "no two of them use the same link\n";
    return heading + meeting_classes_table(sharing).text() +
           (links > 0 ? "\n" + meeting_links_table(sharing, links).text() : "");
}

std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall) {
    const VertexNames names(sharing.topology);
    Json json{{"machine", sharing.topology.name},
              {"window", {{"begin_s", sharing.begin.value}, {"end_s", sharing.end.value}}}};
    json["jobs"] = json_list<Json>(sharing.jobs, [](const PlacedReport& job) {
        return Json{{"name", job.name},
                    {"nodes", job.nodes},
                    {"ranks", job.ranks},
                    {"start_s", job.start.value},
                    {"steps", job.steps},
                    {"alone", step_json(job.alone)},
                    {"together", step_json(job.together)},
                    {"slowdown", job.slowdown()}};
    });
    json["meetings"] = json_list<Json>(meeting_classes(sharing), [](const MeetingClass& each) {
        return Json{
            {"class", each.name}, {"links", each.links}, {"bytes", bytes_json(each.bytes)}, {"busiest", each.busiest}};
    });
    json["links"] = json_list<Json>(busiest(sharing, links), [&](const SharedLink& each) {
        const LinkEnds ends = sharing.topology.ends(each.link);
        return Json{{"class", sharing.topology.link(each.link).name},
                    {"from", names[ends.tail]},
                    {"to", names[ends.head]},
                    {"bytes", bytes_json(each.bytes)},
                    {"busy", each.busy}};
    });
    json["simulation"] = {
        {"classes", sharing.program.classes.size()}, {"events", sharing.timeline.events}, {"wall_s", wall.value}};
    return json_text(json);
}

}  // namespace weft
