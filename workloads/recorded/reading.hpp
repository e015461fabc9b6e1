// What readers of recorded steps have in common: names and groups by number, mistakes told together, and a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

// Mistakes of the files, which are all told together.
class RecordedMistakes {
  public:
    void add(Diagnostic mistake) {
        if (mistakes_.size() < most_told) {
            mistakes_.push_back(std::move(mistake));
        } else {
            ++untold_;
        }
    }
    // At a node, as its file calls it.
    void add(const RecordedRank& rank, const RecordedNode& node, std::string message) {
        const bool is_line = rank.ids_are_lines;
        add({.file = rank.file,
             .line = is_line ? static_cast<int>(node.id) : 0,
             .key = is_line ? std::string() : "node " + std::to_string(node.id),
             .message = std::move(message)});
    }
    // Throws a ConfigError if there are any.
    void check() {
        if (mistakes_.empty()) return;
        if (untold_ > 0) {
            mistakes_.push_back({.file = mistakes_.back().file,
                                 .key = {},
                                 .message = "and " + std::to_string(untold_) + " more mistakes"});
        }
        throw ConfigError(std::move(mistakes_));
    }

  private:
    static constexpr std::size_t most_told = 30;
    std::vector<Diagnostic> mistakes_;
    std::size_t untold_ = 0;
};

// Process groups by the name that files give them; no ranks: all.
using NamedGroups = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;

// A dependency as it is read, of nodes of one rank.
struct ReadDependency {
    std::uint32_t node = 0, on = 0;
    bool on_begin = false;
};

struct RecordedReading {
    RecordedProgram program{};
    RecordedMistakes mistakes{};
    NamedGroups named_groups{};  // of a file beside the traces
    Interned names{program.names};
    std::map<std::vector<std::uint32_t>, std::uint32_t> group_ids{};
    std::size_t nodes = 0;

    RecordedReading() { program.groups.emplace_back(); }  // all ranks
    RecordedReading(const RecordedReading&) = delete;
    RecordedReading& operator=(const RecordedReading&) = delete;

    // Nothing is known of it. A mistake in `source` if there is one of that number.
    RecordedRank& begin_rank(std::uint32_t number, const ByteSource& source);
    std::uint32_t group(const std::vector<std::uint32_t>& ranks);  // its number; empty: all ranks
    std::uint32_t undefined_group(const std::string& called);      // its number
    std::uint16_t unit(RecordedRank& rank, std::string_view name, bool is_host);
    void add(RecordedRank& rank, const RecordedNode& node, const ByteSource& source);  // refuses more than the limit
    static void set_dependencies(RecordedRank& rank, std::span<const ReadDependency> dependencies);
};

// The readers of formats. What a mistake spoils alone is told with the others; a file that cannot be gone on with
// throws a ConfigError at once.
void read_goal(ByteSource& source, RecordedReading& reading);
void read_chakra(ByteSource& source, std::uint32_t rank, RecordedReading& reading);
// `named`: the rank by the file's name, where the trace has none.
void read_profiled_rank(ByteSource& source, std::optional<std::uint32_t> named, RecordedReading& reading);

// Reads traces of one step, each whole: GOAL, one file; Chakra, a file per rank, and perhaps a JSON file of groups
// ({"1": [0, 1], ...}). Throws ConfigError with all that is wrong.
RecordedProgram read_recorded(std::span<const std::string> paths);
RecordedProgram read_recorded(std::span<const SourceFile> files);

// What was counted in the files: ranks, nodes, and bytes by operation.
Import recorded_facts(std::span<const SourceFile> files, const FormatOptions& options);

}  // namespace weft
