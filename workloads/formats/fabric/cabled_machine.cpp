#include "workloads/formats/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/io/shipped.hpp"
#include "topologies/placement.hpp"

namespace weft {
namespace {

using nlohmann::json;

void add_link_class(Draft& links, const std::string& name, double gbit, const LikeMachine& like, const Origin& origin) {
    const std::string as = fmt::format("as {} of {}", like.port, std::filesystem::path(like.name).stem().string());
    const LikeLink& port = *like.find(like.port);
    Draft& link_class = links.object(name);
    Draft& bandwidth = link_class.object("bandwidth");
    bandwidth.set("nominal", fmt::format("{} Gbit/s", gbit), origin);
    bandwidth.set("efficiency", port.efficiency, unwritten(as));
    bandwidth.set("source", "efficiency: " + as, {});
    Draft& latency = link_class.object("latency");
    latency.set("value", port.latency, unwritten(as));
    latency.set("source", as, {});
}

// Descriptions of devices may hold any bytes.
std::string to_json_text(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string cables_json(const CabledFabric::Cables& cables) {
    json rows = json::array();
    for (const auto& [ends, count] : cables.between) {
        json row = {ends.first, ends.second};
        if (count > 1) row.push_back(count);
        rows.push_back(std::move(row));
    }
    return rows.dump();
}

std::string nodes_json(const CabledFabric& fabric) {
    json rows = json::array();
    for (const CabledNode& node : fabric.nodes) {
        const bool one = std::ranges::count(node.switches, node.switches.front()) == std::ssize(node.switches);
        rows.push_back(one ? json(node.switches.front()) : json(node.switches));
    }
    return rows.dump();
}

// Names that count up are a prefix and a first number; zeros before it would be lost.
void set_node_names(Draft& object, const std::vector<CabledNode>& nodes, const Origin& origin) {
    const std::string& first = nodes.front().name;
    const std::size_t at = number_at_end(first);
    const std::string prefix = first.substr(0, at), digits = first.substr(at, 9);
    const auto number = digits.empty() ? 0U : static_cast<std::uint32_t>(std::stoul(digits));
    bool counts_up = !prefix.empty() && !digits.empty() && fmt::format("{}", number) == digits;
    json names = json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        counts_up = counts_up && nodes[i].name == fmt::format("{}{}", prefix, number + i);
        names.push_back(nodes[i].name);
    }
    if (!counts_up) return object.set_json("node_names", to_json_text(names), origin);
    object.object("node_names").set("prefix", prefix, origin);
    object.object("node_names").set("first", number, origin);
}

// Whether a machine file has a network of this kind, itself or by what it extends: cables of both would come together.
bool is_cabled(std::string name) {
    constexpr int longest_chain = 16;
    for (int i = 0; i < longest_chain && is_path(name); ++i) {
        Document document = Document::read(name);
        Field root = document.root();
        if (root.is_object("network") && root.object("network").text("kind", "") == "switches") return true;
        if (!root.is_text("extends")) return false;
        const std::string base = root.text("extends");
        name = is_path(base) ? (std::filesystem::path(name).parent_path() / base).string() : base;
    }
    return false;
}

}  // namespace

std::optional<LikeMachine> like_node(Import& import, const FormatOptions& options) {
    if (!options.like.empty() && !is_cabled(options.like)) return read_like_machine(options.like);
    import.error(
        unwritten("--like"),
        options.like.empty()
            ? "the file says how a network is cabled, not what hangs on it; give the machine whose nodes these are: "
              "--like MACHINE"
            : "the network of this machine is cabled by a list of its own; give the machine that its nodes are of");
    return std::nullopt;
}

void write_cabled_machine(Import& import, const CabledFabric& fabric, const LikeMachine& like, const SourceFile& file) {
    const Origin origin = in_file(file.path), said = in_file("--like");
    import.kind = FormatKind::machine;
    Draft& object = import.object;
    object.set("extends", like.name, said);
    object.set("title", fabric.title, origin);
    object.set("source", fmt::format("{}; nodes as {}", file.name(), like.name), {});
    object.set("nodes", fabric.nodes.size(), origin);
    Draft& links = object.object("links");
    for (const auto& [name, cables] : fabric.cables) add_link_class(links, name, cables.gbit, like, origin);
    const bool own_port = fabric.port_gbit != like.port_gbit();
    const std::string port = own_port ? "fabric.port" : like.port;
    if (own_port) add_link_class(links, port, fabric.port_gbit, like, origin);
    if (links.empty()) object.erase("links");
    if (fabric.nics < like.nics()) {
        json attached = json::array();
        for (std::uint32_t nic = 0; nic < fabric.nics; ++nic)
            attached.push_back(like.attached[std::size_t{nic} * like.nics() / fabric.nics]);
        object.object("node").object("nics").set_json("attached", attached.dump(), origin);
    }
    Draft& network = object.object("network");
    network.set("kind", "switches", origin);
    network.set("routing", to_text(like.routing), said);
    network.set("port", port, own_port ? origin : said);
    network.set_json("switches", to_json_text(json(fabric.switches)), origin);
    for (const auto& [name, cables] : fabric.cables)
        network.object("cables").set_json(name, cables_json(cables), origin);
    if (fabric.cables.empty()) network.set_json("cables", "{}", origin);
    network.set_json("nodes", nodes_json(fabric), origin);
    set_node_names(object, fabric.nodes, origin);
}

}  // namespace weft
