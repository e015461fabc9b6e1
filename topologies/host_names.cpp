#include "topologies/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/texts.hpp"

namespace weft {
namespace {

constexpr std::size_t most_digits = 15;

std::optional<std::uint64_t> digits_of(std::string_view text) {
    return text.size() > most_digits ? std::nullopt : parse_as<std::uint64_t>(text);
}

// One name with its brackets, whose ranges are dealt with from left to right.
class HostExpression {
  public:
    HostExpression(HostNames& into, std::size_t most) : into_(into), most_(most) {}

    // `begin` is what stands before `rest`. False after a mistake.
    bool add(const std::string& begin, std::string_view rest) {
        const std::size_t open = rest.find('['), close = rest.find(']');
        if (open == rest.npos && close == rest.npos) return add_name(begin + std::string(rest));
        if (open == rest.npos || close == rest.npos || close < open)
            return mistake(
                fmt::format("brackets that do not match in \"{}\"", (begin + std::string(rest)).substr(0, 80)));
        const std::string_view ranges = rest.substr(open + 1, close - open - 1), after = rest.substr(close + 1);
        for (const std::string_view range : parts_of(ranges, ',')) {
            if (!add_range(begin + std::string(rest.substr(0, open)), range, after)) return false;
        }
        return true;
    }

  private:
    bool mistake(std::string message) {
        into_.mistake = std::move(message);
        return false;
    }

    bool add_name(std::string name) {
        if (name.empty()) return mistake("a name is empty");
        if (into_.names.size() == most_) return mistake(fmt::format("more than {} names", most_));
        into_.names.push_back(std::move(name));
        return true;
    }

    // "07-12": the width of the first number is that of all.
    bool add_range(const std::string& begin, std::string_view range, std::string_view after) {
        const auto [first, last] = ranges_in(range).front();
        const std::optional<std::uint64_t> from = digits_of(first), to = digits_of(last);
        if (!from || !to || *from > *to)
            return mistake(fmt::format("expected a number or a range that ascends, such as 07-12, got \"{}\"", range));
        for (std::uint64_t number = *from; number <= *to; ++number) {
            if (!add(fmt::format("{}{:0{}}", begin, number, first.size()), after)) return false;
        }
        return true;
    }

    HostNames& into_;
    std::size_t most_;
};

// A name as its beginning and the number at its end.
struct NumberedName {
    std::string_view begin, digits;
    std::uint64_t number = 0;

    explicit NumberedName(std::string_view name) {
        std::size_t at = number_at_end(name);
        at = std::max(at, name.size() - std::min(name.size(), most_digits));
        begin = name.substr(0, at);
        digits = name.substr(at);
        number = digits_of(digits).value_or(0);
    }
    bool is_padded() const { return digits.size() > 1 && digits.front() == '0'; }
    bool follows(const NumberedName& before) const {
        if (begin != before.begin || number != before.number + 1) return false;
        return digits.size() == before.digits.size() || (!before.is_padded() && !is_padded());
    }
};

}  // namespace

std::size_t number_at_end(std::string_view name) { return name.find_last_not_of("0123456789") + 1; }  // npos + 1 is 0

HostNames expand_host_names(std::string_view list, std::size_t most) {
    HostNames found;
    HostExpression expression(found, most);
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        const char c = at < list.size() ? list[at] : ',';
        if (c == '[') ++depth;
        if (c == ']') --depth;
        if (c != ',' || (depth > 0 && at < list.size())) continue;
        if (!expression.add("", list.substr(start, at - start))) return found;
        start = at + 1;
    }
    return found;
}

std::string compress_host_names(std::span<const std::string> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size();) {
        const NumberedName first(names[i]);
        std::string ranges;
        std::size_t count = 0;  // names with this beginning
        while (i < names.size()) {
            const NumberedName run(names[i]);
            if (run.digits.empty() || run.begin != first.begin) break;
            NumberedName last = run;
            for (++i, ++count; i < names.size() && NumberedName(names[i]).follows(last); ++i, ++count)
                last = NumberedName(names[i]);
            ranges += ranges.empty() ? "" : ",";
            ranges += run.digits;
            if (last.number != run.number) ranges += fmt::format("-{}", last.digits);
        }
        text += text.empty() ? "" : ",";
        if (count == 0) {
            text += names[i++];
        } else if (count == 1) {
            text += fmt::format("{}{}", first.begin, ranges);
        } else {
            text += fmt::format("{}[{}]", first.begin, ranges);
        }
    }
    return text;
}

}  // namespace weft
