// Stretches of time in ns, of which those that touch are one.
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <functional>

namespace weft {

using Stretch = boost::icl::right_open_interval<std::int64_t>;
using Stretches = boost::icl::interval_set<std::int64_t, std::less, Stretch>;

// What of them lies in one.
inline Stretches within(const Stretches& all, const Stretch& one) {
    Stretches found;
    boost::icl::add_intersection(found, all, one);
    return found;
}

}  // namespace weft
