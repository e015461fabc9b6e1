#include "tools/output/explanation_text.hpp"

#include <fmt/format.h>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

std::string device_text(const Rooflines& rooflines) {
    const DeviceRoofline& device = rooflines.device;
    std::string out = fmt::format("roofline of a device of stage {}: peak {}, sustained {}, memory {}, sustained {}\n",
                                  rooflines.stage, to_text(device.peak), to_text(device.sustained),
                                  to_text(device.memory), to_text(device.sustained_memory));
    TextTable table(
        {"<kernels", "time", "FLOP", "memory", "FLOP/B", "FLOP/s", "of roof", "B/s", "of memory", "<bound by"});
    for (const KernelClassUse& use : device.kernels) {
        const bool has_flops = use.flops.value > 0.0, has_bytes = use.bytes.value > 0.0;
        table.add({use.name, to_text(use.time), has_flops ? fmt::format("{:.3g}", use.flops.value) : "",
                   has_bytes ? to_text(use.bytes) : "",
                   has_flops && has_bytes ? fmt::format("{:.3g}", use.intensity()) : "",
                   has_flops ? to_text(use.achieved()) : "",
                   has_flops && has_bytes ? percent(use.achieved() / device.roof(use)) : "",
                   has_bytes ? to_text(use.achieved_memory()) : "",
                   has_bytes ? percent(use.achieved_memory() / device.memory) : "", std::string(use.bound())});
    }
    if (device.other.value > 0.0) table.add({"all else", to_text(device.other), "", "", "", "", "", "", "", ""});
    table.add({"busy", to_text(device.busy()), "", "", "", "", "", "", "", ""});
    return out + table.text(2);
}

std::string fabric_text(const Rooflines& rooflines) {
    if (rooflines.fabric.empty()) return {};
    TextTable table({"<calls", "<over", "calls", "bytes", "time", "bus bandwidth", "line rate", "of it", "<bound by"});
    for (const FabricUse& use : rooflines.fabric) {
        const bool has_rate = use.bytes.value > 0.0 && use.time.value > 0.0 && use.line.value > 0.0;
        table.add({use.dimension, use.link, grouped(static_cast<double>(use.calls)), to_text(use.bytes),
                   to_text(use.time), has_rate ? to_text(use.achieved()) : "", has_rate ? to_text(use.line_rate()) : "",
                   has_rate ? percent(use.achieved() / use.line_rate()) : "", std::string(use.bound())});
    }
    return fmt::format("roofline of the fabric for a rank of stage {}:\n", rooflines.stage) + table.text(2);
}

}  // namespace

std::string rooflines_text(const Rooflines& rooflines) {
    std::string out = device_text(rooflines);
    if (const std::string fabric = fabric_text(rooflines); !fabric.empty()) out += '\n' + fabric;
    return out;
}

}  // namespace weft
