#include "topologies/channel_search.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "topologies/mesh_channels.hpp"

namespace weft {

namespace {

using MemberOrder = std::vector<std::uint32_t>;

constexpr std::uint32_t most_searched = 8;   // members; 8! paths at most
constexpr std::uint32_t most_channels = 16;  // tried; beyond that no node gains
constexpr std::uint32_t most_evened = 6;     // members of groups where channels are laid beyond the first without gain

// What an order costs on top of the channels laid so far. Less is better.
struct Cost {
    std::int64_t busiest = 0;   // occupancy of the busiest link of all, old channels included
    std::int64_t total = 0;     // of this channel alone
    std::int64_t crowding = 0;  // what channels before it occupy of the links that it uses
    auto operator<=>(const Cost&) const = default;
};

// Occupancy by link, for links renumbered from 0.
class Occupancy {
  public:
    Occupancy(std::size_t links, std::int64_t crowding_weight)
        : by_link_(links), before_(links), crowding_weight_(crowding_weight) {}

    std::int64_t busiest() const { return by_link_.empty() ? 0 : *std::max_element(by_link_.begin(), by_link_.end()); }
    Cost add(const HopUses& uses, Cost cost) {
        for (const LinkUse& use : uses) {
            std::int64_t& occupied = by_link_[index(use.link)];
            occupied += use.occupancy;
            cost.busiest = std::max(cost.busiest, occupied);
            cost.total += use.occupancy;
        }
        cost.crowding += crowding(uses);
        return cost;
    }
    void remove(const HopUses& uses) {
        for (const LinkUse& use : uses) by_link_[index(use.link)] -= use.occupancy;
    }
    void start_channel() { before_ = by_link_; }
    std::int64_t crowding(const HopUses& uses) const {
        std::int64_t sum = 0;
        for (const LinkUse& use : uses) sum += crowding_weight_ * before_[index(use.link)];
        return sum;
    }

  private:
    std::vector<std::int64_t> by_link_;
    std::vector<std::int64_t> before_;  // by link, before the channel that is being laid
    std::int64_t crowding_weight_;      // 0 where only busiest and total count
};

class Search {
  public:
    explicit Search(const ChannelProblem& problem)
        : problem_(renumbered(problem)), occupancy_(links_, problem.members <= most_evened ? 1 : 0) {
        cheapest_hop_ = cheapest(problem_.hop);
        cheapest_closing_ = problem_.across() ? cheapest(problem_.leave) : cheapest_hop_;
        many_ports_ = problem.across() && std::any_of(problem.port.begin(), problem.port.end(),
                                                      [&](LinkId port) { return port != problem.port.front(); });
    }

    // The ports that a channel comes in and leaves by.
    using Ends = std::pair<LinkId, LinkId>;

    // The best next channel, of those between `ends` if they are given, whose occupancy is then added.
    MemberOrder next(std::optional<Ends> ends = std::nullopt) {
        ends_ = ends;
        best_.reset();
        occupancy_.start_channel();
        leave_busiest_.clear();
        for (const HopUses& uses : problem_.leave) {
            leave_busiest_.push_back(occupancy_.add(uses, {}).busiest);
            occupancy_.remove(uses);
        }
        least_crowded_hop_ = least_crowded(problem_.hop);
        least_crowded_closing_ = problem_.across() ? least_crowded(problem_.leave) : least_crowded_hop_;
        if (problem_.members <= most_searched) {
            order_.clear();
            extend(Cost{.busiest = occupancy_.busiest()});
        } else {
            try_rotations();
        }
        take(best_->order);
        return best_->order;
    }
    void take(const MemberOrder& order) { add(order); }
    std::int64_t busiest() const { return occupancy_.busiest(); }

  private:
    struct Candidate {
        MemberOrder order;
        Cost cost;
    };

    static std::int64_t occupancy_of(const HopUses& uses) {
        return std::accumulate(uses.begin(), uses.end(), std::int64_t{0},
                               [](std::int64_t sum, const LinkUse& use) { return sum + use.occupancy; });
    }

    static std::int64_t cheapest(const std::vector<HopUses>& hops) {
        std::int64_t least = 0;
        for (const HopUses& uses : hops) {
            if (uses.empty()) continue;  // from a member to itself
            const std::int64_t occupancy = occupancy_of(uses);
            least = least == 0 ? occupancy : std::min(least, occupancy);
        }
        return least;
    }

    std::int64_t least_crowded(const std::vector<HopUses>& hops) const {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const HopUses& uses : hops) {
            if (!uses.empty()) least = std::min(least, occupancy_.crowding(uses));
        }
        return least;
    }

    ChannelProblem renumbered(ChannelProblem problem) {
        std::map<LinkId, std::uint32_t> dense;
        const auto renumber = [&](std::vector<HopUses>& hops) {
            for (HopUses& uses : hops) {
                for (LinkUse& use : uses) {
                    use.link =
                        LinkId(dense.try_emplace(use.link, static_cast<std::uint32_t>(dense.size())).first->second);
                }
            }
        };
        renumber(problem.hop);
        renumber(problem.enter);
        renumber(problem.leave);
        links_ = dense.size();
        return problem;
    }

    const HopUses& hop(std::uint32_t from, std::uint32_t to) const {
        return problem_.hop[from * problem_.members + to];
    }
    // What closes an order: the way out of the node, or back to the first member.
    const HopUses& closing(const MemberOrder& order) const {
        return problem_.across() ? problem_.leave[order.back()] : hop(order.back(), order.front());
    }
    bool may_close(const MemberOrder& order) const {
        if (ends_) return problem_.port[order.front()] == ends_->first && problem_.port[order.back()] == ends_->second;
        return !many_ports_ || problem_.port[order.front()] != problem_.port[order.back()];
    }
    bool worse_than_best(Cost cost) const { return best_ && !(cost < best_->cost); }

    bool visited(std::uint32_t member) const { return std::find(order_.begin(), order_.end(), member) != order_.end(); }

    // No completion of the order costs less: every missing member takes a hop, and one of them is where it leaves.
    Cost bound(Cost cost) const {
        const std::size_t left = problem_.members - order_.size();
        if (order_.empty() || left == 0) return cost;
        cost.total += static_cast<std::int64_t>(left) * cheapest_hop_ + cheapest_closing_;
        cost.crowding += static_cast<std::int64_t>(left) * least_crowded_hop_ + least_crowded_closing_;
        if (!problem_.across()) return cost;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t member = 0; member < problem_.members; ++member) {
            if (!visited(member)) least = std::min(least, leave_busiest_[member]);
        }
        cost.busiest = std::max(cost.busiest, least);
        return cost;
    }

    // Depth first in lexicographic order, so that among equals the first found stays.
    void extend(Cost cost) {
        if (worse_than_best(bound(cost))) return;
        if (order_.size() == problem_.members) {
            if (!may_close(order_)) return;
            const HopUses& uses = closing(order_);
            cost = occupancy_.add(uses, cost);
            occupancy_.remove(uses);
            if (!worse_than_best(cost)) best_ = Candidate{order_, cost};
            return;
        }
        for (std::uint32_t member = 0; member < problem_.members; ++member) {
            if (visited(member)) continue;
            if (order_.empty() && member > 0 && !problem_.across()) return;  // a ring may as well start at member 0
            if (order_.empty() && ends_ && problem_.port[member] != ends_->first) continue;
            const HopUses& uses = order_.empty() ? entrance(member) : hop(order_.back(), member);
            const Cost extended = occupancy_.add(uses, cost);
            order_.push_back(member);
            extend(extended);
            order_.pop_back();
            occupancy_.remove(uses);
        }
    }

    const HopUses& entrance(std::uint32_t member) const {
        return problem_.across() ? problem_.enter[member] : nothing_;
    }

    Cost add(const MemberOrder& order) {
        Cost cost = occupancy_.add(entrance(order.front()), {.busiest = occupancy_.busiest()});
        for (std::size_t i = 1; i < order.size(); ++i) cost = occupancy_.add(hop(order[i - 1], order[i]), cost);
        return occupancy_.add(closing(order), cost);
    }
    void remove(const MemberOrder& order) {
        occupancy_.remove(entrance(order.front()));
        for (std::size_t i = 1; i < order.size(); ++i) occupancy_.remove(hop(order[i - 1], order[i]));
        occupancy_.remove(closing(order));
    }

    void try_rotations() {
        MemberOrder order(problem_.members);
        std::iota(order.begin(), order.end(), 0U);
        const std::size_t rotations = problem_.across() ? order.size() : 1;  // a ring is the same wherever it starts
        for (int direction = 0; direction < 2; ++direction) {
            for (std::size_t i = 0; i < rotations; ++i) {
                const Cost cost = add(order);
                remove(order);
                if (may_close(order) && !worse_than_best(cost)) best_ = Candidate{order, cost};
                std::rotate(order.begin(), order.begin() + 1, order.end());
            }
            std::reverse(order.begin() + (problem_.across() ? 0 : 1), order.end());
        }
        if (!best_) best_ = Candidate{order, {}};  // every rotation comes in and leaves by one port
    }

    std::size_t links_ = 0;
    ChannelProblem problem_;
    Occupancy occupancy_;
    std::int64_t cheapest_hop_ = 0, cheapest_closing_ = 0;
    std::int64_t least_crowded_hop_ = 0, least_crowded_closing_ = 0;  // before this channel
    std::vector<std::int64_t> leave_busiest_;  // by member: the busiest link of its way out, before this channel
    bool many_ports_ = false;
    std::optional<Ends> ends_;
    HopUses nothing_;
    MemberOrder order_;
    std::optional<Candidate> best_;
};

struct Channels {
    std::vector<MemberOrder> orders;
    std::int64_t busiest = 0;

    bool carry_more_than(const Channels& other) const {
        return static_cast<std::int64_t>(orders.size()) * other.busiest >
               static_cast<std::int64_t>(other.orders.size()) * busiest;
    }
};

// Together c channels move c messages in the time that the busiest link is occupied; rates are compared without
// division. Channels are laid while one more raises the rate. Beyond that, several more may raise it where one lowers
// it: the six rings of four all-to-all accelerators use every link twice, the first two but two thirds of the links
// once. Each takes compute units from the application, so they must add at least a third.
Channels one_by_one(const ChannelProblem& problem) {
    Search search(problem);
    std::vector<MemberOrder> channels;
    std::size_t best = 0;
    std::int64_t best_busiest = 0;
    while (channels.size() < most_channels) {
        const bool next_to_best = best == channels.size();
        channels.push_back(search.next());
        const std::int64_t busiest = search.busiest();
        const auto rate = static_cast<std::int64_t>(channels.size()) * best_busiest;  // times both busiest
        const auto best_rate = static_cast<std::int64_t>(best) * busiest;
        if (best > 0 && (next_to_best ? rate <= best_rate : 3 * rate < 4 * best_rate)) {
            if (problem.members > most_evened) break;
            continue;
        }
        best = channels.size();
        best_busiest = busiest;
    }
    channels.resize(best);
    return {std::move(channels), best_busiest};
}

// One channel for each of these ports, which comes in by it and leaves by the next.
Channels by_ports(const ChannelProblem& problem, const std::vector<LinkId>& ports) {
    if (ports.size() < 2 || problem.members > most_searched) return {};
    Search search(problem);
    Channels channels;
    for (std::size_t i = 0; i < ports.size(); ++i)
        channels.orders.push_back(search.next(Search::Ends{ports[i], ports[(i + 1) % ports.size()]}));
    channels.busiest = search.busiest();
    return channels;
}

// The ports of a problem, each once, in the order of their members; or those of them that are as fast as any.
std::vector<LinkId> ports_of(const ChannelProblem& problem, bool only_fastest) {
    const auto occupancy = [&](std::size_t member) { return problem.leave[member].back().occupancy; };
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t member = 0; member < problem.leave.size(); ++member) least = std::min(least, occupancy(member));
    std::vector<LinkId> ports;
    for (std::size_t member = 0; member < problem.leave.size(); ++member) {
        if (only_fastest && occupancy(member) > least) continue;
        if (std::ranges::find(ports, problem.port[member]) == ports.end()) ports.push_back(problem.port[member]);
    }
    return ports;
}

// Where every member has a link of its own to each other one.
Channels over_mesh(const ChannelProblem& problem) {
    const std::uint32_t n = problem.members;
    for (std::uint32_t pair = 0; pair < n * n; ++pair) {
        if (pair / n != pair % n && problem.hop[pair].size() != 1) return {};
    }
    Channels channels;
    channels.orders = problem.across() ? mesh_paths(n) : mesh_rings(n);
    Search search(problem);
    for (const MemberOrder& order : channels.orders) search.take(order);
    channels.busiest = search.busiest();
    return channels;
}

}  // namespace

std::vector<MemberOrder> find_channels(const ChannelProblem& problem) {
    if (problem.members == 1 && !problem.across()) return {{0}};
    Channels best = one_by_one(problem);
    std::vector<Channels> others{over_mesh(problem)};
    if (problem.across()) {
        others.push_back(by_ports(problem, ports_of(problem, false)));
        others.push_back(by_ports(problem, ports_of(problem, true)));
    }
    for (Channels& other : others) {
        if (!other.orders.empty() && other.carry_more_than(best)) best = std::move(other);
    }
    return std::move(best.orders);
}

bool carry_more(const ChannelProblem& problem, const std::vector<MemberOrder>& channels,
                const ChannelProblem& other_problem, const std::vector<MemberOrder>& others) {
    const auto laid = [](const ChannelProblem& on, const std::vector<MemberOrder>& orders) {
        Search search(on);
        for (const MemberOrder& order : orders) search.take(order);
        return Channels{orders, search.busiest()};
    };
    return laid(problem, channels).carry_more_than(laid(other_problem, others));
}

bool may_have_ends(const ChannelProblem& problem, const ChannelEnds& ends) {
    return problem.across() && problem.members <= most_searched && std::ranges::all_of(ends, [&](const auto& each) {
               return problem.port[each.first] != problem.port[each.second];
           });
}

std::vector<MemberOrder> find_channels(const ChannelProblem& problem, const ChannelEnds& ends) {
    Search search(problem);
    std::vector<MemberOrder> orders;
    for (const auto& [in, out] : ends) orders.push_back(search.next(Search::Ends{problem.port[in], problem.port[out]}));
    return orders;
}

}  // namespace weft
