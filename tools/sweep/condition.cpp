#include "tools/sweep/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

using Values = std::span<const ResultCell>;

// A part of the text, or all of it.
struct Expression {
    std::size_t column = 1;  // of the text, from 1: where messages point to
    std::function<ResultCell(Values)> value;
};

[[noreturn]] void refuse(std::size_t column, std::string_view reason) {
    throw std::invalid_argument(fmt::format("column {}: {}", column, reason));
}

struct Token {
    enum class Kind : std::uint8_t { number, text, name, sign, end } kind = Kind::end;
    std::string text;        // of a text what stands between its quotation marks; else as written
    std::size_t column = 1;  // from 1, in characters
};

constexpr std::array<std::string_view, 18> signs{"<=", ">=", "==", "!=", "&&", "||", "<", ">", "=",
                                                 "!",  "+",  "-",  "*",  "/",  "%",  "(", ")", ","};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@'; }
bool is_of_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '[' || c == ']'; }

// Where the number that begins at `at` ends: digits with a point and an exponent.
std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
    if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
    std::size_t end = at + 1;
    if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
    const std::size_t digits = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end > digits ? end : at;
}

// Ends with a token of kind end.
std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    for (std::size_t at = 0;;) {
        while (at < text.size() && std::string_view(" \t\r\n").find(text[at]) != text.npos) ++at;
        const std::size_t begin = at, column = static_cast<std::size_t>(position_at(text, begin).column);
        const auto add = [&](Token::Kind kind, std::string_view word) {
            tokens.push_back({kind, std::string(word), column});
        };
        if (at == text.size()) {
            add(Token::Kind::end, "");
            return tokens;
        }
        const char c = text[at];
        if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
            at = end_of_number(text, at);
            add(Token::Kind::number, text.substr(begin, at - begin));
        } else if (is_letter(c)) {
            while (at < text.size() && is_of_name(text[at])) ++at;
            add(Token::Kind::name, text.substr(begin, at - begin));
        } else if (c == '"' || c == '\'') {
            at = text.find(c, begin + 1);
            if (at == text.npos) refuse(column, fmt::format("the {} is not closed", c));
            add(Token::Kind::text, text.substr(begin + 1, at - begin - 1));
            ++at;
        } else {
            const auto* const found =
                std::ranges::find_if(signs, [&](std::string_view each) { return text.substr(at).starts_with(each); });
            if (found == signs.end()) refuse(column, fmt::format("\"{}\" means nothing here", c));
            at += found->size();
            add(Token::Kind::sign, *found);
        }
    }
}

std::optional<double> as_number(const ResultCell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&cell)) return *number;
    return std::nullopt;
}

std::string shown(const ResultCell& cell) {
    const auto* number = std::get_if<double>(&cell);
    return number != nullptr && !std::isfinite(*number) ? fmt::to_string(*number) : cell_json(cell);
}

double number_in(const Expression& part, const ResultCell& value) {
    if (const std::optional<double> number = as_number(value)) return *number;
    refuse(part.column, fmt::format("expected a number, got {}", shown(value)));
}

bool truth(const Expression& part, Values values) {
    const ResultCell cell = part.value(values);
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
    refuse(part.column, fmt::format("expected something true or false, such as a comparison, got {}", shown(cell)));
}

// From the loosest to the tightest.
enum class Level : std::uint8_t { disjunction, conjunction, negation, comparison, sum, product, operand };

struct Operator {
    std::string_view word;
    Level level;
    bool (*compares)(double, double) = nullptr;
    double (*computes)(double, double) = nullptr;
};

constexpr auto operators = std::to_array<Operator>({
    {"or", Level::disjunction},
    {"||", Level::disjunction},
    {"and", Level::conjunction},
    {"&&", Level::conjunction},
    {"<", Level::comparison, [](double a, double b) { return a < b; }},
    {"<=", Level::comparison, [](double a, double b) { return a <= b; }},
    {">", Level::comparison, [](double a, double b) { return a > b; }},
    {">=", Level::comparison, [](double a, double b) { return a >= b; }},
    {"==", Level::comparison, [](double a, double b) { return a == b; }},
    {"!=", Level::comparison, [](double a, double b) { return a != b; }},
    {"+", Level::sum, nullptr, [](double a, double b) { return a + b; }},
    {"-", Level::sum, nullptr, [](double a, double b) { return a - b; }},
    {"*", Level::product, nullptr, [](double a, double b) { return a * b; }},
    {"/", Level::product, nullptr, [](double a, double b) { return a / b; }},
    {"%", Level::product, nullptr, [](double a, double b) { return std::fmod(a, b); }},
});

// Of anything but truths: numbers by what they are, other values only for equality.
ResultCell applied(const Operator& op, std::size_t column, const Expression& left, const Expression& right,
                   Values values) {
    const ResultCell a = left.value(values), b = right.value(values);
    const bool for_equality = op.word == "==" || op.word == "!=";
    if (for_equality && !(as_number(a) && as_number(b))) {
        const bool is_nothing = a.index() == 0 || b.index() == 0;  // null in a list of values
        if (a.index() != b.index() && !is_nothing) {
            refuse(column, fmt::format("{} and {} are of different kinds", shown(a), shown(b)));
        }
        return (a == b) == (op.word == "==");
    }
    const double x = number_in(left, a), y = number_in(right, b);
    if (op.compares != nullptr) return op.compares(x, y);
    if ((op.word == "/" || op.word == "%") && y == 0) refuse(column, "division by zero");
    return op.computes(x, y);
}

Expression joined(const Operator& op, std::size_t column, Expression left, Expression right) {
    return {column, [&op, column, left = std::move(left), right = std::move(right)](Values values) -> ResultCell {
                if (op.level == Level::disjunction) return truth(left, values) || truth(right, values);
                if (op.level == Level::conjunction) return truth(left, values) && truth(right, values);
                return applied(op, column, left, right, values);
            }};
}

Expression constant(std::size_t column, ResultCell value) {
    return {column, [value = std::move(value)](Values) { return value; }};
}

class Parser {
  public:
    Parser(std::string_view text, std::span<const std::string> keys) : tokens_(tokens_of(text)), keys_(keys) {}

    Expression parse() {
        Expression whole = part(Level::disjunction);
        if (token().kind != Token::Kind::end) {
            expected(is_word("=") ? "== to compare" : "the end, or an operator such as \"and\"");
        }
        return whole;
    }

  private:
    const Token& token() const { return tokens_[at_]; }
    Token take() { return tokens_[at_++]; }

    bool is_word(std::string_view word) const {
        return (token().kind == Token::Kind::sign || token().kind == Token::Kind::name) && token().text == word;
    }

    [[noreturn]] void expected(std::string_view what) const {
        const std::string got = token().kind == Token::Kind::end ? "the end" : '"' + token().text + '"';
        refuse(token().column, fmt::format("expected {}, got {}", what, got));
    }

    const Operator* operator_of(Level level) const {
        const auto* const found = std::ranges::find_if(
            operators, [&](const Operator& each) { return each.level == level && is_word(each.word); });
        return found == operators.end() ? nullptr : found;
    }

    Expression part(Level level) {
        if (level == Level::operand) return operand();
        if (level == Level::negation && (is_word("not") || is_word("!"))) return negation();
        const auto tighter = static_cast<Level>(static_cast<int>(level) + 1);
        Expression left = part(tighter);
        while (const Operator* const op = operator_of(level)) {
            const std::size_t column = take().column;
            left = joined(*op, column, std::move(left), part(tighter));
            if (level == Level::comparison && operator_of(level) != nullptr) {
                refuse(token().column, "comparisons cannot be chained: write a < b and b < c");
            }
        }
        return left;
    }

    Expression negation() {
        const Nesting nesting(*this);
        const std::size_t column = take().column;
        return {column, [inner = part(Level::negation)](Values values) { return !truth(inner, values); }};
    }

    Expression operand() {
        const Nesting nesting(*this);
        const std::size_t column = token().column;
        if (is_word("-")) {
            take();
            return {column, [inner = operand()](Values values) { return -number_in(inner, inner.value(values)); }};
        }
        if (is_word("(")) {
            take();
            Expression inner = part(Level::disjunction);
            if (!is_word(")")) expected(fmt::format("\")\" for the bracket in column {}", column));
            take();
            return inner;
        }
        if (token().kind == Token::Kind::number) return constant(column, number(take()));
        if (token().kind == Token::Kind::text) return constant(column, take().text);
        if (is_word("true") || is_word("false")) return constant(column, take().text == "true");
        const bool is_operator = is_word("and") || is_word("or") || is_word("not");
        if (token().kind == Token::Kind::name && !is_operator) return key();
        expected("a key, a number, a text in quotation marks or \"(\"");
    }

    static double number(const Token& word) {
        if (const auto value = parse_as<double>(word.text)) return *value;
        refuse(word.column, fmt::format("\"{}\" is no number", word.text));
    }

    Expression key() {
        const Token word = take();
        const auto same = [&](const std::string& known) { return column_name(known) == column_name(word.text); };
        const auto found = std::ranges::find_if(keys_, same);
        if (found != keys_.end()) {
            return {word.column,
                    [place = found - keys_.begin()](Values values) { return values[static_cast<std::size_t>(place)]; }};
        }
        std::vector<std::string> names;
        for (const std::string& known : keys_) names.emplace_back(column_name(known));
        refuse(word.column, fmt::format("\"{}\" is not varied{} (varied: {}; texts stand in quotation marks)",
                                        word.text, suggestion(word.text, names), fmt::join(names, ", ")));
    }

    // Counts how deep the recursion is.
    struct Nesting {
        explicit Nesting(Parser& parser) : depth(parser.depth_) {
            constexpr int most_depth = 200;  // of brackets and signs within each other
            if (++depth > most_depth) refuse(parser.token().column, "too many brackets within each other");
        }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        ~Nesting() { --depth; }
        int& depth;
    };

    std::vector<Token> tokens_;
    std::span<const std::string> keys_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Condition parse_condition(std::string_view text, std::span<const std::string> keys) {
    return [text = std::string(text), whole = Parser(text, keys).parse()](Values values) {
        try {
            return truth(whole, values);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("\"{}\": {}", text, error.what()));
        }
    };
}

}  // namespace weft
