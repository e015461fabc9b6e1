// An InfiniBand fabric as ibnetdiscover prints it: switches, cables, and the hosts whose adapters hang on them.
//
// Adapters belong to hosts by the node descriptions that rdma-ndd and drivers write: "host mlx5_3", "host HCA-1".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "topologies/placement.hpp"
#include "workloads/formats/fabric/fabric.hpp"
#include "workloads/formats/keys.hpp"

namespace weft::formats {
namespace {

// An adapter's port that is cabled to a switch.
struct HostPort {
    std::string device;  // "mlx5_3"
    std::uint32_t port = 0, leaf = 0;
    double gbit = 0;
};

// Numbers in names as numbers: "n2" before "n10".
std::string natural_key(std::string_view name) {
    constexpr std::size_t width = 12;
    std::string key;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t digits = std::min(name.find_first_not_of("0123456789", at), name.size()) - at;
        if (digits > 0 && digits < width) key.append(width - digits, '0');
        key += name.substr(at, std::max<std::size_t>(digits, 1));
        at += std::max<std::size_t>(digits, 1);
    }
    return key;
}

// The host and the device of "node-7 mlx5_3"; nothing for "MT4129 ConnectX7   Mellanox Technologies".
std::optional<std::pair<std::string, std::string>> host_of(std::string_view description) {
    TextScanner words(description);
    std::string host = words.word(), device = words.word();
    const bool product = host.starts_with("MT") && number_at_end(host) == 2;
    const bool other = !device.empty() && device.find_first_of("0123456789") == device.npos;
    if (host.empty() || product || other || !words.word().empty()) return std::nullopt;
    return std::pair(std::move(host), std::move(device));
}

// "leaf1" of "MF0;leaf1:MQM9700/U1"; of a director's switch "core1/L03/U1".
std::string switch_name(const std::string& guid, std::string_view description) {
    if (!description.starts_with("MF0;")) return description.empty() ? guid : std::string(description);
    description.remove_prefix(4);
    const std::string_view model = description.substr(std::min(description.find(':'), description.size()));
    const std::string_view part = model.substr(std::min(model.find('/'), model.size()));
    std::string name(description.substr(0, description.size() - model.size()));
    if (part != "/U1") name += part;
    return name.empty() ? guid : name;
}

class MachineOfFabric {
  public:
    MachineOfFabric(Import& import, const IbFabric& fabric, const SourceFile& file)
        : import_(import), fabric_(fabric), file_(file) {
        for (const std::string& guid : fabric.order) {
            if (fabric.devices.at(guid).kind != DeviceKind::switch_) continue;
            numbers_.emplace(guid, static_cast<std::uint32_t>(out_.switches.size()));
            out_.switches.push_back(switch_name(guid, fabric.devices.at(guid).description));
        }
        for (const auto& [ends, speed] : fabric.cables) add_cable(ends.first, ends.second, speed);
    }

    void add_facts() {
        std::size_t adapters = 0, unnamed = 0;
        for (const auto& [guid, device] : fabric_.devices) {
            if (device.kind != DeviceKind::adapter) continue;
            ++adapters;
            if (!host_of(device.description)) ++unnamed;
        }
        rates_.erase(0.0);
        import_.facts = {{"switches", std::to_string(out_.switches.size())},
                         {"cables_between_switches", std::to_string(between_switches_)},
                         {"cables_to_adapters", std::to_string(to_adapters_)},
                         {"adapters", std::to_string(adapters)},
                         {"hosts_named", std::to_string(hosts_.size())},
                         {"adapters_unnamed", std::to_string(unnamed)},
                         {"cable_gbit_per_s", fmt::format("[{}]", fmt::join(rates_, ","))}};
        note_rest_of_file(unnamed);
    }

    void write(const LikeMachine& like) {
        if (hosts_.empty()) {
            return import_.error(
                at("nodes"), "no adapter that is cabled to a switch has a host in its description (\"host mlx5_0\")");
        }
        choose_speed(like);
        choose_nics(like);
        choose_nodes();
        add_link_classes(like);
        out_.title =
            fmt::format("{} nodes on an InfiniBand fabric of {} switches", out_.nodes.size(), out_.switches.size());
        write_cabled_machine(import_, out_, like, file_);
    }

  private:
    Origin at(std::string key) const { return in_file(file_.path, std::move(key)); }
    void warn(std::string key, std::string message) { import_.warn(at(std::move(key)), std::move(message)); }
    void warn_of(std::size_t count, std::string key, std::string_view what) {
        if (count > 0) warn(std::move(key), fmt::format("{} {}", count, what));
    }
    const IbDevice& device(const IbPort& port) const { return fabric_.devices.at(port.guid); }

    void add_cable(const IbPort& a, const IbPort& b, const std::string& speed) {
        const DeviceKind first = device(a).kind, second = device(b).kind;
        const double gbit = infiniband_gbit(speed);
        if (gbit == 0) ++speeds_unknown_;
        if (first == DeviceKind::switch_ && second == DeviceKind::switch_) {
            const auto [low, high] = std::minmax(numbers_.at(a.guid), numbers_.at(b.guid));
            (low == high ? loops_ : between_switches_) += 1;
            if (low == high) return;
            rates_.insert(gbit);
            ++by_speed_[gbit > 0 ? speed : ""][{low, high}];
            return;
        }
        const IbPort &adapter = first == DeviceKind::adapter ? a : b, &leaf = first == DeviceKind::adapter ? b : a;
        if (device(adapter).kind != DeviceKind::adapter || device(leaf).kind != DeviceKind::switch_) {
            ++others_;
            return;
        }
        ++to_adapters_;
        rates_.insert(gbit);
        if (const auto host = host_of(device(adapter).description))
            hosts_[host->first].push_back({host->second, adapter.number, numbers_.at(leaf.guid), gbit});
    }

    void note_rest_of_file(std::size_t unnamed) {
        const auto elsewhere = std::ranges::count_if(fabric_.devices, [](const auto& each) {
            return each.second.kind == DeviceKind::switch_ && !each.second.has_part;
        });
        warn_of(static_cast<std::size_t>(elsewhere), "switches",
                "switches are only known as the other ends of cables: what else is plugged into them is not in the "
                "file");
        warn_of(unnamed, "adapters", "adapters have a description without a host, and are left out");
        warn_of(loops_, "cables", "cables from a switch to itself are left out");
        if (others_ > 0)
            import_.note(at("cables"),
                         "{} cables of routers, aggregation nodes and from adapter to adapter are left out", others_);
        if (fabric_.unknown_lines > 0)
            import_.note({.file = file_.path, .line = fabric_.unknown_line, .key = {}},
                         "{} lines that are not known to weft are left out", fabric_.unknown_lines);
    }

    // Ports of a node are equal: of the speed that most adapters have.
    void choose_speed(const LikeMachine& like) {
        std::map<double, std::size_t> counts;
        for (const auto& [name, ports] : hosts_) {
            for (const HostPort& port : ports) ++counts[port.gbit];
        }
        const double most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
        std::size_t left_out = 0;
        for (auto& [name, ports] : hosts_)
            left_out += std::erase_if(ports, [&](const HostPort& p) { return p.gbit != most; });
        out_.port_gbit = most > 0 ? most : like.port_gbit();
        warn_of(left_out, "adapters",
                fmt::format("adapters that do not run at {:g} Gbit/s as most do are left out", out_.port_gbit));
        warn_of(speeds_unknown_, "cables",
                fmt::format("cables have no speed in the file: that of the ports of {} is assumed, {:g} Gbit/s",
                            like.name, like.port_gbit()));
    }

    // As many as make most ports of hosts ports of nodes: hosts with fewer are none then.
    void choose_nics(const LikeMachine& like) {
        std::size_t best = 0;
        for (std::uint32_t nics = 1; nics <= like.nics(); ++nics) {
            const auto hosts =
                std::ranges::count_if(hosts_, [&](const auto& host) { return host.second.size() >= nics; });
            if (static_cast<std::size_t>(hosts) * nics < best) continue;
            best = static_cast<std::size_t>(hosts) * nics;
            out_.nics = nics;
        }
        if (out_.nics < like.nics())
            warn("node.nics",
                 fmt::format("the file shows no more than {} adapters of most hosts, a node of {} has {} NICs: "
                             "nodes have {} here, by which they send less than with all",
                             out_.nics, like.name, like.nics(), out_.nics));
    }

    void choose_nodes() {
        std::map<std::string, CabledNode> nodes;  // by natural key
        std::vector<std::string> fewer;
        std::size_t more = 0;
        for (auto& [name, ports] : hosts_) {
            std::ranges::sort(ports, {}, [](const HostPort& p) { return std::pair(natural_key(p.device), p.port); });
            if (ports.size() > out_.nics) ++more;
            if (ports.size() < out_.nics) {
                fewer.push_back(name);
                continue;
            }
            CabledNode node{.name = name, .switches = {}};
            for (const HostPort& port : std::span(ports).first(out_.nics)) node.switches.push_back(port.leaf);
            nodes.emplace(natural_key(name) + " " + name, std::move(node));
        }
        if (!fewer.empty())
            warn("nodes", fmt::format("{} of {} hosts have fewer than {} adapters in the file and are left out: {}",
                                      fewer.size(), hosts_.size(), out_.nics, shortened(fewer)));
        warn_of(more, "nodes",
                fmt::format("hosts have more than {} adapters: the first ones by name are taken, in the order of the "
                            "NICs of a node",
                            out_.nics));
        keep_joined(std::move(nodes));
    }

    // The nodes from which cables lead to most others; in a part of a fabric there may be some without.
    void keep_joined(std::map<std::string, CabledNode> nodes) {
        auto part = numbers_below<std::uint32_t>(out_.switches.size());
        const auto find = [&](std::uint32_t i) {
            while (part[i] != i) i = part[i] = part[part[i]];
            return i;
        };
        for (const auto& [speed, cables] : by_speed_) {
            for (const auto& [ends, count] : cables) part[find(ends.first)] = find(ends.second);
        }
        std::map<std::vector<std::uint32_t>, std::vector<CabledNode>> joined;
        std::size_t most = 0, all = nodes.size();
        for (auto& [key, node] : nodes) {
            std::vector<CabledNode>& those = joined[list_of<std::uint32_t>(node.switches, find)];
            those.push_back(std::move(node));
            most = std::max(most, those.size());
        }
        std::vector<std::string> apart;
        for (auto& [parts, those] : joined) {
            if (out_.nodes.empty() && those.size() == most) {
                out_.nodes = std::move(those);
            } else {
                for (const CabledNode& node : those) apart.push_back(node.name);
            }
        }
        if (!apart.empty())
            warn("nodes", fmt::format("{} of {} hosts: no cables in the file lead to the others: they are left out: {}",
                                      apart.size(), all, shortened(apart)));
    }

    static std::string shortened(std::span<const std::string> names) {
        constexpr std::size_t most = 8;
        return compress_host_names(names.first(std::min(names.size(), most))) + (names.size() > most ? ", ..." : "");
    }

    void add_link_classes(const LikeMachine& like) {
        for (auto& [speed, cables] : by_speed_) {
            const double gbit = speed.empty() ? like.port_gbit() : infiniband_gbit(speed);
            out_.cables["infiniband." + (speed.empty() ? "cable" : speed)] = {.gbit = gbit,
                                                                              .between = std::move(cables)};
        }
    }

    Import& import_;
    const IbFabric& fabric_;
    const SourceFile& file_;
    CabledFabric out_{};
    std::map<std::string, std::uint32_t> numbers_;  // of switches, by GUID
    std::map<std::string, std::vector<HostPort>> hosts_;
    std::map<std::string, std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>>
        by_speed_;  // between switches
    std::set<double> rates_;
    std::size_t between_switches_ = 0, to_adapters_ = 0, loops_ = 0, others_ = 0, speeds_unknown_ = 0;
};

Import read_ibnetdiscover_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Import import;
    import.kind = FormatKind::machine;
    const IbFabric fabric = read_ibnetdiscover(files.front());
    if (fabric.cables.empty()) refuse_file(files.front().path, "no cable is in the file");
    MachineOfFabric machine(import, fabric, files.front());
    machine.add_facts();
    if (const std::optional<LikeMachine> like = like_node(import, options)) machine.write(*like);
    return import;
}

}  // namespace

extern const Format ibnetdiscover{"ibnetdiscover", "InfiniBand fabric of ibnetdiscover", looks_like_ibnetdiscover,
                                  read_ibnetdiscover_files, "one fabric is read"};

}  // namespace weft::formats
