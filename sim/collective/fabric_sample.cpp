#include "sim/collective/fabric_sample.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/hash.hpp"
#include "sim/collective/messages.hpp"
#include "sim/collective/row_nodes.hpp"

namespace weft {
namespace {

// What tells messages of one kind apart in a subtree, each field in bits of its own.
enum class Passes : std::uint64_t { inside, out, in, up, down };

constexpr std::uint64_t in_node(Passes passes, std::uint32_t turn, std::uint32_t local, std::uint32_t other) {
    return static_cast<std::uint64_t>(passes) << 60U | std::uint64_t{turn} << 56U | std::uint64_t{local} << 28U | other;
}

constexpr std::uint64_t on_switches(Passes passes, std::uint32_t turn, std::uint64_t way) {
    return static_cast<std::uint64_t>(passes) << 60U | std::uint64_t{turn} << 56U | way;
}

}  // namespace

FabricSample::FabricSample(const Topology& topology) : topology_(topology), tree_(*topology.router->tree()) {
    for (std::uint32_t tier = 0; tier < tree_.tiers(); ++tier) {
        passing_.emplace_back(tree_.subtrees(tier));
        own_.emplace_back(tier == 0 ? 0 : tree_.subtrees(tier));
    }
}

FabricSample::Passing FabricSample::hash(std::uint64_t kind, std::uint64_t message) {
    return {hash_of({kind, message}), hash_of({message, ~kind})};
}

void FabricSample::count(const GroupRow& row, const Communicator& communicator, const Phase& phase) {
    std::vector<Message> across;
    std::map<std::uint32_t, Passing> inside;  // by node
    for (std::size_t channel = 0; channel < communicator.channels.size(); ++channel) {
        const std::vector<RankId>& order = communicator.channels[channel];
        std::uint64_t kind = 0;
        double last = std::numeric_limits<double>::quiet_NaN();  // weight
        for_each_message(phase, communicator.size(), [&](std::uint32_t i, std::uint32_t j, double weight) {
            if (weight != last) kind = hash_of({kinds_, channel, std::bit_cast<std::uint64_t>(weight)});
            last = weight;
            const Message message{order[i], order[j], channel, kind};
            const std::uint32_t node = topology_.node_of(message.from), local = topology_.local_of(message.from);
            if (node == topology_.node_of(message.to)) {
                inside[node] += hash(kind, in_node(Passes::inside, 0, local, topology_.local_of(message.to)));
            } else {
                across.push_back(message);
            }
        });
    }
    const RowNodes nodes(topology_, row);
    const bool may_be_on_one = nodes.may_be_on_one_switch() && std::ranges::all_of(across, [&](const Message& message) {
                                   const Climb climb = tree_.climb(message.from, message.to);
                                   return climb.leave == climb.enter;
                               });
    std::map<std::uint32_t, Passing> on_one_switch;  // and inside
    for (const std::uint32_t by : row.across) {
        const bool is_on_one = may_be_on_one && nodes.on_one_switch(by);
        if (is_on_one && on_one_switch.empty()) on_one_switch = with_turns_at_leaf(inside, across);
        for (const auto& [node, passing] : is_on_one ? on_one_switch : inside) {
            passing_[0][node + by / topology_.ranks_per_node] += passing;
        }
        if (!is_on_one) count_across(row, by, across);
    }
    ++kinds_;
}

// What passes the nodes of a group if all of its messages turn at the first switch.
std::map<std::uint32_t, FabricSample::Passing> FabricSample::with_turns_at_leaf(std::map<std::uint32_t, Passing> nodes,
                                                                                const std::vector<Message>& messages) {
    for (const Message& message : messages) {
        Climb climb = tree_.climb(message.from, message.to);
        climb.turn = 0;
        nodes[topology_.node_of(message.from)] += leaving(message, climb);
        nodes[topology_.node_of(message.to)] += entering(message, climb);
    }
    return nodes;
}

FabricSample::Passing FabricSample::leaving(const Message& message, const Climb& climb) {
    return leaving_.hash(message.kind, in_node(Passes::out, climb.turn, topology_.local_of(message.from), climb.leave));
}

FabricSample::Passing FabricSample::entering(const Message& message, const Climb& climb) {
    return entering_.hash(message.kind, in_node(Passes::in, climb.turn, topology_.local_of(message.to), climb.enter));
}

// Of the groups moved by `across`. NICs of one number that meet on one switch do so whatever the number.
void FabricSample::count_across(const GroupRow& row, std::uint32_t across, const std::vector<Message>& messages) {
    std::vector<Message> on_switches;
    for (Message message : messages) {
        message.from = moved(message.from, across);
        message.to = moved(message.to, across);
        const Climb climb = tree_.climb(message.from, message.to);
        passing_[0][topology_.node_of(message.from)] += leaving(message, climb);
        passing_[0][topology_.node_of(message.to)] += entering(message, climb);
        if (climb.turn > 0 || climb.leave != climb.enter) on_switches.push_back(message);
    }
    for (std::size_t i = 0; i < row.within.size() && !on_switches.empty(); ++i) {
        const std::uint32_t by = row.within[i] - (i == 0 ? 0 : row.within[i - 1]);
        for (Message& message : on_switches) {
            message.from = moved(message.from, by);
            message.to = moved(message.to, by);
            count_on_switches(message);
        }
        end_group();
    }
}

void FabricSample::count_on_switches(const Message& message) {
    const std::uint32_t from = topology_.node_of(message.from), to = topology_.node_of(message.to);
    const Climb climb = tree_.climb(message.from, message.to);
    // That of a group moved inside its nodes may turn elsewhere than that of the first.
    passing_[0][from] += leaving(message, climb);
    passing_[0][to] += entering(message, climb);
    for (std::uint32_t tier = 1; tier <= climb.turn; ++tier) {
        const std::uint64_t way = (climb.way + message.channel) % tree_.ways(tier);
        pass(tier, tree_.subtree(from, climb.leave, tier),
             hash(message.kind, on_switches(Passes::up, climb.turn, way)));
        pass(tier, tree_.subtree(to, climb.enter, tier),
             hash(message.kind, on_switches(Passes::down, climb.turn, way)));
    }
}

void FabricSample::pass(std::uint32_t tier, std::uint32_t subtree, const Passing& passing) {
    if (own_[tier][subtree] == Passing{}) touched_.push_back({tier, subtree});
    own_[tier][subtree] += passing;
}

void FabricSample::end_group() {
    for (const auto [tier, subtree] : touched_) {
        Passing& own = own_[tier][subtree];
        passing_[tier][subtree] += hash(own.a, own.b);
        own = {};
    }
    touched_.clear();
}

void FabricSample::choose() {
    const auto first_word = [](const Passing& passing) { return static_cast<std::size_t>(passing.a); };
    for (const std::vector<Passing>& subtrees : passing_) {
        std::unordered_map<Passing, std::uint32_t, decltype(first_word)> first(64, first_word);  // only looked up
        std::vector<std::uint32_t>& weight = weight_.emplace_back(subtrees.size(), 0);
        for (std::uint32_t subtree = 0; subtree < subtrees.size(); ++subtree) {
            if (subtrees[subtree] == Passing{}) continue;
            ++weight[first.try_emplace(subtrees[subtree], subtree).first->second];
        }
    }
    passing_.clear();
    own_.clear();
}

LinkWeights FabricSample::link_weights() const {
    std::vector<LinkWeights::Range> ranges;
    for (std::uint32_t tier = 0; tier < weight_.size(); ++tier) {
        for (std::uint32_t subtree = 0; subtree < weight_[tier].size(); ++subtree) {
            if (weight(tier, subtree) == 0) continue;
            for (const RouteTree::Range links : tree_.links({tier, subtree})) {
                ranges.push_back({links.first, links.end, static_cast<double>(weight(tier, subtree))});
            }
        }
    }
    std::ranges::sort(ranges, {}, &LinkWeights::Range::first);
    return LinkWeights(std::move(ranges));
}

bool FabricSample::touches_switches(RankId from, RankId to) const {
    const Climb climb = tree_.climb(from, to);
    for (std::uint32_t tier = 1; tier <= climb.turn; ++tier) {
        if (weight(tier, tree_.subtree(topology_.node_of(from), climb.leave, tier)) > 0) return true;
        if (weight(tier, tree_.subtree(topology_.node_of(to), climb.enter, tier)) > 0) return true;
    }
    return false;
}

}  // namespace weft
