// Numbers drawn from a seed: the same on every machine and with every library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::test {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Draws {
  public:
    explicit Draws(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }
    bool one_in(std::size_t n) { return below(n) == 0; }

    template <class List>
    const auto& of(const List& list) {
        return list[below(std::size(list))];
    }

  private:
    std::uint64_t state_;
};

}  // namespace weft::test
