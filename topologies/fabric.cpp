#include "topologies/fabric.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "sim/base/enumerators.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "topologies/detour_router.hpp"

namespace weft {
namespace {

LinkId link_of(const Topology& topology, const NicCable& cable) {
    const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
    const std::uint32_t nics = topology.vertices_of(NodeKind::nic) / nodes;
    if (cable.node >= nodes) throw RangeError("nodes are 0 to {}, not {}", nodes - 1, cable.node);
    if (cable.nic >= nics) {
        throw RangeError("a node of {} has NICs 0 to {}, not {}", topology.name, nics - 1, cable.nic);
    }
    return topology.wiring->port(cable.node * nics + cable.nic);
}

std::vector<LinkId> links_in_one_direction(const Topology& topology, const RouteCables& cables) {
    for (const RankId rank : {cables.from, cables.to}) {
        if (index(rank) >= topology.ranks) {
            throw RangeError("ranks are 0 to {}, not {}", topology.ranks - 1, index(rank));
        }
    }
    if (cables.from == cables.to) throw RangeError("rank {} needs no link to itself", index(cables.to));
    const auto name = [&](LinkId link) { return topology.intact_link(link).name; };
    const auto is_meant = [&](LinkId link) { return cables.link_class.empty() || name(link) == cables.link_class; };
    const Route route = topology.route(cables.from, cables.to);
    auto links = list_of_those<LinkId>(route.links(), is_meant);
    if (links.empty()) {
        throw RangeError("the route from rank {} to rank {} has no link of class \"{}\" (it has {})",
                         index(cables.from), index(cables.to), cables.link_class,
                         fmt::join(each_once(list_of<std::string>(route.links(), name)), ", "));
    }
    return links;
}

// Dead links keep a rate, which nothing asks for: nothing crosses them, and a rate of 0 would have no utilization.
LinkClassId faulty_class(Topology& topology, LinkClassId intact, double share) {
    LinkClass faulty = topology.classes[intact];
    faulty.name += share == 0.0 ? " (dead)" : fmt::format(" (x {})", share);
    if (share > 0.0) faulty.bandwidth *= share;
    faulty.intact = intact;
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        if (topology.classes[id].intact == intact && topology.classes[id].name == faulty.name) return id;
    }
    constexpr std::size_t most_classes = 255;  // of a LinkClassId
    if (topology.classes.size() >= most_classes) {
        throw RangeError("at most {} classes of links, those of faults included", most_classes);
    }
    return topology.classes.push_back(std::move(faulty));
}

constexpr std::string_view seeded = "ecmp:";

}  // namespace

bool has_background(const Fabric& fabric, std::string_view link_class) {
    return std::ranges::any_of(fabric.background,
                               [&](const auto& load) { return load.first == link_class && load.second > 0.0; });
}

bool has_background(const Fabric& fabric) {
    return std::ranges::any_of(fabric.background, [](const auto& load) { return load.second > 0.0; });
}

void add_load(Fabric& fabric, double share, const std::vector<std::string>& link_classes) {
    const std::vector<std::pair<std::string, double>> said = fabric.background;
    for (const std::string& name : link_classes) {
        const auto names_it = [&](const std::pair<std::string, double>& each) { return each.first == name; };
        if (std::ranges::none_of(said, names_it)) fabric.background.emplace_back(name, share);
    }
}

std::optional<RouteChoice> find_routing(std::string_view text) {
    if (const auto routing = enumerator_called<Routing>(text)) return *routing;
    if (!text.starts_with(seeded)) return std::nullopt;
    const auto seed = parse_as<std::uint64_t>(text.substr(seeded.size()));
    return seed ? std::optional(RouteChoice{Routing::ecmp, *seed}) : std::nullopt;
}

std::string to_text(const RouteChoice& choice) {
    if (choice.routing == Routing::ecmp && choice.seed != 0) return fmt::format("{}{}", seeded, choice.seed);
    return std::string(enumerator_name(choice.routing));
}

std::string unknown_routing(std::string_view text) {
    const std::vector<std::string> known{"minimal", "ecmp", "ecmp:SEED", "valiant", "adaptive"};
    return fmt::format("expected {}, got \"{}\"{}", fmt::join(known, ", "), text, suggestion(text, known));
}

RouteChoice read_routing(Field& section, std::string_view text) {
    const std::optional<RouteChoice> choice = find_routing(text);
    if (!choice && section.is_text("routing")) section.error("routing", unknown_routing(text));
    return choice.value_or(Routing::minimal);
}

std::vector<LinkId> links_of(const Topology& topology, const LinkFault& fault) {
    const NicCable* const cable = std::get_if<NicCable>(&fault.where);
    std::vector<LinkId> links = cable != nullptr ? std::vector{link_of(topology, *cable)}
                                                 : links_in_one_direction(topology, std::get<RouteCables>(fault.where));
    const std::size_t in_one_direction = links.size();
    for (std::size_t i = 0; i < in_one_direction; ++i) links.push_back(topology.wiring->reverse(links[i]));
    std::ranges::sort(links);
    return links;
}

void add_link_faults(Topology& topology, std::span<const LinkFault> faults) {
    std::map<LinkId, double> shares;
    for (const LinkFault& fault : faults) {
        if (!(fault.share >= 0.0 && fault.share <= 1.0)) {
            throw RangeError("a link has a share of its bandwidth left from 0 to 1, not {}", fault.share);
        }
        for (const LinkId link : links_of(topology, fault)) {
            const auto [found, is_new] = shares.try_emplace(link, fault.share);
            found->second = std::min(found->second, fault.share);
        }
    }
    std::vector<LinkId> faulty, dead;
    for (const auto& [link, share] : shares) {
        if (share == 1.0) continue;
        topology.node_links = 0;
        topology.set_class(link, faulty_class(topology, topology.link_class(link), share));
        faulty.push_back(link);
        if (share == 0.0) dead.push_back(link);
    }
    if (faulty.empty()) return;
    LiveLinks sound(topology, faulty);
    topology.crippled_nodes = sound.crippled_nodes();
    if (dead.size() < faulty.size() && !sound.parted())
        topology.around = std::make_unique<DetourRouter>(topology.router, std::move(sound));
    if (dead.empty()) return;
    LiveLinks live(topology, dead);
    if (const std::optional<std::string> parted = live.parted()) throw RangeError(*parted);
    topology.router = std::make_unique<DetourRouter>(topology.router, std::move(live));
}

}  // namespace weft
