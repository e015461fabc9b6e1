#include "sim/program/program_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/hash.hpp"

namespace weft {
namespace {

// How far collect_predecessors looks for what is implied. Calls of one kind are mostly closer to one another.
constexpr int most_steps = 32;

bool is_finite_amount(double value) { return std::isfinite(value) && value >= 0.0; }

std::uint64_t fingerprint(const Pattern& pattern) {
    Fingerprint print;
    print.add(pattern.cap.value).add(pattern.alone.value);
    for (const LinkLoad& load : pattern.loads) print.add(std::uint64_t{index(load.link)}).add(load.load);
    return print.value();
}

void check_pattern(const Pattern& pattern) {
    WEFT_CHECK(pattern.cap.value > 0.0 && pattern.alone.value > 0.0, "a pattern's rates must be above zero");
    for (std::size_t i = 0; i < pattern.loads.size(); ++i) {
        const LinkLoad& load = pattern.loads[i];
        WEFT_CHECK(std::isfinite(load.load) && load.load > 0.0, "a load must be above zero");
        WEFT_CHECK(i == 0 || pattern.loads[i - 1].link < load.link, "loads must be sorted by link, each link once");
    }
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::vector<std::string> lanes, double interference) {
    WEFT_CHECK(!lanes.empty() && lanes.size() <= std::numeric_limits<std::uint8_t>::max(), "1 to 255 lanes");
    WEFT_CHECK(std::isfinite(interference) && interference >= 1.0, "interference is a factor of at least 1");
    program_.interference = interference;
    program_.lanes = std::move(lanes);
    program_.methods.emplace_back();
}

void ProgramBuilder::reserve(std::size_t ops) {
    program_.ops.reserve(ops);
    predecessors_.reserve(ops + ops / 2);
    first_predecessor_.reserve(ops);
}

LabelId ProgramBuilder::label(std::string_view text) {
    if (const auto known = label_ids_.find(text); known != label_ids_.end()) return known->second;
    WEFT_CHECK(program_.labels.size() < std::numeric_limits<std::uint16_t>::max(), "too many labels");
    const auto id = LabelId(static_cast<std::uint16_t>(program_.labels.size()));
    program_.labels.emplace_back(text);
    label_ids_.emplace(text, id);
    return id;
}

std::uint32_t ProgramBuilder::work(Seconds duration) {
    WEFT_CHECK(is_finite_amount(duration.value), "work must take a finite time of at least zero");
    const double key = duration.value == 0.0 ? 0.0 : duration.value;  // -0 is 0
    const auto [entry, is_new] = work_ids_.try_emplace(key, static_cast<std::uint32_t>(program_.work.size()));
    if (is_new) program_.work.push_back({key});
    return entry->second;
}

PatternId ProgramBuilder::pattern(Pattern pattern) {
    check_pattern(pattern);
    const std::uint64_t print = fingerprint(pattern);
    const auto [first, last] = pattern_ids_.equal_range(print);
    const auto known = std::find_if(first, last, [&](const auto& e) { return program_.patterns[e.second] == pattern; });
    if (known != last) return known->second;
    const PatternId id = program_.patterns.push_back(std::move(pattern));
    pattern_ids_.emplace(print, id);
    return id;
}

std::uint32_t ProgramBuilder::method(const Method& method) {
    const auto known = std::ranges::find(program_.methods, method);
    const auto number = static_cast<std::uint32_t>(known - program_.methods.begin());
    if (known == program_.methods.end()) program_.methods.push_back(method);
    return number;
}

CommunicationId ProgramBuilder::communication(Communication what, std::span<const Leg> legs) {
    WEFT_CHECK(index(what.dimension) < program_.lanes.size(), "unknown lane");
    WEFT_CHECK(what.method < program_.methods.size(), "unknown method");
    for (const Leg& leg : legs) {
        WEFT_CHECK(index(leg.pattern) < program_.patterns.size(), "unknown pattern");
        WEFT_CHECK(is_finite_amount(leg.latency.value), "latency must be finite and at least zero");
        WEFT_CHECK(is_finite_amount(leg.bytes.value), "bytes must be finite and at least zero");
    }
    what.first_leg = static_cast<std::uint32_t>(program_.legs.size());
    what.legs = static_cast<std::uint32_t>(legs.size());
    program_.legs.insert(program_.legs.end(), legs.begin(), legs.end());
    return program_.communications.push_back(std::move(what));
}

ExchangeId ProgramBuilder::exchange(CommunicationId communication, std::uint32_t parties) {
    WEFT_CHECK(index(communication) < program_.communications.size(), "unknown communication");
    WEFT_CHECK(parties > 0, "an exchange needs at least one party");
    seen_.push_back(0);
    return program_.exchanges.push_back({communication, parties});
}

RankClassId ProgramBuilder::begin_class(std::string name, RankId representative, std::uint32_t weight) {
    WEFT_CHECK(weight > 0, "a rank class stands for at least one rank");
    lane_tail_.assign(program_.lanes.size(), no_op);
    const std::uint32_t first_op = program_.classes.empty() ? 0 : last_class().end_op();
    program_.ops.begin_class();
    shift_ = size() - first_op;
    return program_.classes.push_back({.name = std::move(name),
                                       .representative = representative,
                                       .weight = weight,
                                       .first_op = first_op,
                                       .course = size()});
}

RankClassId ProgramBuilder::add_class_like(RankClassId other, std::string name, RankId representative,
                                           std::uint32_t weight, std::span<const ExchangeId> exchanges) {
    const RankClassId id = begin_class(std::move(name), representative, weight);
    WEFT_CHECK(other < id, "a class like one that is not there");
    const RankClass& like = program_.classes[other];
    RankClass& own = last_class();
    own.first_op += like.routine_ops;
    own.routine_ops = like.routine_ops;
    own.ops = like.ops;
    own.course = like.course;
    Operations& ops = program_.ops;
    const std::size_t first = ops.first_exchange[other];
    WEFT_CHECK(exchanges.size() == ops.first_exchange[next(other)] - first, "as many exchanges as the other class has");
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
        WEFT_CHECK(index(exchanges[i]) < program_.exchanges.size(), "unknown exchange");
        WEFT_CHECK(program_.exchanges[exchanges[i]].parties == program_.exchanges[ops.exchanges[first + i]].parties,
                   "as many parties as where the other class takes part");
        ++seen_[exchanges[i]];
        ops.exchanges.push_back(exchanges[i]);
    }
    return id;
}

RoutineId ProgramBuilder::routine(std::span<const RoutineUnit> units) {
    WEFT_CHECK(!program_.classes.empty(), "begin_class comes before routines");
    RankClass& owner = last_class();
    WEFT_CHECK(owner.ops == 0, "the routines of a class come before its ops");
    WEFT_CHECK(!units.empty() && !units.front().beside && !units.back().beside,
               "a routine begins and ends with one op");
    const std::uint32_t first = size();
    std::vector<LaneId> lanes;
    std::uint32_t before = 0;  // ops of the unit before
    const auto add = [&](const Op& op, std::uint32_t place) {
        check_subject(op);
        WEFT_CHECK(op.kind != OpKind::routine, "a routine in a routine");
        first_predecessor_.push_back(static_cast<std::uint32_t>(predecessors_.size()));
        for (std::uint32_t i = before; i > 0; --i) predecessors_.push_back(size() - place - i);
        append(op, before);
        ++owner.first_op;
        ++owner.routine_ops;
        if (std::ranges::find(lanes, op.lane) == lanes.end()) lanes.push_back(op.lane);
    };
    for (const RoutineUnit& unit : units) {
        add(unit.op, 0);
        if (unit.beside) add(*unit.beside, 1);
        before = unit.beside ? 2 : 1;
    }
    const RoutineId id = program_.routines.push_back({first, size() - first});
    add({OpKind::leave, units.back().op.lane, units.back().op.label}, 0);
    routine_lanes_.push_back(std::move(lanes));
    return id;
}

bool ProgramBuilder::is_free(RoutineId routine, std::span<const OpId> after) const {
    return std::ranges::all_of(routine_lanes_[routine], [&](LaneId lane) {
        const OpId tail = lane_tail_[index(lane)];
        return tail == no_op || std::ranges::find(after, tail) != after.end() || is_implied(tail, after);
    });
}

OpId ProgramBuilder::add(const Op& op, std::span<const OpId> after) {
    WEFT_CHECK(!program_.classes.empty(), "begin_class comes before add");
    RankClass& owner = last_class();
    WEFT_CHECK(owner.past_course() == size(), "the class has the ops of another one");
    check_subject(op);
    append(op, collect_predecessors(op, after));
    const OpId id{owner.first_op + owner.ops++};
    for (const LaneId lane : lanes_of(op)) lane_tail_[index(lane)] = id;
    return id;
}

void ProgramBuilder::append(const Op& op, std::uint32_t predecessors) {
    if (op.kind == OpKind::exchange) ++seen_[ExchangeId(op.subject)];
    program_.ops.append(op, predecessors);
}

Program ProgramBuilder::finish() {
    for (ExchangeId id{}; id != program_.exchanges.end_id(); id = next(id)) {
        WEFT_CHECK(seen_[id] == program_.exchanges[id].parties,
                   "exchange " + std::to_string(index(id)) + " has " + std::to_string(seen_[id]) + " ops for " +
                       std::to_string(program_.exchanges[id].parties) + " parties");
    }
    for (const RankClass& one : program_.classes) program_.ops.places.add_class(one.routine_ops + one.ops, one.course);
    check_exchanges();
    invert_predecessors();
    Program finished = std::move(program_);
    *this = ProgramBuilder(finished.lanes);
    return finished;
}

// All that take part in an exchange do so equally often.
void ProgramBuilder::check_exchanges() const {
    if (program_.routines.empty()) return;
    Table<ExchangeId, std::uint32_t> happens(program_.exchanges.size(), 0);
    for_each_run(program_, [&](const Op& what, std::uint32_t times) {
        if (what.kind != OpKind::exchange) return;
        std::uint32_t& known = happens[ExchangeId(what.subject)];
        WEFT_CHECK(known == 0 || known == times, "an exchange whose parties come to it unequally often");
        known = times;
    });
}

std::span<const LaneId> ProgramBuilder::lanes_of(const Op& op) const {
    return op.kind == OpKind::routine ? std::span(routine_lanes_[RoutineId(op.subject)]) : std::span(&op.lane, 1);
}

void ProgramBuilder::check_subject(const Op& op) const {
    WEFT_CHECK(index(op.lane) < program_.lanes.size(), "unknown lane");
    WEFT_CHECK(index(op.label) < program_.labels.size(), "unknown label");
    if (op.kind == OpKind::compute) WEFT_CHECK(op.subject < program_.work.size(), "unknown work");
    if (op.kind == OpKind::exchange) WEFT_CHECK(op.subject < program_.exchanges.size(), "unknown exchange");
    if (op.kind != OpKind::routine) return;
    WEFT_CHECK(op.subject < program_.routines.size() &&
                   program_.routines[RoutineId(op.subject)].first_op >= last_class().course,
               "unknown routine, or of another class");
}

// Appends the distinct ops that `op` waits for to predecessors_, in ascending order; returns how many. The op before it
// on a lane is left out where `op` waits for something that waits for that one.
std::uint32_t ProgramBuilder::collect_predecessors(const Op& op, std::span<const OpId> after) {
    const RankClass& owner = last_class();
    for (const OpId before : after) {
        WEFT_CHECK(owner.first_op <= index(before) && index(before) < owner.end_op(),
                   "waits for an op that its class does not have");
    }
    const auto start = static_cast<std::uint32_t>(predecessors_.size());
    // A lane's is mostly the oldest, so that all come in ascending order.
    for (const LaneId lane : lanes_of(op)) {
        const OpId tail = lane_tail_[index(lane)];
        if (tail != no_op && !is_implied(tail, after)) insert_predecessor(start, kept(tail));
    }
    for (const OpId before : after) insert_predecessor(start, kept(before));
    first_predecessor_.push_back(start);
    return static_cast<std::uint32_t>(predecessors_.size()) - start;
}

// Whether one of `after` waits for `before`, as far as that is easily seen.
bool ProgramBuilder::is_implied(OpId before, std::span<const OpId> after) const {
    int steps = most_steps;
    return std::ranges::any_of(after, [&](OpId op) { return op > before && waits_for(kept(op), kept(before), steps); });
}

// Among those from `start` on.
void ProgramBuilder::insert_predecessor(std::size_t start, std::uint32_t before) {
    if (predecessors_.size() == start || predecessors_.back() < before) return predecessors_.push_back(before);
    const auto place =
        std::lower_bound(predecessors_.begin() + static_cast<std::ptrdiff_t>(start), predecessors_.end(), before);
    if (*place != before) predecessors_.insert(place, before);
}

// Whether `op` waits for `other`, as far as `steps` tell, which it takes from. "No" is always safe.
bool ProgramBuilder::waits_for(std::uint32_t op, std::uint32_t other, int& steps) const {
    const auto own = std::span(predecessors_).subspan(first_predecessor_[op], program_.ops.predecessors[op]);
    for (auto before = own.rbegin(); before != own.rend() && *before >= other; ++before) {
        if (*before == other) return true;
        if (steps-- > 0 && waits_for(*before, other, steps)) return true;
    }
    return false;
}

// Turns the predecessor lists into successor lists by counting; the successors of each op come out in ascending order.
void ProgramBuilder::invert_predecessors() {
    WEFT_CHECK(predecessors_.size() < std::numeric_limits<std::uint32_t>::max(), "too many dependencies");
    Operations& ops = program_.ops;
    std::vector<std::uint32_t>& start = ops.successor_start;
    start.assign(ops.kept.size() + 1, 0);
    for (const std::uint32_t before : predecessors_) ++start[before + 1];
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    ops.successors.resize(predecessors_.size());
    std::vector<std::uint32_t> cursor(start.begin(), start.end() - 1);
    std::size_t edge = 0;
    for (std::uint32_t after = 0; after < ops.kept.size(); ++after) {
        for (std::uint32_t i = 0; i < ops.predecessors[after]; ++i, ++edge) {
            ops.successors[cursor[predecessors_[edge]]++] = after;
        }
    }
}

}  // namespace weft
