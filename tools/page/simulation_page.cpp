#include "tools/page/simulation_page.hpp"

#include <algorithm>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/input_tables.hpp"
#include "tools/page/message_table.hpp"
#include "tools/page/page.hpp"
#include "tools/page/partners.hpp"
#include "tools/page/simulation_data.hpp"
#include "tools/page/stage_bars.hpp"

namespace weft {
namespace {

using Kind = HtmlColumn::Kind;

HtmlCell cell(Seconds value) { return {to_text(value), value.value}; }
HtmlCell cell(Bytes value) { return {to_text(value), value.value}; }
HtmlCell count_cell(double value) { return {fmt::format("{:.4g}", value), value}; }
HtmlCell share_cell(double value) { return {percent(value), value}; }

// Six digits, but counts in full.
std::string metric_text(const Metric& metric) {
    if (metric.kind == MetricKind::flag) return metric.value != 0 ? "yes" : "no";
    return metric.kind == MetricKind::count ? grouped(metric.value) : fmt::format("{:.6g}", metric.value);
}

class SimulationBody {
  public:
    SimulationBody(const Simulation& run, const Report& report, const JobInput& input, const TimelinePart& part,
                   const PageExplanation* explanation, bool asked)
        : run_(run), report_(report), input_(input), part_(part), explanation_(explanation), asked_(asked) {}

    std::string text() {
        head();
        cards();
        navigation();
        if (explanation_ != nullptr) section("why", "Why it takes as long", explanation_part(*explanation_));
        section("time", "Where the time goes", stage_bars(report_));
        timeline();
        memory();
        communication();
        links();
        metrics();
        inputs();
        return html_.take();
    }

  private:
    void section(std::string_view id, std::string_view title, std::string_view html) {
        html_.add("<section id=\"{}\"><h2>{}</h2>", id, title);
        html_.put(html);
        html_.put("</section>\n");
    }

    void head() {
        html_.add("<p class=\"lead\">{}<br>{}, {}, network {}</p>", xml_escaped(report_.layout), report_.framework,
                  xml_escaped(report_.batch), report_.network);
        if (report_.lacking.empty()) return;
        html_.add("<p>Modelled, cannot be run: {}</p>",
                  xml_escaped(fmt::format("{}", fmt::join(report_.lacking, "; "))));
    }

    void card(std::string_view name, std::string_view figure, std::string_view note) {
        html_.add("<div><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>", name,
                  xml_escaped(figure), note);
    }

    void cards() {
        const auto metric = [&](std::string_view key) { return report_.metric(key); };
        const double step = metric("step.time_s"), exposed = metric("step.exposed_communication_s");
        html_.put("<dl class=\"cards\">\n");
        card("step time", to_text(Seconds{step}), percent(metric("step.compute_s") / step) + " of it computing");
        card("tokens per second", grouped(metric("throughput.tokens_per_s")),
             fmt::format("of {} ranks together", grouped(report_.ranks)));
        card("model TFLOP/s per GPU", fmt::format("{:.1f}", metric("throughput.model_tflops_per_gpu")),
             fmt::format("{:.1f} in hardware", metric("throughput.hardware_tflops_per_gpu")));
        card("MFU", percent(metric("throughput.mfu")), "model FLOP/s over the device's peak");
        card("exposed communication", to_text(Seconds{exposed}), percent(exposed / step) + " of the step");
        card("memory", to_text(Bytes{metric("memory.peak_bytes")}),
             fmt::format("of {}, <span class=\"{}\">{}</span>", to_text(Bytes{metric("memory.capacity_bytes")}),
                         metric("memory.fits") != 0 ? "good" : "bad", memory_verdict(report_)));
        html_.put("</dl>\n");
    }

    void navigation() {
        html_.add("<nav aria-label=\"Sections\">{}", explanation_ != nullptr ? "<a href=\"#why\">Why</a>" : "");
        html_.put(
            "<a href=\"#time\">Time</a><a href=\"#timeline\">Timeline</a>"
            "<a href=\"#memory\">Memory</a><a href=\"#communication\">Communication</a>"
            "<a href=\"#links\">Links</a><a href=\"#metrics\">All figures</a><a href=\"#inputs\">Inputs</a></nav>\n");
    }

    // What the timeline leaves out, in words.
    std::string shown_part() const {
        std::string text = part_.classes.size() == part_.stages
                               ? "A row per stage"
                               : fmt::format("{} of {} stages, {}", part_.classes.size(), part_.stages,
                                             asked_ ? "as asked for" : "evenly chosen");
        text += fmt::format(", each as its first rank has it; {} slices.", grouped(double(part_.slices)));
        if (!part_.further.empty()) {
            text += fmt::format(" Of {} kinds of ranks, {} more are here to be chosen.", part_.rank_classes,
                                part_.further.size());
        }
        if (part_.left_out > 0) {
            text += fmt::format(
                " <strong>Only the first {} of {} are shown: {} more slices would be too many for a page.</strong> "
                "<code>--trace</code> has them all.",
                to_text(since_start(part_.until)), to_text(since_start(run_.timeline.end)),
                grouped(double(part_.left_out)));
        }
        return text;
    }

    void timeline() {
        section(
            "timeline", "Timeline",
            fmt::format("<p>{}</p><div id=\"timeline-chart\"></div>\n<noscript><p>The timeline needs JavaScript.</p>"
                        "</noscript>",
                        shown_part()));
    }

    void memory() {
        std::vector<std::vector<HtmlCell>> rows;
        for (const StageReport& stage : report_.stages) {
            const MemoryUse& use = stage.memory;
            rows.push_back({{stage.name, stage.stage},
                            count_cell(stage.layers),
                            cell(use.parameters),
                            cell(use.gradients),
                            cell(use.optimizer),
                            cell(use.activations),
                            cell(use.buffers),
                            cell(use.workspace),
                            cell(use.overhead.expected),
                            cell(use.total())});
        }
        section("memory", "Memory",
                "<div id=\"memory-chart\"></div>\n" + html_table("Of one rank of each stage, at its fullest moment.",
                                                                 {{"stage"},
                                                                  {"layers"},
                                                                  {"parameters"},
                                                                  {"gradients"},
                                                                  {"optimizer"},
                                                                  {"activations"},
                                                                  {"buffers"},
                                                                  {"workspace"},
                                                                  {"overhead"},
                                                                  {"together"}},
                                                                 rows, HtmlOrder::sortable));
    }

    void communication() {
        const double step = report_.metric("step.time_s");
        std::vector<std::vector<HtmlCell>> rows;
        for (const CommunicationReport& row : report_.communication) {
            rows.push_back({{row.dimension},
                            {row.op},
                            count_cell(row.group_size),
                            count_cell(row.calls),
                            cell(row.bytes),
                            cell(row.time),
                            cell(row.exposed),
                            share_cell(row.exposed.value / step)});
        }
        if (rows.empty()) {
            section("communication", "Communication", "<p>The ranks of this job send nothing.</p>");
            return;
        }
        section("communication", "Communication",
                html_table("Per rank and step, mean over all ranks. Volume is what a rank puts on the wire; time is in "
                           "transfer, without waiting for others; exposed is the part of it in which nothing computes.",
                           {{"dimension", Kind::text},
                            {"operation", Kind::text},
                            {"group"},
                            {"calls"},
                            {"volume"},
                            {"time"},
                            {"exposed"},
                            {"of the step"}},
                           rows, HtmlOrder::sortable) +
                    methods() + "<h3>Message sizes</h3>\n" + message_table(message_histogram(message_counts(run_))) +
                    "<h3>Who talks to whom</h3>\n<p>What each rank sends in a step, laid evenly on the other members "
                    "of its group: the pattern of the layout, whatever algorithm carries it.</p>"
                    "<div id=\"partners-chart\"></div>\n");
    }

    void links() {
        std::vector<std::vector<HtmlCell>> rows;
        for (const LinkReport& row : report_.links) {
            const auto known = std::ranges::find(run_.topology().classes, row.link_class, &LinkClass::name);
            rows.push_back({{row.link_class},
                            {to_text(known->bandwidth), known->bandwidth.value},
                            {to_text(known->nominal), known->nominal.value},
                            share_cell(row.utilization),
                            share_cell(row.peak_utilization)});
        }
        section(
            "links", "Links",
            "<div id=\"links-chart\"></div>\n" +
                html_table("Bytes carried over what the links could carry in the step.",
                           {{"link class", Kind::text},
                            {"bandwidth reached"},
                            {"specified"},
                            {"mean utilization"},
                            {"busiest link"}},
                           rows, HtmlOrder::sortable) +
                "<h3>Map of the network</h3>\n<p>A cell is as dark as its busiest link is busy, over the whole step. "
                "Rows and columns in which nothing was carried are left out; of more than 64, neighbours are "
                "drawn as one. Links inside nodes are in the tables alone.</p><div id=\"fabric-charts\" "
                "class=\"row\"></div>\n"
                "<noscript><p>The map needs JavaScript.</p></noscript>\n" +
                hottest_links());
    }

    std::string hottest_links() const {
        if (report_.hottest.empty()) return "";
        std::vector<std::vector<HtmlCell>> rows;
        for (const HotLink& link : report_.hottest) {
            rows.push_back({{link.from + " \u2192 " + link.to},
                            share_cell(link.busy),
                            cell(link.bytes),
                            count_cell(link.links),
                            {link.link_class}});
        }
        return "<h3>Busiest links</h3>\n" +
               html_table("Up to three of each class; where several carried the same, the first of them.",
                          {{"link", Kind::text}, {"utilization"}, {"carried"}, {"alike"}, {"class", Kind::text}}, rows,
                          HtmlOrder::sortable);
    }

    // Behind a line: there may be many.
    std::string methods() const {
        std::vector<std::vector<HtmlCell>> rows;
        for (const CommunicationReport& kind : report_.communication) {
            for (const CallReport& call : kind.by_message) {
                rows.push_back({{kind.dimension + ' ' + kind.op},
                                count_cell(kind.group_size),
                                cell(call.message),
                                {call.method.algorithm},
                                {call.method.protocol},
                                count_cell(call.method.channels),
                                count_cell(call.calls),
                                {to_text(call.bus_bandwidth), call.bus_bandwidth.value}});
            }
        }
        return html_details("What carries them: algorithms, protocols and bus bandwidths",
                            html_table("Message is the full buffer of a call; bus bandwidth as nccl-tests has it, with "
                                       "all that shared links meanwhile.",
                                       {{"call", Kind::text},
                                        {"group"},
                                        {"message"},
                                        {"algorithm", Kind::text},
                                        {"protocol", Kind::text},
                                        {"channels"},
                                        {"calls"},
                                        {"bus bandwidth"}},
                                       rows, HtmlOrder::sortable));
    }

    void metrics() {
        std::vector<std::vector<HtmlCell>> rows;
        for (const Metric& metric : report_.metrics) {
            rows.push_back({{std::string(metric.key)},
                            {metric_text(metric), metric.value},
                            {std::string(metric.unit)},
                            {std::string(metric.meaning)}});
        }
        section("metrics", "All figures",
                html_table("As in the JSON report, here to six digits.",
                           {{"key", Kind::text}, {"value"}, {"unit", Kind::text}, {"meaning", Kind::text}}, rows));
    }

    void inputs() {
        std::string folding = xml_escaped(folding_text(report_));
        section(
            "inputs", "Inputs and sources",
            fmt::format(
                "<p class=\"made\">Made by <code>{}</code></p>\n{}<h3>How far to trust it</h3><pre>{}</pre><h3>Ranks "
                "simulated</h3><pre>{}{} events, {} solves of the network</pre>",
                xml_escaped(input_.command), input_tables(run_, input_),
                xml_escaped(validity_text(validity_of(run_.plan))), folding, grouped(double(report_.events)),
                grouped(double(report_.solves))));
    }

    const Simulation& run_;
    const Report& report_;
    const JobInput& input_;
    const TimelinePart& part_;
    const PageExplanation* explanation_;
    bool asked_;  // for these stages
    HtmlText html_;
};

}  // namespace

std::string simulation_page(const Simulation& run, const Report& report, const JobInput& input,
                            const PageExplanation* explanation, const TimelineLimits& limits) {
    const TimelinePart part = timeline_part(run.step, run.timeline, limits);
    const std::vector<PathPiece> none;
    return html_page({.title = fmt::format("{} on {}", report.model, report.machine),
                      .body = SimulationBody(run, report, input, part, explanation, !limits.asked.empty()).text(),
                      .data = simulation_data(run, part, explanation == nullptr ? none : explanation->explanation.path),
                      .scripts = {"table", "format", "theme", "chart", "timeline_view", "timeline_lanes",
                                  "timeline_drawing", "timeline", "heat_map", "simulation"},
                      .charts = ChartLibrary::embedded});
}

}  // namespace weft
