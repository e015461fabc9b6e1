// The traffic of one phase in the groups of a row, as far as a sample of the machine's links tells it. Worked out once
// for all protocols.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/library.hpp"
#include "sim/collective/row_latencies.hpp"
#include "sim/collective/row_passes.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/collective/tree_move.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowTraffic {
  public:
    // `latencies` and `communicator`: those of the survey. LogicError where the fabric routes adaptively: what settles
    // on detours depends on all links.
    RowTraffic(const CountedRow& row, RowLatencies& latencies, const Communicator& communicator);

    // As those of PhaseTraffic, of a phase with the same messages; loads of links of the sample only.
    Pattern pattern(const Phase& phase, const ProtocolCost& protocol) const;
    Seconds latency(const Phase& phase, const ProtocolCost& protocol) const { return latencies_.of(phase, protocol); }
    double detoured() const;

  private:
    const Topology& topology_;
    const RowSurvey& survey_;
    RowLatencies& latencies_;
    const Communicator& communicator_;
    const ShownPasses& shown_;
    std::vector<LinkPasses> passes_;
};

}  // namespace weft
