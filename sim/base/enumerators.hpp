// Names of enumerators as the compiler knows them, so that no list of words has to follow an enumeration. Of those with
// values below 16.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// "auto weft::name_of_value() [value = weft::Norm::rms_norm]", as g++ and clang++ write it; "(weft::Norm)7" where
// there is none.
template <auto value>
constexpr std::string_view name_of_value() {
    constexpr std::string_view function = __PRETTY_FUNCTION__;
    constexpr std::string_view begin = "value = ";
    std::string_view name = function.substr(function.find(begin) + begin.size());
    name = name.substr(0, name.find_first_of(";]"));
    return name.front() == '(' ? std::string_view() : name.substr(name.rfind(':') + 1);
}

// By value; empty where there is none.
template <class Enum>
constexpr std::array<std::string_view, 16> enumerator_names() {
    return []<std::size_t... value>(std::index_sequence<value...>) {
        return std::array{name_of_value<static_cast<Enum>(value)>()...};
    }
    (std::make_index_sequence<16>());
}

template <class Enum>
std::string_view enumerator_name(Enum value) {
    static constexpr auto names = enumerator_names<Enum>();
    return names.at(static_cast<std::size_t>(value));
}

template <class Enum>
std::vector<std::string> all_enumerator_names() {
    std::vector<std::string> names;
    for (const std::string_view name : enumerator_names<Enum>()) {
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

// Nothing where none is called so.
template <class Enum>
std::optional<Enum> enumerator_called(std::string_view name) {
    constexpr auto names = enumerator_names<Enum>();
    for (std::size_t value = 0; value < names.size() && !names[value].empty(); ++value) {
        if (names[value] == name) return static_cast<Enum>(value);
    }
    return std::nullopt;
}

// A set of enumerators, of those with values below 16.
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
