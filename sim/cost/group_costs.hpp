// The collectives of one set of equal groups: which algorithm and protocol the library takes for a call, and what it
// costs. Traffic is worked out once for each algorithm and protocol that may be the cheapest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/cost/cost.hpp"

namespace weft {

struct Choice {
    const Algorithm* algorithm = nullptr;
    const ProtocolCost* protocol = nullptr;
    auto operator<=>(const Choice&) const = default;
};

// What a caller forces; empty: the library's choice.
struct Preference {
    std::string algorithm{}, protocol{};
};

class GroupCosts {
  public:
    // The communicators of the set, laid in an order.
    using Lay = std::function<std::vector<Communicator>(Order)>;

    // `whole`: groups that these are a part of, and run in lock step with; it must outlive this.
    GroupCosts(const Topology& topology, const Library& library, const GroupShape& shape, Lay lay,
               GroupCosts* whole = nullptr);
    // Of groups that are those of `base`, which must outlive this, group by group moved.
    GroupCosts(GroupCosts& base, LinkMove move);

    const GroupShape& shape() const { return shape_; }

    // Every algorithm and protocol that can run `op`, in the order of the library's table.
    std::vector<Choice> candidates(Collective op, const Preference& preference = {}) const;
    // Whether the protocol is made for the messages that members then send one another (ProtocolCost::over and most).
    bool carries(const Choice& choice, Bytes message) const;
    // The candidate that the library takes: by its tuner if it has one for the algorithms of `op`, otherwise the
    // cheapest on idle links; of equals the first. Empty if there is no candidate.
    std::optional<Choice> choose(Collective op, Bytes message, const Preference& preference = {});
    // Whether the tuner tells which one.
    bool is_tuned(Collective op, Bytes message, const Preference& preference = {});
    // For calls that there is no doing without. Throws RangeError where there is no candidate.
    Choice require(Collective op, Bytes message);

    const std::vector<PhaseCost>& phases(const Choice& choice);
    // The same but for the links that are loaded: where costs are others moved, these others'.
    const std::vector<PhaseCost>& phases_unmoved(const Choice& choice) {
        return base_ != nullptr ? base_->phases(choice) : phases(choice);
    }
    Pattern pattern(const Choice& choice, std::size_t phase);  // phases(choice)[phase].pattern
    std::uint32_t channels(const Choice& choice);              // of each group; 0 for groups of one
    bool shares_ports(const Choice& choice);                   // of its NICs, with others
    Seconds idle_time(const Choice& choice, Bytes message);

    std::size_t routed_links() const;  // loads of links that were worked out so far

  private:
    // The candidates that are made for the messages.
    std::vector<Choice> fitting(Collective op, Bytes message, const Preference& preference) const;
    const std::vector<Communicator>& communicators(Order order);
    Seconds least_idle_time(const Choice& choice, Bytes message);
    const std::vector<PhaseCost>& phases_of_first(const Choice& choice);  // of the first communicator alone
    Choice cheapest(std::span<const Choice> candidates, Bytes message);
    // Those of them that the tuner leaves; empty if it has no say.
    std::vector<Choice> by_tuner(Collective op, Bytes message, std::span<const Choice> candidates);
    std::vector<Choice> by_decision(Collective op, Bytes message, std::span<const Choice> candidates) const;
    std::vector<Choice> by_prediction(Collective op, Bytes message, std::span<const Choice> candidates);
    // What the tuner believes that a ring moves per second; none where the library has no ring for `op`.
    std::optional<BytesPerSecond> bus(Collective op);

    std::vector<PhaseCost> work_out(const Choice& choice);
    // Of a phase of an algorithm that is laid in this order. Some are those of several algorithms, but for their bytes:
    // rings gather as they scatter.
    const PhaseCost& cost_of(const Phase& phase, Order order, const ProtocolCost& protocol);

    const Topology& topology_;
    const Library& library_;
    GroupShape shape_;
    Lay lay_;
    GroupCosts* whole_ = nullptr;
    GroupCosts* base_ = nullptr;  // all costs are its, moved
    LinkMove move_{0};
    std::map<Order, std::vector<Communicator>> communicators_;
    std::map<Choice, std::vector<PhaseCost>> phases_;
    struct Known {
        Phase phase;
        PhaseCost cost;
    };
    std::map<std::pair<Order, const ProtocolCost*>, std::deque<Known>> known_;
    // Of a message, that one member sends another at once.
    mutable std::map<const Algorithm*, double> largest_fractions_;
    std::unique_ptr<GroupCosts> first_;  // of the first communicator alone
};

}  // namespace weft
