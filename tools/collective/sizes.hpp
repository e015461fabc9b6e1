// Message sizes on the command line, as nccl-tests writes them.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

// "8:1G:2": from 8 bytes to 1 GiB, each twice the one before; "8,64K,1M": just these. Suffixes K, M, G and T (also KiB,
// and so on) are powers of 1024. Throws po::error, which names `option`.
std::vector<Bytes> parse_sizes(std::string_view text, std::string_view option);

}  // namespace weft
