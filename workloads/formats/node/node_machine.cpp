// A described node as a machine: what the file says, on the network and with the constants of a machine like it.
#include "workloads/formats/node/node_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/io/units.hpp"

namespace weft {

void NodeMachine::make() {
    import_.kind = FormatKind::machine;
    add_node_facts(import_, node_);
    if (node_.accelerators.empty()) return error(in_file(""), "describes no accelerator");
    if (!find_like()) return;
    write_head();
    write_joined();
    write_nics();
    write_network();
}

bool NodeMachine::has_links() const {
    const auto any = [](const std::vector<std::uint32_t>& row) {
        return std::ranges::count(row, 0U) < std::ssize(row);
    };
    return std::ranges::any_of(node_.links, any) ||
           std::ranges::any_of(node_.accelerators,
                               [](const DescribedAccelerator& each) { return each.switch_links > 0; });
}

// The one that the user names, or else a shipped one with this kind of accelerator.
bool NodeMachine::find_like() {
    const bool guessed = node_.kind == nullptr || !node_.kind_guess.empty();
    if (options_.like.empty()) {
        if (node_.kind == nullptr) {
            error(node_.kind_origin,
                  "the file does not say the kind of accelerator, or weft does not know it; give "
                  "--like MACHINE, with such accelerators");
            return false;
        }
        like_ = read_like_machine(node_.kind->machine);
        if (guessed) {
            warn(node_.kind_origin,
                 fmt::format("the file does not say the kind of accelerator; by {} it may be {}: as {}. "
                             "--like MACHINE says which",
                             node_.kind_guess, node_.kind->name, like_->name));
        }
    } else {
        like_ = read_like_machine(options_.like);
        const AcceleratorKind* const kind = kind_of_device(like_->device);
        if (guessed && kind != nullptr) {
            node_.kind = kind;
            node_.kind_guess.clear();
        }
        if (node_.kind == nullptr) {
            error(node_.kind_origin,
                  fmt::format("neither the file nor {} has a kind of accelerator whose links are known", like_->name));
            return false;
        }
    }
    if (has_links() && node_.kind->family != node_.family) {
        error(node_.links_origin, fmt::format("these are links of another kind than {} has", node_.kind->name));
        return false;
    }
    if (node_.kind->stands_in) {
        warn(node_.kind_origin,
             fmt::format("weft has no device file of {}: {} stands in, whose kernels take other times",
                         node_.kind->name, node_.kind->device));
    }
    note(node_.kind_origin,
         fmt::format("libraries, network, nodes and what else the file does not say are as {}", like_->name));
    return true;
}

void NodeMachine::write_head() {
    Draft& object = import_.object;
    object.set("extends", like_->name,
               options_.like.empty() ? node_.kind_origin : Origin{.file = "--like", .line = 0, .key = {}});
    object.set(
        "title",
        fmt::format("{} x {} as described by {}, otherwise {}", count(), node_.kind->name, node_.tool, like_->name),
        in_file(""));
    object.set("source", fmt::format("{} {}; what it does not say: {}", node_.tool, node_.file, like_->name),
               in_file(""));
    if (node_.kind->device != like_->device) object.set("device", node_.kind->device, node_.kind_origin);
    if (options_.nodes > 0) object.set("nodes", options_.nodes, {.file = "--nodes", .line = 0, .key = {}});
}

// Where the file has no NIC: as many per accelerator as the other machine has, one at least.
void NodeMachine::spread_nics_of_like() {
    std::vector<std::uint32_t> attached = like_->attached;
    const std::uint32_t accelerators = like_->accelerators;
    if (accelerators != count()) {
        const auto nics = std::max<std::uint32_t>(
            1, static_cast<std::uint32_t>(std::uint64_t{count()} * attached.size() / accelerators));
        attached.resize(nics);
        for (std::uint32_t i = 0; i < nics; ++i)
            attached[i] = static_cast<std::uint32_t>(std::uint64_t{i} * count() / nics);
    }
    note(in_file("NICs"), fmt::format("the file names no NIC: {} of them, as {} has", attached.size(), like_->name));
    block().object("nics").set_json("attached", fmt::format("{}", attached), of_like("NICs"));
    nics_ = attached.size();
}

// Libraries spread over NICs of one speed: slower ones serve storage and management.
void NodeMachine::leave_out_slow_nics() {
    const auto left_out = [&](const DescribedNic& nic, std::string_view why) {
        warn(nic.origin, fmt::format("NIC {} is left out: {}", nic.name, why));
    };
    double fastest = 0;
    for (const DescribedNic& nic : node_.nics) fastest = std::max(fastest, nic.gigabits);
    const bool any_near = std::ranges::any_of(node_.nics, &DescribedNic::near_accelerator);
    std::vector<DescribedNic> kept;
    for (const DescribedNic& nic : node_.nics) {
        if (nic.gigabits > 0 && nic.gigabits < fastest) {
            left_out(nic,
                     fmt::format("its {:g} Gbit/s are less than the {:g} Gbit/s of others", nic.gigabits, fastest));
        } else if (any_near && !nic.near_accelerator) {
            left_out(nic, "it shares no PCIe switch with an accelerator, as others do; for storage or management then");
        } else {
            kept.push_back(nic);
        }
    }
    node_.nics = std::move(kept);
}

void NodeMachine::write_nic_bandwidths() {
    const double port = node_.nics.front().gigabits;
    if (port > 0) {
        const BytesPerSecond nominal = *parse_bandwidth(fmt::format("{:.9g} Gbit/s", port));
        const LikeLink& known = *like_->find(like_->port);
        if (std::abs(known.nominal.value - nominal.value) > 1e-6 * nominal.value) {
            Draft& bandwidth = links().object(like_->port).object("bandwidth");
            bandwidth.set("nominal", fmt::format("{:.9g} Gbit/s", port), node_.nics.front().origin);
            bandwidth.set(
                "source",
                fmt::format("port of {} in {}; efficiency: {}", node_.nics.front().name, node_.file, like_->name),
                node_.nics.front().origin);
            note(node_.nics.front().origin,
                 fmt::format("{:g} Gbit/s are the port's; links between switches are as fast as those of {}", port,
                             like_->name));
        }
    }
    double narrowest = 0;
    for (const DescribedNic& nic : node_.nics) {
        if (nic.pcie_gigabytes > 0 && (narrowest == 0 || nic.pcie_gigabytes < narrowest))
            narrowest = nic.pcie_gigabytes;
    }
    if (narrowest == 0) return;
    if (narrowest * 8 < port) {
        return warn(node_.nics.front().origin,
                    fmt::format("a PCIe link of {:g} GB/s is narrower than the port of {:g} Gbit/s, which virtual "
                                "functions report so: as {}",
                                narrowest, port, like_->name));
    }
    Origin origin = node_.nics.front().origin;
    origin.key = "PCIe link of " + node_.nics.front().name;
    write_class(like_->nic_link, narrowest, nullptr, origin);
}

void NodeMachine::write_nics() {
    Draft& nics = block().object("nics");
    leave_out_slow_nics();
    if (node_.nics.empty()) {
        spread_nics_of_like();
    } else {
        nics_ = node_.nics.size();
        nics.set_json("attached", fmt::format("{}", attached_to(node_.nics, count())), node_.nics.front().origin);
        write_nic_bandwidths();
    }
    nics.set("link", like_->nic_link, of_like("NICs"));
    nics.set("pxn", like_->pxn && !through_host_, of_like("NICs"));
    nics.set("source", node_.nics.empty() ? like_->name : "nearest accelerator in " + node_.file, in_file("NICs"));
}

// Keeps the shape of the other machine's network: NIC i of every node on rail i where that one has a rail per NIC.
void NodeMachine::write_network() {
    const std::size_t before = like_->attached.size();
    const std::size_t now = nics_;
    if (now == before) return;
    Draft& network = import_.object.object("network");
    Origin origin = in_file(fmt::format("NICs: {} instead of {}", now, before));
    const std::size_t rails = like_->rails == before ? now : std::min<std::size_t>(like_->rails, now);
    if (like_->rails > 0 && rails != like_->rails) network.set("rails", rails, origin);
    std::string more;
    if (now > before) {
        const std::size_t times = (now + before - 1) / before;
        if (like_->radix > 0) network.set("radix", like_->radix * times, origin);
        if (!like_->levels.empty()) {
            std::vector<std::string> levels;
            for (const LikeTreeLevel& level : like_->levels) {
                const bool top = &level == &like_->levels.back();
                levels.push_back(fmt::format(R"({{"link": "{}", "children": {}, "parents": {}, "cables": {}}})",
                                             level.link, level.children * (top && rails > like_->rails ? times : 1),
                                             level.parents, level.cables));
            }
            network.set_json("levels", fmt::format("[{}]", fmt::join(levels, ", ")), origin);
        }
        more = fmt::format(", with switches of {} times as many ports", times);
    }
    note(origin, fmt::format("the network keeps the shape of {}{}", like_->name, more));
    if (network.empty()) import_.object.erase("network");
}

void make_machine(Import& import, NodeDescription node, const FormatOptions& options) {
    NodeMachine(import, std::move(node), options).make();
}

}  // namespace weft
