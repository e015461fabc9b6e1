#include "workloads/step/step_builder.hpp"

#include <string>

namespace weft {
namespace {

constexpr OpId no_op{0xffffffff}, inside{0xfffffffe};  // a routine
constexpr std::uint32_t unknown = 0xffffffff;

// The calls of a script as a cell makes them.
class PlacedCalls {
  public:
    PlacedCalls(const Script& script, const Cell& cell, GroupSets& groups) : groups_(groups) {
        for (const Call& call : script.calls()) {
            const std::uint32_t set = groups.find(cell, call);
            const bool is_alone = groups.size(set) == 1;
            calls_.push_back({set, is_alone ? CommunicationId{} : groups.communication(set, call),
                              is_alone ? nullptr : &issued_[{set, call.direction}]});
        }
    }

    bool is_alone(std::uint32_t call) const { return calls_[call].issued == nullptr; }
    // The next one of a call.
    ExchangeId exchange(std::uint32_t call) {
        const Placed& placed = calls_[call];
        return groups_.occurrence(placed.set, (*placed.issued)++, placed.communication);
    }

  private:
    struct Placed {
        std::uint32_t set = 0;
        CommunicationId communication{};
        std::uint32_t* issued = nullptr;  // exchanges of the set so far; null for a group of one
    };

    GroupSets& groups_;
    std::map<std::pair<std::uint32_t, Direction>, std::uint32_t> issued_;
    std::vector<Placed> calls_;
};

class Placer {
  public:
    // Into the class that was begun last.
    Placer(const Script& script, const Cell& cell, const GroupSets& groups, PlacedCalls& placed,
           ProgramBuilder& builder, std::vector<WorkOrigin>& origins)
        : script_(script),
          cell_(cell),
          placed_(placed),
          builder_(builder),
          origins_(origins),
          excerpts_in_order_(repeated_excerpts(script)),
          work_(script.work().size(), unknown),
          end_(script.actions().size(), inside) {
        for (const std::string& text : script.labels()) labels_.push_back(builder.label(text));
        for (std::uint32_t call = 0; call < script.calls().size(); ++call) {
            call_lanes_.push_back(groups.lane(script.calls()[call]));
            call_labels_.push_back(placed.is_alone(call) ? LabelId{} : label(script.calls()[call]));
        }
        write_routines();
    }

    // Returns the calls that its exchanges are, in order.
    std::vector<std::uint32_t> write() {
        ActionId next = 0;
        for (const Repeat& repeat : excerpts_in_order_) {
            write(next, repeat.first);
            write(excerpts_.at(extent(repeat)), repeat);
            next = repeat.first + repeat.actions;
        }
        write(next, static_cast<ActionId>(script_.actions().size()));
        return std::move(exchanges_);
    }

  private:
    LabelId label(const Call& call) {
        const std::string_view verb = call.direction == Direction::send      ? "send "
                                      : call.direction == Direction::receive ? "receive "
                                                                             : "";
        return builder_.label(std::string(verb).append(call.label));
    }

    // Of the original: a pass may begin with a layer that is repeated as well.
    using Extent = std::pair<ActionId, std::uint32_t>;
    static Extent extent(const Repeat& repeat) { return {repeat.original, repeat.actions}; }

    // A part of an excerpt and what it became, if it is a routine.
    struct Part {
        ExcerptPart actions;
        RoutineId routine{};
    };
    struct RepeatedExcerpt {
        ActionId last = 0;  // as the routines have it: elsewhere it may have been made longer
        std::vector<Part> parts;
    };

    // As the first that is no original has them: that may have been made longer.
    void write_routines() {
        for (const Repeat& repeat : excerpts_in_order_) {
            if (repeat.first == repeat.original) continue;
            const auto [known, fresh] = excerpts_.try_emplace(extent(repeat));
            if (!fresh) continue;
            RepeatedExcerpt& excerpt = known->second;
            excerpt.last = repeat.first + repeat.actions - 1;
            for (ExcerptPart& part : cut(script_, repeat, [this](const Action& call) { return may_be_inside(call); })) {
                const RoutineId routine = part.entries.empty() ? RoutineId{} : write_routine(repeat, part);
                excerpt.parts.push_back({std::move(part), routine});
            }
        }
    }

    bool may_be_inside(const Action& call) const {
        return !placed_.is_alone(call.subject) && may_be_in_routine(script_, call);
    }

    RoutineId write_routine(const Repeat& repeat, const ExcerptPart& part) {
        std::vector<ProgramBuilder::RoutineUnit> entries;
        for (const RoutineEntry& entry : part.entries) {
            entries.push_back({inner(repeat, entry.action), {}});
            if (entry.beside) entries.back().beside = inner(repeat, *entry.beside);
        }
        return builder_.routine(entries);
    }

    // As the original has it.
    Op inner(const Repeat& repeat, std::uint32_t number) {
        const Action& action = script_.actions()[repeat.first + number];
        if (action.kind == Action::Kind::join) return join_op();
        Op op = action.kind == Action::Kind::compute ? compute(action) : exchange(action);
        op.part -= repeat.layers_on;
        return op;
    }

    Op join_op() { return {OpKind::join, lanes::compute, builder_.label("join")}; }

    void write(ActionId first, ActionId end) {
        for (ActionId id = first; id < end; ++id) end_[id] = write(script_.actions()[id]);
    }

    void write(const RepeatedExcerpt& excerpt, const Repeat& repeat) {
        for (const Part& part : excerpt.parts) {
            const ActionId first = repeat.first + part.actions.begin, end = repeat.first + part.actions.end;
            const bool differs = part.actions.end == repeat.actions && !ends_the_same(excerpt.last, end - 1);
            if (part.actions.entries.empty() || differs || !builder_.is_free(part.routine, frontier_)) {
                write(first, end);
                continue;
            }
            const LabelId label = labels_[script_.actions()[first].label];
            end_[end - 1] = chain({OpKind::routine, lanes::compute, label, static_cast<std::uint32_t>(part.routine),
                                   repeat.micro_batch, repeat.layers_on});
        }
    }

    bool ends_the_same(ActionId last, ActionId other) const {
        const Action &a = script_.actions()[last], &b = script_.actions()[other];
        return a.kind != Action::Kind::compute ||
               (a.label == b.label && script_.work()[a.subject] == script_.work()[b.subject]);
    }

    // The op whose end is the end of the action; no_op where there is nothing to wait for.
    OpId write(const Action& action) {
        switch (action.kind) {
            case Action::Kind::compute:
                return chain(compute(action));
            case Action::Kind::call:
                if (placed_.is_alone(action.subject)) return join();
                return chain(exchange(action));
            case Action::Kind::issue: {
                const OpId after = end_of(action.after);
                if (placed_.is_alone(action.subject)) return after;
                return beside(exchange(action), after);
            }
            case Action::Kind::launch:
            case Action::Kind::store:
            case Action::Kind::load:
                return beside({OpKind::compute, lane_of(action.kind), labels_[action.label], work(action.subject, 1.0),
                               index_of(action), action.where.layer},
                              end_of(action.after));
            case Action::Kind::wait:
                if (const OpId end = end_of(action.subject); end != no_op) frontier_.push_back(end);
                return no_op;
            case Action::Kind::join:
                return join();
        }
        return no_op;
    }

    static LaneId lane_of(Action::Kind beside) {
        return beside == Action::Kind::store ? lanes::store : beside == Action::Kind::load ? lanes::load : lanes::host;
    }

    OpId end_of(ActionId action) const {
        if (action == Action::none) return no_op;
        WEFT_CHECK(end_[action] != inside, "something starts after an action inside a routine");
        return end_[action];
    }

    Op compute(const Action& action) {
        return {OpKind::compute,  lanes::compute,    labels_[action.label], computation(action.subject),
                index_of(action), action.where.layer};
    }

    // The work of a computation on this rank. The host's work is not the accelerator's.
    std::uint32_t computation(std::uint32_t number) {
        if (work_[number] == unknown) work_[number] = work(number, cell_.slowness);
        return work_[number];
    }

    std::uint32_t work(std::uint32_t number, double factor) {
        const std::uint32_t work = builder_.work(script_.work()[number] * factor);
        if (work == origins_.size()) origins_.push_back({cell_.stage, number});
        return work;
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
        return chain(join_op());
    }

    Op exchange(const Action& action) {
        exchanges_.push_back(action.subject);
        const auto exchange = static_cast<std::uint32_t>(placed_.exchange(action.subject));
        return {OpKind::exchange, call_lanes_[action.subject], call_labels_[action.subject], exchange,
                index_of(action), action.where.layer};
    }

    static std::uint32_t index_of(const Action& action) {
        return action.where.micro_batch == Where::whole_step ? 0 : action.where.micro_batch;
    }

    const Script& script_;
    Cell cell_;
    PlacedCalls& placed_;
    ProgramBuilder& builder_;
    std::vector<WorkOrigin>& origins_;  // by work of the program
    std::vector<Repeat> excerpts_in_order_;
    std::vector<LabelId> labels_, call_labels_;
    std::vector<LaneId> call_lanes_;
    std::vector<std::uint32_t> exchanges_;  // calls that became some
    std::vector<std::uint32_t> work_;       // of the program, by that of the script
    std::map<Extent, RepeatedExcerpt> excerpts_;
    std::vector<OpId> end_;       // of each action
    std::vector<OpId> frontier_;  // what the next operation of the chain waits for
};

}  // namespace

CellKind kind_of(const Cell& cell, const Script& script, GroupSets& groups) {
    const auto parties = [&](const Call& call) {
        const std::uint32_t set = groups.find(cell, call);
        return groups.size(set) == 1 ? 0 : groups.parties(set);
    };
    return {cell.stage, cell.slowness, list_of<std::uint32_t>(script.calls(), parties)};
}

void ScriptPlacer::place(const Script& script, const Cell& cell, std::string name) {
    PlacedCalls calls(script, cell, groups_);
    if (!placed_.empty() && placed_.begin()->first.stage != cell.stage) placed_.clear();  // none comes back to it
    const auto [known, fresh] = placed_.try_emplace(kind_of(cell, script, groups_));
    Placed& placed = known->second;
    if (fresh) {
        placed.rank_class = builder_.begin_class(std::move(name), cell.representative, cell.weight);
        placed.calls = Placer(script, cell, groups_, calls, builder_, origins_).write();
        return;
    }
    const auto exchanges =
        list_of<ExchangeId>(placed.calls, [&calls](std::uint32_t call) { return calls.exchange(call); });
    builder_.add_class_like(placed.rank_class, std::move(name), cell.representative, cell.weight, exchanges);
}

}  // namespace weft
