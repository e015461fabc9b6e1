#include "workloads/search/script_clock.hpp"

#include <algorithm>

namespace weft {

ScriptClock::ScriptClock(CallCosts& costs, std::uint32_t stage, double interference)
    : costs_(costs), stage_(stage), interference_(interference) {}

// Slower while something is in transfer.
double ScriptClock::compute(double duration) const {
    const double contended = std::max(busy_ - chain_, 0.0);
    const double slow = duration * interference_;
    if (slow <= contended) return chain_ + slow;
    return chain_ + contended + duration - contended / interference_;
}

double ScriptClock::call(const Call& call, double ready, double duration) {
    double& free = free_from_[call.group];
    const double end = std::max(ready, free) + duration;
    if (duration > 0) busy_ = std::max(busy_, end);
    return free = end;
}

ScriptClock::Reading ScriptClock::read(const Script& script) {
    const std::vector<Action>& actions = script.actions();
    for (std::size_t i = durations_.size(); i < script.calls().size(); ++i) {
        durations_.push_back(costs_.time(script.calls()[i], stage_).value);
    }
    for (std::size_t i = end_.size(); i < actions.size(); ++i) {
        const Action& action = actions[i];
        const auto ready = [&] { return action.after == Action::none ? 0.0 : end_[action.after]; };
        switch (action.kind) {
            case Action::Kind::compute: {
                const double end = compute(script.work()[action.subject].value);
                computed_ += end - chain_;
                chain_ = end;
                break;
            }
            case Action::Kind::call:
                chain_ = call(script.calls()[action.subject], chain_, durations_[action.subject]);
                break;
            case Action::Kind::issue:
                end_.push_back(call(script.calls()[action.subject], ready(), durations_[action.subject]));
                continue;
            case Action::Kind::launch:
                host_ = std::max(host_, ready()) + script.work()[action.subject].value;
                end_.push_back(host_);
                continue;
            case Action::Kind::store:
            case Action::Kind::load: {
                double& free = action.kind == Action::Kind::store ? stored_ : loaded_;
                free = std::max(free, ready()) + script.work()[action.subject].value;
                end_.push_back(free);
                continue;
            }
            case Action::Kind::wait:
                chain_ = std::max(chain_, end_[action.subject]);
                break;
            case Action::Kind::join:
                break;
        }
        end_.push_back(chain_);
    }
    return {{chain_}, {computed_}};
}

}  // namespace weft
