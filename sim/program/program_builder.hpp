// Builds a Program. Classes are filled one after another; within a class, ops may be added in any order of lanes, and
// each lane runs its ops in the order added. Every misuse is a LogicError.
#pragma once

#include <array>
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

    void reserve(std::size_t ops);               // room for so many, and what they wait for
    LabelId label(std::string_view text);        // interned
    std::uint32_t work(Seconds duration);        // interned; zero is allowed, negative, infinite or NaN is not
    PatternId pattern(Pattern pattern);          // interned by value
    std::uint32_t method(const Method& method);  // interned
    // `first_leg` and `legs` of `what` are filled in here.
    CommunicationId communication(Communication what, std::span<const Leg> legs);
    ExchangeId exchange(CommunicationId communication, std::uint32_t parties);

    RankClassId begin_class(std::string name, RankId representative, std::uint32_t weight);
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
    void check_subject(const Op& op) const;
    std::span<const LaneId> lanes_of(const Op& op) const;  // which it must outlive
    OpId append(const Op& op, std::uint32_t predecessors);
    std::uint32_t collect_predecessors(const Op& op, std::span<const OpId> after);
    bool is_implied(OpId before, std::span<const OpId> after) const;
    void insert_predecessor(std::size_t start, OpId before);
    bool waits_for(OpId op, OpId other, int& steps) const;
    void check_routine_exchanges() const;
    void invert_predecessors();

    Program program_;
    std::vector<OpId> predecessors_;                // of all ops, op by op: program_.predecessors counts those of each
    std::vector<std::uint32_t> first_predecessor_;  // of each op, in predecessors_
    std::vector<OpId> lane_tail_;                   // last op per lane of the class begun last, no_op for none
    Table<RoutineId, std::vector<LaneId>> routine_lanes_;
    Table<ExchangeId, std::uint32_t> seen_;  // ops that take part so far
    // Ids are looked up by value and numbered in order of arrival, so no order of a hash map can show.
    TextMap<LabelId> label_ids_;
    std::unordered_map<double, std::uint32_t> work_ids_;
    std::array<std::uint32_t, 64> recent_work_{};  // looked at before work_ids_, by the bits of the duration
    std::unordered_multimap<std::uint64_t, PatternId> pattern_ids_;  // by fingerprint, compared by value
};

}  // namespace weft
