#include "sim/engine/timeline.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// What a part begins with, above its flags: how many ops it has.
enum Flag : unsigned {
    disturbed = 1,
    elsewhere = 2,     // it does not begin with the op after the part before: with this one
    posted_apart = 4,  // it was not posted when that was over: so many ticks later
    waited = 8,        // it began so many ticks after it was posted
};
constexpr unsigned flag_bits = 4;
constexpr std::size_t most_bytes = 5 + 4 + 8 + 2 * 10;

class Writer {
  public:
    // Seven bits a byte, the lowest first; the highest bit of a byte says that more follow.
    void small(std::uint64_t number) {
        for (; number >= 0x80U; number >>= 7U) bytes_[size_++] = static_cast<std::uint8_t>(number | 0x80U);
        bytes_[size_++] = static_cast<std::uint8_t>(number);
    }
    template <class Number>
    void whole(Number number) {
        std::memcpy(bytes_.data() + size_, &number, sizeof(number));
        size_ += sizeof(number);
    }
    std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }

  private:
    std::array<std::uint8_t, most_bytes> bytes_;
    std::size_t size_ = 0;
};

template <class Number>
Number read(const std::uint8_t*& at) {
    Number number;
    std::memcpy(&number, at, sizeof(number));
    at += sizeof(number);
    return number;
}

// Of instants in order.
std::uint64_t ticks_between(Instant from, Instant to) {
    return static_cast<std::uint64_t>(to.femtoseconds - from.femtoseconds);
}

std::uint64_t read_small(const std::uint8_t*& at) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7U) {
        const std::uint8_t byte = *at++;
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80U) return number;
    }
}

}  // namespace

void RoutineParts::add(const RoutinePart& part) {
    if (last_.ops > 0) store(last_);
    last_ = part;
}

void RoutineParts::add_before_last(const RoutinePart& part) {
    WEFT_CHECK(last_.ops > 0, "there is no last part");
    store(part);
}

void RoutineParts::store(const RoutinePart& part) {
    unsigned flags = part.beside == Disturbance::transfer ? disturbed : 0U;
    if (part.first != stored_.end()) flags |= elsewhere;
    if (part.posted != stored_.over) flags |= posted_apart;
    if (part.posted != part.begin) flags |= waited;
    Writer writer;
    writer.small(std::uint64_t{part.ops} << flag_bits | flags);
    if (flags & elsewhere) writer.whole(part.first);
    if (flags & posted_apart) writer.whole(part.posted.femtoseconds - stored_.over.femtoseconds);
    if (flags & waited) writer.small(ticks_between(part.posted, part.begin));
    writer.small(ticks_between(part.begin, part.over));
    bytes_.insert(bytes_.end(), writer.bytes().begin(), writer.bytes().end());
    stored_ = part;
}

RoutinePart RoutineParts::Reader::next() {
    if (at_ == end_) {
        WEFT_CHECK(last_ != nullptr && last_->ops > 0, "no part is left");
        return *std::exchange(last_, nullptr);
    }
    const std::uint64_t head = read_small(at_);
    const auto flags = static_cast<unsigned>(head) & ((1U << flag_bits) - 1);
    RoutinePart part{.first = flags & elsewhere ? read<std::uint32_t>(at_) : before_.end(),
                     .ops = static_cast<std::uint32_t>(head >> flag_bits),
                     .beside = flags & disturbed ? Disturbance::transfer : Disturbance::none,
                     .posted = before_.over,
                     .begin = {},
                     .over = {}};
    if (flags & posted_apart) part.posted.femtoseconds += read<std::int64_t>(at_);
    part.begin = part.posted;
    if (flags & waited) part.begin.femtoseconds += static_cast<std::int64_t>(read_small(at_));
    part.over = {part.begin.femtoseconds + static_cast<std::int64_t>(read_small(at_))};
    before_ = part;
    return part;
}

namespace {

// Ops of a course, which all classes that follow it have alike.
bool is_computation(const Program& program, std::uint32_t op) {
    const Op& what = program.ops.kept[op];
    return what.kind == OpKind::compute && what.lane == program.contended;
}

bool is_own_exchange(const Program& program, RankClassId id, std::uint32_t op) {
    const Op& what = program.ops.kept[op];
    return what.kind == OpKind::exchange && program.exchanges[program.ops.exchange(what, id)].parties == 1;
}

// How many ops before `end` the unit that begins with `first` would have; 0 if it cannot begin one.
std::uint32_t count_unit(const Program& program, RankClassId id, std::uint32_t first, std::uint32_t end) {
    if (first >= end) return 0;
    if (is_own_exchange(program, id, first)) {
        const std::span<const std::uint32_t> next = program.ops.kept_successors(first);
        const bool is_beside =
            first + 1 < end && is_computation(program, first + 1) && next.size() == 1 && next.front() != first + 1;
        return is_beside ? 2 : 1;
    }
    return is_computation(program, first) || program.ops.kept[first].kind == OpKind::join ? 1 : 0;
}

bool follows(const Program& program, std::uint32_t unit, std::uint32_t ops, std::uint32_t before) {
    for (std::uint32_t op = unit; op < unit + ops; ++op) {
        if (program.ops.predecessors[op] != unit - before) return false;
    }
    for (std::uint32_t op = before; op < unit; ++op) {
        const std::span<const std::uint32_t> next = program.ops.kept_successors(op);
        if (next.size() != ops || next.front() != unit || next.back() != unit + ops - 1) return false;
    }
    return true;
}

// To the tick as the event loop finds it. The exchange of a unit slows the computation while it lasts.
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
    : ends_(program.ops.kept.size(), 0), place_(ends_.size(), 0), is_pair_(ends_.size(), false) {
    const ComputeTimes works(program);
    std::map<std::uint32_t, std::uint32_t> timed;  // how many ops of routines a course has, by its first op
    for_each_course(program, [&](RankClassId id) {
        const RankClass& own = program.classes[id];
        std::uint32_t op = own.course + (works.are_constant() ? 0 : own.routine_ops);
        for (timed_ = 0; op < own.past_course();) op = find(program, id, op, own.past_course());
        timed[own.course] = timed_;
    });
    std::size_t stays = 0;
    for (const RankClass& own : program.classes) {
        classes_.push_back({own.course - own.begin_op(), stays});
        stays += timed[own.course];
    }
    for (const Disturbance beside : {Disturbance::none, Disturbance::transfer}) {
        if (beside == Disturbance::transfer && program.interference == 1.0) continue;
        stays_[index_of(beside)].resize(stays);
        for (RankClassId id{}; id != program.classes.end_id(); id = next(id))
            add_times(program, id, works, transfers, beside);
    }
}

void RoutineTimes::add_times(const Program& program, RankClassId id, const ComputeTimes& works,
                             const Table<CommunicationId, std::int64_t>& transfers, Disturbance beside) {
    const RankClass& own = program.classes[id];
    Stay* const stays = stays_[index_of(beside)].data() + classes_[id].first_stay;
    Instant begin, over;  // of the unit at hand
    const auto add = [&](std::uint32_t kept, Instant end) {
        stays[place_[kept]] = {begin.femtoseconds, end.femtoseconds};
        over = std::max(over, end);
    };
    for (std::uint32_t kept = own.course, end = 0, ops = 1; kept < own.past_course(); kept += ops) {
        ops = is_pair_[kept] ? 2 : 1;
        if (ends_[kept] == 0) continue;
        if (std::exchange(end, ends_[kept]) != ends_[kept]) over = {};
        begin = over;
        const Op &first = program.ops.kept[kept], &last = program.ops.kept[kept + ops - 1];
        if (first.kind == OpKind::join) add(kept, begin);
        if (first.kind == OpKind::exchange) {
            add(kept, after_or_end(begin, transfers[program.exchanges[program.ops.exchange(first, id)].communication]));
        }
        if (last.kind != OpKind::compute) continue;
        const std::int64_t work = ticks(works.of(program.ops.places.op(kept + ops - 1, id), id));
        add(kept + ops - 1, computation_over(begin, work, over, beside, program.interference));
    }
}

// Notes the routine of a course that begins with `first`, if there is one; returns where to go on looking.
std::uint32_t RoutineTimes::find(const Program& program, RankClassId id, std::uint32_t first, std::uint32_t end) {
    if (count_unit(program, id, first, first + 1) == 0) return first + 1;
    is_pair_[first] = false;
    std::uint32_t unit = first, ops = 1, past = first + 1;  // `past`: after the last unit of one op
    for (;;) {
        const std::uint32_t next = unit + ops, count = count_unit(program, id, next, end);
        if (count == 0 || !follows(program, next, count, unit)) break;
        is_pair_[next] = count == 2;
        unit = next;
        ops = count;
        if (ops == 1) past = next + 1;
    }
    if (past < first + fewest_ops) return past;
    for (std::uint32_t op = first; op < past; op += is_pair_[op] ? 2 : 1) ends_[op] = past;
    for (std::uint32_t op = first; op < past; ++op) place_[op] = timed_++;
    return past;
}

std::uint32_t RoutineTimes::OfClass::last_begun(std::uint32_t first, std::uint32_t end, std::int64_t by,
                                                Disturbance beside) const {
    const Stay* const stays = &stay(first, beside);
    const Stay* const past = std::upper_bound(stays, stays + (end - first), by,
                                              [](std::int64_t ticks, const Stay& stay) { return ticks < stay.begin; });
    const auto last = first + static_cast<std::uint32_t>(past - stays) - 1;
    return last > first && times_.is_pair_[kept(last - 1)] ? last - 1 : last;
}

}  // namespace weft
