#include "workloads/job/own_keys.hpp"

#include <algorithm>

namespace weft {

std::vector<std::string> own_assignments(std::string_view text) {
    constexpr std::string_view mark = "# weft: ";
    std::vector<std::string> assignments;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        if (line.starts_with(mark)) assignments.emplace_back(line.substr(mark.size()));
        begin = end + 1;
    }
    return assignments;
}

}  // namespace weft
