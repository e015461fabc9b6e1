#include "sim/network/link_patterns.hpp"

#include <limits>

#include "sim/base/check.hpp"

namespace weft {

LinkPatterns::LinkPatterns(const Topology& topology, const Table<PatternId, Pattern>& patterns)
    : start_(topology.link_class.size() + 2, 0) {
    std::size_t total = 0;
    for (const Pattern& pattern : patterns) {
        total += pattern.loads.size();
        for (const LinkLoad& load : pattern.loads) {
            WEFT_CHECK(index(load.link) < topology.link_class.size(), "a pattern names an unknown link");
            ++start_[index(load.link) + 2];
        }
    }
    WEFT_CHECK(total < std::numeric_limits<std::uint32_t>::max(), "too many links in patterns");
    for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    crossings_.resize(total);
    // While they are filled in, the entry after a link's is where its next crossing goes: in the end, where they end.
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        for (const LinkLoad& load : patterns[id].loads) crossings_[start_[index(load.link) + 1]++] = {id, load.load};
    }
}

}  // namespace weft
