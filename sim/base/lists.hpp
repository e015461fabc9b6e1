// Lists and sums of what something makes of each element of a range: a function, or a member of the elements; and lists
// of numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace weft {

template <class Value, class Range, class Make>
std::vector<Value> list_of(Range&& range, Make make) {
    std::vector<Value> list;
    for (auto&& each : range) list.emplace_back(std::invoke(make, each));
    return list;
}

// 0, 1, ... `count` - 1.
template <class Value>
std::vector<Value> numbers_below(std::size_t count) {
    std::vector<Value> numbers(count);
    std::iota(numbers.begin(), numbers.end(), Value{});
    return numbers;
}

// From the first to the last, beginning with nothing.
template <class Sum, class Range, class Get>
Sum sum_of(const Range& range, Get get) {
    Sum sum{};
    for (const auto& each : range) sum += std::invoke(get, each);
    return sum;
}

}  // namespace weft
