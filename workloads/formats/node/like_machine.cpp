#include "workloads/formats/node/like_machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

// m of "family.x<m>"; of a class of all links together, 1.
std::uint32_t multiplicity(std::string_view name, std::string_view family) {
    std::uint32_t count = 1;
    if (name.size() > family.size() + 2) {
        std::from_chars(name.data() + family.size() + 2, name.data() + name.size(), count);
    }
    return count;
}

std::vector<std::uint32_t> wholes(std::vector<Field> list) {
    std::vector<std::uint32_t> numbers;
    for (Field& each : list) numbers.push_back(each.as_whole());
    return numbers;
}

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
    if (!network.has("levels")) return;
    for (Field& level : network.list("levels")) {
        like.levels.push_back(
            {level.count("children"), level.count("parents"), level.count("cables", 1), level.text("link")});
    }
}

}  // namespace

const LikeLink* LikeMachine::find(std::string_view link_class) const {
    const auto found = std::ranges::find(links, link_class, &LikeLink::name);
    return found == links.end() ? nullptr : &*found;
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
