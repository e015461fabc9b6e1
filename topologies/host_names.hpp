// Lists of host names as Slurm writes them: "a1,b[01-03,7]-ib[0-1]" (hostlist expressions, scontrol(1) show hostlist).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct HostNames {
    std::vector<std::string> names;  // in the order of the list
    std::string mistake;             // empty, or why it is no list of at most so many names
};

HostNames expand_host_names(std::string_view list, std::size_t most);

// The shortest list of them in which numbers that ascend are ranges; expands to the same names in the same order.
std::string compress_host_names(std::span<const std::string> names);

// Where the number at the end of a name begins: its size if it ends in none.
std::size_t number_at_end(std::string_view name);

}  // namespace weft
