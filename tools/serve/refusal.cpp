#include "tools/serve/refusal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/output/json_text.hpp"
#include "tools/output/report_json.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/page.hpp"

namespace weft {
namespace {

std::string refusal_page(const RefusedRequest& refused, const std::string& json) {
    HtmlText html;
    html.put(fmt::format("<div id=\"refusal\" data-refusal=\"{}\">\n<p class=\"bad\">{}</p><ul>\n", xml_escaped(json),
                         xml_escaped(refused.error)));
    for (const Diagnostic& each : refused.diagnostics) {
        html.add("<li><code>{}</code>{}{}</li>", xml_escaped(each.key), each.key.empty() ? "" : ": ",
                 xml_escaped(each.message));
    }
    html.put("</ul>");
    if (!refused.text.empty()) html.put("<pre>" + xml_escaped(refused.text) + "</pre>");
    html.add("</div>\n<p><a href=\"/\" target=\"_top\">To the form</a></p>");
    return html_page({.title = "No result", .body = html.take(), .scripts = {}});
}

}  // namespace

HttpAnswer refusal(const RefusedRequest& refused, std::string_view accept) {
    nlohmann::ordered_json json{{"error", refused.error}, {"diagnostics", diagnostics_json(refused.diagnostics)}};
    if (!refused.text.empty()) json["text"] = refused.text;
    // A client may send anything, and be told of it.
    const std::string text = json_text(json);
    if (accept.find("text/html") == std::string_view::npos) {
        return {.status = refused.status, .type = "application/json", .body = text};
    }
    return {.status = refused.status, .body = refusal_page(refused, text)};
}

}  // namespace weft
