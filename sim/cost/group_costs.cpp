#include "sim/cost/group_costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {
GroupCosts::GroupCosts(const Topology& topology, const Library& library, const GroupShape& shape, Lay lay,
                       GroupCosts* whole)
    : topology_(topology), library_(library), shape_(shape), lay_(std::move(lay)), whole_(whole) {}

GroupCosts::GroupCosts(GroupCosts& base, LinkMove move)
    : topology_(base.topology_), library_(base.library_), shape_(base.shape_), base_(&base), move_(std::move(move)) {}

std::vector<Choice> GroupCosts::candidates(Collective op, const Preference& preference) const {
    std::vector<Choice> found;
    for (const ProtocolCost& protocol : library_.costs) {
        const Algorithm* const algorithm = find_algorithm(op, protocol.algorithm);
        const bool wanted = (preference.algorithm.empty() || preference.algorithm == protocol.algorithm) &&
                            (preference.protocol.empty() || preference.protocol == protocol.protocol);
        if (algorithm != nullptr && wanted && protocol.serves(op) && algorithm->runs(shape_))
            found.push_back({algorithm, &protocol});
    }
    return found;
}

std::vector<Choice> GroupCosts::by_tuner(Collective op, Bytes message, std::span<const Choice> candidates) {
    if (!library_.tuner || shape_.members < 2 || candidates.empty()) return {};
    const std::vector<Choice> decided = by_decision(op, message, candidates);
    return decided.empty() ? by_prediction(op, message, candidates) : decided;
}

std::vector<Choice> GroupCosts::by_decision(Collective op, Bytes message, std::span<const Choice> candidates) const {
    const auto decision = std::ranges::find_if(library_.tuner->decisions,
                                               [&](const Decision& each) { return each.holds(op, shape_, message); });
    if (decision == library_.tuner->decisions.end()) return {};
    return list_of_those<Choice>(
        candidates, [&](const Choice& choice) { return choice.protocol->algorithm == decision->algorithm; });
}

std::vector<Choice> GroupCosts::by_prediction(Collective op, Bytes message, std::span<const Choice> candidates) {
    if (!is_predicted(op)) return {};
    const TunerTable& table = library_.tuner->table(shape_);
    const std::optional<BytesPerSecond> believed = bus(op);
    if (!believed) return {};
    std::vector<Choice> best;
    Seconds least;
    for (const Choice& choice : candidates) {
        for (const TunerRow& row : table.rows) {
            const ProtocolCost& cost = *choice.protocol;
            if (row.algorithm != cost.algorithm || row.protocol != cost.protocol || !row.serves(op)) continue;
            const Seconds time = predicted_time(table, row, *believed, op, shape_, message);
            if (!best.empty() && !(time < least)) continue;
            best = {choice};
            least = time;
        }
    }
    return best;
}

std::optional<BytesPerSecond> GroupCosts::bus(Collective op) {
    if (const auto& known = library_.tuner->table(shape_).bus) return known;
    const Algorithm* const ring = find_algorithm(op, "ring");
    const ProtocolCost* const simple = library_.find(op, "ring", "Simple");
    if (ring == nullptr || simple == nullptr) return std::nullopt;
    Seconds per_byte;
    for (const PhaseCost& phase : phases_of_first({ring, simple})) per_byte += phase.bytes(1_B) / phase.pattern.alone;
    return Bytes{static_cast<double>(ring_rounds(op, shape_.members)) / shape_.members} / per_byte;
}

bool GroupCosts::carries(const Choice& choice, Bytes message) const {
    const auto [known, fresh] = largest_fractions_.try_emplace(choice.algorithm, 0.0);
    double& largest = known->second;
    if (fresh) {
        for (const Phase& phase : choice.algorithm->phases(shape_)) largest = std::max(largest, phase.fraction);
    }
    const Bytes one = message * largest;
    return one > choice.protocol->over && one <= choice.protocol->most;
}

std::vector<Choice> GroupCosts::fitting(Collective op, Bytes message, const Preference& preference) const {
    std::vector<Choice> possible = candidates(op, preference);
    if (preference.protocol.empty()) {
        std::erase_if(possible, [&](const Choice& choice) { return !carries(choice, message); });
    }
    return possible;
}

std::optional<Choice> GroupCosts::choose(Collective op, Bytes message, const Preference& preference) {
    if (base_ != nullptr) return base_->choose(op, message, preference);
    std::vector<Choice> possible = fitting(op, message, preference);
    if (possible.empty()) return std::nullopt;
    if (possible.size() == 1) return possible.front();
    if (const std::vector<Choice> tuned = by_tuner(op, message, possible); !tuned.empty()) possible = tuned;
    return possible.size() == 1 ? possible.front() : cheapest(possible, message);
}

bool GroupCosts::is_tuned(Collective op, Bytes message, const Preference& preference) {
    if (base_ != nullptr) return base_->is_tuned(op, message, preference);
    return !by_tuner(op, message, fitting(op, message, preference)).empty();
}

Choice GroupCosts::require(Collective op, Bytes message) {
    if (const std::optional<Choice> choice = choose(op, message)) return *choice;
    throw RangeError(
        "{} on {} has no costs for {} of {:.0f} B among {} ranks on {} nodes: \"costs\" of the "
        "library in the machine file need a row for them with \"algorithm\" {}",
        library_.name, topology_.name, name(op), message.value, shape_.members, shape_.nodes,
        fmt::join(algorithms_of(op), " or "));
}

std::uint32_t GroupCosts::channels(const Choice& choice) {
    if (base_ != nullptr) return base_->channels(choice);
    if (shape_.members < 2) return 0;
    return static_cast<std::uint32_t>(communicators(library_.order_of(*choice.algorithm)).front().channels.size());
}

bool GroupCosts::shares_ports(const Choice& choice) {
    if (base_ != nullptr) return base_->shares_ports(choice);
    return shape_.members > 1 && communicators(library_.order_of(*choice.algorithm)).front().ports == Ports::shared;
}

Seconds GroupCosts::idle_time(const Choice& choice, Bytes message) {
    if (base_ != nullptr) return base_->idle_time(choice, message);
    return time_of(phases(choice), message);
}

// The groups run in lock step, and on idle links the slowest of them sets the time: no choice takes less than its first
// group alone.
Seconds GroupCosts::least_idle_time(const Choice& choice, Bytes message) {
    return phases_.contains(choice) ? idle_time(choice, message) : time_of(phases_of_first(choice), message);
}

const std::vector<PhaseCost>& GroupCosts::phases_of_first(const Choice& choice) {
    const std::vector<Communicator>& all = communicators(library_.order_of(*choice.algorithm));
    if (all.size() == 1 && all.front().copies.empty()) return phases(choice);
    const auto lay = [this](Order order) {
        const Communicator& first = communicators(order).front();
        return std::vector{Communicator{.channels = first.channels, .ports = first.ports}};
    };
    if (first_ == nullptr) first_ = std::make_unique<GroupCosts>(topology_, library_, shape_, lay);
    return first_->phases(choice);
}

// The first with the least time. Groups are many, and mostly equal: the traffic of all is worked out only where that of
// the first leaves a chance, in the order of those bounds. What rounding may do to a bound is far below `margin`.
Choice GroupCosts::cheapest(std::span<const Choice> candidates, Bytes message) {
    constexpr double margin = 1.0 - 1e-9;
    std::vector<std::pair<Seconds, std::size_t>> bounds;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        bounds.emplace_back(least_idle_time(candidates[i], message) * margin, i);
    }
    std::sort(bounds.begin(), bounds.end());
    std::pair<Seconds, std::size_t> best{idle_time(candidates[bounds.front().second], message), bounds.front().second};
    for (const auto& [least, i] : bounds) {
        if (least > best.first) break;
        best = std::min(best, {idle_time(candidates[i], message), i});
    }
    return candidates[best.second];
}

const std::vector<Communicator>& GroupCosts::communicators(Order order) {
    const auto [it, fresh] = communicators_.try_emplace(order);
    if (fresh) it->second = lay_(order);
    return it->second;
}

const std::vector<PhaseCost>& GroupCosts::phases(const Choice& choice) {
    const auto [it, fresh] = phases_.try_emplace(choice);
    if (fresh) it->second = base_ != nullptr ? moved(base_->phases(choice), move_) : work_out(choice);
    return it->second;
}

std::vector<PhaseCost> GroupCosts::work_out(const Choice& choice) {
    if (shape_.members < 2) return {{.launch = library_.launch + choice.protocol->launch}};
    WEFT_CHECK(choice.algorithm->runs(shape_), "an algorithm in a group of a shape that it cannot run in");
    const Order order = library_.order_of(*choice.algorithm);
    const auto of_phase = [&](const Phase& phase) { return cost_of(phase, order, *choice.protocol); };
    return cost(choice.algorithm->phases(shape_), of_phase, library_, *choice.protocol);
}

const PhaseCost& GroupCosts::cost_of(const Phase& phase, Order order, const ProtocolCost& protocol) {
    if (base_ != nullptr) return base_->cost_of(phase, order, protocol);
    std::deque<Known>& all = known_[{order, &protocol}];
    const auto known = std::ranges::find_if(all, [&](const Known& each) { return same_traffic(each.phase, phase); });
    if (known != all.end()) return known->cost;
    const PhaseCost* whole = whole_ != nullptr ? &whole_->cost_of(phase, order, protocol) : nullptr;
    std::optional<PhaseCost> here;  // moved, where its links matter
    if (whole != nullptr && whole_->base_ != nullptr && phase.duty < 1.0) {
        here = *whole;
        here->pattern = moved(std::move(here->pattern), whole_->move_);
        whole = &*here;
    }
    return all.emplace_back(Known{phase, cost(phase, communicators(order), topology_, protocol, whole)}).cost;
}

Pattern GroupCosts::pattern(const Choice& choice, std::size_t phase) {
    const Pattern& pattern = phases_unmoved(choice)[phase].pattern;
    return base_ != nullptr ? moved(pattern, move_) : pattern;
}

std::size_t GroupCosts::routed_links() const {
    std::size_t links = 0;
    for (const auto& [choice, phases] : phases_) {
        for (const PhaseCost& phase : phases) links += phase.pattern.loads.size();
    }
    return first_ != nullptr ? links + first_->routed_links() : links;
}

}  // namespace weft
