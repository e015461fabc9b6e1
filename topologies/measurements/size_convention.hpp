// What a benchmark means by the size of a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"

namespace weft {

enum class SizeConvention : std::uint8_t {
    nccl,  // bytes of the full buffer: all-gather the output, reduce-scatter and all-to-all the input of one rank
    osu,   // OSU micro-benchmarks: the same, but all-gather bytes sent per rank, all-to-all bytes per destination
};

std::optional<SizeConvention> find_convention(std::string_view name);  // "nccl", "osu"

// Bytes of the full buffer of a message that `convention` calls `size`, among `members` ranks.
Bytes full_size(Collective op, Bytes size, SizeConvention convention, std::uint32_t members);
// The other way round.
Bytes stated_size(Collective op, Bytes message, SizeConvention convention, std::uint32_t members);

// Bytes on the wire per second of algorithm bandwidth, which makes operations comparable with link speeds: 2 (n-1)/n
// for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, otherwise 1 (nccl-tests, doc/PERFORMANCE.md).
double bus_factor(Collective op, std::uint32_t members);

}  // namespace weft
