#include "topologies/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"

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

using Nodes = std::vector<std::uint32_t>;

[[noreturn]] void refuse(std::string message) {
    throw ConfigError({{.file = {}, .key = "placement", .message = std::move(message)}});
}

template <class Integer>
Integer read_number(std::string_view placement, std::string_view text, Integer least) {
    const auto number = parse_as<Integer>(text);
    if (number && *number >= least) return *number;
    refuse(fmt::format("expected a number of at least {} after the colon, got \"{}\"", least, placement));
}

// Fisher and Yates' shuffle, stopped after the nodes that are needed.
Nodes draw(std::uint32_t nodes, std::uint32_t all, std::uint64_t seed) {
    Nodes drawn = numbers_below<std::uint32_t>(all);
    for (std::uint32_t i = 0; i < nodes; ++i) {
        std::swap(drawn[i], drawn[i + static_cast<std::uint32_t>(hash_of({seed, i}) % (all - i))]);
    }
    drawn.resize(nodes);
    return drawn;
}

enum class Deal : std::uint8_t { runs, turns };

Nodes deal(Deal how, std::uint32_t nodes, std::uint32_t groups, const MachineInfo& machine) {
    const std::uint32_t size = machine.neighbourhoods.empty() ? machine.nodes : machine.neighbourhoods.back();
    const std::uint64_t all = (std::uint64_t{machine.nodes} + size - 1) / size;
    if (groups > all) {
        refuse(fmt::format("{} has {} groups of {} nodes, not {}", machine.name, all, size, groups));
    }
    if (groups > nodes) refuse(fmt::format("{} nodes do not reach {} groups", nodes, groups));
    // The first groups take one more where the nodes do not divide.
    const auto share = [&](std::uint32_t g) { return nodes / groups + (g < nodes % groups ? 1 : 0); };
    Nodes placed;
    for (std::uint32_t g = 0; g < groups; ++g) {
        const std::uint32_t room = std::min(size, machine.nodes - g * size);
        if (share(g) > room) {
            refuse(fmt::format("{} nodes on {} groups put {} on group {} of {}, which has {}", nodes, groups, share(g),
                               g, machine.name, room));
        }
        for (std::uint32_t i = 0; how == Deal::runs && i < share(g); ++i) placed.push_back(g * size + i);
    }
    for (std::uint32_t i = 0; how == Deal::turns && i < nodes; ++i) {
        placed.push_back(i % groups * size + i / groups);
    }
    return placed;
}

// `file`: empty for a list in the placement itself.
Nodes listed(const std::string& file, std::string_view text, std::uint32_t nodes, const MachineInfo& machine) {
    Nodes placed = parse_node_list(file, text, machine);
    if (placed.size() < nodes) {
        std::string message = fmt::format("expected the {} nodes of the job, got {}", nodes, placed.size());
        if (file.empty()) refuse(std::move(message));
        throw ConfigError({{.file = file, .key = {}, .message = std::move(message)}});
    }
    placed.resize(nodes);
    return placed;
}

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

Nodes place_nodes(std::string_view placement, std::uint32_t nodes, const MachineInfo& machine,
                  const std::filesystem::path& folder) {
    const std::size_t colon = std::min(placement.find(':'), placement.size());
    const std::string_view kind = placement.substr(0, colon);
    const std::string_view rest = placement.substr(std::min(colon + 1, placement.size()));
    if (placement == "contiguous") return {};
    if (placement == "random") return draw(nodes, machine.nodes, 0);
    if (kind == "random") return draw(nodes, machine.nodes, read_number<std::uint64_t>(placement, rest, 0));
    if (kind == "group" || kind == "scatter") {
        return deal(kind == "group" ? Deal::runs : Deal::turns, nodes, read_number(placement, rest, 1U), machine);
    }
    if (kind == "nodes" && !rest.empty()) return listed("", fmt::format("[{}]", rest), nodes, machine);
    const auto from_file = [&](std::string_view name) {
        const std::filesystem::path path = folder / name;
        return listed(path.string(), read_text(path), nodes, machine);
    };
    if (kind == "file" && !rest.empty()) return from_file(rest);
    if (placement.find_first_of("/.") != placement.npos) return from_file(placement);
    const std::vector<std::string> known{"contiguous", "random", "group", "scatter", "nodes", "file"};
    refuse(
        fmt::format("expected contiguous, random, random:SEED, group:K, scatter:K, nodes:LIST or file:PATH, "
                    "got \"{}\"{}",
                    placement, suggestion(kind, known)));
}

}  // namespace weft
