#include "tools/page/tornado.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {

std::string tornado_svg(const std::vector<TornadoBar>& bars, Seconds own) {
    constexpr double width = 860, names = 330, figures = 84, row = 22, bar = 14;
    double most_saved = 0, most_lost = 0;
    for (const TornadoBar& each : bars) {
        most_saved = std::max(most_saved, 1.0 - each.step / own);
        most_lost = std::max(most_lost, each.step / own - 1.0);
    }
    const double scale = (width - names - figures) / std::max(most_saved + most_lost, 1e-9);
    const double middle = names + most_saved * scale;
    const double height = row * static_cast<double>(bars.size()) + 24;
    HtmlText svg;
    svg.add("<svg class=\"tornado\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Step time with each change\">",
            width, height);
    double y = 4;
    for (const TornadoBar& each : bars) {
        const double share = each.step / own - 1.0, end = middle + share * scale;
        svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", names - 8, y + bar - 2,
                xml_escaped(each.name));
        svg.add(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"var(--{})\"><title>{}: {}"
            "</title></rect>",
            std::min(middle, end), y, std::max(1.0, std::abs(end - middle)), bar, share <= 0 ? "good" : "bad",
            xml_escaped(each.name), to_text(each.step));
        svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\">{:+.1f} %</text>", std::max(middle, end) + 6, y + bar - 2,
                100 * share);
        y += row;
    }
    svg.add("<line x1=\"{0:.1f}\" y1=\"0\" x2=\"{0:.1f}\" y2=\"{1:.1f}\" stroke=\"var(--quiet)\"/>", middle, y);
    svg.add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">as it is: {}</text></svg>", middle, y + 14,
            to_text(own));
    return svg.take();
}

}  // namespace weft
