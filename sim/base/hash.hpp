// Numbers that look random but follow from their arguments alone, f(seed, stream, counter): the same on every run, in
// any order of asking, on any number of threads.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace weft {

// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
constexpr std::uint64_t finalized(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

// Chained over the words from a first state on.
constexpr std::uint64_t hash_of(std::span<const std::uint64_t> words, std::uint64_t state = 0) {
    for (const std::uint64_t word : words) state = finalized(state + word + 0x9e3779b97f4a7c15U);
    return state;
}
constexpr std::uint64_t hash_of(std::initializer_list<std::uint64_t> words) {
    return hash_of(std::span(words.begin(), words.size()));
}

// A 64-bit hash of plain values, to find equal ones among many. Never a substitute for comparing them, and never seen
// in a result.
class Fingerprint {
  public:
    // One multiplication for each word: patterns have 100,000s.
    Fingerprint& add(std::uint64_t word) {
        state_ = (std::rotl(state_, 23) ^ word) * 0x9e3779b97f4a7c15U;
        return *this;
    }
    Fingerprint& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }

    std::uint64_t value() const { return finalized(state_); }

  private:
    std::uint64_t state_ = 0x94d049bb133111ebU;
};

}  // namespace weft
