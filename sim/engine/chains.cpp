#include "sim/engine/chains.hpp"

#include <span>

namespace weft {

Chains::Chains(const Program& program)
    : program_(program), ends_(program.ops.size(), 0), is_pair_(program.ops.size(), 0) {
    for (const RankClass& rank_class : program.classes) {
        const std::uint32_t end = rank_class.end_op();
        for (std::uint32_t op = rank_class.begin_op(); op < end;) op = find(op, end);
    }
}

// Records the chain that begins with `first`, if there is one; returns where to go on looking.
std::uint32_t Chains::find(std::uint32_t first, std::uint32_t end) {
    if (ops_of_link(first, first + 1) == 0) return first + 1;
    is_pair_[first] = 0;
    std::uint32_t link = first, ops = 1, past = first + 1;  // `past`: after the last link of one op
    for (;;) {
        const std::uint32_t next = link + ops, count = ops_of_link(next, end);
        if (count == 0 || !follows(next, count, link, ops)) break;
        is_pair_[next] = static_cast<std::uint8_t>(count - 1);
        link = next;
        ops = count;
        if (ops == 1) past = next + 1;
    }
    for (std::uint32_t op = first; op < past; op += this->ops(op)) ends_[op] = past;
    return past;
}

bool Chains::is_computation(std::uint32_t op) const {
    const Op& what = program_.ops[OpId{op}];
    return what.kind == OpKind::compute && what.lane == program_.contended;
}

bool Chains::is_own_exchange(std::uint32_t op) const {
    const Op& what = program_.ops[OpId{op}];
    return what.kind == OpKind::exchange && program_.exchanges[ExchangeId(what.subject)].parties == 1;
}

// How many ops before `end` the link that begins with `first` would have; 0 if it cannot begin one.
std::uint32_t Chains::ops_of_link(std::uint32_t first, std::uint32_t end) const {
    if (first >= end) return 0;
    if (is_own_exchange(first)) {
        const bool is_beside = first + 1 < end && is_computation(first + 1) &&
                               program_.successors_of(OpId{first}).size() == 1 &&
                               program_.successors_of(OpId{first}).front() != OpId{first + 1};
        return is_beside ? 2 : 1;
    }
    return is_computation(first) || program_.ops[OpId{first}].kind == OpKind::join ? 1 : 0;
}

bool Chains::follows(std::uint32_t link, std::uint32_t ops, std::uint32_t before, std::uint32_t ops_before) const {
    for (std::uint32_t op = link; op < link + ops; ++op) {
        if (program_.predecessors[OpId{op}] != ops_before) return false;
    }
    for (std::uint32_t op = before; op < before + ops_before; ++op) {
        const std::span<const OpId> next = program_.successors_of(OpId{op});
        if (next.size() != ops || next.front() != OpId{link} || next.back() != OpId{link + ops - 1}) return false;
    }
    return true;
}

}  // namespace weft
