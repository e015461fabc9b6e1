#include "sim/io/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>

namespace weft {
namespace {

// value = number * multiplier / divisor: both exact, so that a quantity is rounded like a literal of the program.
struct Unit {
    std::string_view symbol;
    double multiplier;
    double divisor = 1.0;
};

constexpr double kibi = 1024.0;
constexpr std::array byte_units = std::to_array<Unit>({{"B", 1.0},
                                                       {"kB", 1e3},
                                                       {"MB", 1e6},
                                                       {"GB", 1e9},
                                                       {"TB", 1e12},
                                                       {"PB", 1e15},
                                                       {"KiB", kibi},
                                                       {"MiB", kibi* kibi},
                                                       {"GiB", kibi* kibi* kibi},
                                                       {"TiB", kibi* kibi* kibi* kibi}});
constexpr std::array bit_units = std::to_array<Unit>({{"bit", 1.0, 8.0},
                                                      {"kbit", 1e3, 8.0},
                                                      {"Mbit", 1e6, 8.0},
                                                      {"Gbit", 1e9, 8.0},
                                                      {"Tbit", 1e12, 8.0},
                                                      {"Pbit", 1e15, 8.0}});
constexpr std::array time_units = std::to_array<Unit>({{"s", 1.0},
                                                       {"ms", 1.0, 1e3},
                                                       {"us", 1.0, 1e6},
                                                       {"ns", 1.0, 1e9},
                                                       {"ps", 1.0, 1e12},
                                                       {"min", 60.0},
                                                       {"h", 3600.0},
                                                       {"d", 86400.0}});
constexpr std::array flop_units = std::to_array<Unit>(
    {{"FLOP", 1.0}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}});

constexpr std::array power_units = std::to_array<Unit>({{"W", 1.0}, {"kW", 1e3}, {"MW", 1e6}});

// A number of at least zero and, with spaces between them or without, one of the units before the suffix.
std::optional<double> parse(std::string_view text, std::span<const Unit> units, std::string_view suffix = "") {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
    std::string_view symbol = text.substr(static_cast<std::size_t>(end - text.data()));
    symbol.remove_prefix(std::min(symbol.find_first_not_of(' '), symbol.size()));
    if (!symbol.ends_with(suffix)) return std::nullopt;
    symbol.remove_suffix(suffix.size());
    const auto unit = std::ranges::find(units, symbol, &Unit::symbol);
    if (unit == units.end()) return std::nullopt;
    const double value = number * unit->multiplier / unit->divisor;
    return is_amount(value) ? std::optional(value) : std::nullopt;
}

template <class Quantity>
std::optional<Quantity> as(std::optional<double> value) {
    return value ? std::optional(Quantity{*value}) : std::nullopt;
}

// A quantity in any of the units, inside a JSON text.
std::string pattern(std::span<const Unit> units, std::span<const Unit> others = {}, std::string_view suffix = "") {
    std::string symbols;
    for (const std::span<const Unit> some : {units, others}) {
        for (const Unit& unit : some) symbols += (symbols.empty() ? "" : "|") + std::string(unit.symbol);
    }
    return fmt::format(R"(^(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)? *({}){}$)", symbols, suffix);
}

// Three significant digits below 1000; whole numbers above.
std::string digits(double number) {
    const double size = std::abs(number);
    return size < 9.995   ? fmt::format("{:.2f}", number)
           : size < 99.95 ? fmt::format("{:.1f}", number)
                          : fmt::format("{:.0f}", number);
}

// The number in the largest unit of which there is at least one (as rounded), or else in the smallest. `units` ascend.
std::string scaled(double value, std::span<const Unit> units, std::string_view suffix) {
    std::size_t chosen = 0;
    const auto in = [&](std::size_t unit) { return value * units[unit].divisor / units[unit].multiplier; };
    while (chosen + 1 < units.size() && std::abs(in(chosen + 1)) >= 0.9995) ++chosen;
    return fmt::format("{} {}{}", value == 0.0 ? "0" : digits(in(chosen)), units[chosen].symbol, suffix);
}

constexpr std::array binary_scale = {byte_units[0], byte_units[6], byte_units[7], byte_units[8], byte_units[9]};
constexpr std::array time_scale = {time_units[3], time_units[2], time_units[1], time_units[0]};

}  // namespace

bool is_amount(double number) {
    const double size = std::abs(number);
    return size == 0.0 || (size >= least_amount && size <= most_amount);  // false for what is no number
}

std::string_view after_number(std::string_view text) {
    double ignored = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
    return text.substr(static_cast<std::size_t>(end - text.data()));  // also past one that no double holds
}

std::optional<Bytes> parse_bytes(std::string_view text) { return as<Bytes>(parse(text, byte_units)); }

std::optional<BytesPerSecond> parse_bandwidth(std::string_view text) {
    const std::optional<double> in_bytes = parse(text, byte_units, "/s");
    return as<BytesPerSecond>(in_bytes ? in_bytes : parse(text, bit_units, "/s"));
}

std::optional<Seconds> parse_duration(std::string_view text) { return as<Seconds>(parse(text, time_units)); }

std::optional<FlopsPerSecond> parse_flop_rate(std::string_view text) {
    return as<FlopsPerSecond>(parse(text, flop_units, "/s"));
}

std::optional<Watts> parse_power(std::string_view text) { return as<Watts>(parse(text, power_units)); }

std::string bytes_pattern() { return pattern(byte_units); }
std::string bandwidth_pattern() { return pattern(byte_units, bit_units, "/s"); }
std::string duration_pattern() { return pattern(time_units); }
std::string flop_rate_pattern() { return pattern(flop_units, {}, "/s"); }
std::string power_pattern() { return pattern(power_units); }

std::string to_text(Bytes value) {
    const bool few_and_whole = std::abs(value.value) < kibi && value.value == std::trunc(value.value);
    return few_and_whole ? fmt::format("{:.0f} B", value.value) : scaled(value.value, binary_scale, "");
}
std::string to_text(BytesPerSecond value) { return scaled(value.value, std::span(byte_units).first(6), "/s"); }
std::string to_text(Seconds value) { return value.value == 0.0 ? "0 s" : scaled(value.value, time_scale, ""); }
std::string to_text(FlopsPerSecond value) { return scaled(value.value, flop_units, "/s"); }
std::string to_text(Watts value) { return scaled(value.value, power_units, ""); }

}  // namespace weft
