#include "workloads/job/job_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

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
            section.error(name, "no link class of {} is called \"{}\"{}", machine.name, name,
                          suggestion(name, machine.link_classes));
        } else if (!may_be_background(share)) {
            section.error(name, "expected a share of at least 0 and below 1, got {}", share);
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
        section.error("load", "{} has no links between switches that others could use", machine.name);
    } else if (!may_be_background(share)) {
        section.error("load", "expected a share of at least 0 and below 1, got {}", share);
    } else {
        add_load(fabric, share, machine.switch_classes);
    }
}

std::optional<double> read_quantile(Field& section, const Fabric& fabric) {
    const double quantile = section.number("quantile");
    section.error_if(!(quantile > 0.0 && quantile < 1.0), "quantile",
                     "expected the share of steps that meet no more, above 0 and below 1, got {}", quantile);
    section.error_if(fabric.background.empty(), "quantile", "is of traffic that load or background says");
    return quantile;
}

constexpr std::string_view nodes_of_job = "the job has nodes", ranks_of_job = "the job has ranks";

// One of `count` nodes, ranks or NICs that `owner` has; nothing after an error.
std::optional<std::uint32_t> read_number(Field& entry, std::string_view key, std::string_view owner_has,
                                         std::uint32_t count) {
    if (!entry.is_number(key)) {
        entry.whole(key);  // which says what it should be
        return std::nullopt;
    }
    const std::uint32_t number = entry.whole(key);
    if (number < count) return number;
    entry.error(key, "{} 0 to {}, not {}", owner_has, count - 1, number);
    return std::nullopt;
}

void read_slow_gpu(Field entry, const MachineInfo& machine, const Job& job, std::vector<SlowRanks>& slow) {
    const double factor = entry.number("factor");
    entry.error_if(entry.is_number("factor") && factor < 1.0, "factor",
                   "expected how many times as long computation takes, at least 1; {} would be faster than {} computes",
                   factor, machine.device);
    const bool by_rank = entry.has("rank"), by_node = entry.has("node");
    if (by_rank == by_node) {
        entry.error("", "expected either \"rank\" (one GPU) or \"node\" (all GPUs of it)");
        entry.done();
        return;
    }
    const char* const key = by_rank ? "rank" : "node";
    const std::uint32_t size = by_rank ? 1 : machine.accelerators_per_node;
    const std::optional<std::uint32_t> number =
        read_number(entry, key, by_rank ? ranks_of_job : nodes_of_job, by_rank ? job.layout.ranks() : job.nodes);
    entry.done();
    if (!number) return;
    const SlowRanks ranks{.first = RankId(*number * size), .count = size, .factor = factor};
    for (const SlowRanks& other : slow) {
        if (other.first == ranks.first && other.count == ranks.count) {
            entry.error(key, "{} {} stands here twice", key, *number);
            return;
        }
    }
    slow.push_back(ranks);
}

std::optional<NicCable> read_nic(Field& entry, const MachineInfo& machine, const Job& job) {
    const std::optional<std::uint32_t> node = read_number(entry, "node", nodes_of_job, job.nodes);
    const std::optional<std::uint32_t> nic =
        read_number(entry, "nic", fmt::format("a node of {} has NICs", machine.name), machine.nics_per_node);
    return node && nic ? std::optional(NicCable{*node, *nic}) : std::nullopt;
}

std::optional<RouteCables> read_route(Field& entry, const MachineInfo& machine, const Job& job) {
    const std::optional<std::uint32_t> from = read_number(entry, "from", ranks_of_job, job.layout.ranks());
    const std::optional<std::uint32_t> to = read_number(entry, "to", ranks_of_job, job.layout.ranks());
    const std::string link_class = entry.text("class", "");
    const bool known = std::ranges::find(machine.link_classes, link_class) != machine.link_classes.end();
    entry.error_if(entry.is_text("class") && !known, "class", "no link class of {} is called \"{}\"{}", machine.name,
                   link_class, suggestion(link_class, machine.link_classes));
    if (!from || !to || (entry.has("class") && !known)) return std::nullopt;
    return RouteCables{.from = RankId(*from), .to = RankId(*to), .link_class = link_class};
}

// The place of an entry is recorded beside it, for what only the topology can tell.
using PlacedFault = std::pair<LinkFault, Field>;

void read_link(Field entry, const MachineInfo& machine, const Job& job, std::vector<PlacedFault>& faults) {
    LinkFault fault{.where = {}, .share = entry.number("bandwidth")};
    const bool is_share = fault.share >= 0.0 && fault.share <= 1.0;
    entry.error_if(!is_share, "bandwidth",
                   "expected the share of its bandwidth that the link has left, from 0 (dead) to 1, got {}",
                   fault.share);
    const std::array<bool, 2> nic_keys{entry.has("node"), entry.has("nic")};
    const std::array<bool, 3> route_keys{entry.has("from"), entry.has("to"), entry.has("class")};
    const bool by_nic = nic_keys[0] || nic_keys[1];
    if (by_nic == (route_keys[0] || route_keys[1])) {
        entry.error("", "expected either \"node\" and \"nic\" or \"from\" and \"to\" (two ranks)");
        entry.done();
        return;
    }
    if (by_nic && route_keys[2]) entry.error("class", "a NIC has one cable: \"class\" goes with \"from\" and \"to\"");
    bool known = is_share && entry.is_number("bandwidth");  // all that is needed is there
    const auto take = [&](const auto& where) {
        known = known && where;
        if (known) fault.where = *where;
    };
    by_nic ? take(read_nic(entry, machine, job)) : take(read_route(entry, machine, job));
    entry.done();
    if (!known) return;
    const auto same = [&](const PlacedFault& other) { return other.first.where == fault.where; };
    if (std::ranges::any_of(faults, same)) {
        entry.error("", "the same link stands here twice");
    } else {
        faults.emplace_back(std::move(fault), entry);
    }
}

// What is meant must be there, and leave a route between all ranks.
void check_links(Field& section, const Machine& machine, const Job& job, std::vector<PlacedFault>& faults) {
    const Topology intact = machine.topology(job.nodes, job.fabric);
    bool meant = true;
    Fabric fabric = job.fabric;
    for (auto& [fault, entry] : faults) {
        try {
            links_of(intact, fault);
        } catch (const RangeError& error) {
            entry.error("", error.what());
            meant = false;
        }
        fabric.link_faults.push_back(fault);
    }
    if (!meant) return;
    try {
        machine.topology(job.nodes, fabric);
    } catch (const RangeError& error) {
        section.error("links", error.what());
    }
}

// A number alone is the spread.
Jitter read_jitter(Field faults) {
    const bool alone = faults.is_number("jitter");
    Field section = alone ? faults : faults.object("jitter");
    const std::string_view key = alone ? "jitter" : "spread";
    const Jitter jitter{.spread = section.number(key), .seed = alone ? 0 : section.whole("seed", 0)};
    section.error_if(!(jitter.spread >= 0.0 && jitter.spread <= 1.0), key,
                     "expected the mean share by which computation takes longer, from 0 to 1, got {}", jitter.spread);
    if (!alone) section.done();
    return jitter;
}

}  // namespace

Fabric read_fabric(Field section, const MachineInfo& machine, std::uint32_t nodes,
                   const std::filesystem::path& folder) {
    Fabric fabric;
    if (section.has("routing")) fabric.routing = read_routing(section, section.text("routing"));
    fabric.placement = read_placement(section, machine, nodes, folder);
    if (section.has("background")) fabric.background = read_background(section.object("background"), machine);
    if (section.has("load")) read_load(section, machine, fabric);
    if (section.has("quantile")) fabric.quantile = read_quantile(section, fabric);
    section.done();
    return fabric;
}

ReadFaults read_faults(Field section, const Machine& machine, const Job& job) {
    ReadFaults read;
    const MachineInfo& info = machine.info();
    for (Field& entry : section.list_if_given("slow_gpus")) read_slow_gpu(entry, info, job, read.faults.slow);
    std::vector<PlacedFault> links;
    for (Field& entry : section.list_if_given("links")) read_link(entry, info, job, links);
    read.faults.spread = section.number("spread", read.faults.slow.empty() ? 1.0 : 0.0);
    section.error_if(!(read.faults.spread >= 0.0 && read.faults.spread <= 1.0), "spread",
                     "expected a share from 0 to 1, got {}", read.faults.spread);
    if (section.has("jitter")) read.faults.jitter = read_jitter(section);
    section.done();
    if (!links.empty() && job.nodes <= info.nodes) check_links(section, machine, job, links);
    for (const PlacedFault& link : links) read.links.push_back(link.first);
    return read;
}

}  // namespace weft
