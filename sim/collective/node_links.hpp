// The links inside nodes, and between them and the switches, that messages of a part of a row pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/collective/link_passes.hpp"
#include "sim/collective/row_survey.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class NodeLinks {
  public:
    NodeLinks(const Topology& topology, const RowSurvey& survey, const RowSurvey::Part& part)
        : topology_(topology), tree_(*topology.fabric()), survey_(survey), part_(part) {}

    // A message, and its number among those that may climb.
    struct Each {
        RowSurvey::Message message{};
        std::uint32_t climbing = never;
    };
    // Message `i` of Part::messages[at].
    Each each(std::uint32_t at, std::uint32_t i) const {
        const RowSurvey::Message message = part_.messages[at][i];
        if (!survey_.kinds().may_climb(message.kind)) return {message};
        const auto climbing = std::ranges::lower_bound(part_.climbing, at);
        return {message, static_cast<std::uint32_t>(climbing - part_.climbing.begin())};
    }

    // The kind of a message in a group moved inside its nodes: so many ranks are still to be added to those of the
    // kind.
    struct Moved {
        std::uint32_t kind = 0, by = 0;
    };
    // In the group moved by row().within[i].
    Moved moved(const Each& each, std::size_t i) const {
        return each.climbing != never && i > 0 ? Moved{survey_.moved_kind(part_, each.climbing, i)}
                                               : Moved{each.message.kind, survey_.row().within[i]};
    }

    // So many messages like one.
    struct Alike {
        RowSurvey::Message message{};
        Moved moved{};
        std::uint32_t times = 0;
    };

    // On links of the node that they leave, or enter.
    void pass(const Alike& alike, bool leaves, std::uint32_t group, std::vector<LinkPasses>& passes) const {
        const MessageKinds& kinds = survey_.kinds();
        const MessageKind& kind = kinds[alike.moved.kind];
        const MessageSize& size = kinds.sizes()[kind.size];
        const RankId from = survey_.rank(part_, alike.message.from, kind.from + alike.moved.by),
                     to = survey_.rank(part_, alike.message.to, kind.to + alike.moved.by);
        if (!size.across && !leaves) return;  // all on the node that it leaves
        const Route route = !size.across ? topology_.route(from, to, kind.channel)
                            : leaves     ? tree_.leaving(from, to)
                                         : tree_.entering(from, to);
        for (const LinkId link : route.links()) {
            passes.push_back({link, group, kind.size, alike.times, alike.times * size.detours});
        }
    }

  private:
    static constexpr std::uint32_t never = 0xffffffff;
    const Topology& topology_;
    const RouteTree& tree_;
    const RowSurvey& survey_;
    const RowSurvey::Part& part_;
};

}  // namespace weft
