#include "tools/page/simulation_page.hpp"

#include <algorithm>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"

namespace weft {
namespace {

// Six digits, but counts in full.
std::string metric_text(const Metric& metric) {
    if (metric.kind == MetricKind::flag) return metric.value != 0 ? "yes" : "no";
    return metric.kind == MetricKind::count ? grouped(metric.value) : fmt::format("{:.6g}", metric.value);
}

double of(const Report& report, std::string_view key) { return report.metric(key); }

std::string share_of_step(const Report& report, std::string_view key) {
    return percent(of(report, key) / of(report, "step.time_s"));
}

// A headline figure of a step.
struct StepCard {
    std::string_view name;
    std::string (*figure)(const Report&);
    std::string (*note)(const Report&);  // HTML
};

constexpr StepCard cards[] = {
    {"step time", [](const Report& r) { return to_text(Seconds{of(r, "step.time_s")}); },
     [](const Report& r) { return share_of_step(r, "step.compute_s") + " of it computing"; }},
    {"tokens per second", [](const Report& r) { return grouped(of(r, "throughput.tokens_per_s")); },
     [](const Report& r) { return fmt::format("of {} ranks together", grouped(r.ranks)); }},
    {"model TFLOP/s per GPU",
     [](const Report& r) { return fmt::format("{:.1f}", of(r, "throughput.model_tflops_per_gpu")); },
     [](const Report& r) { return fmt::format("{:.1f} in hardware", of(r, "throughput.hardware_tflops_per_gpu")); }},
    {"MFU", [](const Report& r) { return percent(of(r, "throughput.mfu")); },
     [](const Report&) { return std::string("model FLOP/s over the device's peak"); }},
    {"exposed communication", [](const Report& r) { return to_text(Seconds{of(r, "step.exposed_communication_s")}); },
     [](const Report& r) { return share_of_step(r, "step.exposed_communication_s") + " of the step"; }},
    {"memory", [](const Report& r) { return to_text(Bytes{of(r, "memory.peak_bytes")}); },
     [](const Report& r) {
         return fmt::format("of {}, <span class=\"{}\">{}</span>", to_text(Bytes{of(r, "memory.capacity_bytes")}),
                            of(r, "memory.fits") != 0 ? "good" : "bad", memory_verdict(r));
     }},
};

std::string cards_html(const Report& report) {
    return html_cards(list_of<HtmlCard>(cards, [&](const StepCard& card) {
        return HtmlCard{card.name, xml_escaped(card.figure(report)), card.note(report)};
    }));
}

std::string head_part(const Report& report) {
    HtmlText html;
    html.add("<p class=\"lead\">{}<br>{}, {}, network {}</p>", xml_escaped(report.layout), report.framework,
             xml_escaped(report.batch), report.network);
    if (!report.lacking.empty()) {
        html.add("<p>Modelled, cannot be run: {}</p>", xml_escaped(fmt::format("{}", fmt::join(report.lacking, "; "))));
    }
    for (const std::string& remark : report.remarks) html.add("<p>Note: {}.</p>", xml_escaped(remark));
    return html.take();
}

// What the timeline leaves out, in words.
std::string shown_part(const Simulation& run, const TimelinePart& part) {
    std::string text = part.classes.size() == part.stages
                           ? "A row per stage"
                           : fmt::format("{} of {} stages, evenly chosen", part.classes.size(), part.stages);
    text += fmt::format(", each as its first rank has it; {} slices.", grouped(double(part.slices)));
    if (!part.further.empty()) {
        text += fmt::format(" Of {} kinds of ranks, {} more are here to be chosen.", part.rank_classes,
                            part.further.size());
    }
    if (part.left_out > 0) {
        text += fmt::format(
            " <strong>Only the first {} of {} are shown: {} more slices would be too many for a page.</strong> "
            "<code>--trace</code> has them all.",
            to_text(since_start(part.until)), to_text(since_start(run.timeline.end)), grouped(double(part.left_out)));
    }
    return text;
}

std::string timeline_chart(const Simulation& run, const TimelinePart& part) {
    return fmt::format(
        "<p>{}</p><div id=\"timeline-chart\"></div>\n<noscript><p>The timeline needs JavaScript.</p></noscript>",
        shown_part(run, part));
}

std::string memory_part(const Report& report) {
    return "<div id=\"memory-chart\"></div>\n" +
           html_table("Of one rank of each stage, at its fullest moment.", memory_table(report.stages));
}

// Behind a line: there may be many.
std::string methods_part(const Report& report) {
    struct Carried {
        const CommunicationReport* kind;
        const CallReport* call;
    };
    std::vector<Carried> rows;
    for (const CommunicationReport& kind : report.communication) {
        for (const CallReport& call : kind.by_message) rows.push_back({&kind, &call});
    }
    const auto call = [](auto part) { return inside(&Carried::call, part); };
    const auto method = [=](auto part) { return inside(call(&CallReport::method), part); };
    const ResultTable table = table_of<Carried>(
        rows, {{"", "<call", [](const Carried& row) { return row.kind->dimension + ' ' + row.kind->op; }},
               {"", "group", [](const Carried& row) { return row.kind->group_size; }},
               {"", "message", call(&CallReport::message)},
               {"", "<algorithm", method(&Method::algorithm)},
               {"", "<protocol", method(&Method::protocol)},
               {"", "channels", method(&Method::channels)},
               {"", "calls", as<Figure<significant<4>>>(call(&CallReport::calls))},
               {"", "bus bandwidth", call(&CallReport::bus_bandwidth)}});
    return html_details(
        "What carries them: algorithms, protocols and bus bandwidths",
        html_table("Message is the full buffer of a call; bus bandwidth as nccl-tests has it, with all that shared "
                   "links meanwhile.",
                   table));
}

std::string communication_part(const Simulation& run, const Report& report) {
    if (report.communication.empty()) return "<p>The ranks of this job send nothing.</p>";
    ResultTable table = communication_table(report);
    table.columns.push_back({.name = "", .unit = "", .meaning = "", .heading = "of the step", .text = text_of<Share>});
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        table.rows[i].emplace_back(report.communication[i].exposed.value / of(report, "step.time_s"));
    }
    return html_table(
               "Per rank and step, mean over all ranks. Volume is what a rank puts on the wire; time is in "
               "transfer, without waiting for others; exposed is the part of it in which nothing computes.",
               table) +
           methods_part(report) + "<h3>Message sizes</h3>\n" + message_table(message_histogram(message_counts(run))) +
           "<h3>Who talks to whom</h3>\n<p>What each rank sends in a step, laid evenly on the other members of its "
           "group: the pattern of the layout, whatever algorithm carries it.</p><div "
           "id=\"partners-chart\"></div>\n";
}

std::string links_part(const Simulation& run, const Report& report) {
    const auto class_of = [&](const LinkReport& row) -> const LinkClass& {
        return *std::ranges::find(run.topology().classes, row.link_class, &LinkClass::name);
    };
    using Row = LinkReport;
    const ResultTable table =
        table_of<Row>(report.links, {{"", "<link class", &Row::link_class},
                                     {"", "bandwidth reached", [&](const Row& row) { return class_of(row).bandwidth; }},
                                     {"", "specified", [&](const Row& row) { return class_of(row).nominal; }},
                                     {"", "mean utilization", as<Share>(&Row::utilization)},
                                     {"", "busiest link", as<Share>(&Row::peak_utilization)}});
    return "<div id=\"links-chart\"></div>\n" +
           html_table("Bytes carried over what the links could carry in the step.", table) +
           "<h3>Map of the network</h3>\n<p>A cell is as dark as its busiest link is busy, over the whole step. "
           "Rows and columns in which nothing was carried are left out; of more than 64, neighbours are drawn as "
           "one. Links inside nodes are in the tables alone.</p><div id=\"fabric-charts\" class=\"row\"></div>\n"
           "<noscript><p>The map needs JavaScript.</p></noscript>\n" +
           (report.hottest.empty()
                ? ""
                : "<h3>Busiest links</h3>\n" +
                      html_table("Up to three of each class; where several carried the same, the first of them.",
                                 hot_links_table(report.hottest)));
}

std::string metrics_part(const Report& report) {
    return html_table("As in the JSON report, here to six digits.",
                      table_of<Metric>(report.metrics, {{"", "<key", &Metric::key},
                                                        {"", "value", metric_text},
                                                        {"", "<unit", &Metric::unit},
                                                        {"", "<meaning", &Metric::meaning}}));
}

std::string inputs_part(const Simulation& run, const Report& report, const JobInput& input) {
    return fmt::format(
        "{}\n{}<h3>How far to trust it</h3><pre>{}</pre><h3>Ranks "
        "simulated</h3><pre>{}{} events, {} solves of the network</pre>",
        html_made_by(input.command), input_tables(run, input), xml_escaped(validity_text(validity_of(run.plan))),
        xml_escaped(folding_text(report)), grouped(double(report.events)), grouped(double(report.solves)));
}

}  // namespace

std::string explained_page(const JobExplanation& explained, const JobInput& input, const std::string& simulate) {
    const Simulation& run = explained.step.run;
    const TimelinePart part = timeline_part(run.step, run.timeline);
    const Report& report = explained.report;
    const HtmlSection sections[] = {
        {"why", "Why", "Why it takes as long", explanation_part(explained, simulate)},
        {"time", "Time", "Where the time goes", stage_bars(report)},
        {"timeline", "Timeline", "Timeline", timeline_chart(run, part)},
        {"memory", "Memory", "Memory", memory_part(report)},
        {"communication", "Communication", "Communication", communication_part(run, report)},
        {"links", "Links", "Links", links_part(run, report)},
        {"metrics", "All figures", "All figures", metrics_part(report)},
        {"inputs", "Inputs", "Inputs and sources", inputs_part(run, report, input)}};
    return html_page(
        {.title = fmt::format("{} on {}", report.model, report.machine),
         .body = head_part(report) + cards_html(report) +
                 fmt::format("<nav aria-label=\"Sections\">{}\n{}</nav>\n", html_links(std::span(sections).first(1)),
                             html_links(std::span(sections).subspan(1))) +
                 html_sections(sections),
         .data = simulation_data(run, part, explained.explanation),
         .scripts = {"table", "format", "theme", "chart", "timeline_view", "timeline_lanes", "timeline_drawing",
                     "timeline", "heat_map", "simulation"},
         .charts = ChartLibrary::embedded});
}

}  // namespace weft
