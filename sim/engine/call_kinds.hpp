// Every kind of call of a program: lane, operation, group size, message and method. Few, so a sorted list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/engine/breakdown.hpp"
#include "sim/program/program.hpp"

namespace weft {

class CallKinds {
  public:
    CallKinds(const Program& program, LaneId compute);

    // An exchange issued on the compute lane itself belongs to the dimension of its communication.
    LaneId lane_of(const Op& exchange) const { return exchange.lane != compute_ ? exchange.lane : dimension(exchange); }
    // Index into kinds().
    std::uint32_t of(const Op& exchange) const {
        return slot_[shape_[program_.communication_of(exchange)] * lanes_ + index(lane_of(exchange))];
    }
    const std::vector<CallTime>& kinds() const { return kinds_; }

  private:
    LaneId dimension(const Op& exchange) const {
        return program_.communications[program_.communication_of(exchange)].dimension;
    }

    const Program& program_;
    LaneId compute_;
    std::size_t lanes_;
    Table<CommunicationId, std::uint32_t> shape_;  // number of its kind, but for the lane
    std::vector<std::uint32_t> slot_;              // (shape, lane) -> index of the kind
    std::vector<CallTime> kinds_;
};

}  // namespace weft
