// What a step does, as an immutable graph: operations with dependencies, one list per rank class. Ranks that do the
// same at the same kind of place are one class with a weight. Arrays only; built by ProgramBuilder, run by Engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/network/network_model.hpp"

namespace weft {

enum class OpKind : std::uint8_t {
    compute,   // busy for `Program::work[subject]`
    exchange,  // takes part in exchange `subject`; lasts until the exchange is over
    join,      // takes no time; a point that others wait for
};

struct Op {
    OpKind kind = OpKind::join;
    LaneId lane{};              // ops of one lane of one class run in the order they were added
    LabelId label{};            // what it is, for people
    std::uint32_t subject = 0;  // work index or ExchangeId
    std::uint32_t index = 0;    // which repetition, for people
    std::uint32_t part = 0;     // which part of the whole (layer), for people
};

// One stage of a communication on the wire: latency first, then `bytes` on a pattern. bytes may be 0.
struct Leg {
    PatternId pattern{};
    Seconds latency{};
    Bytes bytes{};
};

// A communication that can happen many times: its legs in order, and what it is.
struct Communication {
    Collective op{};
    LaneId dimension{};            // the lane it belongs to
    std::uint32_t group_size = 1;  // members of one group
    std::uint32_t groups = 1;      // groups that do it together (folded)
    Bytes message{};               // full buffer of one call of one group (nccl-tests convention)
    std::uint32_t first_leg = 0, legs = 0;
};

// One occurrence: it starts when `parties` ops (one per participating rank class) have arrived.
struct Exchange {
    CommunicationId communication{};
    std::uint32_t parties = 1;
};

struct RankClass {
    std::string name;
    RankId representative{};
    std::uint32_t weight = 1;  // ranks that it stands for
    std::uint32_t first_op = 0, ops = 0;
};

struct Program {
    std::vector<std::string> lanes;
    std::vector<std::string> labels;
    Table<RankClassId, RankClass> classes;
    Table<OpId, Op> ops;                         // class by class
    Table<OpId, std::uint32_t> predecessors;     // how many ops each waits for (lane order included)
    std::vector<std::uint32_t> successor_start;  // CSR over OpId, size ops + 1
    std::vector<OpId> successors;
    std::vector<Seconds> work;
    std::vector<Leg> legs;
    Table<CommunicationId, Communication> communications;
    Table<ExchangeId, Exchange> exchanges;
    Table<PatternId, Pattern> patterns;
    // How much longer the compute ops of a class on lane `contended` take while it has an exchange in transfer. Those
    // of other lanes (the host's, say) do not share the device with it.
    double interference = 1.0;
    LaneId contended{};

    std::span<const OpId> successors_of(OpId op) const {
        const auto i = index(op);
        return {successors.data() + successor_start[i], successors.data() + successor_start[i + 1]};
    }
};

}  // namespace weft
