#include "workloads/formats/node/node.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

std::vector<AcceleratorKind> read_kinds() {
    Document document = format_table("accelerators");
    std::vector<AcceleratorKind> kinds;
    Field root = document.root();
    for (Field& row : root.list("kinds")) {
        kinds.push_back({.name = row.text("name"),
                         .device = row.text("device"),
                         .machine = row.text("machine"),
                         .stands_in = row.flag("stands_in", false),
                         .vendor = row.text("vendor"),
                         .link_gigabytes = row.number("link_gigabytes"),
                         .dies_per_package = row.count("dies_per_package", 1),
                         .pci = row.text("pci"),
                         .capability = row.text("capability", ""),
                         .nvlinks = row.text("nvlinks", ""),
                         .architectures = row.text("architectures", "")});
        row.done();
    }
    document.check();
    return kinds;
}

const std::vector<AcceleratorKind>& all_kinds() {
    static const std::vector<AcceleratorKind> kinds = read_kinds();
    return kinds;
}

const AcceleratorKind* kind_with(std::string AcceleratorKind::*list, std::string_view word) {
    const auto has = [&](const AcceleratorKind& kind) { return std::ranges::count(words(kind.*list), word) > 0; };
    return first_of(all_kinds(), has);
}

// m of "family.x<m>"; of a class of all links together, 1.
std::uint32_t multiplicity(std::string_view name, std::string_view family) {
    std::uint32_t count = 1;
    if (name.size() > family.size() + 2) {
        std::from_chars(name.data() + family.size() + 2, name.data() + name.size(), count);
    }
    return count;
}

std::vector<std::uint32_t> wholes(std::vector<Field> list) { return list_of<std::uint32_t>(list, &Field::as_whole); }

void read_links(LikeMachine& like, Field links) {
    for (const std::string& name : links.keys()) {
        Field field = links.object(name);
        Field bandwidth = field.object("bandwidth"), latency = field.object("latency");
        like.links.push_back(
            {name, bandwidth.bandwidth("nominal"), bandwidth.number("efficiency"), latency.text("value")});
    }
}

void read_node(LikeMachine& like, Field node) {
    like.crossbar = node.text("kind") == "crossbar";
    like.node_link = node.text("link");
    if (!like.crossbar) {
        for (const Field& row : node.list("links")) like.matrix.push_back(wholes(Field(row).elements()));
    }
    like.accelerators = like.crossbar ? node.count("accelerators") : static_cast<std::uint32_t>(like.matrix.size());
    like.host = node.has("host");
    Field nics = node.object("nics");
    like.attached = wholes(nics.list("attached"));
    like.nic_link = nics.text("link");
    like.pxn = nics.flag("pxn", false);
}

void read_network(LikeMachine& like, Field network) {
    like.port = network.text("port");
    like.radix = network.whole("radix", 0);
    like.rails = network.whole("rails", 0);
    for (Field& level : network.list_if_given("levels")) {
        like.levels.push_back(
            {level.count("children"), level.count("parents"), level.count("cables", 1), level.text("link")});
    }
}

}  // namespace

const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device) {
    const AcceleratorKind* const kind = kind_with(&AcceleratorKind::pci, lower_case(device));
    return kind != nullptr && kind->vendor == lower_case(vendor) ? kind : nullptr;
}

const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units) {
    const std::string_view number = gcn.starts_with("gfx") ? gcn.substr(3) : gcn;
    constexpr std::uint32_t units_of_mi300a = 228;
    return kind_with(&AcceleratorKind::architectures,
                     number.starts_with("94") && units == units_of_mi300a ? "940" : number);
}

const AcceleratorKind* kind_of_capability(std::uint32_t sm) {
    return kind_with(&AcceleratorKind::capability, std::to_string(sm));
}

const AcceleratorKind* kind_of_nvlinks(std::uint32_t links) {
    return kind_with(&AcceleratorKind::nvlinks, std::to_string(links));
}

const AcceleratorKind* kind_of_device(std::string_view device) {
    const auto is = [&](const AcceleratorKind& kind) { return kind.device == device && !kind.stands_in; };
    return first_of(all_kinds(), is);
}

const LikeLink* LikeMachine::find(std::string_view link_class) const {
    return first_of(links, [&](const LikeLink& each) { return each.name == link_class; });
}

const LikeLink* LikeMachine::nearest(std::string_view family, std::uint32_t count) const {
    const LikeLink* best = nullptr;
    const auto distance = [&](const LikeLink& each) {
        return std::abs(static_cast<int>(multiplicity(each.name, family)) - static_cast<int>(count));
    };
    for (const LikeLink& each : links) {
        if (!each.name.starts_with(family) || (each.name.size() > family.size() && each.name[family.size()] != '.'))
            continue;
        if (best == nullptr || distance(each) < distance(*best)) best = &each;
    }
    return best;
}

LikeMachine read_like_machine(std::string_view name) {
    const Machine machine = Machine::load(name);  // says what is wrong with it, or that there is none
    const auto find = [](const std::string& other) { return find_shipped(embedded::machines(), other)->document; };
    Document document = find(std::string(name));
    extend(document.root(), find);
    Field root = document.root();
    LikeMachine like;
    like.name = is_path(name) ? std::filesystem::absolute(name).string() : std::string(name);
    like.device = root.text("device");
    like.routing = machine.info().routing;
    read_links(like, root.object("links"));
    read_node(like, root.object("node"));
    read_network(like, root.object("network"));
    document.check();
    return like;
}

}  // namespace weft
