#include "topologies/channel_search.hpp"

#include <limits>
#include <map>

namespace weft {
namespace {

using MemberOrder = std::vector<std::uint32_t>;

constexpr std::uint32_t most_searched = 8;   // members; 8! paths at most
constexpr std::uint32_t most_channels = 16;  // tried; beyond that no node gains
constexpr std::uint32_t most_evened = 6;     // members of groups where channels are laid beyond the first without gain

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
            extend(OrderCost{.busiest = occupancy_.busiest()});
        } else {
            try_rotations();
        }
        take(best_->order);
        return best_->order;
    }
    // Adds the occupancy of a channel, and returns what it costs.
    OrderCost take(const MemberOrder& order) {
        OrderCost cost{.busiest = occupancy_.busiest()};
        for_each_step(order, [&](const HopUses& uses) { cost = occupancy_.add(uses, cost); });
        return cost;
    }
    std::int64_t busiest() const { return occupancy_.busiest(); }

  private:
    struct Candidate {
        MemberOrder order;
        OrderCost cost;
    };

    // Of the hops that take links at all: none do from a member to itself.
    template <class Measure>
    static std::int64_t least(const std::vector<HopUses>& hops, Measure measure) {
        std::int64_t found = std::numeric_limits<std::int64_t>::max();
        for (const HopUses& uses : hops) {
            if (!uses.empty()) found = std::min(found, measure(uses));
        }
        return found;
    }
    static std::int64_t cheapest(const std::vector<HopUses>& hops) {
        return least(hops, [](const HopUses& uses) { return sum_of<std::int64_t>(uses, &LinkUse::occupancy); });
    }
    std::int64_t least_crowded(const std::vector<HopUses>& hops) const {
        return least(hops, [&](const HopUses& uses) { return occupancy_.crowding(uses); });
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
    // What closes an order: the route out of the node, or back to the first member.
    const HopUses& closing(const MemberOrder& order) const {
        return problem_.across() ? problem_.leave[order.back()] : hop(order.back(), order.front());
    }
    bool may_close(const MemberOrder& order) const {
        if (ends_) return problem_.port[order.front()] == ends_->first && problem_.port[order.back()] == ends_->second;
        return !many_ports_ || problem_.port[order.front()] != problem_.port[order.back()];
    }
    bool worse_than_best(OrderCost cost) const { return best_ && !(cost < best_->cost); }

    bool visited(std::uint32_t member) const { return std::find(order_.begin(), order_.end(), member) != order_.end(); }

    // No completion of the order costs less: every missing member takes a hop, and one of them is where it leaves.
    OrderCost bound(OrderCost cost) const {
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
    void extend(OrderCost cost) {
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
            const OrderCost extended = occupancy_.add(uses, cost);
            order_.push_back(member);
            extend(extended);
            order_.pop_back();
            occupancy_.remove(uses);
        }
    }

    const HopUses& entrance(std::uint32_t member) const {
        return problem_.across() ? problem_.enter[member] : nothing_;
    }

    // Calls visit(uses) for every step of a channel.
    template <class Visit>
    void for_each_step(const MemberOrder& order, Visit visit) const {
        visit(entrance(order.front()));
        for (std::size_t i = 1; i < order.size(); ++i) visit(hop(order[i - 1], order[i]));
        visit(closing(order));
    }

    void try_rotations() {
        MemberOrder order = numbers_below<std::uint32_t>(problem_.members);
        const std::size_t rotations = problem_.across() ? order.size() : 1;  // a ring is the same wherever it starts
        for (int direction = 0; direction < 2; ++direction) {
            for (std::size_t i = 0; i < rotations; ++i) {
                const OrderCost cost = take(order);
                for_each_step(order, [&](const HopUses& uses) { occupancy_.remove(uses); });
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
    std::vector<std::int64_t> leave_busiest_;  // by member: the busiest link of its route out, before this channel
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

// These orders, one after another.
Channels laid(const ChannelProblem& problem, std::vector<MemberOrder> orders) {
    Search search(problem);
    for (const MemberOrder& order : orders) search.take(order);
    return {std::move(orders), search.busiest()};
}

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
    const auto occupancy = [](const HopUses& leave) { return leave.back().occupancy; };
    const std::int64_t least = occupancy(*std::ranges::min_element(problem.leave, {}, occupancy));
    const auto is_meant = [&](std::size_t member) {
        return !only_fastest || occupancy(problem.leave[member]) <= least;
    };
    return each_once(list_of_those<LinkId>(numbers_below<std::size_t>(problem.leave.size()), is_meant,
                                           [&](std::size_t member) { return problem.port[member]; }));
}

// Where every member has a link of its own to each other one.
Channels over_mesh(const ChannelProblem& problem) {
    const std::uint32_t n = problem.members;
    for (std::uint32_t pair = 0; pair < n * n; ++pair) {
        if (pair / n != pair % n && problem.hop[pair].size() != 1) return {};
    }
    return laid(problem, problem.across() ? mesh_paths(n) : mesh_rings(n));
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
    return laid(problem, channels).carry_more_than(laid(other_problem, others));
}

std::optional<std::vector<MemberOrder>> find_channels(const ChannelProblem& problem, const ChannelEnds& ends) {
    const auto is_loop = [&](const auto& each) { return problem.port[each.first] == problem.port[each.second]; };
    if (!problem.across() || problem.members > most_searched || std::ranges::any_of(ends, is_loop)) return {};
    Search search(problem);
    return list_of<MemberOrder>(ends, [&](const auto& each) {
        return search.next(Search::Ends{problem.port[each.first], problem.port[each.second]});
    });
}

}  // namespace weft
