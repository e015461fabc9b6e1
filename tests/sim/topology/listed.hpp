// Topologies whose vertices and links are listed one by one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"

namespace weft::testing_support {

// Knows no ports and no pictures.
class ListedWiring final : public Wiring {
  public:
    ListedWiring(std::vector<NodeKind> kinds, std::vector<LinkEnds> ends)
        : kinds_(std::move(kinds)), ends_(std::move(ends)) {}
    LinkEnds ends(LinkId link) const override { return ends_[index(link)]; }
    LinkId reverse(LinkId link) const override { return link; }
    bool joins_switches(LinkId link) const override {
        const auto [tail, head] = ends(link);
        return is_switch(tail) && is_switch(head);
    }
    LinkId port(std::uint32_t) const override { return {}; }
    std::string switch_name(std::uint32_t number) const override { return "switch " + std::to_string(number); }
    std::vector<LinkMatrix> matrices() const override { return {}; }
    std::optional<MatrixPlace> place(LinkId) const override { return {}; }

  private:
    bool is_switch(NodeId vertex) const { return kinds_[index(vertex)] == NodeKind::network_switch; }

    std::vector<NodeKind> kinds_;
    std::vector<LinkEnds> ends_;
};

// What a topology consists of; ids count up from 0.
class Listed {
  public:
    NodeId add_vertex(NodeKind kind) {
        kinds_.push_back(kind);
        return NodeId(static_cast<std::uint32_t>(kinds_.size() - 1));
    }
    LinkId add_link(NodeId tail, NodeId head, LinkClassId link_class) {
        ends_.push_back({tail, head});
        classes_.push_back(link_class);
        return LinkId(static_cast<std::uint32_t>(ends_.size() - 1));
    }
    std::size_t links() const { return ends_.size(); }
    void add_to(Topology& topology) && {
        topology.add_vertices(kinds_, 1);
        topology.add_links(classes_, 1);
        topology.wiring = std::make_unique<ListedWiring>(std::move(kinds_), std::move(ends_));
    }

  private:
    std::vector<NodeKind> kinds_;
    std::vector<LinkEnds> ends_;
    std::vector<LinkClassId> classes_;
};

}  // namespace weft::testing_support
