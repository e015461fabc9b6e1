// Which ops the length of a run is made of, and how much later the others could be over. After J. E. Kelley,
// "Critical-path planning and scheduling: mathematical basis", Operations Research 9 (1961) 296-320, with one more kind
// of edge: an exchange begins when the last of its parties arrives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// An op that the path goes through, from `begin` to `end`: the begin and the end of its span. Of several parties of an
// exchange, the one on whose class the path goes on.
struct PathPiece {
    OpId op{};
    Instant begin, end;
};

// Of a program without routines (sim/engine/timeline.hpp) and its timeline; both must outlive this.
class CriticalPath {
  public:
    CriticalPath(const Program& program, const Timeline& timeline)
        : program_(program), timeline_(timeline), parties_(program), binding_(program.ops.size(), no_op) {
        WEFT_CHECK(program.routines.empty(), "a path through a program with routines");
        for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
            for (const OpId after : program.successors_of(op)) {
                if (timeline.spans[op].end != timeline.spans[after].posted) continue;
                if (binding_[after] == no_op || program.ops[op].kind == OpKind::compute) binding_[after] = op;
            }
        }
    }

    // In order of time, each beginning where the one before is over: the first at 0, the last over with the run. Of ops
    // that bind as late, one of the same class and computation come first, so that the path changes classes, and leaves
    // computing, where it must. What takes no time is left out.
    std::vector<PathPiece> pieces() const {
        std::vector<PathPiece> pieces;
        Instant at = timeline_.end;
        for (OpId op = last_over(); op != no_op; op = binding_[op]) {
            const Span& span = timeline_.spans[op];
            WEFT_CHECK(span.end == at, "the critical path has a gap");
            if (span.begin < at) pieces.push_back({op, span.begin, at});
            at = span.begin;
            if (program_.ops[op].kind == OpKind::exchange) op = party_that_arrived_last(op);
            WEFT_CHECK(binding_[op] != no_op || timeline_.spans[op].posted == Instant{}, "an op waited for nothing");
        }
        WEFT_CHECK(at == Instant{}, "the critical path does not begin with the run");
        std::ranges::reverse(pieces);
        return pieces;
    }

    // By op, how much longer it could take, in ticks, without the run taking longer, if all else takes as long as it
    // did: 0 on the path, and of an exchange the same for all its parties.
    // From the end: an op may be over as late as the earliest of what waits for it may begin. The parties of an
    // exchange are one node of the graph.
    std::vector<std::int64_t> slack() const {
        const std::vector<OpId> order = order_of(program_, parties_);
        std::vector<std::int64_t> slack(program_.ops.size());
        const auto latest_begin = [&](OpId op) { return timeline_.spans[op].begin.femtoseconds + slack[index(op)]; };
        for (std::size_t past = order.size(); past > 0;) {
            const Op last = program_.ops[order[past - 1]];
            const bool meets = last.kind == OpKind::exchange;
            const std::size_t first = past - (meets ? parties_.of(ExchangeId(last.subject)).size() : 1);
            const auto node = std::span(order).subspan(first, past - first);
            std::int64_t over = timeline_.end.femtoseconds;
            for (const OpId op : node) {
                for (const OpId after : program_.successors_of(op)) over = std::min(over, latest_begin(after));
            }
            for (const OpId op : node) slack[index(op)] = over - timeline_.spans[op].end.femtoseconds;
            past = first;
        }
        return slack;
    }

  private:
    OpId last_over() const {
        for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
            if (timeline_.spans[op].end == timeline_.end) return op;
        }
        return no_op;
    }

    // The op itself if no party arrived after it.
    OpId party_that_arrived_last(OpId exchange) const {
        const Span& span = timeline_.spans[exchange];
        if (span.posted == span.begin) return exchange;
        for (const Party& party : parties_.of(ExchangeId(program_.ops[exchange].subject))) {
            if (timeline_.spans[party.op].posted == span.begin) return party.op;
        }
        throw LogicError("an exchange began before its last party arrived");
    }

    const Program& program_;
    const Timeline& timeline_;
    ExchangeOps parties_;
    Table<OpId, OpId> binding_;  // of what each waits for, the op that binds it, if any
};

}  // namespace weft
