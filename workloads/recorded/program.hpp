// What ranks did in a recorded step, whatever program recorded it: nodes that wait for one another, rank by rank. The
// readers of formats write it (workloads/formats), checks.hpp finds who meets whom, replay.hpp runs it on a machine.
//
// Plain values, laid out for many: a thousand ranks with ten thousand nodes each take 0.6 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/texts.hpp"
#include "sim/collective/algorithm.hpp"

namespace weft {

inline constexpr std::size_t most_recorded_nodes = 12'000'000;  // of all ranks
inline constexpr std::uint32_t most_recorded_ranks = 1U << 20U;

enum class RecordedKind : std::uint8_t {
    nothing,     // takes no time; others may wait for it
    compute,     // keeps a unit of its rank busy
    collective,  // of the group `partner`
    send,        // to the rank `partner`; goes on when it is sent, whether anybody receives or not
    receive,     // from the rank `partner`
};

struct RecordedNode {
    std::uint64_t id = 0;       // as the file calls it, for people
    Seconds time{};             // of computation; of communication as it was recorded
    Bytes bytes{};              // of communication, what this rank puts in; of computation, what it moves in memory
    Flops flops{};              // of computation; 0: the file does not say
    std::uint32_t partner = 0;  // another rank, or a group
    std::uint32_t tag = 0;      // of a message: receives take those of their tag, in order
    std::uint32_t name = 0;     // of RecordedProgram::names
    RecordedKind kind = RecordedKind::nothing;
    Collective op{};
    std::uint16_t unit = 0;  // of its rank, that computes
};
static_assert(sizeof(RecordedNode) == 48);

// What a node waits for: that another one of its rank is over, or that it has begun.
struct NodeDependency {
    std::uint32_t node : 31;
    std::uint32_t on_begin : 1;
};

// What computes one thing at a time, in the order in which nodes become ready: a stream, a core, the host.
struct RecordedUnit {
    std::string name;
    bool is_host = false;
};

struct RecordedRank {
    std::string file;            // empty: there is none of this rank
    bool ids_are_lines = false;  // of nodes, in the file
    Seconds recorded{};          // from the first begin to the last end; 0: the file has no times of begin
    std::vector<RecordedUnit> units{};
    std::vector<RecordedNode> nodes{};
    std::vector<std::uint32_t> first_dependency{};  // CSR over nodes, size nodes + 1
    std::vector<NodeDependency> dependencies{};

    std::span<const NodeDependency> dependencies_of(std::size_t node) const {
        return std::span(dependencies)
            .subspan(first_dependency[node], first_dependency[node + 1] - first_dependency[node]);
    }
};

struct RecordedProgram {
    std::vector<RecordedRank> ranks{};
    std::vector<std::vector<std::uint32_t>> groups{};  // ranks in the order of members; the first: all ranks
    std::map<std::uint32_t, std::string>
        undefined_groups{};  // which are empty: what they are called, and what may be meant
    std::vector<std::string> names{};
    std::vector<std::string> notes{};  // what readers left out

    std::size_t nodes() const {
        return sum_of<std::size_t>(ranks, [&](const RecordedRank& rank) { return rank.nodes.size(); });
    }
};

// Texts by number: each is kept once, in a list of someone else's.
class Interned {
  public:
    explicit Interned(std::vector<std::string>& texts) : texts_(texts) {
        for (std::uint32_t i = 0; i < texts.size(); ++i) numbers_.emplace(texts[i], i);
    }
    std::uint32_t operator()(std::string_view text) {
        if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        texts_.emplace_back(text);
        numbers_.emplace(std::string(text), number);
        return number;
    }

  private:
    std::vector<std::string>& texts_;
    TextMap<std::uint32_t> numbers_;
};

}  // namespace weft
