// Jobs that share a machine, for people and for machines.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/sharing/sharing.hpp"

namespace weft {

// With so many of the links where jobs meet, the busiest.
std::string sharing_text(const Sharing& sharing, std::uint32_t links);
std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall);  // seconds and bytes

}  // namespace weft
