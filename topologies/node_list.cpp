#include "sim/base/texts.hpp"
#include "topologies/placement.hpp"

#include <fmt/format.h>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";
constexpr std::size_t most_errors = 20;  // a file of another kind would have one per word

class NodeListParser {
  public:
    NodeListParser(const std::string& file, std::string_view text, const MachineInfo& machine)
        : file_(file), text_(text), machine_(machine), line_of_(machine.nodes) {
        if (!machine.node_names) return;
        const std::vector<std::string>& names = machine.node_names->listed;
        for (std::uint32_t node = 0; node < names.size(); ++node) listed_.emplace(plain(names[node]), node);
    }

    std::vector<std::uint32_t> parse() {
        std::size_t at = 0;
        while (errors_.size() < most_errors && (at = text_.find_first_not_of(blanks, at)) != text_.npos) {
            if (text_[at] == '#') {
                at = std::min(text_.find('\n', at), text_.size());
                continue;
            }
            const std::size_t end = std::min(text_.find_first_of(" \t\r\n\f\v#", at), text_.size());
            read_word(text_.substr(at, end - at));
            at = end;
        }
        if (nodes_.empty() && errors_.empty()) error(text_.substr(0, 0), "expected at least one node");
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        return std::move(nodes_);
    }

  private:
    // `part` is a part of the text.
    void error(std::string_view part, std::string message) {
        const TextPosition place = position_at(text_, static_cast<std::size_t>(part.data() - text_.data()));
        errors_.push_back({file_, place.line, place.column, "", std::move(message)});
    }

    void read_word(std::string_view word) {
        for (const std::string_view key : {"slots=", "max_slots=", "max-slots="}) {
            if (word.starts_with(key)) return read_slots(word.substr(key.size()));
        }
        read_names(word);
    }

    void read_slots(std::string_view count) {
        const std::optional<std::uint64_t> slots = parse_as<std::uint64_t>(count);
        if (!slots) {
            error(count, fmt::format("expected a number of slots, got \"{}\"", count));
        } else if (*slots < machine_.accelerators_per_node) {
            error(count, fmt::format("{} slots leave no room for a rank on each of the {} accelerators of a node",
                                     *slots, machine_.accelerators_per_node));
        }
    }

    // "a1,a[2-3,7],a9:8": commas inside brackets belong to the brackets.
    void read_names(std::string_view list) {
        for (std::size_t start = 0; start <= list.size();) {
            std::size_t end = list.find_first_of(",[", start);
            if (end != list.npos && list[end] == '[') end = list.find(',', std::min(list.find(']', end), list.size()));
            end = std::min(end, list.size());
            const std::string_view host = list.substr(start, end - start);
            const std::size_t colon = host.rfind(':');
            if (colon != host.npos) read_slots(host.substr(colon + 1));
            read_name(host.substr(0, colon));
            start = end + 1;
        }
    }

    void read_name(std::string_view name) {
        const std::size_t open = name.find('[');
        if (open == name.npos) {
            const std::size_t digits = number_at_end(name);
            const std::string_view number = name.substr(digits);
            if (!number.empty()) return read_range(name.substr(0, digits), number, number);
            if (!listed_.contains(name)) return error(name, fmt::format("expected a node, got \"{}\"", name));
            add(listed_.find(name)->second, name);
            return;
        }
        if (name.back() != ']') return error(name, fmt::format("expected a name that ends in ], got \"{}\"", name));
        const std::string_view ranges = name.substr(open + 1, name.size() - open - 2);
        for (const auto& [first, last] : ranges_in(ranges)) read_range(name.substr(0, open), first, last);
    }

    // Stops at the first node that cannot be, so that a long range costs no more than the machine is large.
    void read_range(std::string_view prefix, std::string_view first, std::string_view last) {
        const std::optional<std::uint64_t> from = parse_as<std::uint64_t>(first), to = parse_as<std::uint64_t>(last);
        if (!from || !to) {
            return error(first, fmt::format("expected a number or a range such as 00017-00024, got \"{}\"",
                                            first == last ? first : fmt::format("{}-{}", first, last)));
        }
        if (*from > *to) return error(first, fmt::format("expected a range that ascends, got {}-{}", first, last));
        if (!prefix.empty() && !listed_.empty()) return read_listed(prefix, *from, *to, first);
        const std::optional<std::uint64_t> least = first_of(prefix);
        if (!least) return;
        for (std::uint64_t number = *from;; ++number) {
            if (number < *least || number - *least >= machine_.nodes) {
                return error(first, fmt::format("{} has nodes {}{} to {}, not {}", machine_.name, prefix, *least,
                                                *least + machine_.nodes - 1, number));
            }
            if (!add(static_cast<std::uint32_t>(number - *least), first) || number == *to) return;
        }
    }

    // Names as they are compared: without zeros before the number at the end.
    static std::string plain(std::string_view name) {
        const std::size_t at = number_at_end(name);
        const std::size_t number = std::min(name.find_first_not_of('0', at), name.size() - (at < name.size() ? 1 : 0));
        return std::string(name.substr(0, at)) + std::string(name.substr(number));
    }

    void read_listed(std::string_view prefix, std::uint64_t from, std::uint64_t to, std::string_view part) {
        for (std::uint64_t number = from;; ++number) {
            const auto node = listed_.find(fmt::format("{}{}", prefix, number));
            if (node == listed_.end())
                return error(part, fmt::format("{} has no node called \"{}{}\"", machine_.name, prefix, number));
            if (!add(node->second, part) || number == to) return;
        }
    }

    // The number of node 0 under this prefix; nothing after an error.
    std::optional<std::uint64_t> first_of(std::string_view prefix) {
        if (prefix.empty()) return 0;
        if (!machine_.node_names) {
            error(prefix, fmt::format("expected the number of a node: the machine file of {} has no \"node_names\", "
                                      "which say what \"{}\" stands for",
                                      machine_.name, prefix));
            return std::nullopt;
        }
        if (prefix == machine_.node_names->prefix) return machine_.node_names->first;
        error(prefix, fmt::format("nodes of {} are called \"{}\" and a number, not \"{}\"", machine_.name,
                                  machine_.node_names->prefix, prefix));
        return std::nullopt;
    }

    bool add(std::uint32_t node, std::string_view part) {
        if (line_of_[node] > 0) {
            error(part, fmt::format("node {} stands here again, first in line {}", node, line_of_[node]));
            return false;
        }
        line_of_[node] = line(part);
        nodes_.push_back(node);
        return true;
    }

    // Words come in order, so lines are counted on from the last.
    int line(std::string_view part) {
        const auto offset = static_cast<std::size_t>(part.data() - text_.data());
        for (; counted_ < offset; ++counted_) line_ += text_[counted_] == '\n';
        return line_;
    }

    const std::string& file_;
    std::string_view text_;
    const MachineInfo& machine_;
    TextMap<std::uint32_t> listed_;  // names to nodes
    std::vector<int> line_of_;       // by node: where it was named; 0: not yet
    std::vector<std::uint32_t> nodes_;
    std::vector<Diagnostic> errors_;
    std::size_t counted_ = 0;
    int line_ = 1;
};

}  // namespace

std::vector<std::uint32_t> parse_node_list(const std::string& file, std::string_view text, const MachineInfo& machine) {
    return NodeListParser(file, text, machine).parse();
}

std::string node_ranges(std::span<const std::uint32_t> nodes) {
    std::string text;
    for (std::size_t first = 0; first < nodes.size();) {
        std::size_t last = first;
        while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + 1) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", nodes[first]);
        if (last > first) text += fmt::format("-{}", nodes[last]);
        first = last + 1;
    }
    return text;
}

}  // namespace weft
