// The points of a sweep: the product of what its keys vary over. Keys of one variation go in step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// A key that begins with this is no key of the job: it names the row (column "scheme" of "@scheme=DDP,ZeRO-1").
inline constexpr char label_mark = '@';

struct Variation {
    std::vector<std::string> keys;                // "batch.sequence"; several: zipped
    std::vector<std::vector<std::string>> steps;  // the keys' values at each step
};

// "batch.sequence=512..2048*2". Throws std::invalid_argument with the reason (value_list.hpp).
Variation parse_variation(std::string_view text);
// "layout.tensor=1,2,4 layout.data=16,8,4": as many values each. Throws std::invalid_argument: other counts, fewer than
// two keys, and as above.
Variation parse_zip(std::string_view text);
// Of lists of values that were read elsewhere; throws as parse_zip() for other counts.
Variation zipped(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& values);

class SweepGrid {
  public:
    // Throws std::invalid_argument: a key twice, or more than `most_points`.
    explicit SweepGrid(std::vector<Variation> variations);

    static constexpr std::size_t most_points = 10'000'000;
    std::size_t size() const { return size_; }
    const std::vector<std::string>& keys() const { return keys_; }
    // One value per key; the last variation varies fastest.
    std::vector<std::string> point(std::size_t index) const;
    // The same as "key=value" for the job; labels are left out.
    std::vector<std::string> overrides(std::size_t index) const;
    // Before those of each variation how many there are, as "keys x steps": together with the keys, the whole grid.
    std::vector<std::string> all_values() const;

  private:
    std::vector<Variation> variations_;
    std::vector<std::string> keys_;
    std::size_t size_ = 1;
};

// What the column of a key is called.
std::string_view column_name(std::string_view key);

}  // namespace weft
