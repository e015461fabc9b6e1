// How long a run would be if some of its ops took other times: its graph passed once more in the order of dependencies,
// as critical_path.hpp's, while all else lasts as it did. What shares links is not asked again.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/compute_times.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Ticks by which ops take longer, or less if negative, but never less than none.
struct OtherTimes {
    std::vector<std::int64_t> work;            // by number in Program::work; empty: none of them
    std::vector<std::int64_t> communications;  // by CommunicationId; empty: none of them
    std::vector<bool> dropped{};               // by CommunicationId: neither take time nor are waited for; empty: none
    bool undisturbed = false;                  // computation goes as if nothing were in transfer beside it
};

class Replay {
  public:
    // Of a program without routines (sim/engine/unfold.hpp) and its timeline; both must outlive this. Any thread may
    // ask.
    Replay(const Program& program, const Timeline& timeline);

    Instant end(const OtherTimes& times) const;  // of the run
    std::int64_t length(OpId op, const OtherTimes& times) const;

  private:
    // An op with what a replay asks of it, side by side.
    struct Node {
        OpId op{};
        std::uint32_t subject = 0;  // of a computation its work, of an exchange its communication
        std::int64_t length = 0;
        OpKind kind{};
        bool is_last_party = true;  // of an exchange
    };
    Node node(OpId op) const;
    std::int64_t length(const Node& node, const OtherTimes& times) const;
    std::int64_t longer(OpId compute, std::int64_t work) const;
    RankId rank_of(OpId op) const { return program_.classes[program_.class_of(op)].representative; }

    const Program& program_;
    const Timeline& timeline_;
    ComputeTimes works_;
    std::vector<Node> order_;  // of dependencies; the parties of an exchange follow one another
};

}  // namespace weft
