// The points of a sweep: the product of what its keys vary over, as far as conditions hold. Keys of one variation go in
// step.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/result_file.hpp"

namespace weft {

// A key that begins with this is no key of the job: it names the row (column "scheme" of "@scheme=DDP,ZeRO-1").
inline constexpr char label_mark = '@';

struct Variation {
    std::vector<std::string> keys;                // "batch.sequence"; several: zipped
    std::vector<std::vector<std::string>> steps;  // the keys' values at each step
};

// The values of a varied key as they are written, each as an override takes it. Grammar:
//   values  = value {"," value}
//   value   = range | JSON value (commas within brackets and quotation marks are part of it) | bare text
//   range   = number ".." number [("+" | "-" | "*" | "/") number]          the step is +1 if there is none
// "512..65536*2" is 512, 1024, ..., 65536; the last value is in it if the steps meet it. Throws std::invalid_argument
// with the reason: an empty value, a bracket or quotation mark without its other half, a range that never ends or
// counts in the wrong direction.
std::vector<std::string> parse_value_list(std::string_view text);
// The offset behind the value that begins at `begin`: that of the next comma, or the end of the text. Throws as above.
std::size_t end_of_value(std::string_view text, std::size_t begin);
// The offset behind the list, object or text of JSON that begins at `begin`; `begin` if none does. Throws as above.
std::size_t end_of_json(std::string_view text, std::size_t begin);

// "batch.sequence=512..2048*2". Throws std::invalid_argument with the reason.
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

// What the points of a sweep must hold for: an expression over the varied keys, such as
//   layout.tensor * layout.pipeline <= 64 and not (schedule == "gpipe" or zero > 1)
// of < <= > >= == !=, + - * / %, and or not (&& || !), true, false, numbers, texts in quotation marks and brackets,
// worth what SQLite says of real numbers: a text equals no number, and a division by zero is nothing, neither true nor
// false.
class Condition {
  public:
    // `keys`: those that it may name. Throws std::invalid_argument: what is wrong, nearest names.
    Condition(std::string_view text, std::span<const std::string> keys);
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    // Of values, one per key; throws std::invalid_argument where they make it neither true nor false.
    bool holds(std::span<const ResultCell> values);

  private:
    std::vector<std::size_t> places_;  // of the values that the question takes
    SqliteFile database_;
    SqliteFile::Statement question_;
};

}  // namespace weft
