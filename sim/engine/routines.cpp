#include "sim/engine/timeline.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// What a part begins with, above its flags: how many ops it has.
enum Flag : unsigned {
    disturbed = 1,
    elsewhere = 2,     // it does not begin with the op after the part before: with this one
    begins_apart = 4,  // nor when that was over: so many ticks later
    waited = 8,        // it was posted so many ticks before it began
};
constexpr unsigned flag_bits = 4;
constexpr std::size_t most_bytes = 5 + 4 + 3 * 8;

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
    if (part.begin != stored_.over) flags |= begins_apart;
    if (part.posted != part.begin) flags |= waited;
    Writer writer;
    writer.small(std::uint64_t{part.ops} << flag_bits | flags);
    if (flags & elsewhere) writer.whole(part.first);
    if (flags & begins_apart) writer.whole(part.begin.femtoseconds - stored_.over.femtoseconds);
    if (flags & waited) writer.whole(part.begin.femtoseconds - part.posted.femtoseconds);
    writer.whole(part.over.femtoseconds - part.begin.femtoseconds);
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
                     .posted = {},
                     .begin = before_.over,
                     .over = {}};
    if (flags & begins_apart) part.begin.femtoseconds += read<std::int64_t>(at_);
    part.posted = part.begin;
    if (flags & waited) part.posted.femtoseconds -= read<std::int64_t>(at_);
    part.over = {part.begin.femtoseconds + read<std::int64_t>(at_)};
    before_ = part;
    return part;
}

namespace {

bool is_computation(const Program& program, std::uint32_t op) {
    const Op& what = program.ops[OpId{op}];
    return what.kind == OpKind::compute && what.lane == program.contended;
}

bool is_own_exchange(const Program& program, std::uint32_t op) {
    const Op& what = program.ops[OpId{op}];
    return what.kind == OpKind::exchange && program.exchanges[ExchangeId(what.subject)].parties == 1;
}

// How many ops before `end` the unit that begins with `first` would have; 0 if it cannot begin one.
std::uint32_t count_unit(const Program& program, std::uint32_t first, std::uint32_t end) {
    if (first >= end) return 0;
    if (is_own_exchange(program, first)) {
        const std::span<const OpId> next = program.successors_of(OpId{first});
        const bool is_beside = first + 1 < end && is_computation(program, first + 1) && next.size() == 1 &&
                               next.front() != OpId{first + 1};
        return is_beside ? 2 : 1;
    }
    return is_computation(program, first) || program.ops[OpId{first}].kind == OpKind::join ? 1 : 0;
}

bool follows(const Program& program, std::uint32_t unit, std::uint32_t ops, std::uint32_t before) {
    for (std::uint32_t op = unit; op < unit + ops; ++op) {
        if (program.predecessors[OpId{op}] != unit - before) return false;
    }
    for (std::uint32_t op = before; op < unit; ++op) {
        const std::span<const OpId> next = program.successors_of(OpId{op});
        if (next.size() != ops || next.front() != OpId{unit} || next.back() != OpId{unit + ops - 1}) return false;
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
    Instant begin, over;  // of the unit at hand
    auto rank_class = program.classes.begin();
    const auto add = [&](std::uint32_t op, Instant end) {
        stays[places_[op]] = {begin.femtoseconds, end.femtoseconds};
        over = std::max(over, end);
    };
    for (std::uint32_t op = 0, end = 0; op < ends_.size(); op += ops_of_unit(op)) {
        if (ends_[op] == 0) continue;
        if (std::exchange(end, ends_[op]) != ends_[op]) over = {};
        begin = over;
        const Op &first = program.ops[OpId{op}], &last = program.ops[OpId{op + ops_of_unit(op) - 1}];
        if (first.kind == OpKind::join) add(op, begin);
        if (first.kind == OpKind::exchange) {
            add(op, after_or_end(begin, transfers[program.communication_of(first)]));
        }
        if (last.kind != OpKind::compute) continue;
        while (rank_class->end_op() <= op) ++rank_class;
        const std::uint32_t computation = op + ops_of_unit(op) - 1;
        const std::int64_t work = ticks(works.of(OpId{computation}, rank_class->representative));
        add(computation, computation_over(begin, work, over, beside, program.interference));
    }
}

// Notes the routine that begins with `first`, if there is one; returns where to go on looking.
std::uint32_t RoutineTimes::find(const Program& program, std::uint32_t first, std::uint32_t end) {
    if (count_unit(program, first, first + 1) == 0) return first + 1;
    is_pair_[first] = false;
    std::uint32_t unit = first, ops = 1, past = first + 1;  // `past`: after the last unit of one op
    for (;;) {
        const std::uint32_t next = unit + ops, count = count_unit(program, next, end);
        if (count == 0 || !follows(program, next, count, unit)) break;
        is_pair_[next] = count == 2;
        unit = next;
        ops = count;
        if (ops == 1) past = next + 1;
    }
    if (past < first + fewest_ops) return past;
    for (std::uint32_t op = first; op < past; op += ops_of_unit(op)) ends_[op] = past;
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
