// What one rank of a pipeline stage does, in order: computations, and calls that block or run beside them. A script is
// what volume tables count and what step/ lays on a network, so both speak of the same calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/script/action.hpp"
#include "workloads/script/call.hpp"
#include "workloads/script/passage.hpp"

namespace weft {

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
    // Beside the chain. Calls of the same groups run in the order they were issued.
    ActionId issue(const Call& call, Where where, ActionId after);
    // On the host, which does one thing after another.
    ActionId launch(std::string_view label, Seconds duration, Where where, ActionId after);
    // Between device and host, each way one after another.
    ActionId store(std::string_view label, Seconds duration, Where where, ActionId after);
    ActionId load(std::string_view label, Seconds duration, Where where, ActionId after);
    // The end of everything on the chain so far; Action::none at the very start.
    ActionId now();

    Joint joint() const { return {static_cast<ActionId>(actions_.size()), chain_, waited_, sealed_}; }
    // What was written since `begin`, of one micro-batch from `layer` on; nothing if it refers to more than a Passage
    // may.
    std::optional<Passage> since(const Joint& begin, std::uint32_t layer) const;
    // Writes a passage of this script once more at a joint like the one where it begins: for the micro-batch of
    // `where`, and from its layer on.
    void repeat(const Passage& passage, Where where);

    const std::vector<Action>& actions() const { return actions_; }
    const std::vector<Repeat>& repeats() const { return repeats_; }  // in order; none lies in another
    // Whether a call of these groups is issued to start before the chain has come to where it stands.
    bool issues_early(RankGroups groups) const { return std::ranges::find(early_, groups) != early_.end(); }
    const std::vector<Call>& calls() const { return calls_; }  // distinct ones
    const std::vector<Seconds>& work() const { return work_; }
    const std::vector<std::string>& labels() const { return labels_; }

  private:
    struct TextHash {
        using is_transparent = void;  // looked up without a copy
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };

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
