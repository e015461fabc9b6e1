// A set of enumerators, of those with values below 16.
#pragma once

#include <compare>
#include <initializer_list>

namespace weft {

template <class Enum>
class EnumSet {
  public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<Enum> values) {
        for (const Enum value : values) add(value);
    }
    constexpr void add(Enum value) { bits_ |= bit(value); }
    constexpr void remove(Enum value) { bits_ &= ~bit(value); }
    constexpr bool has(Enum value) const { return (bits_ & bit(value)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }

    auto operator<=>(const EnumSet&) const = default;

  private:
    static constexpr unsigned bit(Enum value) { return 1U << static_cast<unsigned>(value); }

    unsigned bits_ = 0;
};

}  // namespace weft
