// Conditions of a Bash script, as far as they are known without running anything.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace weft {

struct ShellCondition {
    enum class Holds : std::uint8_t { no, yes, unknown } holds = Holds::unknown;
    std::string why{};  // where it is not known, the variable to be given; empty: none helps

    static ShellCondition always() { return {Holds::yes}; }
    static ShellCondition never() { return {Holds::no}; }
};

ShellCondition negated(ShellCondition of);
ShellCondition both(const ShellCondition& a, const ShellCondition& b);
ShellCondition either(const ShellCondition& a, const ShellCondition& b);

// What stands in "[ ... ]" or "[[ ... ]]", each word expanded.
ShellCondition shell_test(std::span<const std::string> words);

}  // namespace weft
