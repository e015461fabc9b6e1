// Eight small counters in two words, which are added, taken off and compared with a limit all at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft {

class PackedParts {
  public:
    static constexpr std::size_t size = 8;
    static constexpr std::uint32_t most = 0x7fff;  // of a counter: sums that exceed it are an error of the caller

    std::uint32_t operator[](std::size_t i) const { return words_[i / 4] >> 16U * (i % 4) & 0xffffU; }
    // A counter that is 0 becomes `value` <= most.
    void set(std::size_t i, std::uint32_t value) { words_[i / 4] |= std::uint64_t{value} << 16U * (i % 4); }

    // No counter may come above `most`, or below 0.
    void operator+=(const PackedParts& other) {
        words_[0] += other.words_[0];
        words_[1] += other.words_[1];
    }
    void operator-=(const PackedParts& other) {
        words_[0] -= other.words_[0];
        words_[1] -= other.words_[1];
    }

    // Whether any counter is above `limit` <= most: only then does adding what is missing to `most` reach the highest
    // bit.
    bool any_above(std::uint32_t limit) const {
        const std::uint64_t missing = (most - limit) * ones;
        return (((words_[0] + missing) | (words_[1] + missing)) & 0x8000U * ones) != 0;
    }

  private:
    static constexpr std::uint64_t ones = 0x0001'0001'0001'0001;
    std::array<std::uint64_t, 2> words_{};
};

}  // namespace weft
