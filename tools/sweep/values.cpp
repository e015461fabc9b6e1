#include "tools/sweep/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "sim/base/texts.hpp"
#include "tools/output/json_text.hpp"

namespace weft {
namespace {

constexpr char closing(char bracket) { return bracket == '[' ? ']' : bracket == '{' ? '}' : '\0'; }

// The offset behind the text that opens with the quotation mark at `begin`.
std::size_t end_of_text(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    throw std::invalid_argument(fmt::format("the \" before \"{}\" is not closed", text.substr(begin + 1)));
}

constexpr std::size_t most_values = 1'000'000;  // of one key
constexpr int most_places = 9;                  // behind the decimal point
constexpr double most_magnitude = 1e15;         // below 2^53: whole doubles are exact

// A number as it is written: in units of 10^-places.
struct Decimal {
    double value = 0;
    int places = 0;
};

struct Range {
    Decimal first, last, step;
    char operation = '+';
};

[[noreturn]] void refuse(std::string_view text, std::string_view reason) {
    throw std::invalid_argument(fmt::format("range \"{}\": {}", text, reason));
}

// Reads a number at the start of `text` and removes it; nothing if there is none.
std::optional<Decimal> take_number(std::string_view& text) {
    const std::string_view before = text.substr(0, text.find(".."));  // "1..8" is 1 and 8, not "1." and ".8"
    Decimal number;
    const auto [end, error] = std::from_chars(before.data(), before.data() + before.size(), number.value);
    const std::string_view digits(before.data(), static_cast<std::size_t>(end - before.data()));
    const std::size_t point = digits.find('.'), mark = std::min(digits.find_first_of("eE"), digits.size());
    const bool is_decimal = error == std::errc() && is_digit(digits[digits.starts_with('-') ? 1 : 0]);
    if (!is_decimal || point + 1 == mark) return std::nullopt;  // "1." and "inf" are none
    std::string_view exponent = digits.substr(std::min(mark + 1, digits.size()));
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const int places = point == digits.npos ? 0 : static_cast<int>(mark - point - 1);
    number.places = std::max(places - parse_as<int>(exponent).value_or(0), 0);
    text.remove_prefix(digits.size());
    return number;
}

Range read_range(std::string_view text, Decimal first, std::string_view rest) {
    Range range{.first = first, .last = {}, .step = {1, 0}};
    const std::optional<Decimal> last = take_number(rest);
    if (!last) refuse(text, "expected a number after \"..\"");
    range.last = *last;
    if (!rest.empty()) {
        range.operation = rest.front();
        if (std::string_view("+-*/").find(range.operation) == std::string_view::npos) {
            refuse(text, "expected +STEP, -STEP, *FACTOR or /DIVISOR after its end");
        }
        rest.remove_prefix(1);
        const std::optional<Decimal> step = take_number(rest);
        if (!step) refuse(text, fmt::format("expected a number after \"{}\"", range.operation));
        range.step = *step;
    }
    if (!rest.empty()) refuse(text, fmt::format("\"{}\" is one thing too many", rest));
    return range;
}

bool grows(const Range& range) { return range.operation == '+' || range.operation == '*'; }

void check(std::string_view text, const Range& range) {
    const bool sums = range.operation == '+' || range.operation == '-';
    for (const Decimal& number : {range.first, range.last, range.step}) {
        if (number.places > most_places) refuse(text, "numbers have at most nine decimals");
        if (std::abs(number.value) > most_magnitude) refuse(text, "numbers go up to 1e15");
    }
    if (sums && range.step.value <= 0) refuse(text, "the step must be above 0");
    if (!sums && range.step.value <= 1) refuse(text, "the factor must be above 1");
    if (!sums && (range.first.value <= 0 || range.last.value <= 0)) {
        refuse(text, "a range with a factor has numbers above 0");
    }
    if (grows(range) ? range.first.value > range.last.value : range.first.value < range.last.value) {
        refuse(text, grows(range) ? "it begins above its end; write FIRST..LAST-STEP to count down"
                                  : "it begins below its end; write FIRST..LAST+STEP to count up");
    }
}

// The number with index `i`, computed from the first so that errors do not add up.
double number_at(const Range& range, std::size_t i) {
    const auto steps = static_cast<double>(i);
    if (range.operation == '*') return range.first.value * std::pow(range.step.value, steps);
    if (range.operation == '/') return range.first.value / std::pow(range.step.value, steps);
    const double scale = std::pow(10.0, std::max(range.first.places, range.step.places));
    const double first = std::round(range.first.value * scale), step = std::round(range.step.value * scale);
    return (range.operation == '+' ? first + steps * step : first - steps * step) / scale;
}

// Nothing if the text is no range: it does not begin with a number and "..". Sums of decimals, and products of whole
// numbers, are exact.
std::optional<std::vector<std::string>> parse_range(std::string_view text) {
    std::string_view rest = text;
    const std::optional<Decimal> first = take_number(rest);
    if (!first || !rest.starts_with("..")) return std::nullopt;
    const Range range = read_range(text, *first, rest.substr(2));
    check(text, range);
    std::vector<std::string> numbers;
    for (double number = range.first.value; grows(range) ? number <= range.last.value : number >= range.last.value;
         number = number_at(range, numbers.size())) {
        if (numbers.size() == most_values) refuse(text, fmt::format("it has more than {} numbers", most_values));
        numbers.push_back(number_text(number));
    }
    return numbers;
}

// The pieces between commas outside brackets and quotation marks.
std::vector<std::string_view> split_values(std::string_view text) {
    std::vector<std::string_view> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = end_of_value(text, begin);
        values.push_back(trimmed(text.substr(begin, end - begin)));
        if (values.back().empty()) throw std::invalid_argument(fmt::format("empty value in \"{}\"", text));
        begin = end + 1;
    }
    return values;
}

}  // namespace

std::size_t end_of_json(std::string_view text, std::size_t begin) {
    std::string open;  // brackets, the innermost last, each as what closes it
    std::size_t i = begin;
    do {
        if (i >= text.size()) {
            if (open.empty()) return begin;
            throw std::invalid_argument(
                fmt::format("\"{}\" is missing at the end of \"{}\"", open, text.substr(begin)));
        }
        const char c = text[i];
        if (c == '"') {
            i = end_of_text(text, i);
            continue;
        }
        if (closing(c) != '\0') open += closing(c);
        if (open.empty()) return begin;
        if (c == ']' || c == '}') {
            if (open.back() != c) throw std::invalid_argument(fmt::format("\"{}\" opens nowhere", c));
            open.pop_back();
        }
        ++i;
    } while (!open.empty());
    return i;
}

std::size_t end_of_value(std::string_view text, std::size_t begin) {
    std::size_t i = begin;
    while (i < text.size() && text[i] == ' ') ++i;
    i = end_of_json(text, i);
    // What follows, or a text without quotation marks, goes to the next comma outside brackets.
    while (i < text.size() && text[i] != ',') {
        if (text[i] == ']' || text[i] == '}') throw std::invalid_argument(fmt::format("\"{}\" opens nowhere", text[i]));
        i = closing(text[i]) != '\0' ? end_of_json(text, i) : i + 1;
    }
    return i;
}

std::vector<std::string> parse_value_list(std::string_view text) {
    std::vector<std::string> values;
    for (const std::string_view value : split_values(text)) {
        if (const std::optional<std::vector<std::string>> range = parse_range(value)) {
            values.insert(values.end(), range->begin(), range->end());
        } else {
            values.emplace_back(value);
        }
        if (values.size() > most_values) throw std::invalid_argument(fmt::format("more than {} values", most_values));
    }
    return values;
}

}  // namespace weft
