#include "workloads/search/screening.hpp"

#include <algorithm>

#include "workloads/framework/framework.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {

CallCosts::CallCosts(const Topology& topology, Library library)
    : topology_(topology), library_(std::move(library)), planner_(std::make_unique<ChannelPlanner>(topology)) {}

// Where nodes differ, channels depend on the groups that were laid before: every layout then starts afresh.
void CallCosts::lay_out(const Layout& layout) {
    layout_.virtual_stages = layout.virtual_stages;  // on which no group depends
    if (topology_.node_links > 0 && layout_ == layout) return;
    layout_ = layout;
    laid_.clear();
    if (topology_.node_links > 0) return;
    known_.clear();
    planner_ = std::make_unique<ChannelPlanner>(topology_);
}

// Those of the call's stage with a rank on the node of the stage's first rank, that are as large.
CallCosts::Groups CallCosts::groups(const Call& call, std::uint32_t stage) const {
    const RankGrid grid = layout_.grid();
    const std::vector<RankId> ranks = grid.slice("pipeline", stage);
    const auto node = [&](RankId rank) { return index(rank) / topology_.ranks_per_node; };
    const std::uint32_t stride = grid.stride("pipeline");
    Groups found;
    std::vector<RankId> seen;
    for (const RankId rank : ranks) {
        if (node(rank) != node(ranks.front())) continue;
        if (call.crosses_boundary()) {
            const auto other = static_cast<std::uint32_t>(rank) - stage * stride + call.peer * stride;
            found.push_back({rank, RankId{other}});
            continue;
        }
        if (std::ranges::find(seen, rank) != seen.end()) continue;
        std::vector<RankId> members = PlacedGroups(call.group, layout_).members(rank);
        seen.insert(seen.end(), members.begin(), members.end());
        if (found.empty() || found.front().size() == members.size()) found.push_back(std::move(members));
    }
    return found;
}

CallCosts::Group& CallCosts::find(const Call& call, std::uint32_t stage) {
    const bool crosses = call.crosses_boundary();
    // Groups of one kind have the same places on every stage, but for boundaries inside a node and between nodes.
    const std::uint32_t stride = crosses ? layout_.grid().stride("pipeline") : 0;
    const bool leaves =
        crosses && stage * stride / topology_.ranks_per_node != call.peer * stride / topology_.ranks_per_node;
    const std::uint32_t far = crosses ? (std::max(stage, call.peer) - std::min(stage, call.peer)) : 0;
    Group*& laid = laid_[{call.group, far, leaves}];
    if (laid != nullptr) return *laid;
    Groups members = groups(call, stage);
    const auto [it, fresh] = known_.try_emplace(std::move(members));
    laid = &it->second;
    if (!fresh) return *laid;
    const Groups& all = it->first;
    const GroupShape shape = shape_of(topology_, all.front());
    std::vector<std::size_t> equal;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const GroupShape own = shape_of(topology_, all[i]);
        if (own == shape) equal.push_back(i);
    }
    laid->costs = std::make_unique<GroupCosts>(topology_, library_, shape, [this, &all, equal](Order order) {
        return list_of<Communicator>(equal, [&](std::size_t i) { return planner_->lay(all[i], order); });
    });
    return *laid;
}

Seconds CallCosts::time(const Call& call, std::uint32_t stage) {
    Group& group = find(call, stage);
    if (group.costs->shape().members < 2) return {};
    const auto [it, fresh] = group.times.try_emplace({call.op, call.message.value});
    if (fresh) it->second = group.costs->idle_time(group.costs->require(call.op, call.message), call.message);
    return it->second;
}

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
