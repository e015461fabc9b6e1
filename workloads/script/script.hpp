// What one rank of a pipeline stage does, in order: computations, and calls that block or run beside them. A script is
// what volume tables count and what step/ lays on a network, so both speak of the same calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {

// One communication call of a framework, as one rank issues it. Described, not executed.

// Which library function the framework calls: DeepSpeed's logger sees only what goes through deepspeed.comm.
enum class Through : std::uint8_t { torch, deepspeed };

enum class Direction : std::uint8_t { none, send, receive };

// Of calls in a list: after the one before is done, or with it, by one kernel that does both.
enum class Start : std::uint8_t { after_previous, with_previous };

struct Call {
    Collective op{};
    RankGroups group;          // who takes part
    Bytes message{};           // full tensor of one call, as `type` elements
    std::string_view label{};  // static text: what it is, for people
    std::string_view type{};   // "fp16", "fp32", "int64", "uint8", ...
    Through through = Through::torch;
    Start start = Start::after_previous;
    Direction direction = Direction::none;  // of a point-to-point call
    std::uint32_t peer = 0;                 // stage it is exchanged with
    std::uint32_t port = 0;                 // calls of one (sender, receiver, port) match in order
    Seconds first_use{};                    // of a connection that is set up by this call

    bool crosses_boundary() const {
        constexpr RankGroups boundary = RankGroups::boundary();
        return group == boundary;
    }
    bool operator==(const Call&) const = default;
};

// Which micro-batch and layer an action belongs to, for people and for counting.
struct Where {
    static constexpr std::uint32_t whole_step = 0xffffffff;
    std::uint32_t micro_batch = whole_step;  // whole_step: once per step
    std::uint32_t layer = 0;
    bool operator==(const Where&) const = default;
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

// A stretch of a script as a value, to be written again for other micro-batches or layers. It refers to nothing outside
// but the end of the chain before it.

// Between two actions of a script: all that what is written next can tell of what was written before.
struct Joint {
    ActionId next = 0;              // the action that is added next
    ActionId chain = Action::none;  // the last one that it waits for
    bool waited = false;            // for something else since then
    bool sealed = false;            // the chain's end was handed out

    // Whether the same is written at both, but for the ids.
    bool like(const Joint& other) const { return waited == other.waited && sealed == other.sealed; }
};

struct Excerpt {
    static constexpr ActionId before = Action::none - 1;  // as an id: the end of the chain before the excerpt

    ActionId original = 0;        // the first action of where it was written first
    std::vector<Action> actions;  // ids of actions count from the first of these
    std::uint32_t layer = 0;      // that it begins with
    Seconds last_work{};          // of the last action, a computation that may be made longer at some places
    ActionId chain = before;
    bool waited = false, sealed = false;  // at its end, as in Joint
};

// Where an excerpt was written once more. Its actions are those of the original, but for micro-batches and layers,
// what the last one takes if it is a computation, and what was before.
struct Repeat {
    ActionId first = 0, original = 0;
    std::uint32_t actions = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t layers_on = 0;  // from the original's, modulo 2^32
};

class Script {
  public:
    // The main chain: each starts when the one before, and all that was waited for since, is done.
    ActionId compute(std::string_view label, Seconds duration, Where where);
    ActionId call(const Call& call, Where where = {});
    // Makes the action added last, a computation, longer and calls it otherwise.
    void extend(ActionId compute, Seconds duration, std::string_view label);
    // Whether something has been waited for since the last action of the chain, or its end was asked for.
    bool waited() const { return waited_ || sealed_; }
    void wait(ActionId issued);
    void finish(std::vector<ActionId>& issued);  // waits for all of them, and forgets them
    // Beside the chain. Calls of the same groups run in the order they were issued.
    ActionId issue(const Call& call, Where where, ActionId after);
    // On the host, which does one thing after another.
    ActionId launch(std::string_view label, Seconds duration, Where where, ActionId after);
    // Between device and host, one after another in each direction.
    ActionId store(std::string_view label, Seconds duration, Where where, ActionId after);
    ActionId load(std::string_view label, Seconds duration, Where where, ActionId after);
    // The end of everything on the chain so far; Action::none at the very start.
    ActionId now();

    Joint joint() const { return {static_cast<ActionId>(actions_.size()), chain_, waited_, sealed_}; }
    // What was written since `begin`, of one micro-batch from `layer` on; nothing if it refers to more than an
    // Excerpt may.
    std::optional<Excerpt> since(const Joint& begin, std::uint32_t layer) const;
    // Writes an excerpt of this script once more at a joint like the one where it begins: for the micro-batch of
    // `where`, and from its layer on.
    void repeat(const Excerpt& excerpt, Where where);

    const std::vector<Action>& actions() const { return actions_; }
    const std::vector<Repeat>& repeats() const { return repeats_; }  // in order; none lies in another
    // Whether a call of these groups is issued to start before the chain has come to where it stands.
    bool issues_early(RankGroups groups) const { return std::ranges::find(early_, groups) != early_.end(); }
    const std::vector<Call>& calls() const { return calls_; }  // distinct ones
    const std::vector<Seconds>& work() const { return work_; }
    const std::vector<std::string>& labels() const { return labels_; }

  private:
    ActionId add(const Action& action);
    ActionId beside(Action::Kind kind, std::string_view text, Seconds duration, Where where, ActionId after);
    std::uint32_t label(std::string_view text);
    std::uint32_t call_index(const Call& call);

    std::vector<Action> actions_;
    std::vector<Repeat> repeats_;
    std::vector<RankGroups> early_;  // different ones
    std::vector<Call> calls_;
    std::vector<Seconds> work_;
    std::vector<std::string> labels_;
    std::vector<std::uint32_t> call_labels_;  // of calls()
    std::unordered_map<std::string, std::uint32_t> label_ids_;
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
