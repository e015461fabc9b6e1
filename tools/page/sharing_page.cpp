#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/page/simulation_page.hpp"

namespace weft {
namespace {

// Of a step among the others.
BarRow row_of(const PlacedReport& job) {
    const PlacedStep& alone = job.alone;
    const Seconds waiting = alone.time - alone.compute - alone.exposed, lost = job.together.time - alone.time;
    // The clock counts nanoseconds.
    const auto above_nothing = [](Seconds time) { return time.value < 1e-9 ? 0.0 : time.value; };
    return {.name = job.name,
            .parts = {{"computing", "compute", alone.compute.value},
                      {"exposed communication", "data", alone.exposed.value, ", alone"},
                      {"waiting", "bubble", above_nothing(waiting), ", alone"},
                      {"lost to the others", "imbalance", above_nothing(lost)}},
            .ranks = job.ranks};
}

std::string bars(const Sharing& sharing) {
    std::vector<BarRow> rows;
    double longest = 0;
    for (const PlacedReport& job : sharing.jobs) {
        rows.push_back(row_of(job));
        longest = std::max({longest, job.together.time.value, job.alone.time.value});
    }
    if (rows.size() > 1) rows.insert(rows.begin(), mean_row(rows));
    return time_bars(std::move(rows), longest, "jobs",
                     "Time, and share of the longest step, mean over the ranks of a job.");
}

std::string cards(const Sharing& sharing) {
    const PlacedReport& slowest = *std::ranges::max_element(sharing.jobs, {}, &PlacedReport::slowdown);
    std::vector<HtmlCard> cards{
        {"slowed most", percent(slowest.slowdown() - 1),
         fmt::format("{}: {} in place of {}", xml_escaped(slowest.name), to_text(slowest.together.time),
                     to_text(slowest.alone.time))},
        {"links where they meet", grouped(static_cast<double>(sharing.links.size())), "of the network and of nodes"}};
    if (!sharing.links.empty()) {
        const SharedLink& busiest = sharing.links.front();
        cards.push_back({"busiest of these", percent(busiest.busy),
                         xml_escaped(sharing.topology.link(busiest.link).name) + ", by all of them"});
    }
    return html_cards(cards);
}

}  // namespace

std::string sharing_page(const Sharing& sharing, std::uint32_t links, std::string_view command) {
    HtmlText html;
    html.add("<p class=\"lead\">{}</p>", xml_escaped(sharing_heading(sharing)));
    html.put(cards(sharing) + html_made_by(command) + "\n");
    html.add("<section><h2>Where a step goes</h2>{}{}</section>", bars(sharing),
             html_table("Steps alone and together, means over steps.", sharing_jobs(sharing)));
    if (sharing.links.empty()) {
        html.put("<section><h2>Where they meet</h2><p>No two of them use the same link.</p></section>\n");
    } else {
        html.add("<section><h2>Where they meet</h2>{}{}</section>",
                 html_table("Classes of links that several jobs use: bytes of each job in a step.",
                            meeting_classes_table(sharing)),
                 links > 0 ? html_table("The busiest of these links.", meeting_links_table(sharing, links)) : "");
    }
    return html_page({.title = "Jobs that share " + sharing.topology.name, .body = html.take()});
}

}  // namespace weft
