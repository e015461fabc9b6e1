#include "tools/sweep/condition_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "tools/sweep/condition_tokens.hpp"
#include "tools/sweep/grid.hpp"

namespace weft {
namespace {

using Kind = Condition::Kind;
using Node = Condition::Node;
using Sign = std::pair<std::string_view, Kind>;

constexpr int most_depth = 200;  // of brackets and signs within each other

constexpr std::array<Sign, 6> comparisons{{{"<", Kind::less},
                                           {"<=", Kind::at_most},
                                           {">", Kind::greater},
                                           {">=", Kind::at_least},
                                           {"==", Kind::equal},
                                           {"!=", Kind::unequal}}};
constexpr std::array<Sign, 2> sums{{{"+", Kind::sum}, {"-", Kind::difference}}};
constexpr std::array<Sign, 3> products{{{"*", Kind::product}, {"/", Kind::quotient}, {"%", Kind::remainder}}};

class Parser {
  public:
    Parser(std::string_view text, std::span<const std::string> keys)
        : tokens_(tokens_of_condition(text)), keys_(keys) {}

    std::vector<Node> parse() {
        disjunction();
        if (token().kind != TokenKind::end) {
            expected(is_word("=") ? "== to compare" : "the end, or an operator such as \"and\"");
        }
        return std::move(nodes_);
    }

  private:
    const Token& token() const { return tokens_[at_]; }
    Token take() { return tokens_[at_++]; }
    bool is_word(std::string_view word) const {
        return (token().kind == TokenKind::sign || token().kind == TokenKind::name) && token().text == word;
    }

    [[noreturn]] void refuse(std::size_t column, std::string_view reason) const {
        throw std::invalid_argument(fmt::format("column {}: {}", column, reason));
    }
    [[noreturn]] void expected(std::string_view what) const {
        const std::string got = token().kind == TokenKind::end ? "the end" : '"' + token().text + '"';
        refuse(token().column, fmt::format("expected {}, got {}", what, got));
    }

    std::size_t add(Node node) {
        nodes_.push_back(std::move(node));
        return nodes_.size() - 1;
    }
    std::size_t add(Kind kind, std::size_t column, std::size_t left, std::size_t right) {
        return add(Node{.kind = kind, .column = column, .left = left, .right = right});
    }

    std::size_t disjunction() {
        std::size_t left = conjunction();
        while (is_word("or") || is_word("||")) {
            const std::size_t column = take().column;
            left = add(Kind::either, column, left, conjunction());
        }
        return left;
    }

    std::size_t conjunction() {
        std::size_t left = negation();
        while (is_word("and") || is_word("&&")) {
            const std::size_t column = take().column;
            left = add(Kind::both, column, left, negation());
        }
        return left;
    }

    std::size_t negation() {
        if (!is_word("not") && !is_word("!")) return comparison();
        const Nesting nesting(*this);
        const std::size_t column = take().column;
        return add(Kind::negation, column, negation(), 0);
    }

    std::size_t comparison() {
        const std::size_t left = sum();
        const std::optional<Kind> kind = find(comparisons);
        if (!kind) return left;
        const std::size_t column = take().column;
        const std::size_t whole = add(*kind, column, left, sum());
        if (find(comparisons)) refuse(token().column, "comparisons cannot be chained: write a < b and b < c");
        return whole;
    }

    std::size_t sum() {
        return chain(sums, [this] { return product(); });
    }
    std::size_t product() {
        return chain(products, [this] { return operand(); });
    }

    template <std::size_t n, class Part>
    std::size_t chain(const std::array<Sign, n>& among, Part part) {
        std::size_t left = part();
        while (const std::optional<Kind> kind = find(among)) {
            const std::size_t column = take().column;
            left = add(*kind, column, left, part());
        }
        return left;
    }

    template <std::size_t n>
    std::optional<Kind> find(const std::array<Sign, n>& among) const {
        for (const auto& [sign, kind] : among) {
            if (token().kind == TokenKind::sign && token().text == sign) return kind;
        }
        return std::nullopt;
    }

    std::size_t operand() {
        const Nesting nesting(*this);
        const std::size_t column = token().column;
        if (is_word("-")) {
            take();
            return add(Kind::minus, column, operand(), 0);
        }
        if (is_word("(")) {
            take();
            const std::size_t inner = disjunction();
            if (!is_word(")")) expected(fmt::format("\")\" for the bracket in column {}", column));
            take();
            return inner;
        }
        if (token().kind == TokenKind::number) return add(Node{.column = column, .constant = number(take())});
        if (token().kind == TokenKind::text) return add(Node{.column = column, .constant = take().text});
        if (is_word("true") || is_word("false")) return add(Node{.column = column, .constant = take().text == "true"});
        const bool is_operator = is_word("and") || is_word("or") || is_word("not");
        if (token().kind == TokenKind::name && !is_operator) return key();
        expected("a key, a number, a text in quotation marks or \"(\"");
    }

    ResultCell number(const Token& word) const {
        double value = 0;
        const char* const end = word.text.data() + word.text.size();
        const auto [stop, error] = std::from_chars(word.text.data(), end, value);
        if (error != std::errc() || stop != end) refuse(word.column, fmt::format("\"{}\" is no number", word.text));
        return value;
    }

    std::size_t key() {
        const Token word = take();
        const auto same = [&](const std::string& known) { return column_name(known) == column_name(word.text); };
        const auto found = std::ranges::find_if(keys_, same);
        if (found != keys_.end()) {
            return add(
                Node{.kind = Kind::key, .column = word.column, .key = static_cast<std::size_t>(found - keys_.begin())});
        }
        std::vector<std::string> names;
        for (const std::string& known : keys_) names.emplace_back(column_name(known));
        refuse(word.column, fmt::format("\"{}\" is not varied{} (varied: {}; texts stand in quotation marks)",
                                        word.text, suggestion(word.text, names), fmt::join(names, ", ")));
    }

    // Counts how deep the recursion is.
    struct Nesting {
        explicit Nesting(Parser& parser) : depth(parser.depth_) {
            if (++depth > most_depth) parser.refuse(parser.token().column, "too many brackets within each other");
        }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        ~Nesting() { --depth; }
        int& depth;
    };

    std::vector<Token> tokens_;
    std::span<const std::string> keys_;
    std::vector<Node> nodes_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::vector<Node> parse_condition(std::string_view text, std::span<const std::string> keys) {
    return Parser(text, keys).parse();
}

}  // namespace weft
