// Conditions as SQL: names of varied keys become question marks, and numbers real ones, so that 1 / 2 is a half. No
// other words and signs reach SQLite: no functions, no queries, no second statement.
#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/sweep/grid.hpp"

namespace weft {
namespace {

// As a condition has them, and in the same order as SQL does. IS compares nothing, too.
constexpr auto signs = std::to_array<std::string_view>(
    {"<=", ">=", "==", "!=", "<", ">", "&&", "||", "!", "(", ")", "+", "-", "*", "/", "%"});
constexpr auto sql_signs = std::to_array<std::string_view>(
    {"<=", ">=", "IS", "IS NOT", "<", ">", "AND", "OR", "NOT", "(", ")", "+", "-", "*", "/", "%"});
constexpr std::size_t comparisons = 6, joints = 11;  // so many of them come first; arithmetic behind them
constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@.[]";
constexpr auto words = std::to_array<std::string_view>({"and", "or", "not", "true", "false"});

[[noreturn]] void refuse(std::string_view text, std::size_t at, std::string_view reason) {
    throw std::invalid_argument(fmt::format("column {}: {}", position_at(text, at).column, reason));
}

// How long the text in quotation marks, the number or the name at the beginning of `rest` is; 0: a sign stands there.
std::size_t size_of_word(std::string_view rest) {
    const char first = rest.front();
    if (first == '"' || first == '\'') return rest.find(first, 1) + 1;  // npos + 1 is 0
    if (!is_digit(first) && first != '.') return std::min(rest.find_first_not_of(of_names), rest.size());
    double number = 0.0;
    return static_cast<std::size_t>(std::from_chars(rest.data(), rest.data() + rest.size(), number).ptr - rest.data());
}

std::size_t place_of(std::string_view name, std::span<const std::string> keys) {
    std::vector<std::string> names;
    for (const std::string& key : keys) names.emplace_back(column_name(key));
    const auto found = std::ranges::find(names, column_name(name));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    throw std::invalid_argument(fmt::format("\"{}\" is not varied{} (varied: {}; texts stand in quotation marks)", name,
                                            suggestion(name, names), fmt::join(names, ", ")));
}

// `places`: of the keys that its question marks ask. Blanks stand between all words: SQL takes "--" for a comment.
std::string in_sql(std::string_view text, std::span<const std::string> keys, std::vector<std::size_t>& places) {
    std::string sql = "SELECT";
    bool compared = false;  // since the last "and", "or", "not" or bracket
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t\r\n", at)) < text.size();) {
        const std::string_view rest = text.substr(at), word = rest.substr(0, size_of_word(rest));
        const char first = rest.front();
        const auto begins = [&](std::string_view each) { return rest.starts_with(each); };
        const auto sign = static_cast<std::size_t>(std::ranges::find_if(signs, begins) - signs.begin());
        at += word.size();
        sql += ' ';
        if (!word.empty() && (first == '"' || first == '\'')) {
            sql += '\'' + boost::replace_all_copy(std::string(word.substr(1, word.size() - 2)), "'", "''") + '\'';
        } else if (!word.empty() && (is_digit(first) || first == '.')) {
            sql += std::string(word) + (std::ranges::all_of(word, is_digit) ? ".0" : "");
        } else if (std::ranges::find(words, word) != words.end()) {
            sql += word;
            compared = false;
        } else if (!word.empty()) {
            places.push_back(place_of(word, keys));
            sql += '?';
        } else if (sign == signs.size()) {
            refuse(text, at, fmt::format("\"{}\" means nothing here", first));
        } else {
            const bool compares = sign < comparisons;
            if (compares && compared) refuse(text, at, "comparisons cannot be chained: write a < b and b < c");
            if (sign < joints) compared = compares;
            sql += sql_signs[sign];
            at += signs[sign].size();
        }
    }
    return sql;
}

}  // namespace

Condition::Condition(std::string_view text, std::span<const std::string> keys)
    : question_(database_, in_sql(text, keys, places_)) {}

bool Condition::holds(std::span<const ResultCell> values) {
    question_.with({});
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const ResultCell& value = values[places_[i]];
        const auto* const whole = std::get_if<std::int64_t>(&value);
        question_.bind(static_cast<int>(i) + 1, whole == nullptr ? value : ResultCell(static_cast<double>(*whole)));
    }
    question_.step();
    const ResultCell answer = question_.value(0);
    const auto* const truth = std::get_if<std::int64_t>(&answer);  // numbers are real, truths whole
    if (truth != nullptr && (*truth == 0 || *truth == 1)) return *truth == 1;
    throw std::invalid_argument("expected something true or false, such as a comparison, got " +
                                (answer.index() == 0               ? "nothing (a division by zero?)"
                                 : std::isinf(cell_number(answer)) ? "an infinite number"
                                                                   : cell_json(answer)));
}

}  // namespace weft
