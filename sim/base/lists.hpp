// Lists and sums of what something makes of each element of a range: a function, or a member of the elements.
#pragma once

#include <functional>
#include <vector>

namespace weft {

template <class Value, class Range, class Make>
std::vector<Value> list_of(Range&& range, Make make) {
    std::vector<Value> list;
    for (auto&& each : range) list.emplace_back(std::invoke(make, each));
    return list;
}

// From the first to the last, beginning with nothing.
template <class Sum, class Range, class Get>
Sum sum_of(const Range& range, Get get) {
    Sum sum{};
    for (const auto& each : range) sum += std::invoke(get, each);
    return sum;
}

}  // namespace weft
