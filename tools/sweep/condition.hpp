// What the points of a sweep must hold for: an expression over the varied keys, such as
//   layout.tensor * layout.pipeline <= 64 and not (schedule == "gpipe" or zero > 1)
// Grammar, loosest first:
//   or        = and {"or" and}                   and = not {"and" not}             not = "not" not | comparison
//   comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//   sum       = product {("+" | "-") product}    product = sign {("*" | "/" | "%") sign}
//   sign      = "-" sign | number | text in quotation marks | true | false | key | "(" or ")"
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"

namespace weft {

class Condition {
  public:
    // `keys`: those that it may name. Throws std::invalid_argument: what is wrong, in which column, nearest names.
    Condition(std::string_view text, std::span<const std::string> keys);

    // `values`: one per key. Throws std::invalid_argument where the values are of kinds that the expression cannot use
    // (a text in a product, say), or divide by zero.
    bool holds(std::span<const ResultCell> values) const;

    // A part of the text, or all of it.
    struct Expression {
        std::size_t column = 1;  // of the text, from 1: where messages point to
        std::function<ResultCell(std::span<const ResultCell>)> value;
    };

  private:
    std::string text_;
    Expression whole_;
};

}  // namespace weft
