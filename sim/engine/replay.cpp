#include "sim/engine/replay.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/ticks.hpp"

namespace weft {

Replay::Replay(const Program& program, const Timeline& timeline)
    : program_(program), timeline_(timeline), works_(program) {
    WEFT_CHECK(program.routines.empty(), "a replay of a program with routines");
    const ExchangeOps parties(program);
    std::vector<std::uint32_t> missing(program.ops.size());  // predecessors that are not in order
    std::vector<std::uint32_t> absent(program.exchanges.size());
    for (ExchangeId id{}; id != program.exchanges.end_id(); id = next(id)) {
        absent[index(id)] = static_cast<std::uint32_t>(parties.of(id).size());
    }
    order_.reserve(program.ops.size());
    const auto arrive = [&](OpId op) {
        const Op& what = program.ops[op];
        if (what.kind != OpKind::exchange) return order_.push_back(node(op));
        if (--absent[what.subject] > 0) return;
        for (const Party& party : parties.of(ExchangeId(what.subject))) {
            order_.push_back(node(party.op));
            order_.back().is_last_party = false;
        }
        order_.back().is_last_party = true;
    };
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        missing[index(op)] = program.predecessors[op];
        if (missing[index(op)] == 0) arrive(op);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        for (const OpId after : program.successors_of(order_[i].op)) {
            if (--missing[index(after)] == 0) arrive(after);
        }
    }
    WEFT_CHECK(order_.size() == program.ops.size(), "a replay of a program that waits in a circle");
}

Replay::Node Replay::node(OpId op) const {
    const Op& what = program_.ops[op];
    const Span& span = timeline_.spans[op];
    const bool meets = what.kind == OpKind::exchange;
    return {.op = op,
            .subject = meets ? static_cast<std::uint32_t>(program_.communication_of(what)) : what.subject,
            .length = span.end.femtoseconds - span.begin.femtoseconds,
            .kind = what.kind};
}

std::int64_t Replay::length(const Node& node, const OtherTimes& times) const {
    std::int64_t length = node.length;
    if (node.kind == OpKind::compute) {
        if (times.undisturbed) length = ticks(works_.of(node.op, rank_of(node.op)));
        if (!times.work.empty()) length += longer(node.op, times.work[node.subject]);
    } else if (node.kind == OpKind::exchange) {
        if (!times.dropped.empty() && times.dropped[node.subject]) return 0;
        if (!times.communications.empty()) length += times.communications[node.subject];
    }
    return std::max<std::int64_t>(length, 0);
}

// By how much a computation is, if its work takes so many ticks longer.
std::int64_t Replay::longer(OpId compute, std::int64_t work) const {
    if (works_.are_constant()) return work;
    return std::llround(static_cast<double>(work) * works_.factor(compute, rank_of(compute)));
}

std::int64_t Replay::length(OpId op, const OtherTimes& times) const { return length(node(op), times); }

Instant Replay::end(const OtherTimes& times) const {
    std::vector<std::int64_t> posted(program_.ops.size(), 0);
    std::int64_t last = 0;
    const auto pass_on = [&](OpId op, std::int64_t end) {
        last = std::max(last, end);
        for (const OpId after : program_.successors_of(op)) posted[index(after)] = std::max(posted[index(after)], end);
    };
    for (std::size_t i = 0; i < order_.size();) {
        const Node& first = order_[i];
        const bool meets = first.kind == OpKind::exchange && (times.dropped.empty() || !times.dropped[first.subject]);
        std::int64_t begin = posted[index(first.op)];
        std::size_t end = i + 1;
        for (; meets && !order_[end - 1].is_last_party; ++end) begin = std::max(begin, posted[index(order_[end].op)]);
        const std::int64_t over = begin + length(first, times);
        for (; i < end; ++i) pass_on(order_[i].op, over);
    }
    return {last};
}

}  // namespace weft
