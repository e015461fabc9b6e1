#include "tools/sweep/condition.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "tools/output/result_table.hpp"
#include "tools/sweep/condition_parser.hpp"

namespace weft {
namespace {

std::optional<double> as_number(const ResultCell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    if (const auto* number = std::get_if<double>(&cell)) return *number;
    return std::nullopt;
}

std::string shown(const ResultCell& cell) {
    const auto* number = std::get_if<double>(&cell);
    return number != nullptr && !std::isfinite(*number) ? fmt::to_string(*number) : cell_json(cell);
}

bool compared(Condition::Kind kind, double left, double right) {
    using Kind = Condition::Kind;
    return kind == Kind::less       ? left < right
           : kind == Kind::at_most  ? left <= right
           : kind == Kind::greater  ? left > right
           : kind == Kind::at_least ? left >= right
           : kind == Kind::equal    ? left == right
                                    : left != right;
}

}  // namespace

Condition::Condition(std::string_view text, std::span<const std::string> keys)
    : text_(text), keys_(keys.begin(), keys.end()), nodes_(parse_condition(text, keys)) {}

bool Condition::holds(std::span<const ResultCell> values) const { return truth(nodes_.size() - 1, values); }

void Condition::refuse(const Node& node, const std::string& reason) const {
    throw std::invalid_argument(fmt::format("\"{}\": column {}: {}", text_, node.column, reason));
}

double Condition::number(const Node& node, const ResultCell& value) const {
    if (const std::optional<double> number = as_number(value)) return *number;
    refuse(node, fmt::format("expected a number, got {}", shown(value)));
}

bool Condition::truth(std::size_t at, std::span<const ResultCell> values) const {
    const ResultCell cell = value(at, values);
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
    refuse(nodes_[at], fmt::format("expected something true or false, such as a comparison, got {}", shown(cell)));
}

ResultCell Condition::value(std::size_t at, std::span<const ResultCell> values) const {
    const Node& node = nodes_[at];
    switch (node.kind) {
        case Kind::constant:
            return node.constant;
        case Kind::key:
            return values[node.key];
        case Kind::either:
            return truth(node.left, values) || truth(node.right, values);
        case Kind::both:
            return truth(node.left, values) && truth(node.right, values);
        case Kind::negation:
            return !truth(node.left, values);
        case Kind::minus:
            return -number(nodes_[node.left], value(node.left, values));
        case Kind::less:
        case Kind::at_most:
        case Kind::greater:
        case Kind::at_least:
        case Kind::equal:
        case Kind::unequal:
            return compare(node, value(node.left, values), value(node.right, values));
        default:
            return arithmetic(node, value(node.left, values), value(node.right, values));
    }
}

bool Condition::compare(const Node& node, const ResultCell& left, const ResultCell& right) const {
    const bool for_equality = node.kind == Kind::equal || node.kind == Kind::unequal;
    if (for_equality && !(as_number(left) && as_number(right))) {
        const bool is_nothing = left.index() == 0 || right.index() == 0;  // null in a list of values
        if (left.index() != right.index() && !is_nothing) {
            refuse(node, fmt::format("{} and {} are of different kinds", shown(left), shown(right)));
        }
        return (left == right) == (node.kind == Kind::equal);
    }
    return compared(node.kind, number(nodes_[node.left], left), number(nodes_[node.right], right));
}

ResultCell Condition::arithmetic(const Node& node, const ResultCell& left, const ResultCell& right) const {
    const double a = number(nodes_[node.left], left), b = number(nodes_[node.right], right);
    if ((node.kind == Kind::quotient || node.kind == Kind::remainder) && b == 0) refuse(node, "division by zero");
    switch (node.kind) {
        case Kind::sum:
            return a + b;
        case Kind::difference:
            return a - b;
        case Kind::product:
            return a * b;
        case Kind::quotient:
            return a / b;
        default:
            return std::fmod(a, b);
    }
}

}  // namespace weft
