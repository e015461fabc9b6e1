// Small fabrics for tests: links by number, without nodes or routes, and the textbook way to share them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"
#include "tests/sim/topology/listed.hpp"

namespace weft::toy {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Link i has bandwidths[i]; links of equal bandwidth are of one class.
inline Topology fabric(const std::vector<double>& bandwidths) {
    Topology topology;
    testing_support::Listed listed;
    listed.add_vertex(NodeKind::nic);
    const NodeId a_switch = listed.add_vertex(NodeKind::network_switch);
    for (const double bandwidth : bandwidths) {
        const auto same = [&](const LinkClass& known) { return known.bandwidth.value == bandwidth; };
        const auto found = std::find_if(topology.classes.begin(), topology.classes.end(), same);
        const auto id = static_cast<std::uint8_t>(found - topology.classes.begin());
        if (found == topology.classes.end()) {
            topology.classes.push_back({"class " + std::to_string(id), {bandwidth}, {bandwidth}, {}});
        }
        const NodeId end = listed.links() % 2 == 0 ? NodeId{} : a_switch;
        listed.add_link(end, end, LinkClassId{id});
    }
    std::move(listed).add_to(topology);
    return topology;
}

// A pattern with load 1 on each of `links`, which are ascending.
inline Pattern path(const std::vector<std::uint32_t>& links, double cap = infinity) {
    Pattern pattern{{}, {cap}};
    for (const std::uint32_t link : links) pattern.loads.push_back({LinkId{link}, 1.0});
    return pattern;
}

inline Table<PatternId, Pattern> table(std::vector<Pattern> patterns) {
    Table<PatternId, Pattern> result;
    for (Pattern& pattern : patterns) result.push_back(std::move(pattern));
    return result;
}

// One flow on each of `patterns`. Water rises step by step: by as much as the scarcest link or cap allows, until every
// flow has stopped. Link by link and flow by flow, with nothing folded, indexed or remembered.
inline std::vector<double> naive_max_min(const std::vector<double>& bandwidths, const std::vector<Pattern>& patterns) {
    std::vector<double> rate(patterns.size(), 0.0), free = bandwidths;
    std::vector<char> rising(patterns.size(), 1);
    while (std::find(rising.begin(), rising.end(), 1) != rising.end()) {
        std::vector<double> load(bandwidths.size(), 0.0);
        double step = infinity;
        for (std::size_t p = 0; p < patterns.size(); ++p) {
            if (!rising[p]) continue;
            step = std::min(step, patterns[p].cap.value - rate[p]);
            for (const LinkLoad& l : patterns[p].loads) load[index(l.link)] += l.load;
        }
        for (std::size_t l = 0; l < free.size(); ++l) {
            if (load[l] > 0.0) step = std::min(step, free[l] / load[l]);
        }
        for (std::size_t l = 0; l < free.size(); ++l) free[l] -= step * load[l];
        for (std::size_t p = 0; p < patterns.size(); ++p) {
            if (!rising[p]) continue;
            rate[p] += step;
            const auto is_full = [&](const LinkLoad& l) {
                return free[index(l.link)] <= 1e-12 * bandwidths[index(l.link)];
            };
            if (rate[p] >= patterns[p].cap.value * (1.0 - 1e-12) || std::ranges::any_of(patterns[p].loads, is_full)) {
                rising[p] = 0;
            }
        }
    }
    return rate;
}

}  // namespace weft::toy
