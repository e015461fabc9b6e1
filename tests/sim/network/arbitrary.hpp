// Random fabrics and patterns for properties.
#pragma once

#include <rapidcheck.h>

#include <vector>

#include "tests/sim/network/toy.hpp"

namespace weft::toy {

struct System {
    std::vector<double> bandwidths;
    std::vector<Pattern> patterns;
};

// Few distinct bandwidths and loads, so that links fold and levels tie; some loads that sums round; every pattern
// crosses a link.
inline System arbitrary_system(std::uint32_t most_links, std::uint32_t most_patterns) {
    System system;
    const auto links = *rc::gen::inRange<std::uint32_t>(1, most_links + 1);
    const auto patterns = *rc::gen::inRange<std::uint32_t>(1, most_patterns + 1);
    for (std::uint32_t i = 0; i < links; ++i) {
        system.bandwidths.push_back(*rc::gen::element(10.0, 25.0, 30.0, 100.0));
    }
    for (std::uint32_t p = 0; p < patterns; ++p) {
        Pattern pattern;
        const auto must_cross = *rc::gen::inRange<std::uint32_t>(0, links);
        for (std::uint32_t l = 0; l < links; ++l) {
            const double load =
                *rc::gen::weightedElement<double>({{9, 0.0}, {6, 1.0}, {1, 2.0}, {1, 0.3}, {1, 17.0}, {2, 1 / 0.93}});
            if (load > 0.0 || l == must_cross) pattern.loads.push_back({LinkId{l}, load > 0.0 ? load : 1.0});
        }
        pattern.cap = {*rc::gen::weightedElement<double>({{4, infinity}, {1, 3.0}, {1, 0.7}})};
        system.patterns.push_back(pattern);
    }
    return system;
}

}  // namespace weft::toy
