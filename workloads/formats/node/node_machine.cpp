// A described node as a machine: what the file says, on the network and with the constants of a machine like it.
#include "workloads/formats/node/node.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace weft {
namespace {

// The accelerator that each NIC is attached to: the nearest; among equals the one with the fewest NICs, then by
// `apart`, then the first.
std::vector<std::uint32_t> attached_to(const std::vector<DescribedNic>& nics, std::uint32_t accelerators) {
    std::vector<std::uint32_t> attached, users(accelerators);
    const auto all = numbers_below<std::uint32_t>(accelerators);
    for (const DescribedNic& nic : nics) {
        const auto cost = [&](std::uint32_t i) {
            return std::tuple(nic.distance[i], users[i], nic.apart.empty() ? 0 : nic.apart[i]);
        };
        attached.push_back(*std::ranges::min_element(all, {}, cost));
        ++users[attached.back()];
    }
    return attached;
}

}  // namespace

void check_node_size(const std::string& path, std::size_t accelerators, std::size_t nics) {
    constexpr std::size_t most = 1024;
    if (accelerators <= most && nics <= most) return;
    refuse_file(
        path, fmt::format("has {} accelerators and {} NICs: a node has at most {} of each", accelerators, nics, most));
}

std::uint32_t NodeDescription::links_of(std::size_t accelerator) const {
    return sum_of<std::uint32_t>(links[accelerator], std::identity()) - links[accelerator][accelerator];
}

bool NodeDescription::joins_any() const {
    return std::ranges::any_of(links, [](const auto& row) { return std::ranges::count(row, 0U) < std::ssize(row); }) ||
           std::ranges::any_of(accelerators, [](const auto& each) { return each.switch_links > 0; });
}

void NodeMachine::add_facts() {
    const auto fact = [&](const char* name, std::string json) { import_.facts.push_back({name, std::move(json)}); };
    fact("accelerators_per_node", std::to_string(count()));
    fact("nics_per_node", std::to_string(node_.nics.size()));
    if (node_.numa_nodes > 0) fact("numa_nodes", std::to_string(node_.numa_nodes));
    if (node_.links_known) {
        fact("links", fmt::format("[{}]", fmt::join(node_.links, ", ")));
        const auto to_switches = list_of<std::uint32_t>(node_.accelerators, &DescribedAccelerator::switch_links);
        if (std::ranges::any_of(to_switches, [](std::uint32_t links) { return links > 0; }))
            fact("switch_links", fmt::format("{}", to_switches));
    }
    std::set<double> speeds;
    for (const DescribedNic& nic : node_.nics) speeds.insert(nic.gigabits);
    speeds.erase(0);
    if (!speeds.empty()) fact("nic_gbit_per_s", fmt::format("[{}]", fmt::join(speeds, ", ")));
}

void NodeMachine::make() {
    import_.kind = FormatKind::machine;
    add_facts();
    if (node_.accelerators.empty()) return import_.error(of_file(""), "describes no accelerator");
    if (!find_kind()) return;
    write_head();
    write_joined();
    write_nics();
    write_network();
}

// What the file names or the user's machine has, and the machine: the user's, or else a shipped one of that kind.
bool NodeMachine::find_kind() {
    const auto fail = [&](const Origin& origin, std::string message) {
        import_.error(origin, std::move(message));
        return false;
    };
    const bool guessed = node_.kind == nullptr || !node_.kind_guess.empty();
    if (!options_.like.empty()) {
        like_ = read_like_machine(options_.like);
        const AcceleratorKind* const kind = kind_of_device(like_.device);
        if (guessed && kind != nullptr) node_.kind = kind;
        if (node_.kind == nullptr) {
            return fail(
                node_.kind_origin,
                fmt::format("neither the file nor {} has a kind of accelerator whose links are known", like_.name));
        }
    } else if (node_.kind == nullptr) {
        return fail(node_.kind_origin,
                    "the file does not say the kind of accelerator, or weft does not know it; give --like MACHINE, "
                    "with such accelerators");
    } else {
        like_ = read_like_machine(node_.kind->machine);
        if (guessed) {
            import_.warn(node_.kind_origin,
                         "the file does not say the kind of accelerator; by {} it may be {}: as {}. "
                         "--like MACHINE says which",
                         node_.kind_guess, node_.kind->name, like_.name);
        }
    }
    if (node_.joins_any() && node_.kind->family() != node_.family)
        return fail(node_.links_origin, fmt::format("these are links of another kind than {} has", node_.kind->name));
    if (node_.kind->stands_in) {
        import_.warn(node_.kind_origin, "weft has no device file of {}: {} stands in, whose kernels take other times",
                     node_.kind->name, node_.kind->device);
    }
    import_.note(node_.kind_origin, "libraries, network, nodes and what else the file does not say are as {}",
                 like_.name);
    return true;
}

void NodeMachine::write_head() {
    Draft& object = import_.object;
    object.set("extends", like_.name, options_.like.empty() ? node_.kind_origin : in_file("--like"));
    object.set(
        "title",
        fmt::format("{} x {} as described by {}, otherwise {}", count(), node_.kind->name, node_.tool, like_.name),
        of_file(""));
    object.set("source", fmt::format("{} {}; what it does not say: {}", node_.tool, node_.file, like_.name),
               of_file(""));
    if (node_.kind->device != like_.device) object.set("device", node_.kind->device, node_.kind_origin);
    if (options_.nodes > 0) object.set("nodes", options_.nodes, in_file("--nodes"));
}

// Where the file has no NIC: as many per accelerator as the other machine has, one at least.
void NodeMachine::spread_nics_of_like() {
    std::vector<std::uint32_t> attached = like_.attached;
    if (like_.accelerators != count()) {
        const std::uint64_t nics = std::max<std::uint64_t>(1, count() * attached.size() / like_.accelerators);
        attached.resize(nics);
        for (std::uint64_t i = 0; i < nics; ++i) attached[i] = static_cast<std::uint32_t>(i * count() / nics);
    }
    import_.note(of_file("NICs"), "the file names no NIC: {} of them, as {} has", attached.size(), like_.name);
    block().object("nics").set_json("attached", fmt::format("{}", attached), of_like("NICs"));
    nics_ = attached.size();
}

// Libraries spread over NICs of one speed: slower ones serve storage and management.
void NodeMachine::leave_out_slow_nics() {
    double fastest = 0;
    for (const DescribedNic& nic : node_.nics) fastest = std::max(fastest, nic.gigabits);
    const bool any_near = std::ranges::any_of(node_.nics, &DescribedNic::near_accelerator);
    std::erase_if(node_.nics, [&](const DescribedNic& nic) {
        std::string why;
        if (nic.gigabits > 0 && nic.gigabits < fastest) {
            why = fmt::format("its {:g} Gbit/s are less than the {:g} Gbit/s of others", nic.gigabits, fastest);
        } else if (any_near && !nic.near_accelerator) {
            why = "it shares no PCIe switch with an accelerator, as others do; for storage or management then";
        } else {
            return false;
        }
        import_.warn(nic.origin, "NIC {} is left out: {}", nic.name, why);
        return true;
    });
}

void NodeMachine::write_nic_bandwidths() {
    const DescribedNic& first = node_.nics.front();
    const double port = first.gigabits, known = like_.find(like_.port)->nominal.value * 8e-9;
    if (port > 0 && std::abs(known - port) > 1e-6 * port) {
        Draft& bandwidth = links().object(like_.port).object("bandwidth");
        bandwidth.set("nominal", fmt::format("{:.9g} Gbit/s", port), first.origin);
        bandwidth.set("source", fmt::format("port of {} in {}; efficiency: {}", first.name, node_.file, like_.name),
                      first.origin);
        import_.note(first.origin, "{:g} Gbit/s are the port's; links between switches are as fast as those of {}",
                     port, like_.name);
    }
    const double narrowest = narrowest_pcie(node_.nics);
    if (narrowest == 0) return;
    if (narrowest * 8 < port) {
        return import_.warn(first.origin,
                            "a PCIe link of {:g} GB/s is narrower than the port of {:g} Gbit/s, which "
                            "virtual functions report so: as {}",
                            narrowest, port, like_.name);
    }
    Origin origin = first.origin;
    origin.key = "PCIe link of " + first.name;
    write_class(like_.nic_link, narrowest, nullptr, origin);
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
    nics.set("link", like_.nic_link, of_like("NICs"));
    nics.set("pxn", like_.pxn && !through_host_, of_like("NICs"));
    nics.set("source", node_.nics.empty() ? like_.name : "nearest accelerator in " + node_.file, of_file("NICs"));
}

// Keeps the shape of the other machine's network: NIC i of every node on rail i where that one has a rail per NIC.
void NodeMachine::write_network() {
    const std::size_t before = like_.attached.size();
    if (nics_ == before) return;
    Draft& network = import_.object.object("network");
    const Origin origin = of_file(fmt::format("NICs: {} instead of {}", nics_, before));
    const std::size_t rails = like_.rails == before ? nics_ : std::min<std::size_t>(like_.rails, nics_);
    if (like_.rails > 0 && rails != like_.rails) network.set("rails", rails, origin);
    std::string more;
    if (nics_ > before) {
        const std::size_t times = (nics_ + before - 1) / before;
        if (like_.radix > 0) network.set("radix", like_.radix * times, origin);
        std::vector<std::string> levels;
        for (const LikeTreeLevel& level : like_.levels) {
            const bool top = &level == &like_.levels.back();
            levels.push_back(fmt::format(R"({{"link": "{}", "children": {}, "parents": {}, "cables": {}}})", level.link,
                                         level.children * (top && rails > like_.rails ? times : 1), level.parents,
                                         level.cables));
        }
        if (!levels.empty()) network.set_json("levels", fmt::format("[{}]", fmt::join(levels, ", ")), origin);
        more = fmt::format(", with switches of {} times as many ports", times);
    }
    import_.note(origin, "the network keeps the shape of {}{}", like_.name, more);
    if (network.empty()) import_.object.erase("network");
}

Import make_machine(NodeDescription node, const FormatOptions& options, Import import) {
    NodeMachine(import, std::move(node), options).make();
    return import;
}

}  // namespace weft
