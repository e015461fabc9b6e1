#include "sim/engine/routine_times.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "sim/engine/ticks.hpp"
#include "sim/program/compute_times.hpp"

namespace weft {
namespace {

bool is_computation(const Program& program, std::uint32_t op) {
    const Op& what = program.ops[OpId{op}];
    return what.kind == OpKind::compute && what.lane == program.contended;
}

bool is_own_exchange(const Program& program, std::uint32_t op) {
    const Op& what = program.ops[OpId{op}];
    return what.kind == OpKind::exchange && program.exchanges[ExchangeId(what.subject)].parties == 1;
}

// How many ops before `end` the segment that begins with `first` would have; 0 if it cannot begin one.
std::uint32_t count_segment(const Program& program, std::uint32_t first, std::uint32_t end) {
    if (first >= end) return 0;
    if (is_own_exchange(program, first)) {
        const std::span<const OpId> next = program.successors_of(OpId{first});
        const bool is_beside = first + 1 < end && is_computation(program, first + 1) && next.size() == 1 &&
                               next.front() != OpId{first + 1};
        return is_beside ? 2 : 1;
    }
    return is_computation(program, first) || program.ops[OpId{first}].kind == OpKind::join ? 1 : 0;
}

bool follows(const Program& program, std::uint32_t segment, std::uint32_t ops, std::uint32_t before) {
    for (std::uint32_t op = segment; op < segment + ops; ++op) {
        if (program.predecessors[OpId{op}] != segment - before) return false;
    }
    for (std::uint32_t op = before; op < segment; ++op) {
        const std::span<const OpId> next = program.successors_of(OpId{op});
        if (next.size() != ops || next.front() != OpId{segment} || next.back() != OpId{segment + ops - 1}) return false;
    }
    return true;
}

// To the tick as the event loop finds it. The exchange of a segment slows the computation while it lasts.
Instant computation_over(Instant begin, std::int64_t work, Instant exchange_over, Disturbance beside, double factor) {
    if (factor == 1.0) return after_or_end(begin, work);
    const Instant slow = after_or_end(begin, scaled(work, factor));
    if (beside == Disturbance::transfer || slow <= exchange_over) return slow;
    WorkProgress progress{.since = begin};
    progress.advance(exchange_over, Disturbance::transfer);
    return after_or_end(exchange_over, progress.left(work, Disturbance::none, factor));
}

}  // namespace

RoutineTimes::RoutineTimes(const Program& program, const Table<CommunicationId, std::int64_t>& transfers)
    : ends_(program.ops.size(), 0), places_(program.ops.size(), 0), is_pair_(program.ops.size(), false) {
    const ComputeTimes works(program);
    for (const RankClass& rank_class : program.classes) {
        const std::uint32_t end = rank_class.end_op();
        std::uint32_t op = works.are_constant() ? rank_class.begin_op() : rank_class.first_op;
        while (op < end) op = find(program, op, end);
    }
    add_times(program, works, transfers, Disturbance::none);
    if (program.interference > 1.0) add_times(program, works, transfers, Disturbance::transfer);
}

void RoutineTimes::add_times(const Program& program, const ComputeTimes& works,
                             const Table<CommunicationId, std::int64_t>& transfers, Disturbance beside) {
    std::vector<Stay>& stays = stays_[index_of(beside)];
    stays.resize(timed_);
    Instant begin, over;  // of the segment at hand
    auto rank_class = program.classes.begin();
    const auto add = [&](std::uint32_t op, Instant end) {
        stays[places_[op]] = {begin.femtoseconds, end.femtoseconds};
        over = std::max(over, end);
    };
    for (std::uint32_t op = 0, end = 0; op < ends_.size(); op += ops_of_segment(op)) {
        if (ends_[op] == 0) continue;
        if (std::exchange(end, ends_[op]) != ends_[op]) over = {};
        begin = over;
        const Op &first = program.ops[OpId{op}], &last = program.ops[OpId{op + ops_of_segment(op) - 1}];
        if (first.kind == OpKind::join) add(op, begin);
        if (first.kind == OpKind::exchange) {
            add(op, after_or_end(begin, transfers[program.communication_of(first)]));
        }
        if (last.kind != OpKind::compute) continue;
        while (rank_class->end_op() <= op) ++rank_class;
        const std::uint32_t computation = op + ops_of_segment(op) - 1;
        const std::int64_t work = ticks(works.of(OpId{computation}, rank_class->representative));
        add(computation, computation_over(begin, work, over, beside, program.interference));
    }
}

// Notes the routine that begins with `first`, if there is one; returns where to go on looking.
std::uint32_t RoutineTimes::find(const Program& program, std::uint32_t first, std::uint32_t end) {
    if (count_segment(program, first, first + 1) == 0) return first + 1;
    is_pair_[first] = false;
    std::uint32_t segment = first, ops = 1, past = first + 1;  // `past`: after the last segment of one op
    for (;;) {
        const std::uint32_t next = segment + ops, count = count_segment(program, next, end);
        if (count == 0 || !follows(program, next, count, segment)) break;
        is_pair_[next] = count == 2;
        segment = next;
        ops = count;
        if (ops == 1) past = next + 1;
    }
    if (past < first + fewest_ops) return past;
    for (std::uint32_t op = first; op < past; op += ops_of_segment(op)) ends_[op] = past;
    for (std::uint32_t op = first; op < past; ++op) places_[op] = timed_++;
    return past;
}

std::uint32_t RoutineTimes::last_begun(std::uint32_t first, std::uint32_t end, std::int64_t by,
                                       Disturbance beside) const {
    const auto stays = stays_[index_of(beside)].begin() + places_[first];
    const auto past = std::upper_bound(stays, stays + (end - first), by,
                                       [](std::int64_t ticks, const Stay& stay) { return ticks < stay.begin; });
    const auto last = first + static_cast<std::uint32_t>(past - stays) - 1;
    return last > first && is_pair_[last - 1] ? last - 1 : last;
}

}  // namespace weft
