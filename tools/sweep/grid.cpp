#include "tools/sweep/grid.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>

#include "sim/base/lists.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

constexpr std::string_view spaces = " \t\n";

bool is_space(char c) { return spaces.find(c) != spaces.npos; }

// The end of the key that begins at `begin` and is followed by "="; `begin` if there is none.
std::size_t end_of_key(std::string_view text, std::size_t begin) {
    constexpr std::string_view of_keys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]@+-";
    const std::size_t end = text.find_first_not_of(of_keys, begin);
    return end < text.size() && text[end] == '=' ? end : begin;
}

// Where the list of values that begins at `begin` ends: at its end, or before a space and the next KEY=.
std::size_t end_of_list(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin; i < text.size();) {
        const std::size_t end = end_of_value(text, i);
        // A value in brackets or quotation marks may hold what looks like a key.
        std::size_t from = i;
        while (from < end && is_space(text[from])) ++from;
        from = end_of_json(text, from);
        for (std::size_t space = from; space < end; ++space) {
            if (is_space(text[space]) && end_of_key(text, space + 1) > space + 1) return space;
        }
        i = end + 1;
    }
    return text.size();
}

// Conditions as SQL: names of varied keys become question marks, and numbers real ones, so that 1 / 2 is a half. No
// other words and signs reach SQLite: no functions, no queries, no second statement.

// As a condition has them, and in the same order as SQL does. IS compares nothing, too.
constexpr auto signs = std::to_array<std::string_view>(
    {"<=", ">=", "==", "!=", "<", ">", "&&", "||", "!", "(", ")", "+", "-", "*", "/", "%"});
constexpr auto sql_signs = std::to_array<std::string_view>(
    {"<=", ">=", "IS", "IS NOT", "<", ">", "AND", "OR", "NOT", "(", ")", "+", "-", "*", "/", "%"});
constexpr std::size_t comparisons = 6, joints = 11;  // so many of them come first; arithmetic behind them
constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@.[]";
constexpr auto sql_words = std::to_array<std::string_view>({"and", "or", "not", "true", "false"});

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
    const auto names = list_of<std::string>(keys, column_name);
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
        } else if (std::ranges::find(sql_words, word) != sql_words.end()) {
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

Variation parse_variation(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw std::invalid_argument(fmt::format("expected KEY=V1,V2,..., got \"{}\"", text));
    }
    const std::string key(text.substr(0, equals));
    return zipped({key}, {parse_value_list(text.substr(equals + 1))});
}

Variation parse_zip(std::string_view text) {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;
    for (std::size_t i = 0; (i = text.find_first_not_of(spaces, i)) < text.size();) {
        const std::size_t equals = end_of_key(text, i);
        if (equals == i) {
            throw std::invalid_argument(fmt::format(
                "expected KEY=V1,V2 KEY=V1,V2 ..., got \"{}\" (keys are parted by spaces)", text.substr(i)));
        }
        const std::size_t end = end_of_list(text, equals + 1);
        keys.emplace_back(text.substr(i, equals - i));
        values.push_back(parse_value_list(text.substr(equals + 1, end - equals - 1)));
        i = end;
    }
    if (keys.size() < 2) {
        throw std::invalid_argument(fmt::format("expected two keys or more, as in \"a=1,2 b=3,4\", got \"{}\"", text));
    }
    return zipped(std::move(keys), values);
}

Variation zipped(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& values) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
        if (values[i].size() != values.front().size()) {
            throw std::invalid_argument(fmt::format("{} has {} values but {} has {}; zipped keys have as many each",
                                                    keys.front(), values.front().size(), keys[i], values[i].size()));
        }
    }
    Variation variation{.keys = std::move(keys), .steps = {}};
    for (std::size_t step = 0; step < values.front().size(); ++step) {
        variation.steps.emplace_back();
        for (const std::vector<std::string>& of_key : values) variation.steps.back().push_back(of_key[step]);
    }
    return variation;
}

SweepGrid::SweepGrid(std::vector<Variation> variations) : variations_(std::move(variations)) {
    std::set<std::string_view> known;
    for (const Variation& variation : variations_) {
        for (const std::string& key : variation.keys) {
            if (column_name(key).empty()) throw std::invalid_argument("a key is empty");
            if (!known.insert(column_name(key)).second) {
                throw std::invalid_argument(fmt::format("{} is varied twice", column_name(key)));
            }
            keys_.push_back(key);
        }
        if (size_ > most_points / std::max<std::size_t>(variation.steps.size(), 1)) {
            throw std::invalid_argument(fmt::format("the grid has more than {} points", most_points));
        }
        size_ *= variation.steps.size();
    }
}

std::vector<std::string> SweepGrid::point(std::size_t index) const {
    std::vector<std::string> values(keys_.size());
    std::size_t place = values.size();
    for (auto variation = variations_.rbegin(); variation != variations_.rend(); ++variation) {
        const std::vector<std::string>& step = variation->steps[index % variation->steps.size()];
        index /= variation->steps.size();
        place -= step.size();
        std::ranges::copy(step, values.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return values;
}

std::vector<std::string> SweepGrid::overrides(std::size_t index) const {
    std::vector<std::string> values = point(index), assignments;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (!keys_[i].starts_with(label_mark)) assignments.push_back(keys_[i] + "=" + values[i]);
    }
    return assignments;
}

std::vector<std::string> SweepGrid::all_values() const {
    std::vector<std::string> values;
    for (const Variation& variation : variations_) {
        values.push_back(fmt::format("{} x {}", variation.keys.size(), variation.steps.size()));
        for (const std::vector<std::string>& step : variation.steps) {
            values.insert(values.end(), step.begin(), step.end());
        }
    }
    return values;
}

std::string_view column_name(std::string_view key) { return key.starts_with(label_mark) ? key.substr(1) : key; }

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
