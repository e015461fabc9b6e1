// Programs side by side on one network, each run several times over: what jobs do that share a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"
#include "sim/topology/link_move.hpp"

namespace weft {

// A program without routines. A run of it begins on all rank classes at once: when the run before is over on all.
struct ProgramPart {
    std::string name{};  // goes before the names of its classes
    const Program* program = nullptr;
    LinkMove move;  // from its ranks and links to those of the network that all share; keeps their order
    Seconds start{};
    std::uint32_t runs = 1;
};

struct JoinedProgram {
    Program program;
    std::vector<ProgramPart> parts;
    std::vector<RankClassId> first_class;  // of each part, whose classes follow one another
};

// Lanes and interference of all parts are the same. The programs must outlive the result.
JoinedProgram join(std::vector<ProgramPart> parts);

// One run of a part, and from its begin on the timeline of the part's program, without what links carried.
struct PartRun {
    Instant begin, end;
    Timeline timeline;
};
PartRun run_of(const JoinedProgram& joined, const Timeline& timeline, std::size_t part, std::uint32_t number);

}  // namespace weft
