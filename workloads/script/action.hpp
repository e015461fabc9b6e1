// One entry of a script.
#pragma once

#include <cstdint>

namespace weft {

// Which micro-batch and layer an action belongs to, for people and for counting.
struct Where {
    static constexpr std::uint32_t whole_step = 0xffffffff;
    std::uint32_t micro_batch = whole_step;  // whole_step: once per step
    std::uint32_t layer = 0;
};

using ActionId = std::uint32_t;

struct Action {
    enum class Kind : std::uint8_t {
        compute,  // for work[subject]
        call,     // blocking: what follows waits for its end
        issue,    // starts once action `after` is done; what follows does not wait
        launch,   // the host's work[subject], beside the chain: as issue
        store,    // work[subject]: a copy to the host's memory, beside the chain
        load,     // and one from there
        wait,     // what follows waits for action `subject`
        join,     // takes no time: a point to start after
    };
    static constexpr ActionId none = 0xffffffff;

    Kind kind{};
    std::uint32_t subject =
        0;  // compute, launch, store, load: index into work(); call and issue: into calls(); wait: an ActionId
    ActionId after = none;    // of an issue or launch; none: it may start at once
    std::uint32_t label = 0;  // index into labels()
    Where where;
};

}  // namespace weft
