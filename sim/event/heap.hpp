// A binary heap's wider cousin: four children per node, so a pop touches half the levels and one cache line of children
// per level. Works in place on any array. `before(a, b)`: a leaves first; it must be a strict total order for the pops
// to be reproducible. `placed(item, position)` is told where every moved item comes to rest, which is all that an
// indexed heap needs on top of a plain one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::heap {

inline constexpr std::size_t arity = 4;

struct Untracked {
    template <class T>
    void operator()(const T&, std::size_t) const {}
};

// Puts `item` at the free position `hole` or above it.
template <class T, class Before, class Placed = Untracked>
void sift_up(std::vector<T>& items, std::size_t hole, const T item, Before before, Placed placed = {}) {
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / arity;
        if (!before(item, items[parent])) break;
        items[hole] = items[parent];
        placed(items[hole], hole);
        hole = parent;
    }
    items[hole] = item;
    placed(item, hole);
}

// Puts `item` at the free position `hole` or below it.
template <class T, class Before, class Placed = Untracked>
void sift_down(std::vector<T>& items, std::size_t hole, const T item, Before before, Placed placed = {}) {
    for (std::size_t child = hole * arity + 1; child < items.size(); child = hole * arity + 1) {
        const std::size_t end = std::min(child + arity, items.size());
        std::size_t first = child;
        for (++child; child < end; ++child) {
            if (before(items[child], items[first])) first = child;
        }
        if (!before(items[first], item)) break;
        items[hole] = items[first];
        placed(items[hole], hole);
        hole = first;
    }
    items[hole] = item;
    placed(item, hole);
}

template <class T, class Before>
void push(std::vector<T>& items, const T& item, Before before) {
    items.push_back(item);
    sift_up(items, items.size() - 1, item, before);
}

// Removes and returns the first of at least one item.
template <class T, class Before>
T pop(std::vector<T>& items, Before before) {
    const T first = items.front();
    const T last = items.back();
    items.pop_back();
    if (!items.empty()) sift_down(items, 0, last, before);
    return first;
}

}  // namespace weft::heap
