// A 64-bit hash of plain values, to find equal ones among many. Never a substitute for comparing them, and never seen
// in a result.
#pragma once

#include <bit>
#include <cstdint>

namespace weft {

class Fingerprint {
  public:
    // One multiplication for each word: patterns have 100,000s.
    Fingerprint& add(std::uint64_t word) {
        state_ = (std::rotl(state_, 23) ^ word) * 0x9e3779b97f4a7c15U;
        return *this;
    }
    Fingerprint& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }

    // Finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    std::uint64_t value() const {
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_ = 0x94d049bb133111ebU;
};

}  // namespace weft
