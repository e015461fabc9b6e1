// A group of ranks as it was measured, laid on its machine once, to be costed with any constants.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "topologies/collective_set.hpp"

namespace weft {

class MeasuredGroup {
  public:
    MeasuredGroup(Topology topology, const Library& library, const SetLayout& layout);

    // Ready to choose by the constants of `library`, which must outlive it and not change.
    GroupCosts costs(const Library& library);
    std::vector<PhaseCost> cost(const Algorithm& algorithm, const Library& library, const ProtocolCost& protocol);

    MeasuredGroup(const MeasuredGroup&) = delete;  // set_ refers to topology_
    MeasuredGroup& operator=(const MeasuredGroup&) = delete;

  private:
    const std::vector<Communicator>& communicators(Order order);

    Topology topology_;
    CollectiveSet set_;
    std::map<Order, std::vector<Communicator>> communicators_;
};

}  // namespace weft
