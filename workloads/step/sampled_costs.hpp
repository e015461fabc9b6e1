// What calls cost rows of groups, worked out on a sample of the machine's links.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/group_costs.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/collective/row_traffic.hpp"
#include "sim/collective/tree_move.hpp"
#include "topologies/channels.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/row_surveys.hpp"

namespace weft {

enum class Sampling : std::uint8_t { where_it_pays, wherever_possible };

class SampledCosts {
    // Messages of one kind in the groups of a row, and how often they pass links of the sample: worked out when that is
    // first asked for.
    struct Kind {
        RowTraffic* traffic = nullptr;
        std::optional<std::vector<LinkPasses>> passes{};
    };

  public:
    // Whether routes on the topology can be sampled.
    static bool serves(const Topology& topology);

    SampledCosts(const Topology& topology, Library library, Sampling sampling);
    SampledCosts(const SampledCosts&) = delete;
    SampledCosts& operator=(const SampledCosts&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // The groups of a row.
    struct Row {
        RowSurveys& surveys;  // moved
        TreeMove move{};
        std::vector<Kind> kinds{};  // of the algorithms that its calls take
        std::unique_ptr<GroupCosts> costs{};
    };
    // Null where a sample does not pay. As long-lived as this.
    Row* add(GroupRow groups);
    // Of the groups of a row, which make these calls and no others. As long-lived as this; asked for nothing before
    // choose(). Null where channels of groups moved inside their nodes are not these groups' moved, or where all send
    // to all in large groups.
    GroupCosts* add(Row& row, std::span<const Call> calls);
    // After all rows were added.
    void choose() { sample_.choose(); }
    const FabricSample& sample() const { return sample_; }

  private:
    bool serves(const PartedRow& row) const;
    static bool serves(RowSurveys& surveys, const Algorithm& algorithm);
    std::pair<RowSurveys&, TreeMove> surveys_of(GroupRow groups);
    void count(Row& row, const Algorithm& algorithm);
    std::vector<PhaseCost> work_out(RowSurveys& surveys, const Choice& choice);  // but for loads of links
    std::vector<PhaseCost> work_out(Row& row, const Choice& choice);

    const Topology& topology_;
    const Library library_;
    Sampling sampling_;
    ChannelPlanner planner_;
    FabricSample sample_;
    std::deque<RowSurveys> surveys_;  // of rows that are not others moved
    std::deque<Row> rows_;
};

}  // namespace weft
