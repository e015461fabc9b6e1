// Flows by id. The ids of finished flows are used again, so the table stays as small as its busiest moment.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

template <class Flow>
class FlowSlots {
  public:
    void reserve(std::size_t flows) {
        flows_.reserve(flows);
        free_.reserve(flows);
    }
    FlowId add(const Flow& flow) {
        if (free_.empty()) return flows_.push_back(flow);
        const FlowId id = free_.back();
        free_.pop_back();
        flows_[id] = flow;
        return id;
    }
    void remove(FlowId id) { free_.push_back(id); }

    Flow& operator[](FlowId id) { return flows_[id]; }
    const Flow& operator[](FlowId id) const { return flows_[id]; }

  private:
    Table<FlowId, Flow> flows_;
    std::vector<FlowId> free_;  // last in, first out: the same order in every run
};

}  // namespace weft
