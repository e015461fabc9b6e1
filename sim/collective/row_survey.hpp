// The messages of one phase in the groups of a row, and which nodes and circles of ways they pass: read once, for the
// sample of links (FabricSample) and for what they load on it (RowTraffic).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/hash_sum.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/collective/circle.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/collective/message_kinds.hpp"
#include "sim/collective/row_parts.hpp"

namespace weft {

class RowSurvey {
  public:
    // `communicator` is laid through the first group of the row; the channels of the others are these, moved. All
    // arguments must outlive this.
    RowSurvey(const Topology& topology, const Circles& circles, const PartedRow& row, const Communicator& communicator,
              const Phase& phase);
    RowSurvey(const RowSurvey&) = delete;
    RowSurvey& operator=(const RowSurvey&) = delete;

    struct Message {
        std::uint32_t from = 0, to = 0;  // nodes
        std::uint32_t kind = 0;
    };
    // What the messages of a group are to a node of it.
    struct OnNode {
        std::uint32_t node = 0;
        HashSum passing{};
    };
    // The messages of a group that pass a circle, or those by one NIC of a node of it: `first` to `end` of the
    // passages.
    struct Bundle {
        std::uint32_t first = 0, end = 0, group = 0;
        std::uint32_t circle = 0;  // of the first group of the part
        HashSum passing{};         // ways counted from that of the first passage
    };
    struct Passage {
        std::uint64_t way = 0;
        std::uint32_t size = 0, messages = 1;  // so many alike
    };
    // The bundles of groups in a row that pass one circle, each one way after that of the group before: so many turns
    // round the circle and the rest of one. The first has its ways moved by `shift`.
    struct Stretch {
        std::uint32_t circle = 0, bundle = 0;
        std::uint64_t shift = 0;
        std::uint32_t turns = 0, rest = 1;
    };
    struct Part {
        RowPart groups;
        std::uint32_t first_group = 0;             // number among the groups that show the row's
        std::vector<Message> messages{};           // of the first group, channel by channel
        std::vector<std::uint32_t> climbing{};     // those that may climb in groups moved inside their nodes
        std::vector<std::uint32_t> moved_kinds{};  // of these, move by move but for the first
        std::vector<OnNode> nodes{};               // of the first group; ascending
        std::vector<Bundle> bundles{};
        std::vector<Passage> passages{};
        std::vector<Stretch> stretches{};
        bool is_one() const { return groups.kind == RowPart::Kind::single; }
    };

    const GroupRow& row() const { return row_.groups(); }
    const std::vector<Part>& parts() const { return parts_; }
    const MessageKinds& kinds() const { return kinds_; }
    const Phase& phase() const { return phase_; }
    // Of a message of a part in its group moved inside its nodes by row().within[i], i > 0; `at`: in Part::climbing.
    std::uint32_t moved_kind(const Part& part, std::size_t at, std::size_t i) const {
        return part.moved_kinds[(i - 1) * part.climbing.size() + at];
    }

    // Calls visit(way, routes, detours) for the ways that messages take up and down a tier with so many, moved by
    // `shift`.
    template <class Visit>
    void for_each_way(const Passage& passage, std::uint64_t shift, std::uint64_t ways, Visit visit) const {
        const MessageSize& size = kinds_.sizes()[passage.size];
        const std::uint64_t way = passage.way + shift, step = topology_.router->tree()->detour_step(size.turn);
        visit(way % ways, passage.messages, 0U);
        for (std::uint32_t i = 1; i <= size.detours; ++i) visit((way + i * step) % ways, 0U, passage.messages);
    }

  private:
    friend class PartReader;
    std::vector<Message> read_messages(std::uint32_t move);

    const Topology& topology_;
    const Circles& circles_;
    const PartedRow& row_;
    const Communicator& communicator_;
    const Phase& phase_;
    MessageKinds kinds_;
    std::vector<Part> parts_;
};

}  // namespace weft
