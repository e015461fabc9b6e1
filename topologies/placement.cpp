#include "topologies/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"

namespace weft {
namespace {

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
    Nodes drawn(all);
    std::iota(drawn.begin(), drawn.end(), 0U);
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
