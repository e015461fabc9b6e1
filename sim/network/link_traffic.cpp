#include "sim/network/link_traffic.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "sim/base/check.hpp"

namespace weft {

namespace {

// By partition refinement (Hopcroft, "An n log n algorithm for minimizing states in a finite automaton", 1971): links
// of a class begin as one kind, and each pattern parts the kinds by what it loads them with.
class LinkKinds {
  public:
    explicit LinkKinds(const Topology& topology) : topology_(topology), kind_of_(topology.links(), untouched) {}
    EqualLinks standing_for() const {
        Table<LinkId, LinkId> first(kind_of_.size());
        for (LinkId link{}; link != first.end_id(); link = next(link)) {
            first[link] = kind_of_[link] == untouched ? link : first_[kind_of_[link]];
        }
        return EqualLinks(std::move(first));
    }

    void part(const Pattern& pattern) {
        parted_.clear();
        for (const LinkLoad& each : pattern.loads) {
            WEFT_CHECK(index(each.link) < kind_of_.size(), "a pattern names an unknown link");
            std::uint32_t& kind = kind_of_[each.link];
            kind = part_of(kind != untouched ? kind : static_cast<std::uint32_t>(topology_.link_class(each.link)),
                           each.load);
        }
    }

    // Counts the links of each kind, of which the first stands for the others.
    void count() {
        first_.assign(kinds_, LinkId{});
        links_.assign(kinds_, 0);
        for (LinkId link{}; link != kind_of_.end_id(); link = next(link)) {
            if (kind_of_[link] == untouched) continue;
            if (links_[kind_of_[link]]++ == 0) first_[kind_of_[link]] = link;
        }
    }
    bool stands_for_itself(LinkId link) const { return first_[kind_of_[link]] == link; }
    std::uint32_t links_of_kind(LinkId link) const { return links_[kind_of_[link]]; }

  private:
    static constexpr std::uint32_t untouched = std::numeric_limits<std::uint32_t>::max();
    struct Part {
        std::uint32_t kind = untouched;
        double load = 0.0;
        bool operator==(const Part&) const = default;
    };
    struct HashOfPart {
        std::size_t operator()(const Part& part) const {
            return (std::bit_cast<std::uint64_t>(part.load) ^ part.kind) * 0x9e3779b97f4a7c15U >> 7U;
        }
    };

    // Neighbours are mostly equal.
    std::uint32_t part_of(std::uint32_t kind, double load) {
        const Part part{kind, load};
        if (part == last_part_ && !parted_.empty()) return last_kind_;
        const auto [known, is_new] = parted_.try_emplace(part, kinds_);
        if (is_new) ++kinds_;
        last_part_ = part;
        return last_kind_ = known->second;
    }

    const Topology& topology_;
    Table<LinkId, std::uint32_t> kind_of_;
    std::uint32_t kinds_ = static_cast<std::uint32_t>(topology_.classes.size());
    std::unordered_map<Part, std::uint32_t, HashOfPart> parted_;  // by the pattern at hand; only looked up
    Part last_part_;
    std::uint32_t last_kind_ = 0;
    std::vector<LinkId> first_;         // by kind
    std::vector<std::uint32_t> links_;  // of each kind
};

}  // namespace

EqualLinks merge_equal_links(const Topology& topology, Table<PatternId, Pattern>& patterns) {
    LinkKinds kinds(topology);
    for (const Pattern& pattern : patterns) kinds.part(pattern);
    kinds.count();
    for (Pattern& pattern : patterns) {
        std::erase_if(pattern.loads, [&](const LinkLoad& each) { return !kinds.stands_for_itself(each.link); });
        for (LinkLoad& each : pattern.loads) each.stands_for = kinds.links_of_kind(each.link);
        pattern.loads.shrink_to_fit();
    }
    return kinds.standing_for();
}

std::vector<LinkBytes> listed_links(const Table<PatternId, Pattern>& patterns, const Table<PatternId, Bytes>& moved) {
    std::vector<LinkBytes> all, sums;
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        if (moved[id] == Bytes{}) continue;
        for (const LinkLoad& each : patterns[id].loads) {
            all.push_back({each.link, moved[id] * each.load, each.stands_for});
        }
    }
    std::ranges::stable_sort(all, {}, &LinkBytes::link);
    for (const LinkBytes& each : all) {
        if (sums.empty() || sums.back().link != each.link) {
            sums.push_back(each);
        } else {
            sums.back().bytes += each.bytes;
        }
    }
    return sums;
}

std::vector<LinkBytes> LinkTraffic::used() const {
    std::vector<LinkBytes> all;
    for (LinkId link{}; link != bytes.end_id(); link = next(link)) {
        if (bytes[link] > Bytes{}) all.push_back({link, bytes[link]});
    }
    return all;
}

LinkTraffic link_traffic(const Topology& topology, const Table<PatternId, Pattern>& patterns,
                         const Table<PatternId, Bytes>& moved, const EqualLinks& equal, Seconds time) {
    LinkTraffic traffic{.bytes = Table<LinkId, Bytes>(topology.links()), .time = time};
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        for (const LinkLoad& each : patterns[id].loads) traffic.bytes[each.link] += moved[id] * each.load;
    }
    // The first of its kind stands for the others.
    for (LinkId link{}; link != traffic.bytes.end_id(); link = next(link)) {
        traffic.bytes[link] = traffic.bytes[equal.standing_for(link)];
    }
    return traffic;
}

}  // namespace weft
