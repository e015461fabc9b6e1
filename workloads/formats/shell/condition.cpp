#include "workloads/formats/shell/condition.hpp"

#include <cstdlib>
#include <optional>

#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

std::optional<long long> whole(std::string_view text) {
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789-") != std::string_view::npos)
        return std::nullopt;
    return text == "-" ? std::nullopt : std::optional(std::atoll(std::string(text).c_str()));
}

ShellCondition plain_comparison(std::span<const std::string> words) {
    std::string why;
    bool known = true, all_set = true;
    for (const std::string& word : words) {
        if (has_unknown(word) && why.empty()) why = unknown_names(word).front();
        known = known && !has_unknown_but_unset(word);
        all_set = all_set && !has_unknown(word);
    }
    if (!known) return {Truth::unknown, why};
    const auto truth = [&](bool holds) { return ShellCondition{holds ? Truth::yes : Truth::no, ""}; };
    const auto plain = [&](std::size_t i) { return without_unset(words[i]); };
    if (words.empty()) return truth(false);
    if (words.size() == 1) return truth(!plain(0).empty());
    if (words.size() == 2 && words[0] == "-z") return truth(plain(1).empty());
    if (words.size() == 2 && words[0] == "-n") return truth(!plain(1).empty());
    if (words.size() != 3) return {Truth::unknown, ""};
    if (words[1] == "=" || words[1] == "==") return truth(matches_pattern(plain(0), plain(2)));
    if (words[1] == "!=") return truth(!matches_pattern(plain(0), plain(2)));
    if (!all_set) return {Truth::unknown, why};
    const auto a = whole(plain(0)), b = whole(plain(2));
    if (!a || !b) return {Truth::unknown, ""};
    if (words[1] == "-eq") return truth(*a == *b);
    if (words[1] == "-ne") return truth(*a != *b);
    if (words[1] == "-lt") return truth(*a < *b);
    if (words[1] == "-le") return truth(*a <= *b);
    if (words[1] == "-gt") return truth(*a > *b);
    if (words[1] == "-ge") return truth(*a >= *b);
    return {Truth::unknown, ""};
}

ShellCondition comparison(std::span<const std::string> words) {
    bool negative = false;
    for (; !words.empty() && words[0] == "!"; words = words.subspan(1)) negative = !negative;
    const ShellCondition result = plain_comparison(words);
    return negative ? negated(result) : result;
}

}  // namespace

ShellCondition negated(ShellCondition of) {
    if (of.holds != Truth::unknown) of.holds = of.holds == Truth::yes ? Truth::no : Truth::yes;
    return of;
}
ShellCondition both(const ShellCondition& a, const ShellCondition& b) {
    if (a.holds == Truth::no || b.holds == Truth::no) return {Truth::no, ""};
    return a.holds == Truth::unknown ? a : b;
}
ShellCondition either(const ShellCondition& a, const ShellCondition& b) {
    return negated(both(negated(a), negated(b)));
}

ShellCondition shell_test(std::span<const std::string> words) {
    ShellCondition result{Truth::no, ""}, part{Truth::yes, ""};
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= words.size(); ++i) {
        const bool ends = i == words.size();
        const bool and_ = !ends && (words[i] == "&&" || words[i] == "-a");
        const bool or_ = !ends && (words[i] == "||" || words[i] == "-o");
        if (!ends && !and_ && !or_) continue;
        part = both(part, comparison(words.subspan(begin, i - begin)));
        begin = i + 1;
        if (and_) continue;
        result = either(result, part);
        part = {Truth::yes, ""};
    }
    return result;
}

}  // namespace weft
