// What the points of a sweep must hold for: an expression over the varied keys, such as
//   layout.tensor * layout.pipeline <= 64 and not (schedule == "gpipe" or zero > 1)
// Grammar, loosest first:
//   or        = and {"or" and}                   and = not {"and" not}             not = "not" not | comparison
//   comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//   sum       = product {("+" | "-") product}    product = sign {("*" | "/" | "%") sign}
//   sign      = "-" sign | number | text in quotation marks | true | false | key | "(" or ")"
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/result_table.hpp"

namespace weft {

class Condition {
  public:
    // `keys`: those that it may name. Throws std::invalid_argument: what is wrong, in which column, nearest names.
    Condition(std::string_view text, std::span<const std::string> keys);

    // `values`: one per key. Throws std::invalid_argument where the values are of kinds that the expression cannot use
    // (a text in a product, say), or divide by zero.
    bool holds(std::span<const ResultCell> values) const;

    enum class Kind : std::uint8_t {
        constant,
        key,
        either,  // or
        both,    // and
        negation,
        less,
        at_most,
        greater,
        at_least,
        equal,
        unequal,
        sum,
        difference,
        product,
        quotient,
        remainder,
        minus
    };
    // Of the expression's tree; its parts stand before it in the table.
    struct Node {
        Kind kind = Kind::constant;
        std::size_t column = 1;  // of the text, from 1: where messages point to
        std::size_t left = 0, right = 0;
        ResultCell constant{};
        std::size_t key = 0;
    };

  private:
    ResultCell value(std::size_t node, std::span<const ResultCell> values) const;
    ResultCell arithmetic(const Node& node, const ResultCell& left, const ResultCell& right) const;
    bool compare(const Node& node, const ResultCell& left, const ResultCell& right) const;
    bool truth(std::size_t node, std::span<const ResultCell> values) const;
    double number(const Node& node, const ResultCell& value) const;
    [[noreturn]] void refuse(const Node& node, const std::string& reason) const;

    std::string text_;
    std::vector<std::string> keys_;
    std::vector<Node> nodes_;  // the last is the whole
};

}  // namespace weft
