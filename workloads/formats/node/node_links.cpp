// What joins the accelerators of a described node: links of their own, switches, or the host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "workloads/formats/node/node.hpp"

namespace weft {
namespace {

constexpr std::string_view host_class = "pcie.host";

// Whether links lead from each accelerator to every other.
bool joins_all(const LinkCounts& links) {
    auto part = numbers_below<std::uint32_t>(links.size());
    for (std::uint32_t i = 0; i < links.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            if (links[i][j] > 0) std::ranges::replace(part, part[i], part[j]);
        }
    }
    return std::ranges::count(part, part.front()) == std::ssize(part);
}

}  // namespace

void NodeMachine::write_joined() {
    if (!node_.links_known) return write_as_like();
    const auto switched = [](const DescribedAccelerator& each) { return each.switch_links > 0; };
    if (std::ranges::all_of(node_.accelerators, switched)) return write_switched();
    if (std::ranges::any_of(node_.accelerators, switched)) {
        return import_.error(node_.links_origin, "some accelerators have links to NVSwitches and some have none");
    }
    make_symmetric();
    return node_.joins_any() ? write_graph() : write_through_host();
}

// What the file says of a pair in one direction alone holds in both; links that lead back join nothing.
void NodeMachine::make_symmetric() {
    LinkCounts& links = node_.links;
    bool one_way = false, back = false;
    for (std::size_t i = 0; i < links.size(); ++i) {
        back = back || links[i][i] > 0;
        links[i][i] = 0;
        for (std::size_t j = 0; j < i; ++j) {
            one_way = one_way || links[i][j] != links[j][i];
            links[i][j] = links[j][i] = std::max(links[i][j], links[j][i]);
        }
    }
    if (one_way)
        import_.warn(node_.links_origin,
                     "links of some pairs are told one way alone, or differ: the larger number holds");
    if (back)
        import_.warn(node_.links_origin, "links that lead back to their own accelerator join nothing and are left out");
}

void NodeMachine::write_crossbar(std::string_view link_class, const Origin& origin) {
    block().set("kind", "crossbar", origin);
    block().set("accelerators", count(), of_file("accelerators"));
    block().set("accelerators_per_package", 1, of_file("accelerators"));
    block().set("link", link_class, origin);
    block().set("source", fmt::format("{} in {}", origin.key, node_.file), origin);
}

void NodeMachine::write_switched() {
    const auto [least, most] = std::ranges::minmax(node_.accelerators, {}, &DescribedAccelerator::switch_links);
    if (least.switch_links != most.switch_links) {
        import_.warn(node_.links_origin, "accelerators have {} to {} links to NVSwitches: {} for each",
                     least.switch_links, most.switch_links, least.switch_links);
    }
    const std::string link_class =
        like_.crossbar && same_family() ? like_.node_link : std::string(to_text(node_.family));
    const Origin origin = of_links(fmt::format("{} to NVSwitches", least.switch_links));
    write_class(link_class, node_.kind->link_gigabytes * least.switch_links,
                like_.nearest(to_text(node_.family), least.switch_links), origin);
    write_crossbar(link_class, origin);
}

// Accelerators exchange by PCIe: as their links, or else as those of the other machine's NICs.
void NodeMachine::write_host_class(const Origin& origin) {
    through_host_ = true;
    const LikeLink& nic = *like_.find(like_.nic_link);
    const double said = narrowest_pcie(node_.accelerators);
    write_class(host_class, said > 0 ? said : nic.nominal.value / 1e9, &nic, origin);
}

void NodeMachine::write_through_host() {
    Origin origin = node_.accelerators.front().origin;
    origin.key = "no links between accelerators";
    write_host_class(origin);
    write_crossbar(host_class, origin);
    if (count() > 1) {
        import_.note(
            origin,
            "accelerators exchange by PCIe through the host, which is one switch without a bottleneck of its own");
    }
}

void NodeMachine::write_as_like() {
    if (!like_.crossbar && like_.accelerators != count()) {
        return import_.error(of_file("links"),
                             "the file does not say which links join its {} accelerators, and {} joins {} "
                             "by a graph; give --like of another machine",
                             count(), like_.name, like_.accelerators);
    }
    import_.note(of_file("links"),
                 "the file does not say which links join the accelerators (libraries fill that in as they run): as {}",
                 like_.name);
    if (like_.crossbar && like_.accelerators != count()) block().set("accelerators", count(), of_file("accelerators"));
}

void NodeMachine::write_graph() {
    const bool joined = joins_all(node_.links);
    block().set("kind", "graph", node_.links_origin);
    block().set("link", family(), node_.links_origin);
    block().set_json("links", fmt::format("[{}]", fmt::join(node_.links, ", ")), node_.links_origin);
    write_graph_classes();
    write_packages();
    block().set("source", fmt::format("{} in {}", node_.links_origin.key, node_.file), node_.links_origin);
    if (joined && like_.host) block().set_json("host", "null", node_.links_origin);
    if (joined) return;
    Origin origin = node_.links_origin;
    origin.key = "pairs without a way over links";
    write_host_class(origin);
    block().set("host", host_class, origin);
    import_.note(origin,
                 "accelerators that links do not join exchange by PCIe through the host, which is one switch without a "
                 "bottleneck of its own");
}

void NodeMachine::write_graph_classes() {
    std::set<std::uint32_t> counts;
    for (const std::vector<std::uint32_t>& row : node_.links) counts.insert(row.begin(), row.end());
    counts.erase(0);
    for (const std::uint32_t links_of_pair : counts) {
        write_class(fmt::format("{}.x{}", family(), links_of_pair), node_.kind->link_gigabytes * links_of_pair,
                    like_.nearest(same_family() ? like_.node_link : family(), links_of_pair),
                    of_links(fmt::format("{}", links_of_pair)));
    }
}

// A class that the machine has already keeps its measured figures; a new one takes those of `measured`.
void NodeMachine::write_class(std::string_view name, double nominal, const LikeLink* measured, const Origin& origin) {
    const LikeLink* const known = like_.find(name);
    if (known != nullptr && std::abs(known->nominal.value / 1e9 - nominal) < 1e-6 * nominal) return;
    Draft& link_class = links().object(name);
    Draft& bandwidth = link_class.object("bandwidth");
    bandwidth.set("nominal", fmt::format("{:.6g} GB/s", nominal), origin);
    if (known != nullptr) measured = known;
    if (measured == nullptr) {
        import_.warn(origin, "{} has no class of the kind of {}: its efficiency is 1, nothing was measured", like_.name,
                     name);
    }
    const std::string by = measured == nullptr ? "" : fmt::format("{} of {}", measured->name, like_.name);
    bandwidth.set("efficiency", measured == nullptr ? 1 : measured->efficiency,
                  measured == nullptr ? origin : of_like(measured->name));
    bandwidth.set(
        "source",
        fmt::format("{} in {}; efficiency: {}", origin.key, node_.file, measured == nullptr ? "not measured" : by),
        origin);
    Draft& latency = link_class.object("latency");
    latency.set("value", measured == nullptr ? "100 ns" : measured->latency,
                measured == nullptr ? unwritten("assumption") : of_like(measured->name));
    latency.set("source", measured == nullptr ? "assumption: small against the library's step" : by, origin);
}

// Dies of a package stand beside one another and have the most links.
void NodeMachine::write_packages() {
    const LinkCounts& links = node_.links;
    std::uint32_t per_package = node_.kind->dies_per_package, most = 0;
    for (const std::vector<std::uint32_t>& row : links) most = std::max(most, std::ranges::max(row));
    for (std::uint32_t die = 0; per_package > 1 && die < count(); ++die) {
        if (count() % per_package != 0 || links[die][die ^ 1U] != most) per_package = 1;
    }
    block().set("accelerators_per_package", per_package, node_.kind_origin);
}

}  // namespace weft
