#include "sim/network/link_traffic.hpp"

#include <algorithm>

namespace weft {

std::vector<LinkBytes> listed_links(const Table<PatternId, Pattern>& patterns, const Table<PatternId, Bytes>& moved) {
    std::vector<LinkBytes> all, sums;
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        if (moved[id] == Bytes{}) continue;
        for (const LinkLoad& each : patterns[id].loads) {
            all.push_back({each.link, moved[id] * each.load, each.alike});
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
                         const Table<PatternId, Bytes>& moved, const AlikeLinks& alike, Seconds time) {
    LinkTraffic traffic{.bytes = Table<LinkId, Bytes>(topology.links()), .time = time};
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        for (const LinkLoad& each : patterns[id].loads) traffic.bytes[each.link] += moved[id] * each.load;
    }
    // The first of its kind stands for the others.
    for (LinkId link{}; link != traffic.bytes.end_id(); link = next(link)) {
        traffic.bytes[link] = traffic.bytes[alike.standing_for(link)];
    }
    return traffic;
}

}  // namespace weft
