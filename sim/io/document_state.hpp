// What a Document and its Fields share. Internal to sim/io.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/units.hpp"
#include "sim/io/values.hpp"

namespace weft {

// What a value should be, as its error message says it: "expected <what>, got ...<hint>".
struct Expectation {
    std::string what;
    std::string hint = {};
};

// By which an editor knows what a document may hold; at its root, and of no meaning to readers.
inline constexpr std::string_view schema_key = "$schema";
inline constexpr std::string_view any_name = "*";  // stands for members of an object whose names were listed

// What one reading asked of one key (or, under "", of the value itself).
struct KeyReading {
    std::set<std::string> takes;
    std::string otherwise = {};
    bool required = false, may_be_absent = false;
};

// A text that values came from. Offsets of values count through all texts of a document, one behind another.
struct SourceText {
    std::string name;
    std::string text;
    std::size_t begin = 0;               // the offset of its first character
    std::vector<Origin> made_from = {};  // of each of its lines, where it was made from other files

    const Origin& made_from_of(int line) const;  // counted from 1
};

struct Document::State {
    std::vector<SourceText> texts;  // the document's own first, then those of what its objects extend
    std::vector<Value> values;      // row 0 is the whole document; rows are only ever added
    std::vector<Diagnostic> errors;
    bool records = false;
    std::map<std::size_t, std::map<std::string, KeyReading, std::less<>>> readings = {};  // by row

    void add_to(ValueRecord& record, std::size_t row, Extent extent) const;

    const SourceText& text_at(std::size_t offset) const;  // not of what is overridden
    Origin place_of(std::size_t offset) const;            // without a key; of a text that was made, in that text
    // Takes over the values of another document; returns the row of its outermost, whose path becomes `path`.
    std::size_t take(const State& other, std::string path);  // by value: it may be a path of these

    // Records an error at `offset` of the document.
    void report(std::size_t offset, std::string key, std::string message);
    // Records that `row` is not what it should be, once.
    void report_value(std::size_t row, const Expectation& expected);
};

// How Field reads each type: from which values, what it says it expected, and what it returns when that fails.
// A reader has  std::optional<T> read(const Value&), Expectation expected(const Value&)  and  T harmless()  (a value
// that later formulas survive, since the reading goes on to find every mistake)  and  std::string schema(), the JSON
// Schema of what it takes. Internal to sim/io.
struct IntegerReader {
    std::uint32_t least;

    std::optional<std::uint32_t> read(const Value& value) const {
        const double number = value.number;
        const bool fits = number >= least && number <= std::numeric_limits<std::uint32_t>::max();
        if (value.kind != ValueKind::number || !fits || number != std::trunc(number)) return std::nullopt;
        return static_cast<std::uint32_t>(number);
    }
    Expectation expected(const Value& value) const {
        constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
        if (value.kind == ValueKind::number && value.number > most) {
            return {"an integer of at most " + std::to_string(most)};
        }
        return {"an integer of at least " + std::to_string(least)};
    }
    std::uint32_t harmless() const { return least; }
    std::string schema() const { return R"({"type": "integer", "minimum": )" + std::to_string(least) + "}"; }
};

struct NumberReader {
    std::optional<double> read(const Value& value) const {
        return value.kind == ValueKind::number && is_amount(value.number) ? std::optional(value.number) : std::nullopt;
    }
    Expectation expected(const Value& value) const {
        return {value.kind == ValueKind::number ? "a number of 1e-30 to 1e30, or 0" : "a number"};
    }
    double harmless() const { return 0.0; }
    std::string schema() const { return R"({"type": "number"})"; }
};

struct FlagReader {
    std::optional<bool> read(const Value& value) const {
        return value.kind == ValueKind::flag ? std::optional(value.flag) : std::nullopt;
    }
    Expectation expected(const Value&) const { return {"true or false"}; }
    bool harmless() const { return false; }
    std::string schema() const { return R"({"type": "boolean"})"; }
};

struct TextReader {
    std::optional<std::string> read(const Value& value) const {
        return value.kind == ValueKind::text ? std::optional(value.text) : std::nullopt;
    }
    Expectation expected(const Value&) const { return {"a text"}; }
    std::string harmless() const { return {}; }
    std::string schema() const { return R"({"type": "string"})"; }
};

struct ChoiceReader {
    std::span<const std::string> allowed;

    std::optional<std::string> read(const Value& value) const;
    Expectation expected(const Value& value) const;
    std::string harmless() const { return allowed.empty() ? std::string() : allowed.front(); }
    std::string schema() const;
};

enum class Zero : std::uint8_t { allowed, refused };

// A text with a unit. `example` and `units` (the usual ones) are for the message.
template <class Quantity>
struct QuantityReader {
    std::optional<Quantity> (*parse)(std::string_view);
    Zero zero;
    std::string_view example;
    std::string_view units;
    std::string (*pattern)();

    std::optional<Quantity> read(const Value& value) const {
        if (value.kind != ValueKind::text) return std::nullopt;
        const std::optional<Quantity> parsed = parse(value.text);
        return parsed && zero == Zero::refused && parsed->value == 0.0 ? std::nullopt : parsed;
    }
    Expectation expected(const Value& value) const {
        const std::string such = " such as \"" + std::string(example) + "\"";
        const std::string_view text = value.text;
        const bool is_positive = parse(text.starts_with('-') ? text.substr(1) : text).has_value();
        if (value.kind == ValueKind::text && !is_positive && has_unit(text, parse)) {
            return {"a quantity of 1e-30 to 1e30 in units of the SI, or 0," + such};
        }
        if (value.kind != ValueKind::text || !is_positive)
            return {"a quantity" + such, " (units: " + std::string(units) + ")"};
        return {(zero == Zero::refused ? "a quantity above zero" : "a quantity of at least zero") + such};
    }
    Quantity harmless() const { return {zero == Zero::refused ? 1.0 : 0.0}; }
    std::string schema() const {
        return R"({"type": "string", "pattern": ")" + pattern() + R"(", "examples": [")" + std::string(example) +
               "\"]}";
    }
};

inline constexpr QuantityReader<Bytes> bytes_reader{parse_bytes, Zero::allowed, "64 GiB",
                                                    "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", bytes_pattern};
inline constexpr QuantityReader<BytesPerSecond> bandwidth_reader{
    parse_bandwidth, Zero::refused, "25 GB/s", "Gbit/s, Mbit/s, GB/s, TB/s, GiB/s", bandwidth_pattern};
inline constexpr QuantityReader<Seconds> duration_reader{parse_duration, Zero::allowed, "2.4 us", "ns, us, ms, s",
                                                         duration_pattern};
inline constexpr QuantityReader<FlopsPerSecond> flop_rate_reader{parse_flop_rate, Zero::refused, "191.5 TFLOP/s",
                                                                 "GFLOP/s, TFLOP/s, PFLOP/s", flop_rate_pattern};
inline constexpr QuantityReader<Watts> power_reader{parse_power, Zero::allowed, "700 W", "W, kW, MW", power_pattern};

// The value that a path of keys leads to: "tiers[1].radix", "tiers.1.radix". Internal to sim/io.
inline constexpr std::string_view override_name = "--set";  // the file of mistakes in what is assigned

[[noreturn]] void refuse_path(std::string_view key, std::string message);  // as a ConfigError

// Its row, from row `from` on. Members that objects on the path lack are added, as null. Where keys hold dots, the
// longest key that an object has is meant. A text on the path, or an object that extends another, may be all that is
// written of an object (sim/io/extends): it gets the rest of the path as a key, to be followed in what it extends.
// Throws ConfigError where a path runs through a value that is no object or list.
std::size_t row_at(std::vector<Value>& values, std::size_t from, std::string_view path);

// The same within an object that is whole: texts on the path are refused.
std::size_t row_within(std::vector<Value>& values, std::size_t from, std::string_view path);

}  // namespace weft
