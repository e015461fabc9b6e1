#include "tools/page/simulation_page.hpp"

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

HtmlCell number_cell(double value) { return {fmt::format("{:.3g}", value), value}; }
HtmlCell share_cell(double value) { return {percent(value), value}; }

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

const HtmlCell nothing{"", 0};

std::string kernels_table(const DeviceRoofline& device) {
    using Use = KernelClassUse;
    const auto has_flops = [](const Use& u) { return u.flops.value > 0.0; };
    const auto has_bytes = [](const Use& u) { return u.bytes.value > 0.0; };
    const auto roof_share = [&](const Use& u) { return u.achieved() / device.roof(u); };
    return html_table<Use>(
        fmt::format("The device is busy for {} of the step.", to_text(device.busy())),
        {{"kernels", [](const Use& u) { return HtmlCell{u.name}; }, Kind::text},
         {"time", [](const Use& u) { return html_cell(u.time); }},
         {"FLOP", [&](const Use& u) { return has_flops(u) ? number_cell(u.flops.value) : nothing; }},
         {"memory", [&](const Use& u) { return has_bytes(u) ? html_cell(u.bytes) : nothing; }},
         {"FLOP/B", [](const Use& u) { return is_drawn(u) ? number_cell(u.intensity()) : nothing; }},
         {"achieved", [&](const Use& u) { return has_flops(u) ? html_cell(u.achieved()) : nothing; }},
         {"of its roof", [&](const Use& u) { return is_drawn(u) ? share_cell(roof_share(u)) : nothing; }},
         {"of memory bandwidth",
          [&](const Use& u) {
              const BytesPerSecond rate = u.achieved_memory();
              return has_bytes(u) ? HtmlCell{percent(rate / device.memory), rate.value} : nothing;
          }},
         {"bound by", [](const Use& u) { return HtmlCell{std::string(u.bound())}; }, Kind::text}},
        device.kernels, HtmlOrder::sortable);
}

std::string fabric_table(const std::vector<FabricUse>& fabric) {
    if (fabric.empty()) return {};
    using Use = FabricUse;
    const auto has_rate = [](const Use& u) { return u.bytes.value > 0.0 && u.time.value > 0.0 && u.line.value > 0.0; };
    return "<h3>Roofline of the fabric</h3>" +
           html_table<Use>(
               "Calls of one rank in a step, by what bounds them alone. Line rate: the bus bandwidth of the same "
               "algorithm on links as their data sheets have them.",
               {{"calls of", [](const Use& u) { return HtmlCell{u.dimension}; }, Kind::text},
                {"over", [](const Use& u) { return HtmlCell{u.link}; }, Kind::text},
                {"calls",
                 [](const Use& u) {
                     return HtmlCell{grouped(double(u.calls)), double(u.calls)};
                 }},
                {"bytes", [](const Use& u) { return html_cell(u.bytes); }},
                {"time", [](const Use& u) { return html_cell(u.time); }},
                {"bus bandwidth", [&](const Use& u) { return has_rate(u) ? html_cell(u.achieved()) : nothing; }},
                {"line rate", [&](const Use& u) { return has_rate(u) ? html_cell(u.line_rate()) : nothing; }},
                {"of it",
                 [&](const Use& u) { return has_rate(u) ? share_cell(u.achieved() / u.line_rate()) : nothing; }},
                {"bound by", [](const Use& u) { return HtmlCell{std::string(u.bound())}; }, Kind::text}},
               fabric, HtmlOrder::sortable);
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
