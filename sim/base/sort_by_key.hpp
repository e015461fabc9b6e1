// Sorting by small keys: without comparisons, where things are many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft {

// Sorts by key_of(thing), which is below `keys`; things of one key by `precedes`.
template <class T, class KeyOf, class Precedes>
void sort_by_key(std::vector<T>& things, std::size_t keys, KeyOf key_of, Precedes precedes) {
    if (things.size() < keys / 4) {
        std::ranges::sort(things, [&](const T& a, const T& b) {
            return key_of(a) != key_of(b) ? key_of(a) < key_of(b) : precedes(a, b);
        });
        return;
    }
    std::vector<std::uint32_t> end(keys + 1);  // by key; where its things begin until they are put there
    for (const T& thing : things) ++end[key_of(thing) + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<T> sorted(things.size());
    for (const T& thing : things) sorted[end[key_of(thing)]++] = thing;
    auto first = sorted.begin();
    for (std::size_t key = 0; key < keys; ++key) {
        const auto last = sorted.begin() + end[key];
        if (last - first > 1) std::sort(first, last, precedes);
        first = last;
    }
    things.swap(sorted);
}

}  // namespace weft
