// Colours for signatures: equal sequences of words get the same number, in order of first arrival. Signatures are
// compared word by word; a hash only finds candidates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/hash.hpp"

namespace weft {

class Palette {
  public:
    explicit Palette(std::size_t expected = 16) { rehash(std::max<std::size_t>(2 * expected, 16)); }

    std::uint32_t colour_of(std::span<const std::uint64_t> signature) {
        if (2 * (colours() + 1) > slots_.size()) rehash(2 * slots_.size());
        const std::uint64_t hash = hash_of(signature);
        std::size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot] != none; slot = (slot + 1) & (slots_.size() - 1)) {
            const std::uint32_t known = slots_[slot];
            if (hashes_[known] == hash && std::ranges::equal(signature_of(known), signature)) return known;
        }
        const std::uint32_t fresh = colours();
        slots_[slot] = fresh;
        words_.insert(words_.end(), signature.begin(), signature.end());
        ends_.push_back(words_.size());
        hashes_.push_back(hash);
        return fresh;
    }

    std::uint32_t colours() const { return static_cast<std::uint32_t>(ends_.size()); }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::span<const std::uint64_t> signature_of(std::uint32_t colour) const {
        const std::size_t begin = colour == 0 ? 0 : ends_[colour - 1];
        return std::span(words_).subspan(begin, ends_[colour] - begin);
    }

    void rehash(std::size_t least) {
        std::size_t size = 16;
        while (size < least) size *= 2;
        slots_.assign(size, none);
        for (std::uint32_t colour = 0; colour < colours(); ++colour) {
            std::size_t slot = hashes_[colour] & (size - 1);
            while (slots_[slot] != none) slot = (slot + 1) & (size - 1);
            slots_[slot] = colour;
        }
    }

    std::vector<std::uint32_t> slots_;  // open addressing; a power of two
    std::vector<std::uint64_t> words_;  // of all signatures, one after another
    std::vector<std::size_t> ends_;     // by colour
    std::vector<std::uint64_t> hashes_;
};

}  // namespace weft
