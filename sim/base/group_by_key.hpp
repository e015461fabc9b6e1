// Bringing together what has one key: without comparisons, where things are many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft {

// Sorts by key_of(thing), which is below `keys`, and keeps the order of things of one key.
template <class T, class KeyOf>
void group_by_key(std::vector<T>& things, std::size_t keys, KeyOf key_of) {
    if (things.size() < keys / 4) {
        std::ranges::stable_sort(things, {}, key_of);
        return;
    }
    std::vector<std::uint32_t> next(keys + 1);  // by key, where its next thing goes
    for (const T& thing : things) ++next[key_of(thing) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<T> grouped(things.size());
    for (const T& thing : things) grouped[next[key_of(thing)]++] = thing;
    things.swap(grouped);
}

}  // namespace weft
