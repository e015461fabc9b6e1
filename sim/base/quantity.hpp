// Physical quantities as distinct types over double in SI base units: a formula that mixes them wrongly does not
// compile. Raw doubles appear only inside formulas and at the JSON edge.
#pragma once

#include <compare>

#include "sim/base/lists.hpp"

namespace weft {

template <class Tag>
struct Quantity {
    double value = 0.0;

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
    constexpr Quantity& operator*=(double factor) { return value *= factor, *this; }

    friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
    friend constexpr Quantity operator-(Quantity a) { return {-a.value}; }
    friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
    friend constexpr Quantity operator*(double factor, Quantity a) { return {factor * a.value}; }
    friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
    friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using Flops = Quantity<struct FlopsTag>;  // floating-point operations: an amount of work
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) { return {amount.value / rate.value}; }
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) { return {amount.value / time.value}; }
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) { return {rate.value * time.value}; }
constexpr Bytes operator*(Seconds time, BytesPerSecond rate) { return rate * time; }
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return {work.value / rate.value}; }
constexpr FlopsPerSecond operator/(Flops work, Seconds time) { return {work.value / time.value}; }
constexpr Joules operator*(Watts power, Seconds time) { return {power.value * time.value}; }

inline namespace literals {
// clang-format off
constexpr Seconds operator""_s(long double v) { return {static_cast<double>(v)}; }
constexpr Seconds operator""_s(unsigned long long v) { return {static_cast<double>(v)}; }
constexpr Seconds operator""_us(long double v) { return {static_cast<double>(v) / 1e6}; }
constexpr Seconds operator""_us(unsigned long long v) { return {static_cast<double>(v) / 1e6}; }
constexpr Seconds operator""_ns(unsigned long long v) { return {static_cast<double>(v) / 1e9}; }
constexpr Bytes operator""_B(unsigned long long v) { return {static_cast<double>(v)}; }
constexpr Bytes operator""_KiB(unsigned long long v) { return {static_cast<double>(v) * 1024.0}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return {static_cast<double>(v) * 1048576.0}; }
constexpr Bytes operator""_GiB(unsigned long long v) { return {static_cast<double>(v) * 1073741824.0}; }
constexpr Bytes operator""_GB(unsigned long long v) { return {static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_GBps(long double v) { return {static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_GBps(unsigned long long v) { return {static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_Gbps(unsigned long long v) { return {static_cast<double>(v) * 1e9 / 8.0}; }
constexpr FlopsPerSecond operator""_TFLOPps(long double v) { return {static_cast<double>(v) * 1e12}; }
constexpr FlopsPerSecond operator""_TFLOPps(unsigned long long v) { return {static_cast<double>(v) * 1e12}; }
// clang-format on
}  // namespace literals

static_assert(50_GBps == 400_Gbps);  // bits and bytes meet in the literals, nowhere else

}  // namespace weft
