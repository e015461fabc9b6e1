// What traffic is asked, before it lies on a machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/base/quantity.hpp"

namespace weft {

inline constexpr std::size_t most_rank_messages = 1U << 20U;  // uniform among 1,024 ranks, which takes 1.4 GiB

struct RankMessage {
    std::uint32_t from = 0, to = 0;  // ranks as the job counts them
    Bytes bytes{};
    Seconds start{};
};

}  // namespace weft
