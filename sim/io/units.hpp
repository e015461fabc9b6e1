// Quantities as text. Grammar: <decimal number> [space] <unit>. Decimal prefixes k M G T P (10^3n; E for FLOP) and
// binary Ki Mi Gi Ti (2^10n); B = byte, bit = 1/8 byte (of bandwidths); /s. 1 GB = 10^9 bytes, 1 GiB = 2^30 bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/quantity.hpp"

namespace weft {

// All of these want the whole text to be one finite amount of at least zero; nullopt otherwise.
std::optional<Bytes> parse_bytes(std::string_view text);               // "64 GiB", "25 MB", "512 B"
std::optional<BytesPerSecond> parse_bandwidth(std::string_view text);  // "25 GB/s", "200 Gbit/s"
std::optional<Seconds> parse_duration(std::string_view text);          // "2.4 us", "1 ms", "3 s", "24 h"
std::optional<FlopsPerSecond> parse_flop_rate(std::string_view text);  // "191.5 TFLOP/s"
std::optional<Watts> parse_power(std::string_view text);               // "700 W", "2.9 kW"

// Regular expressions (ECMA 262) of what these take.
std::string bytes_pattern();
std::string bandwidth_pattern();
std::string duration_pattern();
std::string flop_rate_pattern();
std::string power_pattern();

// For people: three significant digits (whole numbers from 100 up) in the largest unit of which there is at least one.
std::string to_text(Bytes value);           // "12.9 GiB", "512 B"  (binary)
std::string to_text(BytesPerSecond value);  // "25.0 GB/s"          (decimal)
std::string to_text(Seconds value);         // "2.40 us", "13.1 s"
std::string to_text(FlopsPerSecond value);  // "192 TFLOP/s"
std::string to_text(Watts value);           // "8.40 kW"

// Whatever is measured is none at all or, in units of the SI, within these. Beyond them lie slips of the pen, and
// formulas that end in infinity.
inline constexpr double least_amount = 1e-30, most_amount = 1e30;
bool is_amount(double number);  // of either sign

std::string_view after_number(std::string_view text);  // all of it if no number begins it

// Whether the text would be a quantity if another number stood in it.
template <class Quantity>
bool has_unit(std::string_view text, std::optional<Quantity> (*parse)(std::string_view)) {
    return parse("1" + std::string(after_number(text))).has_value();
}

}  // namespace weft
