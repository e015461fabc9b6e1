// What a fit of a library's constants works on: the constants as the unknowns of a linear model, and the groups of
// ranks that were measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "topologies/calibration/calibration.hpp"
#include "topologies/collective_set.hpp"

namespace weft {

// A constant of a library: seconds as they are, efficiencies and rates inverted.
struct Unknown {
    std::string_view name;  // as in a machine file
    Constant kind{};
    std::size_t cost = 0;  // index in Library::costs; costs.size() for the library's own

    bool operator==(const Unknown&) const = default;
    double least() const { return kind == Constant::efficiency ? 1.0 : 0.0; }  // an efficiency is at most 1
};

// Those of the given kinds, of the library and of the costs named (ascending). Rates only where there is a limit.
std::vector<Unknown> unknowns_of(const Library& library, const std::vector<std::size_t>& costs,
                                 std::span<const Constant> kinds);

double value_of(const Library& library, const Unknown& unknown);  // of the linear model
void set_value(Library& library, const Unknown& unknown, double value);
double stated(const Unknown& unknown, double value);  // as the machine file has it

// A group of ranks as it was measured, laid on its machine once, to be costed with any constants.
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
