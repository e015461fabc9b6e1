#include "workloads/formats/shell/condition.hpp"

#include <utility>
#include <vector>

#include "sim/base/texts.hpp"
#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

using Holds = ShellCondition::Holds;

// Words between "&&" and "||" of "[ ... ]", each expanded. Of what the script never sets Bash takes nothing.
ShellCondition comparison(std::span<const std::string> words) {
    ShellCondition yes = ShellCondition::always(), unknown;
    for (; !words.empty() && words[0] == "!"; words = words.subspan(1)) yes = negated(yes);
    const auto is = [&](bool holds) { return holds ? yes : negated(yes); };
    std::vector<std::string> plain;
    bool known = true;
    for (const std::string& word : words) {
        UnknownParts parts = unknown_parts(word);
        if (unknown.why.empty() && !parts.names.empty()) unknown.why = parts.names.front();
        known = known && parts.all_unset;
        plain.push_back(std::move(parts.rest));
    }
    if (!known) return unknown;
    if (plain.size() < 2) return is(!plain.empty() && !plain[0].empty());
    if (plain.size() == 2 && (plain[0] == "-z" || plain[0] == "-n")) return is(plain[1].empty() == (plain[0] == "-z"));
    if (plain.size() != 3) return {};
    const std::string& how = plain[1];
    const bool pattern = plain[2].find_first_of("*?[") != std::string::npos;
    if (!pattern && (how == "=" || how == "==" || how == "!=")) return is((plain[0] == plain[2]) == (how != "!="));
    const auto a = parse_as<long long>(plain[0]), b = parse_as<long long>(plain[2]);
    if (!a || !b) return unknown;
    for (const auto& [name, holds] : {std::pair("-eq", *a == *b),
                                      {"-ne", *a != *b},
                                      {"-lt", *a < *b},
                                      {"-ge", *a >= *b},
                                      {"-gt", *a > *b},
                                      {"-le", *a <= *b}}) {
        if (how == name) return is(holds);
    }
    return {};
}

}  // namespace

ShellCondition negated(ShellCondition of) {
    if (of.holds != Holds::unknown) of.holds = of.holds == Holds::yes ? Holds::no : Holds::yes;
    return of;
}
ShellCondition both(const ShellCondition& a, const ShellCondition& b) {
    if (a.holds == Holds::no || b.holds == Holds::no) return ShellCondition::never();
    return a.holds == Holds::unknown ? a : b;
}
ShellCondition either(const ShellCondition& a, const ShellCondition& b) {
    return negated(both(negated(a), negated(b)));
}

ShellCondition shell_test(std::span<const std::string> words) {
    ShellCondition result = ShellCondition::never(), part = ShellCondition::always();
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= words.size(); ++i) {
        const bool ends = i == words.size(), by_or = !ends && (words[i] == "||" || words[i] == "-o");
        if (!ends && !by_or && words[i] != "&&" && words[i] != "-a") continue;
        part = both(part, comparison(words.subspan(begin, i - begin)));
        begin = i + 1;
        if (!ends && !by_or) continue;
        result = either(result, part);
        part = ShellCondition::always();
    }
    return result;
}

}  // namespace weft
