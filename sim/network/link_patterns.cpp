#include "sim/network/link_patterns.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {

LinkPatterns::LinkPatterns(const Topology& topology, const Table<PatternId, Pattern>& patterns) {
    struct Entry {
        LinkId link{};
        std::uint32_t stands_for = 1;
        Crossing crossing{};
    };
    std::vector<Entry> entries;
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        for (const LinkLoad& each : patterns[id].loads) {
            WEFT_CHECK(index(each.link) < topology.links(), "a pattern names an unknown link");
            entries.push_back({each.link, each.stands_for, {id, each.load}});
        }
    }
    WEFT_CHECK(entries.size() < std::numeric_limits<std::uint32_t>::max(), "too many links in patterns");
    std::ranges::stable_sort(entries, {}, &Entry::link);
    crossings_.reserve(entries.size());
    for (const Entry& entry : entries) {
        if (links_.empty() || links_.back() != entry.link) {
            links_.push_back(entry.link);
            stands_for_.push_back(entry.stands_for);
            start_.push_back(static_cast<std::uint32_t>(crossings_.size()));
        }
        crossings_.push_back(entry.crossing);
    }
    start_.push_back(static_cast<std::uint32_t>(crossings_.size()));
}

}  // namespace weft
