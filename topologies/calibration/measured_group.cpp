#include "topologies/calibration/measured_group.hpp"

#include <utility>

namespace weft {

MeasuredGroup::MeasuredGroup(Topology topology, const Library& library, const SetLayout& layout)
    : topology_(std::move(topology)), set_(topology_, library, layout) {}

const std::vector<Communicator>& MeasuredGroup::communicators(Order order) {
    const auto [it, fresh] = communicators_.try_emplace(order);
    if (fresh) it->second = set_.communicators(order);
    return it->second;
}

GroupCosts MeasuredGroup::costs(const Library& library) {
    return {topology_, library, set_.costs().shape(), [this](Order order) { return communicators(order); }};
}

std::vector<PhaseCost> MeasuredGroup::cost(const Algorithm& algorithm, const Library& library,
                                           const ProtocolCost& protocol) {
    return weft::cost(algorithm, set_.costs().shape(), communicators(library.order_of(algorithm)), topology_, library,
                      protocol);
}

}  // namespace weft
