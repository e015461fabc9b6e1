// Builds a Program. Classes are filled one after another; within a class, ops may be added in any order of lanes, and
// each lane runs its ops in the order added. Every misuse is a LogicError.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/texts.hpp"
#include "sim/program/program.hpp"

namespace weft {

class ProgramBuilder {
  public:
    // `interference` is Program::interference: finite, at least 1.
    explicit ProgramBuilder(std::vector<std::string> lanes, double interference = 1.0);

    void reserve(std::size_t ops);               // room for so many that are kept, and what they wait for
    LabelId label(std::string_view text);        // interned
    std::uint32_t work(Seconds duration);        // interned; zero is allowed, negative, infinite or NaN is not
    PatternId pattern(Pattern pattern);          // interned by value
    std::uint32_t method(const Method& method);  // interned
    // `first_leg` and `legs` of `what` are filled in here.
    CommunicationId communication(Communication what, std::span<const Leg> legs);
    ExchangeId exchange(CommunicationId communication, std::uint32_t parties);

    RankClassId begin_class(std::string name, RankId representative, std::uint32_t weight);
    // A class that does what `other` does, which is complete, in exchanges of its own: one for each of its ops that
    // takes part in one, in the order in which those were added, with as many parties as the one there.
    RankClassId add_class_like(RankClassId other, std::string name, RankId representative, std::uint32_t weight,
                               std::span<const ExchangeId> exchanges);

    // Of the class begun last, which has no op yet.
    struct RoutineUnit {
        Op op;                     // a computation, exchange or join
        std::optional<Op> beside;  // a computation beside an exchange
    };
    RoutineId routine(std::span<const RoutineUnit> units);
    // Adds an op to the class begun last. It waits for the op added before it on its lane and for `after`, which must
    // be ops of the same class, already added; naming one twice is harmless. The program may leave out what others of
    // these imply. A routine is on all lanes of its ops: what comes after it on one of them waits for its end.
    OpId add(const Op& op, std::span<const OpId> after);
    // Whether all that a routine would wait for, if it were added, is over by the end of `after`: then none of its ops
    // could begin earlier if it were added by itself. "No" is always safe.
    bool is_free(RoutineId routine, std::span<const OpId> after) const;
    OpId add(const Op& op, std::initializer_list<OpId> after) {
        return add(op, std::span(after.begin(), after.size()));
    }

    // Checks that every exchange has as many ops as parties, which come to it equally often. The builder is empty
    // afterwards.
    Program finish();

  private:
    RankClass& last_class() { return *(program_.classes.end() - 1); }
    const RankClass& last_class() const { return *(program_.classes.end() - 1); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(program_.ops.kept.size()); }
    // Where an op of the class begun last is kept.
    std::uint32_t kept(OpId op) const { return static_cast<std::uint32_t>(op) + shift_; }
    void check_subject(const Op& op) const;
    std::span<const LaneId> lanes_of(const Op& op) const;  // which it must outlive
    void append(const Op& op, std::uint32_t predecessors);
    std::uint32_t collect_predecessors(const Op& op, std::span<const OpId> after);
    bool is_implied(OpId before, std::span<const OpId> after) const;
    void insert_predecessor(std::size_t start, std::uint32_t before);
    bool waits_for(std::uint32_t op, std::uint32_t other, int& steps) const;
    void check_exchanges() const;
    void invert_predecessors();

    Program program_;
    std::uint32_t shift_ = 0;  // from an op of the class begun last to where it is kept
    // As they are kept.
    std::vector<std::uint32_t> predecessors_;       // of all ops, op by op: those in program_ count those of each
    std::vector<std::uint32_t> first_predecessor_;  // of each op, in predecessors_
    std::vector<OpId> lane_tail_;                   // last op per lane of the class begun last, no_op for none
    Table<RoutineId, std::vector<LaneId>> routine_lanes_;
    Table<ExchangeId, std::uint32_t> seen_;  // ops that take part so far
    // Ids are looked up by value and numbered in order of arrival, so no order of a hash map can show.
    TextMap<LabelId> label_ids_;
    std::unordered_map<double, std::uint32_t> work_ids_;
    std::unordered_multimap<std::uint64_t, PatternId> pattern_ids_;  // by fingerprint, compared by value
};

}  // namespace weft
