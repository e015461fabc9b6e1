// What all kinds of node read.
#include "topologies/blocks/block.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <limits>

namespace weft {

void read_nics(Field& block, const LinkClasses& classes, NodePlan& plan) {
    Field nics = block.object("nics");
    for (Field& element : nics.list("attached")) {
        const std::uint32_t accelerator = element.as_whole();
        element.error_if(accelerator >= plan.accelerators, "", "expected an accelerator from 0 to {}, got {}",
                         plan.accelerators - std::min(plan.accelerators, 1U), accelerator);
        plan.nics.push_back(std::min(accelerator, plan.accelerators - std::min(plan.accelerators, 1U)));
    }
    const LinkClassId link_class = classes.read(nics, "link");
    if (plan.nics.empty()) nics.error("attached", "expected at least one NIC");
    plan.pxn = nics.flag("pxn", false) ? Pxn::on : Pxn::off;
    nics.text("source", "");
    nics.done();
    for (std::uint32_t nic = 0; nic < plan.nics.size(); ++nic) {
        plan.connect(plan.nics[nic], plan.nic_vertex(nic), link_class);
    }
}

void NodePlan::leave_idle(std::uint32_t used) {
    const NodePlan whole = *this;
    idle += accelerators - used;
    accelerators = used;
    std::erase_if(nics, [&](std::uint32_t accelerator) { return accelerator >= used; });
    constexpr std::uint32_t gone = 0xffffffff;
    std::vector<std::uint32_t> numbers(whole.vertices(), gone);
    for (std::uint32_t i = 0; i < used; ++i) numbers[i] = i;
    for (std::uint32_t nic = 0, next = 0; nic < whole.nics.size(); ++nic) {
        if (whole.nics[nic] < used) numbers[whole.nic_vertex(nic)] = nic_vertex(next++);
    }
    for (std::uint32_t i = 0; i < switches; ++i) numbers[whole.switch_vertex(i)] = switch_vertex(i);
    std::erase_if(links,
                  [&](const BlockLink& link) { return numbers[link.tail] == gone || numbers[link.head] == gone; });
    for (BlockLink& link : links) link = {numbers[link.tail], numbers[link.head], link.link_class};
}

void read_packages(Field& block, NodePlan& plan) {
    plan.accelerators_per_package = block.count("accelerators_per_package", 1);
    block.error_if(plan.accelerators % plan.accelerators_per_package != 0, "accelerators_per_package",
                   "{} does not divide the {} accelerators of the node", plan.accelerators_per_package,
                   plan.accelerators);
}

void check_connected(Field& block, std::string_view key, const NodePlan& plan) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(plan.accelerators + plan.switches);
    // NICs hang on one accelerator each and cannot join parts; they would only hide the numbering of the switches.
    const auto dense = [&](std::uint32_t vertex) {
        return vertex < plan.accelerators ? vertex : vertex - static_cast<std::uint32_t>(plan.nics.size());
    };
    for (const BlockLink& link : plan.links) {
        if (plan.kind(link.tail) == NodeKind::nic || plan.kind(link.head) == NodeKind::nic) continue;
        boost::add_edge(dense(link.tail), dense(link.head), graph);
    }
    std::vector<std::uint32_t> part(boost::num_vertices(graph));
    if (boost::connected_components(graph, part.data()) <= 1) return;
    for (std::uint32_t accelerator = 0; accelerator < plan.accelerators; ++accelerator) {
        if (part[accelerator] == part[0]) continue;
        block.error(key, "the node falls apart: no path from accelerator 0 to accelerator {}", accelerator);
        return;
    }
}

ReachedRate read_rate(Field field) {
    const BytesPerSecond nominal = field.bandwidth("nominal");
    const double efficiency = field.number("efficiency");
    field.text("source", "");
    field.error_if(field.is_number("efficiency") && !(efficiency > 0.0 && efficiency <= 1.0), "efficiency",
                   "expected a number above 0 and at most 1, got {}", efficiency);
    if (field.is_text("nominal") && nominal <= BytesPerSecond{}) field.error("nominal", "expected more than 0");
    field.done();
    return {nominal, nominal * efficiency};
}

namespace {

LinkClass read_class(Field field, std::string name) {
    const auto [nominal, reached] = read_rate(field.object("bandwidth"));
    const Seconds latency = sourced_duration(field, "latency");
    LinkClass result{.name = std::move(name), .nominal = nominal, .bandwidth = reached, .latency = latency};
    field.done();
    return result;
}

}  // namespace

LinkClasses::LinkClasses(Field links) {
    names_ = links.keys();
    if (names_.size() > std::numeric_limits<std::underlying_type_t<LinkClassId>>::max()) {
        links.error("", "{} link classes are more than a topology can number", names_.size());
        names_.clear();
    }
    for (const std::string& name : names_) table_.push_back(read_class(links.object(name), name));
}

LinkClassId LinkClasses::read(Field& block, std::string_view key) const { return find(block, key, block.text(key)); }

LinkClassId LinkClasses::find(Field& block, std::string_view key, std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return LinkClassId(static_cast<std::uint8_t>(found - names_.begin()));
    if (!name.empty()) {  // an absent or mistyped key has been recorded already
        block.error(key, "no link class is called \"{}\"{}", name, suggestion(name, names_));
    }
    return LinkClassId{};
}

}  // namespace weft
