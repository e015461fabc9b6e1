#include "sim/engine/timeline.hpp"

#include <utility>

namespace weft {

void sort_parts(const Program& program, Timeline& timeline) {
    if (program.routines.empty()) return;
    std::vector<std::uint32_t>& first = timeline.first_part;
    first.assign(program.ops.size() + 1, 0);
    for (const RoutinePart& part : timeline.parts) ++first[index(part.caller) + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    std::vector<RoutinePart> sorted(timeline.parts.size());
    std::vector<std::uint32_t> cursor(first.begin(), first.end() - 1);
    for (const RoutinePart& part : timeline.parts) {  // of two ops side by side either may be over first
        const std::uint32_t begin = first[index(part.caller)];
        std::uint32_t place = cursor[index(part.caller)]++;
        for (; place > begin && sorted[place - 1].first > part.first; --place) sorted[place] = sorted[place - 1];
        sorted[place] = part;
    }
    timeline.parts = std::move(sorted);
}

}  // namespace weft
