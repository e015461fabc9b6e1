#include "workloads/step/script_placer.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr OpId no_op{0xffffffff};
constexpr std::uint32_t unknown = 0xffffffff;

class Placer {
  public:
    Placer(const Script& script, const Cell& cell, const Jitter& jitter, Groups& groups, ProgramBuilder& builder)
        : script_(script),
          cell_(cell),
          jitter_(jitter),
          groups_(groups),
          builder_(builder),
          work_(script.work().size(), unknown),
          end_(script.actions().size(), no_op) {
        for (const std::string& text : script.labels()) labels_.push_back(builder.label(text));
        for (const Call& call : script.calls()) placed_.push_back(place(call));
    }

    void write() {
        for (ActionId id = 0; id < script_.actions().size(); ++id) end_[id] = write(script_.actions()[id]);
    }

  private:
    // A call resolved once: where it goes and what it is.
    struct Placed {
        std::uint32_t set = 0;
        LaneId lane{};
        CommunicationId communication{};
        std::uint32_t* issued = nullptr;  // exchanges of the set so far; null for a group of one
        LabelId label{};
    };

    Placed place(const Call& call) {
        Placed placed{.set = groups_.find(cell_, call), .lane = groups_.lane(call)};
        if (groups_.size(placed.set) == 1) return placed;
        placed.communication = groups_.communication(placed.set, call);
        placed.issued = &issued_[{placed.set, call.direction}];
        const std::string_view way = call.direction == Direction::send      ? "send "
                                     : call.direction == Direction::receive ? "receive "
                                                                            : "";
        placed.label = builder_.label(std::string(way).append(call.label));
        return placed;
    }

    // The op whose end is the end of the action; no_op where there is nothing to wait for.
    OpId write(const Action& action) {
        switch (action.kind) {
            case Action::Kind::compute:
                return chain({OpKind::compute, lanes::compute, labels_[action.label], computation(action.subject),
                              index_of(action), action.where.layer});
            case Action::Kind::call:
                if (placed_[action.subject].issued == nullptr) return join();
                return chain(exchange(action));
            case Action::Kind::issue: {
                const OpId after = action.after == Action::none ? no_op : end_[action.after];
                if (placed_[action.subject].issued == nullptr) return after;
                return beside(exchange(action), after);
            }
            case Action::Kind::launch:
                return beside({OpKind::compute, lanes::host, labels_[action.label],
                               builder_.work(script_.work()[action.subject]), index_of(action), action.where.layer},
                              action.after == Action::none ? no_op : end_[action.after]);
            case Action::Kind::wait:
                if (end_[action.subject] != no_op) frontier_.push_back(end_[action.subject]);
                return no_op;
            case Action::Kind::join:
                return join();
        }
        return no_op;
    }

    // The work of a computation on this rank. The host's work is not the accelerator's.
    std::uint32_t computation(std::uint32_t number) {
        const Seconds scripted = script_.work()[number];
        if (jitter_.spread > 0.0) {
            const double factor = jitter_.factor(cell_.representative, computations_++);
            return builder_.work(scripted * (cell_.slowness * factor));
        }
        if (work_[number] == unknown) work_[number] = builder_.work(scripted * cell_.slowness);
        return work_[number];
    }

    OpId beside(const Op& op, OpId after) {
        const OpId waits[] = {after};
        return builder_.add(op, std::span(waits, after == no_op ? 0 : 1));
    }

    OpId chain(const Op& op) {
        frontier_.assign(1, builder_.add(op, frontier_));
        return frontier_.front();
    }

    // One op that stands for everything on the chain so far.
    OpId join() {
        if (frontier_.empty()) return no_op;
        if (frontier_.size() == 1) return frontier_.front();
        return chain({OpKind::join, lanes::compute, builder_.label("join")});
    }

    Op exchange(const Action& action) {
        const Placed& placed = placed_[action.subject];
        const ExchangeId id = groups_.occurrence(placed.set, (*placed.issued)++, placed.communication);
        return {OpKind::exchange, placed.lane,       placed.label, static_cast<std::uint32_t>(id),
                index_of(action), action.where.layer};
    }

    static std::uint32_t index_of(const Action& action) {
        return action.where.micro_batch == Where::whole_step ? 0 : action.where.micro_batch;
    }

    const Script& script_;
    Cell cell_;
    Jitter jitter_;
    std::uint64_t computations_ = 0;
    Groups& groups_;
    ProgramBuilder& builder_;
    std::vector<LabelId> labels_;
    std::vector<Placed> placed_;
    std::map<std::pair<std::uint32_t, Direction>, std::uint32_t> issued_;
    std::vector<std::uint32_t> work_;  // of the program, by that of the script
    std::vector<OpId> end_;            // of each action
    std::vector<OpId> frontier_;       // what the next operation of the chain waits for
};

}  // namespace

std::size_t most_ops(const Script& script) {
    const auto waits = std::ranges::count(script.actions(), Action::Kind::wait, &Action::kind);
    return script.actions().size() - static_cast<std::size_t>(waits);
}

void place_script(const Script& script, const Cell& cell, const Jitter& jitter, Groups& groups,
                  ProgramBuilder& builder) {
    Placer(script, cell, jitter, groups, builder).write();
}

}  // namespace weft
