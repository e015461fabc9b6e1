// Values as SimGrid's platform files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft {

std::optional<double> simgrid_bandwidth(std::string_view text);  // bytes/s: "125MBps", "10Gbps", "1GiBps", "1e9"
std::optional<double> simgrid_seconds(std::string_view text);    // "50us"; a plain number is seconds
std::uint64_t simgrid_hosts(std::string_view radical);           // how many "0-3,5,7-9" names; 0: none
// "3,4;4,3;5,1;2" as lists of numbers of at least 1; empty if it is no such text.
using SimGridParameters = std::vector<std::vector<std::uint32_t>>;
SimGridParameters simgrid_parameters(std::string_view text);

}  // namespace weft
