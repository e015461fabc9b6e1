// What a complete exchange puts on links: each of some ranks sends one message to each other. Networks that are alike
// everywhere count the messages of a link instead of routing them one by one.
#pragma once

#include <cstdint>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"

namespace weft {

// How messages come to a link: inside a node; between nodes, where there is no other way; on their minimal route, where
// there are detours; on a detour.
enum class ExchangeWay : std::uint8_t { inside, only, minimal, detour };

class ExchangeSink {
  public:
    virtual ~ExchangeSink() = default;
    // So many messages on a link, each with 1 / parts of itself, in any order; one link may be told several times.
    virtual void add(LinkId link, ExchangeWay way, double messages, std::uint32_t parts = 1) = 0;
    // The longest way of any message of a kind, or of few ranks the longest end with the longest way between switches;
    // may be told several times.
    virtual void reach(ExchangeWay way, Seconds latency) = 0;
};

}  // namespace weft
