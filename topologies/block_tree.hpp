// A machine built of blocks as a RouteTree: its nodes below the tree of switches that its network is, or below a mesh.
#pragma once

#include <vector>

#include "sim/topology/route_tree.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/numbering.hpp"

namespace weft {

class BlockRouter;

class BlockTree final : public RouteTree {
  public:
    // All arguments must outlive this. `tree`: of the network, or null: its switches are a mesh.
    BlockTree(const BlockRouter& router, const Numbering& numbering, const Network& network, const NetworkTree* tree)
        : router_(router), numbering_(numbering), network_(network), tree_(tree) {}

    std::uint32_t tiers() const override { return 1 + (tree_ != nullptr ? tree_->tiers() : 0); }
    std::uint32_t subtrees(std::uint32_t tier) const override {
        return tier == 0 ? numbering_.nodes : tree_->subtrees(tier);
    }
    std::uint32_t nics() const override { return numbering_.nics; }
    std::uint32_t nodes_per_switch() const override { return network_.nodes_per_switch(); }
    std::uint64_t ways(std::uint32_t tier) const override { return tree_->ways(tier); }
    std::uint64_t detour_step(std::uint32_t turn) const override { return tree_->detour_step(turn); }
    std::uint32_t subtree(std::uint32_t node, std::uint32_t nic, std::uint32_t tier) const override {
        return tree_->subtree({node, nic}, tier);
    }
    Climb climb(RankId from, RankId to) const override;
    std::uint64_t way(RankId to) const override;
    Route leaving(RankId from, RankId to) const override;
    Route entering(RankId from, RankId to) const override;
    LinkId link(Place place, std::uint64_t way, bool down) const override {
        return numbering_.network_link(tree_->link(place, way, down));
    }
    bool parts_ways(std::uint32_t tier) const override { return tree_->parts_ways(tier); }
    std::vector<Range> links(Place place) const override;
    bool has_mesh() const override { return tree_ == nullptr; }
    Range mesh() const override;

  private:
    const BlockRouter& router_;
    const Numbering& numbering_;
    const Network& network_;
    const NetworkTree* tree_;
};

}  // namespace weft
