// Some of a machine's links that tell as much as all of them. On a RouteTree, what the links of a node carry follows
// from which messages pass it, and what the links of a circle of ways carry from which of them take which way. So of
// nodes that the same messages pass in the same places one is in the sample and stands for the others; of circles
// likewise, whichever way they are turned; and of the links of such a circle one of each set of loads. Of the links of
// a mesh likewise one of each set. Every set of loads that some link has is had by a link of the sample, for all
// messages at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/hash_sum.hpp"
#include "sim/collective/circle.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/collective/tree_move.hpp"
#include "sim/network/link_weights.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class FabricSample {
  public:
    explicit FabricSample(const Topology& topology);  // which has a fabric()
    FabricSample(const FabricSample&) = delete;
    FabricSample& operator=(const FabricSample&) = delete;

    const Circles& circles() const { return circles_; }

    // Counts the messages of a survey, moved as a whole; it must stay until choose().
    void count(const RowSurvey& survey, const TreeMove& move);
    // Takes the sample. After all counting, before anything below.
    void choose();

    // How many nodes that of the sample stands for, itself included; 0 for one that is not in the sample.
    std::uint32_t weight(std::uint32_t node) const { return weight_[node]; }
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }  // in the sample; ascending
    // The links of a circle that are in the sample, each with a way that leads over it.
    struct Spot {
        std::uint64_t way = 0;
        LinkId link{};
    };
    bool has_spots(std::uint32_t circle) const { return number_[circle] != nowhere; }
    std::span<const Spot> spots(std::uint32_t circle) const {
        const std::uint32_t number = number_[circle];
        if (number == nowhere) return {};
        return std::span(spots_).subspan(first_spot_[number], first_spot_[number + 1] - first_spot_[number]);
    }
    const std::vector<LinkId>& mesh_links() const { return mesh_links_; }  // in the sample; ascending
    LinkWeights link_weights() const;

  private:
    friend class CircleSampler;
    static constexpr std::uint32_t nowhere = 0xffffffff;
    struct Counted {
        const RowSurvey* survey = nullptr;
        TreeMove move{};
    };

    void count_stretches(const RowSurvey& survey, const RowSurvey::Part& part, std::uint64_t kind);
    void count_mesh(const RowSurvey& survey, std::uint64_t kind);
    void choose_nodes();
    void choose_mesh_links();
    std::vector<std::uint32_t> choose_circles();

    const Topology& topology_;
    const RouteTree& tree_;
    Circles circles_;
    std::vector<bool> parts_ways_;       // by tier
    std::vector<Counted> counted_;       // by kind
    std::vector<HashSum> change_;        // of what passes a node, from that which passes the one before
    std::vector<HashSum> passing_;       // by circle
    std::vector<std::uint64_t> origin_;  // by circle: the way from which others are counted
    std::vector<HashSum> on_mesh_;       // link by link
    std::vector<std::uint32_t> weight_, nodes_;
    std::vector<std::uint32_t> number_;    // by circle: in the sample
    std::vector<std::size_t> first_spot_;  // by number
    std::vector<Spot> spots_;
    std::vector<LinkId> mesh_links_;
    std::vector<LinkWeights::Range> weights_;  // of links of circles, or of the mesh
};

}  // namespace weft
