// The messages of one phase in the groups of a row, and which nodes and circles of ways they pass, or which links of a
// mesh: read once, for the sample of links (FabricSample) and for what they load on it (RowTraffic).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/base/hash_sum.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/collective/circle.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/collective/mesh_passes.hpp"
#include "sim/collective/message_kinds.hpp"
#include "sim/collective/row_parts.hpp"
#include "sim/collective/tree_move.hpp"

namespace weft {

class RowSurvey {
  public:
    // `communicator` is laid through the first group of the row; the channels of the others are these, moved. All
    // arguments must outlive this.
    RowSurvey(const Topology& topology, const PartedRow& row, const Communicator& communicator, const Phase& phase);
    RowSurvey(const RowSurvey&) = delete;
    RowSurvey& operator=(const RowSurvey&) = delete;

    struct Message {
        std::uint32_t from = 0, to = 0;  // places of nodes among those of the group, which are in ascending order
        std::uint32_t kind = 0;
    };
    // One, or so many of a kind that stay on their switches, both nodes of each `step` places after those of the one
    // before. Messages are numbered channel by channel in the order of for_each_message; the first of these has
    // `number`, and each is `every` after the one before.
    struct Messages {
        Message first{};
        std::uint32_t number = 0, count = 1, step = 0, every = 0;
        Message operator[](std::uint32_t i) const { return {first.from + i * step, first.to + i * step, first.kind}; }
        // Which of several has this place at an end.
        std::optional<std::uint32_t> that_leaves(std::uint32_t place) const { return after(first.from, place); }
        std::optional<std::uint32_t> that_enters(std::uint32_t place) const { return after(first.to, place); }

      private:
        std::optional<std::uint32_t> after(std::uint32_t begin, std::uint32_t place) const {
            const std::uint32_t which = (place - begin) / step;  // too many if it is before
            if (which >= count || begin + which * step != place) return {};
            return which;
        }
    };
    // The messages of a group that pass a circle, or in a part of many those by one NIC of a node of it: `first` to
    // `end` of the passages.
    struct Bundle {
        std::uint32_t first = 0, end = 0, group = 0;
        std::uint32_t circle = 0;  // of the first group of the part
        std::uint64_t way = 0;     // of that of its passages which is counted from
        HashSum passing{};
        const std::vector<PartedRow::Sweep>* sweeps = nullptr;  // in a part of many
    };
    struct Passage {
        std::uint64_t way = 0;
        std::uint32_t size = 0, messages = 1;  // so many alike
    };
    // Where a bundle of groups in a row passes one circle, each one way after that of the group before: so many turns
    // round the circle and the rest of one. The first has its ways moved by `shift`. There may be so many circles, each
    // `step` after one.
    struct Stretch {
        std::uint32_t circle = 0, circles = 1, step = 0, turns = 0;
        std::uint64_t shift = 0, rest = 0;
        template <class Visit>
        void for_each_circle(Visit visit) const {
            for (std::uint32_t i = 0; i < circles; ++i) visit(circle + i * step);
        }
    };
    struct Part {
        RowPart groups;
        std::vector<Messages> messages{};          // of the first group, channel by channel
        std::vector<std::uint32_t> climbing{};     // those that may climb in groups moved inside their nodes
        std::vector<std::uint32_t> moved_kinds{};  // of these, move by move but for the first
        std::vector<std::uint32_t> contents{};     // by node of the first group: number of what its messages are to it
        std::vector<Bundle> bundles{};
        std::vector<Passage> passages{};
        // Of a part of one: groups moved inside their nodes whose messages pass circles as those of the first, moved.
        // They have no bundles of their own.
        std::vector<TreeMove> rails{};
        bool rails_in_step = false;  // each moves circles by as much as the one before, and ways not at all
        bool is_one() const { return groups.kind == RowPart::Kind::single; }
        bool is_on_mesh() const { return groups.kind == RowPart::Kind::on_mesh; }
    };

    const GroupRow& row() const { return row_.groups(); }
    const std::vector<Part>& parts() const { return parts_; }
    const MessageKinds& kinds() const { return kinds_; }
    // What nodes may be to messages, by number. Number 0 is nothing.
    const std::vector<HashSum>& contents() const { return contents_; }
    const MeshPasses& mesh() const { return mesh_; }  // nothing on a tree
    const Phase& phase() const { return phase_; }
    const std::vector<std::uint32_t>& nodes() const { return row_.nodes(); }  // of the row's first group; ascending
    std::uint32_t messages_per_channel() const { return per_channel_; }
    // Of the first group of a part.
    std::uint32_t node(const Part& part, std::size_t place) const { return row_.nodes()[place] + part.groups.first(); }
    RankId rank(const Part& part, std::size_t place, std::uint32_t local) const {
        return RankId(node(part, place) * topology_.ranks_per_node + local);
    }
    // Of a message of a part in its group moved inside its nodes by row().within[i]; `at`: in Part::climbing.
    std::uint32_t moved_kind(const Part& part, std::size_t at, std::size_t i) const {
        if (i == 0) return part.messages[part.climbing[at]].first.kind;
        return part.moved_kinds[(i - 1) * part.climbing.size() + at];
    }

    // Calls visit(bundle, stretch) for all of a part, the row moved as a whole.
    template <class Visit>
    void for_each_stretch(const Part& part, const TreeMove& move, Visit visit) const {
        for (const Bundle& bundle : part.bundles) {
            const std::uint32_t here = move.circle(circles_, bundle.circle);
            if (bundle.sweeps != nullptr) {
                const std::uint32_t first = here - 2 * circles_[bundle.circle].place.subtree;
                for (const PartedRow::Sweep& sweep : *bundle.sweeps) {
                    visit(bundle, {first + 2 * sweep.subtree, sweep.subtrees, 2, sweep.turns, sweep.shift + move.ways,
                                   sweep.rest});
                }
                continue;
            }
            const bool is_only_way = circles_.ways(bundle.circle) == 1;
            Stretch one{here, 1, 0, is_only_way ? 1U : 0U, move.ways, is_only_way ? 0U : 1U};
            if (bundle.group == 0 && part.rails_in_step) {
                one.circles += static_cast<std::uint32_t>(part.rails.size());
                one.step = part.rails.front().circle(circles_, here) - here;
            }
            visit(bundle, one);
            if (bundle.group > 0 || part.rails_in_step) continue;
            for (const TreeMove& rail : part.rails) {
                one.circle = rail.circle(circles_, here);
                one.shift = move.ways + rail.ways;
                visit(bundle, one);
            }
        }
    }
    // Calls visit(way, routes, detours) for the ways that messages take up and down a tier with so many, moved by
    // `shift`.
    template <class Visit>
    void for_each_way(const Passage& passage, std::uint64_t shift, std::uint64_t ways, Visit visit) const {
        const MessageSize& size = kinds_.sizes()[passage.size];
        const std::uint64_t way = passage.way + shift, step = tree_.detour_step(size.turn);
        visit(way % ways, passage.messages, 0U);
        for (std::uint32_t i = 1; i <= size.detours; ++i) visit((way + i * step) % ways, 0U, passage.messages);
    }

  private:
    friend class PartReader;
    void add(const RowPart& groups, std::vector<Messages> messages);
    bool sends_as(const Part& part, std::uint32_t move) const;
    static void join(RowPart& part, NodeRun moves);
    std::vector<Messages> read_messages(std::uint32_t move);
    std::uint32_t period_of(std::span<const RankId> channel) const;
    std::uint32_t content_number(const HashSum& content);

    const Topology& topology_;
    const RouteTree& tree_;
    const Circles& circles_;
    const PartedRow& row_;
    const Communicator& communicator_;
    const Phase& phase_;
    MessageKinds kinds_;
    std::uint32_t per_channel_ = 0;
    std::vector<Part> parts_;
    std::vector<HashSum> contents_{{}};
    using Numbers = std::unordered_map<HashSum, std::uint32_t, HashSum::Hash>;  // only looked up
    Numbers content_numbers_{{{}, 0}};
    MeshPasses mesh_;
};

}  // namespace weft
