// The traffic of one phase in the groups of a row, wherever the row lies: worked out once for all protocols. What it
// loads on the machine is told on a sample of links (RowPasses).
#pragma once

#include <map>
#include <span>
#include <vector>

#include "sim/collective/busiest_links.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/cost.hpp"
#include "sim/collective/library.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/link_passes.hpp"
#include "sim/collective/row_latencies.hpp"
#include "sim/collective/row_parts.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/collective/shown_passes.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowTraffic {
  public:
    // `communicator` as that of RowSurvey. All arguments must outlive this.
    RowTraffic(const Topology& topology, const PartedRow& row, const Communicator& communicator, const Phase& phase);
    RowTraffic(const RowTraffic&) = delete;
    RowTraffic& operator=(const RowTraffic&) = delete;

    const RowSurvey& survey() const { return survey_; }
    const ShownPasses& shown() const { return shown_; }

    // What a phase with the same messages costs, but for the loads of links.
    PhaseCost on_idle_links(const Phase& phase, const ProtocolCost& protocol);
    // The same with the loads that these passes are, which are sorted by link.
    PhaseCost loading(std::span<const LinkPasses> passes, const Phase& phase, const ProtocolCost& protocol);

  private:
    class Units;
    struct Loaded {
        LinkId link{};
        LinkLoads::Cell cell{};
    };
    PhaseCost cost(std::vector<LinkLoad> loads, double detoured, const Phase& phase, const ProtocolCost& protocol);
    BytesPerSecond alone(const ProtocolCost& protocol);
    BytesPerSecond alone_on_tree(const ProtocolCost& protocol) const;
    BytesPerSecond alone_on_mesh(const ProtocolCost& protocol);
    std::vector<std::vector<Loaded>> loads_on_nodes(const RowSurvey::Part& part, const Units& units) const;
    void add_to_busiest(std::span<const LinkPasses> passes, const Units& units);
    bool has_detours() const;

    const Topology& topology_;
    const Communicator& communicator_;
    RowSurvey survey_;
    ShownPasses shown_;
    RowLatencies latencies_;
    BusiestLinks busiest_;
    std::map<const ProtocolCost*, BytesPerSecond> alone_;  // known
};

}  // namespace weft
