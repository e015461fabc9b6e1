// The points of a sweep: the product of what each key varies over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct Variation {
    std::string key;                  // "batch.sequence"
    std::vector<std::string> values;  // as written
};

// "batch.sequence=512,1024,2048". Throws std::invalid_argument with the reason.
Variation parse_variation(std::string_view text);

class SweepGrid {
  public:
    explicit SweepGrid(std::vector<Variation> variations) : variations_(std::move(variations)) {}
    std::size_t size() const;
    const std::vector<Variation>& variations() const { return variations_; }
    // One value per variation; the last key varies fastest.
    std::vector<std::string> point(std::size_t index) const;

  private:
    std::vector<Variation> variations_;
};

}  // namespace weft
