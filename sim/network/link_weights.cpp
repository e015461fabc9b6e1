#include "sim/network/link_weights.hpp"

#include <cmath>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

LinkWeights::LinkWeights(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    LinkId end{};
    for (const Range& range : ranges_) {
        WEFT_CHECK(end <= range.first && range.first < range.end, "ranges of link weights must ascend");
        WEFT_CHECK(std::isfinite(range.weight) && range.weight > 0.0, "the weight of a link must be above 0");
        end = range.end;
    }
}

}  // namespace weft
