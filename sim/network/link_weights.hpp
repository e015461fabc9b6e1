// How many equal links each link stands for: a machine has more links than patterns need to list where many carry the
// same. Whoever sums over links counts the links that are not listed by the weight of the one that stands for them.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

class LinkWeights {
  public:
    struct Range {
        LinkId first{}, end{};
        double weight = 1.0;  // of each of them: itself included, so that those of a class add up to its links
    };

    LinkWeights() = default;  // every link stands for itself
    // Links of no range stand for themselves. LogicError unless ranges ascend, none reaches into the next, and weights
    // are above 0.
    explicit LinkWeights(std::vector<Range> ranges);

    double of(LinkId link) const {
        const auto past = std::ranges::upper_bound(ranges_, link, {}, &Range::first);
        return past != ranges_.begin() && link < (past - 1)->end ? (past - 1)->weight : 1.0;
    }

  private:
    std::vector<Range> ranges_;
};

}  // namespace weft
