#include "sim/engine/critical_path.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {
namespace {}  // namespace

CriticalPath::CriticalPath(const Program& program, const Timeline& timeline)
    : program_(program), timeline_(timeline), parties_(program), start_(program.ops.size() + 1, 0) {
    WEFT_CHECK(program.routines.empty(), "a path through a program with routines");
    for (const OpId next : program.successors) ++start_[index(next) + 1];
    for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
    predecessors_.resize(program.successors.size());
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        for (const OpId after : program.successors_of(op)) predecessors_[cursor[index(after)]++] = op;
    }
}

std::vector<PathPiece> CriticalPath::pieces() const {
    std::vector<PathPiece> pieces;
    Instant at = timeline_.end;
    for (OpId op = last_over(); op != no_op; op = binding_predecessor(op)) {
        const Span& span = timeline_.spans[op];
        WEFT_CHECK(span.end == at, "the critical path has a gap");
        if (span.begin < at) pieces.push_back({op, span.begin, at});
        at = span.begin;
        if (program_.ops[op].kind == OpKind::exchange) op = party_that_arrived_last(op);
    }
    WEFT_CHECK(at == Instant{}, "the critical path does not begin with the run");
    std::ranges::reverse(pieces);
    return pieces;
}

OpId CriticalPath::last_over() const {
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        if (timeline_.spans[op].end == timeline_.end) return op;
    }
    return no_op;
}

// The op itself if no party arrived after it.
OpId CriticalPath::party_that_arrived_last(OpId exchange) const {
    const Span& span = timeline_.spans[exchange];
    if (span.posted == span.begin) return exchange;
    for (const Party& party : parties_.of(ExchangeId(program_.ops[exchange].subject))) {
        if (timeline_.spans[party.op].posted == span.begin) return party.op;
    }
    throw LogicError("an exchange began before its last party arrived");
}

OpId CriticalPath::binding_predecessor(OpId op) const {
    const Instant posted = timeline_.spans[op].posted;
    OpId binding = no_op;
    for (const OpId before : predecessors_of(op)) {
        if (timeline_.spans[before].end != posted) continue;
        if (binding == no_op || program_.ops[before].kind == OpKind::compute) binding = before;
    }
    WEFT_CHECK(binding != no_op || posted == Instant{}, "an op waited for nothing");
    return binding;
}

// From the end: an op may be over as late as the earliest of what waits for it may begin. The parties of an exchange
// are one node of the graph.
std::vector<std::int64_t> CriticalPath::slack() const {
    const std::size_t ops = program_.ops.size();
    std::vector<Instant> latest(ops, timeline_.end);  // end of each op
    std::vector<std::uint32_t> missing(ops);          // successors whose latest begin is not known
    std::vector<std::uint32_t> parties(program_.exchanges.size());
    for (ExchangeId id{}; id != program_.exchanges.end_id(); id = next(id)) {
        parties[index(id)] = static_cast<std::uint32_t>(parties_.of(id).size());
    }
    std::vector<OpId> known;  // stack
    const auto settle = [&](OpId op) {
        const Op& what = program_.ops[op];
        if (what.kind != OpKind::exchange) return known.push_back(op);
        if (--parties[what.subject] > 0) return;
        Instant end = timeline_.end;
        for (const Party& party : parties_.of(ExchangeId(what.subject))) end = std::min(end, latest[index(party.op)]);
        for (const Party& party : parties_.of(ExchangeId(what.subject))) {
            latest[index(party.op)] = end;
            known.push_back(party.op);
        }
    };
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        missing[index(op)] = static_cast<std::uint32_t>(program_.successors_of(op).size());
    }
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        if (missing[index(op)] == 0) settle(op);
    }
    while (!known.empty()) {
        const OpId op = known.back();
        known.pop_back();
        const Span& span = timeline_.spans[op];
        const Instant begin{latest[index(op)].femtoseconds - (span.end.femtoseconds - span.begin.femtoseconds)};
        for (const OpId before : predecessors_of(op)) {
            latest[index(before)] = std::min(latest[index(before)], begin);
            if (--missing[index(before)] == 0) settle(before);
        }
    }
    std::vector<std::int64_t> slack(ops);
    for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
        slack[index(op)] = latest[index(op)].femtoseconds - timeline_.spans[op].end.femtoseconds;
    }
    return slack;
}

}  // namespace weft
