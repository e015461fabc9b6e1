// What a bag of things holds, whatever their order: the sum of two hashes of each. Bags that differ are taken for equal
// once in 2^128.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "sim/base/hash.hpp"

namespace weft {

struct HashSum {
    std::uint64_t a = 0, b = 0;

    // Of a bag with one thing, told by these words.
    static constexpr HashSum of(std::initializer_list<std::uint64_t> words) {
        const std::span<const std::uint64_t> all(words.begin(), words.size());
        return {hash_of(all), hash_of(all, 0x6a09e667f3bcc908U)};
    }

    // Of tables by bag.
    struct Hash {
        std::size_t operator()(const HashSum& bag) const { return static_cast<std::size_t>(bag.a); }
    };

    bool operator==(const HashSum&) const = default;
    HashSum& operator+=(const HashSum& other) {
        a += other.a;
        b += other.b;
        return *this;
    }
    // So many of the bag.
    friend constexpr HashSum operator*(const HashSum& bag, std::uint64_t times) {
        return {bag.a * times, bag.b * times};
    }
    // Of pairs of a thing of one bag and one of the other.
    friend constexpr HashSum operator*(const HashSum& x, const HashSum& y) { return {x.a * y.a, x.b * y.b}; }
    HashSum& operator-=(const HashSum& other) {
        a -= other.a;
        b -= other.b;
        return *this;
    }
};

}  // namespace weft
