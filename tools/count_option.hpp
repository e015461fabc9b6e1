// Counts on the command line. They are read as text: Boost wraps -1 round to 4294967295.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "tools/command.hpp"

namespace weft {

struct CountOption {
    const char* name;  // "top" of --top
    std::uint32_t least = 1;
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    std::string_view reason = {};  // of `most`
};

po::typed_value<std::string>* count_value(const char* value_name);  // for the option's declaration
// Absent where it is not given and has no default. Throws po::error: what stands there is no such number.
std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option);

inline constexpr CountOption jobs_option{.name = "jobs", .most = 1024, .reason = "each is a thread"};

}  // namespace weft
