#include "workloads/formats/shell/arithmetic.hpp"

#include <cctype>
#include <charconv>
#include <vector>

#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

constexpr int deepest_expression = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t name_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) != 0 || text[length] == '_'))
        ++length;
    return length;
}

class Arithmetic {
  public:
    Arithmetic(const ShellVariables& variables, std::string_view text, std::string& unknown)
        : variables_(variables), text_(text), unknown_(unknown) {}

    std::optional<long long> value() {
        const std::optional<long long> result = binary(0);
        skip();
        return at_ == text_.size() ? result : std::nullopt;
    }

  private:
    using Value = std::optional<long long>;
    struct Operator {
        std::string_view text;
        int binds;
    };
    static constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4},
                                             {">=", 4}, {"<", 4},  {">", 4},  {"+", 5},  {"-", 5},
                                             {"**", 7}, {"*", 6},  {"/", 6},  {"%", 6}};

    void skip() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    const Operator* next_operator() {
        skip();
        for (const Operator& each : operators) {
            if (text_.substr(at_).starts_with(each.text)) return &each;
        }
        return nullptr;
    }

    Value binary(int least) {
        if (++depth_ > deepest_expression) return std::nullopt;
        Value left = operand();
        while (const Operator* const each = next_operator()) {
            if (each->binds <= least) break;
            at_ += each->text.size();
            left = applied(each->text, left, binary(each->binds));
        }
        --depth_;
        return left;
    }

    Value operand() {
        skip();
        if (at_ == text_.size()) return std::nullopt;
        const char c = text_[at_];
        if (c == '(') {
            ++at_;
            const Value inner = binary(0);
            skip();
            if (at_ == text_.size() || text_[at_] != ')') return std::nullopt;
            ++at_;
            return inner;
        }
        if (c == '-' || c == '+' || c == '!') {
            if (++depth_ > deepest_expression) return std::nullopt;
            ++at_;
            const Value of = operand();
            --depth_;
            if (!of) return std::nullopt;
            return c == '!' ? (*of == 0 ? 1 : 0) : c == '+' ? *of : applied("-", 0, of);
        }
        const std::size_t length = name_length(text_.substr(at_));
        const std::string_view word = text_.substr(at_, length);
        at_ += length;
        return length == 0 ? std::nullopt : is_digit(c) ? number(word) : variable(word);
    }

    static Value number(std::string_view digits) {
        long long value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return error == std::errc() && end == digits.data() + digits.size() ? Value(value) : std::nullopt;
    }

    Value variable(std::string_view name) {
        const std::string text = variables_.value(name);
        if (!variables_.is_set(name) || has_unknown(text)) {
            const std::vector<std::string> names = unknown_names(text);
            unknown_ = names.empty() ? std::string(name) : names.front();
            return std::nullopt;
        }
        return number(text);
    }

    static Value applied(std::string_view sign, Value left, Value right) {
        if (!left || !right) return std::nullopt;
        long long result = 0;
        const long long a = *left, b = *right;
        if (sign == "+") return __builtin_add_overflow(a, b, &result) ? std::nullopt : Value(result);
        if (sign == "-") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : Value(result);
        if (sign == "*") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : Value(result);
        if (sign == "**") return power(a, b);
        if (sign == "/" || sign == "%") {
            if (b == 0 || b == -1) return b == 0 ? std::nullopt : sign == "%" ? Value(0) : applied("-", 0, left);
            return sign == "/" ? a / b : a % b;
        }
        const bool holds = sign == "||"   ? a != 0 || b != 0
                           : sign == "&&" ? a != 0 && b != 0
                           : sign == "==" ? a == b
                           : sign == "!=" ? a != b
                           : sign == "<=" ? a <= b
                           : sign == ">=" ? a >= b
                           : sign == "<"  ? a < b
                                          : a > b;
        return holds ? 1 : 0;
    }

    static Value power(long long base, long long exponent) {
        if (exponent < 0 || exponent > 62) return std::nullopt;
        Value result = 1;
        for (long long i = 0; i < exponent; ++i) result = applied("*", result, base);
        return result;
    }

    const ShellVariables& variables_;
    std::string_view text_;
    std::string& unknown_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::optional<long long> shell_arithmetic(const ShellVariables& variables, std::string_view text,
                                          std::string& unknown) {
    return Arithmetic(variables, text, unknown).value();
}

}  // namespace weft
