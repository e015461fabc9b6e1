#include "workloads/job/fabric_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/io/diagnostics.hpp"
#include "topologies/placement.hpp"

namespace weft {
namespace {

std::vector<std::uint32_t> read_placement(Field& section, const MachineInfo& machine, std::uint32_t nodes,
                                          const std::filesystem::path& folder) {
    const std::string placement = section.text("placement", "contiguous");
    if (nodes == 0 || nodes > machine.nodes) return {};  // which is reported where the nodes are asked for
    try {
        return place_nodes(placement, nodes, machine, folder);
    } catch (const ConfigError& error) {
        for (const Diagnostic& inner : error.diagnostics()) {
            section.error("placement", inner.file.empty() ? inner.message : to_text(inner));
        }
        return {};
    }
}

std::vector<std::pair<std::string, double>> read_background(Field section, const MachineInfo& machine) {
    std::vector<std::pair<std::string, double>> background;
    for (const std::string& name : section.keys()) {
        const double share = section.number(name);
        if (std::ranges::find(machine.link_classes, name) == machine.link_classes.end()) {
            section.error(name, fmt::format("no link class of {} is called \"{}\"{}", machine.name, name,
                                            suggestion(name, machine.link_classes)));
        } else if (!may_be_background(share)) {
            section.error(name, fmt::format("expected a share of at least 0 and below 1, got {}", share));
        } else {
            background.emplace_back(name, share);
        }
    }
    return background;
}

// On every link between switches, but where "background" says another share of a class.
void read_load(Field& section, const MachineInfo& machine, Fabric& fabric) {
    const double share = section.number("load");
    if (machine.switch_classes.empty()) {
        section.error("load", fmt::format("{} has no links between switches that others could use", machine.name));
    } else if (!may_be_background(share)) {
        section.error("load", fmt::format("expected a share of at least 0 and below 1, got {}", share));
    } else {
        add_load(fabric, share, machine.switch_classes);
    }
}

}  // namespace

Fabric read_fabric(Field section, const MachineInfo& machine, std::uint32_t nodes,
                   const std::filesystem::path& folder) {
    Fabric fabric;
    if (section.has("routing")) fabric.routing = read_routing(section, section.text("routing"));
    fabric.placement = read_placement(section, machine, nodes, folder);
    if (section.has("background")) fabric.background = read_background(section.object("background"), machine);
    if (section.has("load")) read_load(section, machine, fabric);
    section.done();
    return fabric;
}

}  // namespace weft
