#include "tools/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/base/check.hpp"
#include "sim/io/embedded.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

std::string_view text_of(std::span<const embedded::File> files, std::string_view name) {
    const auto file = std::ranges::find(files, name, &embedded::File::name);
    WEFT_CHECK(file != files.end(), "no file of a page is called " + std::string(name));
    return file->text;
}

// Inside a script element "<" could end it ("</script>") or open a comment that does; in JSON it occurs in strings
// only.
std::string script_safe(std::string_view json) {
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

// All scripts share one scope, which is nobody else's.
std::string own_script(const Page& page) {
    std::string script = "(() => {\n'use strict';\n";
    if (!page.data.empty()) script += "const data = JSON.parse(document.getElementById('data').textContent);\n";
    for (const std::string_view name : page.scripts) script += text_of(embedded::page_scripts(), name);
    return script + "})();\n";
}

std::string footer(const Page& page) {
    std::string out = fmt::format("<footer><p>weft {}</p>", version);
    if (page.charts == ChartLibrary::embedded) {
        out += fmt::format("<details><summary>Charts are drawn by uPlot; its licence</summary><pre>{}</pre></details>",
                           xml_escaped(text_of(embedded::chart_licenses(), "uplot")));
    }
    return out + "</footer>\n";
}

}  // namespace

std::string html_page(const Page& page) {
    const bool charts = page.charts == ChartLibrary::embedded;
    std::string styles(text_of(embedded::page_styles(), "page"));
    for (const std::string_view name : page.styles) styles += text_of(embedded::page_styles(), name);
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n<style>{1}\n{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{3}{4}"
        "</main>\n",
        xml_escaped(page.title), charts ? text_of(embedded::chart_styles(), "uplot") : std::string_view(), styles,
        page.body, footer(page));
    if (!page.data.empty()) {
        out += "<script type=\"application/json\" id=\"data\">" + script_safe(page.data) + "</script>\n";
    }
    if (charts) out += fmt::format("<script>{}</script>\n", text_of(embedded::chart_scripts(), "uplot"));
    return out + fmt::format("<script>\n{}</script>\n</body>\n</html>\n", own_script(page));
}

}  // namespace weft
