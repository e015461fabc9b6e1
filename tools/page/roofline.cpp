#include "tools/page/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/io/units.hpp"
#include "tools/output/chart_axis.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

using Kind = HtmlColumn::Kind;

constexpr double width = 540, height = 360, left = 94, top = 14, across = 420, up = 290;

bool is_drawn(const KernelClassUse& use) {
    return use.flops.value > 0.0 && use.bytes.value > 0.0 && use.time.value > 0.0;
}

class Picture {
  public:
    Picture(const DeviceRoofline& device, std::vector<const KernelClassUse*> uses)
        : device_(device),
          uses_(std::move(uses)),
          x_({.title = "", .unit = "", .scale = AxisScale::log10, .floor = 0}, least_intensity(), most_intensity(),
             AxisEnd::tight),
          y_({.title = "", .unit = "FLOP/s", .scale = AxisScale::log10, .floor = 0}, least_rate(), device.peak.value,
             AxisEnd::tight) {}

    std::string draw() {
        svg_.add("<svg class=\"roofline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Roofline of the device\">",
                 width, height);
        frame();
        roof(device_.sustained, device_.sustained_memory, "sustained");
        roof(device_.peak, device_.memory, "nominal");
        for (const KernelClassUse* const use : uses_) dot(*use);
        svg_.put("</svg>");
        return svg_.take();
    }

  private:
    double ridge() const { return device_.peak.value / device_.memory.value; }
    double least_intensity() const {
        double least = ridge();
        for (const KernelClassUse* const use : uses_) least = std::min(least, use->intensity());
        return least * 0.7;
    }
    double most_intensity() const {
        double most = ridge();
        for (const KernelClassUse* const use : uses_) most = std::max(most, use->intensity());
        return most * 1.4;
    }
    double least_rate() const {
        double least = device_.peak.value;
        for (const KernelClassUse* const use : uses_) least = std::min(least, use->achieved().value);
        return least * 0.7;
    }
    double x(double intensity) const { return left + across * x_.place(intensity); }
    double y(double rate) const { return top + up * (1 - y_.place(rate)); }

    void frame() {
        svg_.add("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", left, top, across, up);
        for (const ChartTick& tick : x_.ticks()) {
            svg_.add("<path class=\"grid\" d=\"M{:.1f} {}v{}\"/>", x(tick.value), top, up);
            svg_.add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(tick.value), top + up + 18,
                     xml_escaped(tick.label));
        }
        for (const ChartTick& tick : y_.ticks()) {
            svg_.add("<path class=\"grid\" d=\"M{} {:.1f}h{}\"/>", left, y(tick.value), across);
            svg_.add("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 6, y(tick.value) + 4,
                     xml_escaped(tick.label));
        }
        svg_.add("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">FLOP per byte of memory</text>", left + across / 2,
                 top + up + 40);
    }

    // Where memory bounds up to the ridge, and products beyond it; cut at the frame.
    void roof(FlopsPerSecond peak, BytesPerSecond memory, std::string_view kind) {
        const double low = x_.ticks().front().value, high = x_.ticks().back().value;
        const double from = std::max(low, y_.ticks().front().value / memory.value);
        const double bend = std::clamp(peak.value / memory.value, from, high);
        svg_.add("<path class=\"roof {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\"><title>{}: {}, {}</title></path>",
                 kind, x(from), y(std::min(from * memory.value, peak.value)), x(bend), y(peak.value), x(high), kind,
                 to_text(peak), to_text(memory));
    }

    // Its area is its share of the longest; never too small to point at.
    void dot(const KernelClassUse& use) {
        const double share = use.time / uses_.front()->time, radius = std::max(3.5, 16 * std::sqrt(share));
        const double at_x = x(use.intensity()), at_y = y(use.achieved().value);
        svg_.add(
            "<circle class=\"predict\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: {}, {:.3g} FLOP/B, {}, "
            "bound by {}</title></circle>",
            at_x, at_y, radius, xml_escaped(use.name), to_text(use.time), use.intensity(), to_text(use.achieved()),
            use.bound());
    }

    const DeviceRoofline& device_;
    std::vector<const KernelClassUse*> uses_;
    AxisMap x_, y_;
    HtmlText svg_;
};

std::string kernels_table(const DeviceRoofline& device) {
    std::vector<std::vector<HtmlCell>> rows;
    for (const KernelClassUse& use : device.kernels) {
        const bool has_flops = use.flops.value > 0.0, has_bytes = use.bytes.value > 0.0;
        const double share = is_drawn(use) ? use.achieved() / device.roof(use) : 0;
        rows.push_back(
            {{use.name},
             {to_text(use.time), use.time.value},
             {has_flops ? fmt::format("{:.3g}", use.flops.value) : "", use.flops.value},
             {has_bytes ? to_text(use.bytes) : "", use.bytes.value},
             {is_drawn(use) ? fmt::format("{:.3g}", use.intensity()) : "", is_drawn(use) ? use.intensity() : 0},
             {has_flops ? to_text(use.achieved()) : "", has_flops ? use.achieved().value : 0},
             {is_drawn(use) ? percent(share) : "", share},
             {has_bytes ? percent(use.achieved_memory() / device.memory) : "",
              has_bytes ? use.achieved_memory().value : 0},
             {std::string(use.bound())}});
    }
    return html_table(fmt::format("The device is busy for {} of the step.", to_text(device.busy())),
                      {{"kernels", Kind::text},
                       {"time"},
                       {"FLOP"},
                       {"memory"},
                       {"FLOP/B"},
                       {"achieved"},
                       {"of its roof"},
                       {"of memory bandwidth"},
                       {"bound by", Kind::text}},
                      rows, HtmlOrder::sortable);
}

std::string fabric_table(const std::vector<FabricUse>& fabric) {
    if (fabric.empty()) return {};
    std::vector<std::vector<HtmlCell>> rows;
    for (const FabricUse& use : fabric) {
        const bool has_rate = use.bytes.value > 0.0 && use.time.value > 0.0 && use.line.value > 0.0;
        const double share = has_rate ? use.achieved() / use.line_rate() : 0;
        rows.push_back({{use.dimension},
                        {use.link},
                        {grouped(static_cast<double>(use.calls)), static_cast<double>(use.calls)},
                        {to_text(use.bytes), use.bytes.value},
                        {to_text(use.time), use.time.value},
                        {has_rate ? to_text(use.achieved()) : "", has_rate ? use.achieved().value : 0},
                        {has_rate ? to_text(use.line_rate()) : "", has_rate ? use.line_rate().value : 0},
                        {has_rate ? percent(share) : "", share},
                        {std::string(use.bound())}});
    }
    return "<h3>Roofline of the fabric</h3>" +
           html_table(
               "Calls of one rank in a step, by what bounds them alone. Line rate: the bus bandwidth of the same "
               "algorithm on links as their data sheets have them.",
               {{"calls of", Kind::text},
                {"over", Kind::text},
                {"calls"},
                {"bytes"},
                {"time"},
                {"bus bandwidth"},
                {"line rate"},
                {"of it"},
                {"bound by", Kind::text}},
               rows, HtmlOrder::sortable);
}

}  // namespace

std::string roofline_svg(const DeviceRoofline& device) {
    std::vector<const KernelClassUse*> uses;  // the longest first
    for (const KernelClassUse& use : device.kernels) {
        if (is_drawn(use)) uses.push_back(&use);
    }
    return uses.empty() ? "" : Picture(device, std::move(uses)).draw();
}

std::string rooflines_part(const Rooflines& rooflines) {
    const DeviceRoofline& device = rooflines.device;
    return fmt::format(
        "<h3>Roofline of the device</h3><p>A device of stage {}. A dot is a class of kernels, as large as its time; "
        "the "
        "full line is the data sheet's {} and {}, the dashed one what is sustained: {} and {}.</p>"
        "{}{}{}",
        rooflines.stage, to_text(device.peak), to_text(device.memory), to_text(device.sustained),
        to_text(device.sustained_memory), roofline_svg(device), kernels_table(device), fabric_table(rooflines.fabric));
}

}  // namespace weft
