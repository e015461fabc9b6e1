// Lists and sums of what something makes of each element of a range: a function, or a member of the elements; and lists
// of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <type_traits>

#include <vector>

namespace weft {

template <class Value, class Range, class Make>
std::vector<Value> list_of(Range&& range, Make make) {
    std::vector<Value> list;
    if constexpr (std::ranges::sized_range<Range>) list.reserve(std::ranges::size(range));
    for (auto&& each : range) list.emplace_back(std::invoke(make, each));
    return list;
}

// Of those elements for which `is` holds.
template <class Value, class Range, class Is, class Make = std::identity>
std::vector<Value> list_of_those(Range&& range, Is is, Make make = {}) {
    std::vector<Value> list;
    for (auto&& each : range) {
        if (std::invoke(is, each)) list.emplace_back(std::invoke(make, each));
    }
    return list;
}

// Each value once, in the order in which they come first.
template <class Value>
std::vector<Value> each_once(const std::vector<Value>& values) {
    std::vector<Value> once;
    for (const Value& value : values) {
        if (std::ranges::find(once, value) == once.end()) once.push_back(value);
    }
    return once;
}

// The first element for which `is` holds, or null. A pointer among others is that element itself.
template <class Range, class Is>
auto first_of(Range&& range, Is is) {
    const auto found = std::ranges::find_if(range, is);
    if constexpr (std::is_pointer_v<std::ranges::range_value_t<Range>>) {
        return found == std::ranges::end(range) ? nullptr : *found;
    } else {
        return found == std::ranges::end(range) ? nullptr : &*found;
    }
}

// 0, 1, ... `count` - 1, as numbers or ids.
template <class Value>
std::vector<Value> numbers_below(std::size_t count) {
    std::vector<Value> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<Value>(i);
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
