// A described node as a machine: what the file says, on the network and with the constants of a machine like it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/io/units.hpp"
#include "workloads/formats/like_machine.hpp"
#include "workloads/formats/node_description.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

constexpr std::string_view host_class = "pcie.host";

std::string gigabytes(double amount) { return fmt::format("{:.6g} GB/s", amount); }

// Parts of the graph of links, one number per accelerator.
std::vector<std::uint32_t> parts_of(const LinkCounts& links) {
    std::vector<std::uint32_t> part(links.size());
    std::iota(part.begin(), part.end(), 0U);
    for (std::uint32_t i = 0; i < links.size(); ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
            if (links[i][j] > 0) std::ranges::replace(part, part[i], part[j]);
        }
    }
    return part;
}

class NodeMachine {
  public:
    NodeMachine(Import& import, NodeDescription node, const FormatOptions& options)
        : import_(import), node_(std::move(node)), options_(options) {
        import_.kind = FormatKind::machine;
    }

    void make() {
        add_node_facts(import_, node_);
        if (node_.accelerators.empty()) {
            return error(in_file(""), "describes no accelerator");
        }
        if (!find_like()) return;
        write_head();
        write_joined();
        write_nics();
        write_network();
    }

  private:
    Origin in_file(std::string key) const { return {.file = node_.path, .line = 0, .key = std::move(key)}; }
    Origin of_like(std::string_view what) const {
        return {.file = {}, .line = 0, .key = fmt::format("{}, as {}", what, like_->name)};
    }
    void note(Origin origin, std::string text) { import_.note(Severity::note, std::move(origin), std::move(text)); }
    void warn(Origin origin, std::string text) { import_.note(Severity::warning, std::move(origin), std::move(text)); }
    void error(Origin origin, std::string text) { import_.note(Severity::error, std::move(origin), std::move(text)); }

    bool find_like();
    bool has_links() const;
    void write_head();
    void write_joined();
    void write_crossbar(std::string_view link_class, Origin origin);
    void write_switched();
    void write_through_host();
    void write_as_like();
    void write_graph();
    void write_graph_classes(const LinkCounts& links, const std::string& family);
    void write_class(std::string_view name, double nominal, const LikeLink* measured, const Origin& origin);
    void write_packages(const LinkCounts& links);
    void write_nics();
    void spread_nics_of_like();
    void leave_out_slow_nics();
    void write_nic_bandwidths();
    void write_network();

    std::uint32_t count() const { return static_cast<std::uint32_t>(node_.accelerators.size()); }
    LinkCounts symmetric();
    void count_links();
    bool same_family() const { return like_->node_link.starts_with(to_text(node_.family)); }
    std::string family() const {
        return same_family() && !like_->crossbar ? like_->node_link : std::string(to_text(node_.family));
    }
    double host_gigabytes() const;

    Import& import_;
    NodeDescription node_;
    const FormatOptions& options_;
    std::optional<LikeMachine> like_;
    std::size_t nics_ = 0;
    bool through_host_ = false;  // not all ways between accelerators are links of their own
    Draft& links() { return import_.object.object("links"); }
    Draft& block() { return import_.object.object("node"); }
};

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

// What the file says of a pair one way alone holds both ways; links that lead back join nothing.
LinkCounts NodeMachine::symmetric() {
    LinkCounts links = node_.links;
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
        warn(node_.links_origin, "links of some pairs are told one way alone, or differ: the larger number holds");
    if (back) warn(node_.links_origin, "links that lead back to their own accelerator join nothing and are left out");
    return links;
}

// Where the file says which pairs links join and not by how many: as the other machine, if it joins the same pairs.
void NodeMachine::count_links() {
    const auto same_pair = [](std::uint32_t mine, std::uint32_t other) { return (mine > 0) == (other > 0); };
    const bool same = std::ranges::equal(node_.links, like_->matrix, [&](const auto& mine, const auto& other) {
        return std::ranges::equal(mine, other, same_pair);
    });
    if (same) node_.links = like_->matrix;
    note(node_.links_origin,
         same ? fmt::format("how many links join a pair is as {}, which joins the same pairs", like_->name)
              : "the file does not say how many links join a pair: one each");
}

void NodeMachine::write_joined() {
    if (!node_.links_known) return write_as_like();
    const auto switched = [](const DescribedAccelerator& each) { return each.switch_links > 0; };
    if (std::ranges::all_of(node_.accelerators, switched)) return write_switched();
    if (std::ranges::any_of(node_.accelerators, switched)) {
        return error(node_.links_origin, "some accelerators have links to NVSwitches and some have none");
    }
    node_.links = symmetric();
    if (!node_.counts_known) count_links();
    const bool any = std::ranges::any_of(node_.links, [](const std::vector<std::uint32_t>& row) {
        return std::ranges::any_of(row, [](std::uint32_t links) { return links > 0; });
    });
    return any ? write_graph() : write_through_host();
}

void NodeMachine::write_crossbar(std::string_view link_class, Origin origin) {
    block().set("kind", "crossbar", origin);
    block().set("accelerators", count(), in_file("accelerators"));
    block().set("accelerators_per_package", 1, in_file("accelerators"));
    block().set("link", link_class, origin);
    block().set("source", fmt::format("{} in {}", origin.key, node_.file), origin);
}

void NodeMachine::write_switched() {
    const auto [least, most] = std::ranges::minmax(node_.accelerators, {}, &DescribedAccelerator::switch_links);
    if (least.switch_links != most.switch_links) {
        warn(node_.links_origin, fmt::format("accelerators have {} to {} links to NVSwitches: {} for each",
                                             least.switch_links, most.switch_links, least.switch_links));
    }
    const std::string link_class =
        like_->crossbar && same_family() ? like_->node_link : std::string(to_text(node_.family));
    Origin origin = node_.links_origin;
    origin.key = fmt::format("{} {} to NVSwitches", origin.key, least.switch_links);
    write_class(link_class, node_.kind->link_gigabytes * least.switch_links,
                like_->nearest(to_text(node_.family), least.switch_links), origin);
    write_crossbar(link_class, origin);
}

double NodeMachine::host_gigabytes() const {
    double narrowest = 0;
    for (const DescribedAccelerator& each : node_.accelerators) {
        if (each.pcie_gigabytes > 0 && (narrowest == 0 || each.pcie_gigabytes < narrowest))
            narrowest = each.pcie_gigabytes;
    }
    return narrowest;
}

void NodeMachine::write_through_host() {
    Origin origin = node_.accelerators.front().origin;
    origin.key = "no links between accelerators";
    through_host_ = true;
    const LikeLink& nic = *like_->find(like_->nic_link);
    const double said = host_gigabytes();
    write_class(host_class, said > 0 ? said : nic.nominal.value / 1e9, &nic, origin);
    write_crossbar(host_class, origin);
    if (count() > 1) {
        note(origin,
             "accelerators exchange by PCIe through the host, which is one switch without a bottleneck of its own");
    }
}

void NodeMachine::write_as_like() {
    if (!like_->crossbar && like_->accelerators != count()) {
        return error(in_file("links"), fmt::format("the file does not say which links join its {} accelerators, and {} "
                                                   "joins {} by a graph; give --like of another machine",
                                                   count(), like_->name, like_->accelerators));
    }
    note(in_file("links"),
         fmt::format(
             "the file does not say which links join the accelerators (libraries fill that in as they run): as {}",
             like_->name));
    if (like_->crossbar && like_->accelerators != count())
        block().set("accelerators", count(), in_file("accelerators"));
}

void NodeMachine::write_graph() {
    const LinkCounts& links = node_.links;
    const std::vector<std::uint32_t> part = parts_of(links);
    const bool joined = std::ranges::all_of(part, [&](std::uint32_t each) { return each == part.front(); });
    block().set("kind", "graph", node_.links_origin);
    block().set("link", family(), node_.links_origin);
    block().set_json("links", fmt::format("[{}]", fmt::join(links, ", ")), node_.links_origin);
    write_graph_classes(links, family());
    write_packages(links);
    block().set("source", fmt::format("{} in {}", node_.links_origin.key, node_.file), node_.links_origin);
    if (joined) return;
    Origin origin = node_.links_origin;
    origin.key = "pairs without a way over links";
    through_host_ = true;
    const LikeLink& nic = *like_->find(like_->nic_link);
    const double said = host_gigabytes();
    write_class(host_class, said > 0 ? said : nic.nominal.value / 1e9, &nic, origin);
    block().set("host", host_class, origin);
    note(origin,
         "accelerators that links do not join exchange by PCIe through the host, which is one switch without a "
         "bottleneck of its own");
}

void NodeMachine::write_graph_classes(const LinkCounts& links, const std::string& family) {
    std::vector<std::uint32_t> counts;
    for (const std::vector<std::uint32_t>& row : links) counts.insert(counts.end(), row.begin(), row.end());
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    for (const std::uint32_t links_of_pair : counts) {
        if (links_of_pair == 0) continue;
        Origin origin = node_.links_origin;
        origin.key = fmt::format("{} {}", origin.key, links_of_pair);
        write_class(fmt::format("{}.x{}", family, links_of_pair), node_.kind->link_gigabytes * links_of_pair,
                    like_->nearest(same_family() ? like_->node_link : family, links_of_pair), origin);
    }
}

// A class that the machine has already keeps its measured figures; a new one takes those of `measured`.
void NodeMachine::write_class(std::string_view name, double nominal, const LikeLink* measured, const Origin& origin) {
    const LikeLink* const known = like_->find(name);
    if (known != nullptr && std::abs(known->nominal.value / 1e9 - nominal) < 1e-6 * nominal) return;
    Draft& link_class = links().object(name);
    Draft& bandwidth = link_class.object("bandwidth");
    bandwidth.set("nominal", gigabytes(nominal), origin);
    if (known != nullptr) measured = known;
    if (measured == nullptr) {
        bandwidth.set("efficiency", 1, origin);
        warn(origin, fmt::format("{} has no class of the kind of {}: its efficiency is 1, nothing was measured",
                                 like_->name, name));
    } else {
        bandwidth.set("efficiency", measured->efficiency, of_like(measured->name));
    }
    bandwidth.set(
        "source",
        fmt::format("{} in {}; efficiency: {}", origin.key, node_.file,
                    measured == nullptr ? "not measured" : fmt::format("{} of {}", measured->name, like_->name)),
        origin);
    Draft& latency = link_class.object("latency");
    latency.set("value", measured == nullptr ? "100 ns" : measured->latency,
                measured == nullptr ? Origin{.file = {}, .line = 0, .key = "assumption"} : of_like(measured->name));
    latency.set("source",
                measured == nullptr ? "assumption: small against the library's step"
                                    : fmt::format("{} of {}", measured->name, like_->name),
                origin);
}

// Dies of a package stand beside one another and have the most links.
void NodeMachine::write_packages(const LinkCounts& links) {
    std::uint32_t per_package = node_.kind->dies_per_package;
    std::uint32_t most = 0;
    for (const std::vector<std::uint32_t>& row : links) most = std::max(most, std::ranges::max(row));
    for (std::uint32_t die = 0; per_package > 1 && die < count(); ++die) {
        if (count() % per_package != 0 || links[die][die ^ 1U] != most) per_package = 1;
    }
    block().set("accelerators_per_package", per_package, node_.kind_origin);
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

}  // namespace

void make_machine(Import& import, NodeDescription node, const FormatOptions& options) {
    NodeMachine(import, std::move(node), options).make();
}

}  // namespace weft
