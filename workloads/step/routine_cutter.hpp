// Which stretches of a repeated excerpt can be routines of the program: rows of entries, as the engine's routines
// are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workloads/script/script.hpp"

namespace weft {

// All excerpts that a script has more than once, the originals as well, in order. Of those that lie in one another,
// the longest.
std::vector<Repeat> repeated_excerpts(const Script& script);

// Whether all who take part in a call have the same script, and so the same routines, and no later call of the same
// lane may be waiting for it alone.
bool may_be_in_routine(const Script& script, const Action& call);

// Actions of an excerpt, counted from its first.
struct RoutineEntry {
    std::uint32_t action = 0;
    std::optional<std::uint32_t> beside;  // a computation beside a call
};
struct ExcerptPart {
    std::uint32_t begin = 0, end = 0;
    std::vector<RoutineEntry> entries;  // of a routine, which ends with `end`; otherwise none
};

// Cuts an excerpt, as written by `repeat`. A routine ends with an action of the chain, and of its actions nothing
// outside refers to another one. `may_be_in_one` tells of a call.
std::vector<ExcerptPart> cut(const Script& script, const Repeat& repeat,
                             const std::function<bool(const Action& call)>& may_be_in_one);

}  // namespace weft
