// How long a run would be if some of its ops took other times: its graph passed once more in the order of dependencies,
// as critical_path.hpp's, while all else lasts as it did. What shares links is not asked again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/engine/exchanges.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Ticks by which ops take longer, or less if negative, but never less than none.
struct OtherTimes {
    std::vector<std::int64_t> work;            // by number in Program::work; empty: none of them
    std::vector<std::int64_t> communications;  // by CommunicationId; empty: none of them
    std::vector<bool> dropped{};               // by CommunicationId: neither take time nor are waited for; empty: none
    bool undisturbed = false;                  // computation goes as if nothing were in transfer beside it
};

class Replay {
  public:
    // Of a program without routines (sim/engine/timeline.hpp) and its timeline; both must outlive this. Any thread may
    // ask.
    Replay(const Program& program, const Timeline& timeline) : program_(program), timeline_(timeline), works_(program) {
        WEFT_CHECK(program.routines.empty(), "a replay of a program with routines");
        for (const OpId op : order_of(program, ExchangeOps(program))) {
            order_.push_back(node(op));
            const Op what = program.ops[op];
            if (what.kind != OpKind::exchange || order_.size() == 1) continue;
            Node& before = *(order_.end() - 2);
            const Op last = program.ops[before.op];
            before.is_last_party = last.kind != OpKind::exchange || last.subject != what.subject;
        }
        WEFT_CHECK(order_.size() == program.ops.size(), "a replay of a program that waits in a circle");
    }

    // When the run is over.
    Instant end(const OtherTimes& times) const {
        std::vector<std::int64_t> posted(program_.ops.size(), 0);
        std::int64_t last = 0;
        const auto pass_on = [&](OpId op, std::int64_t end) {
            last = std::max(last, end);
            for (const OpId after : program_.successors_of(op))
                posted[index(after)] = std::max(posted[index(after)], end);
        };
        for (std::size_t i = 0; i < order_.size();) {
            const Node& first = order_[i];
            const bool meets =
                first.kind == OpKind::exchange && (times.dropped.empty() || !times.dropped[first.subject]);
            std::int64_t begin = posted[index(first.op)];
            std::size_t end = i + 1;
            for (; meets && !order_[end - 1].is_last_party; ++end)
                begin = std::max(begin, posted[index(order_[end].op)]);
            const std::int64_t over = begin + length(first, times);
            for (; i < end; ++i) pass_on(order_[i].op, over);
        }
        return {last};
    }

    std::int64_t length(OpId op, const OtherTimes& times) const { return length(node(op), times); }

  private:
    // An op with what a replay asks of it, side by side.
    struct Node {
        OpId op{};
        std::uint32_t subject = 0;  // of a computation its work, of an exchange its communication
        std::int64_t length = 0;
        OpKind kind{};
        bool is_last_party = true;  // of an exchange
    };

    Node node(OpId op) const {
        const Op what = program_.ops[op];
        const Span& span = timeline_.spans[op];
        const bool meets = what.kind == OpKind::exchange;
        return {.op = op,
                .subject = meets ? static_cast<std::uint32_t>(program_.communication_of(what)) : what.subject,
                .length = span.end.femtoseconds - span.begin.femtoseconds,
                .kind = what.kind};
    }

    std::int64_t length(const Node& node, const OtherTimes& times) const {
        std::int64_t length = node.length;
        if (node.kind == OpKind::compute) {
            if (times.undisturbed) length = ticks(works_.of(node.op, program_.class_of(node.op)));
            if (!times.work.empty()) length += longer(node.op, times.work[node.subject]);
        } else if (node.kind == OpKind::exchange) {
            if (!times.dropped.empty() && times.dropped[node.subject]) return 0;
            if (!times.communications.empty()) length += times.communications[node.subject];
        }
        return std::max<std::int64_t>(length, 0);
    }

    // By how much a computation is, if its work takes so many ticks longer.
    std::int64_t longer(OpId compute, std::int64_t work) const {
        if (works_.are_constant()) return work;
        return std::llround(static_cast<double>(work) * works_.factor(compute, program_.class_of(compute)));
    }

    const Program& program_;
    const Timeline& timeline_;
    ComputeTimes works_;
    std::vector<Node> order_;  // of dependencies; the parties of an exchange follow one another
};

}  // namespace weft
