#include "sim/engine/timeline.hpp"

#include <algorithm>
#include <utility>

namespace weft {

void sort_parts(const Program& program, Timeline& timeline) {
    if (program.routines.empty()) return;
    std::ranges::sort(timeline.parts, {}, [](const RoutinePart& part) { return std::pair(part.caller, part.first); });
    std::vector<std::uint32_t>& first = timeline.first_part;
    first.assign(program.ops.size() + 1, 0);
    for (const RoutinePart& part : timeline.parts) ++first[index(part.caller) + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
}

}  // namespace weft
