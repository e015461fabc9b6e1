// A stretch of a script as a value, to be written again for other micro-batches or layers. It refers to nothing outside
// but the end of the chain before it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/script/action.hpp"

namespace weft {

// Between two actions of a script: all that what is written next can tell of what was written before.
struct Joint {
    ActionId next = 0;              // the action that is added next
    ActionId chain = Action::none;  // the last one that it waits for
    bool waited = false;            // for something else since then
    bool sealed = false;            // the chain's end was handed out

    // Whether the same is written at both, but for the ids.
    bool like(const Joint& other) const { return waited == other.waited && sealed == other.sealed; }
};

struct Passage {
    static constexpr ActionId before = Action::none - 1;  // as an id: the end of the chain before the passage

    ActionId original = 0;        // the first action of where it was written first
    std::vector<Action> actions;  // ids of actions count from the first of these
    std::uint32_t layer = 0;      // that it begins with
    Seconds last_work{};          // of the last action, a computation that may be made longer at some places
    ActionId chain = before;
    bool waited = false, sealed = false;  // at its end, as in Joint
};

// Where a passage was written once more. Its actions are those of the original, but for micro-batches and layers, what
// the last one takes if it is a computation, and what was before.
struct Repeat {
    ActionId first = 0, original = 0;
    std::uint32_t actions = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t layers_on = 0;  // from the original's, modulo 2^32
};

}  // namespace weft
