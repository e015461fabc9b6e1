// What one rank of a pipeline stage does, in order: computations, and calls that block or run beside them. A script is
// what volume tables count and what step/ lays on a network, so both speak of the same calls.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/script/call.hpp"

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
        wait,     // what follows waits for action `subject`
        join,     // takes no time: a point to start after
    };
    static constexpr ActionId none = 0xffffffff;

    Kind kind{};
    std::uint32_t subject = 0;  // compute, launch: index into work(); call and issue: into calls(); wait: an ActionId
    ActionId after = none;      // of an issue or launch; none: it may start at once
    std::uint32_t label = 0;    // index into labels()
    Where where;
};

class Script {
  public:
    // The main chain: each starts when the one before, and all that was waited for since, is done.
    ActionId compute(std::string_view label, Seconds duration, Where where);
    ActionId call(const Call& call, Where where);
    // Makes the action added last, a computation, longer and calls it otherwise.
    void extend(ActionId compute, Seconds duration, std::string_view label);
    // Whether something has been waited for since the last action of the chain, or its end was asked for.
    bool waited() const { return waited_ || sealed_; }
    void wait(ActionId issued);
    // Beside the chain. Calls of one group kind run in the order they were issued.
    ActionId issue(const Call& call, Where where, ActionId after);
    // On the host, which does one thing after another.
    ActionId launch(std::string_view label, Seconds duration, Where where, ActionId after);
    // The end of everything on the chain so far; Action::none at the very start.
    ActionId now();

    const std::vector<Action>& actions() const { return actions_; }
    const std::vector<Call>& calls() const { return calls_; }  // distinct ones
    const std::vector<Seconds>& work() const { return work_; }
    const std::vector<std::string>& labels() const { return labels_; }

  private:
    struct TextHash {
        using is_transparent = void;  // looked up without a copy
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };

    ActionId add(const Action& action);
    std::uint32_t label(std::string_view text);
    std::uint32_t call_index(const Call& call);

    std::vector<Action> actions_;
    std::vector<Call> calls_;
    std::vector<Seconds> work_;
    std::vector<std::string> labels_;
    std::vector<std::uint32_t> call_labels_;  // of calls()
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> label_ids_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> call_ids_;
    // Where the same text and the same call were last: looked at before the maps, and compared before they are
    // believed.
    std::array<std::uint32_t, 64> recent_labels_{};
    std::array<std::uint32_t, 64> recent_calls_{};
    ActionId chain_ = Action::none;  // last action that all later ones of the chain wait for
    bool waited_ = false;            // since then
    bool sealed_ = false;            // its end was handed out
};

}  // namespace weft
