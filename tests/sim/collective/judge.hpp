// Symbolic execution: who contributed to what each member holds, transfer by transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::testing_support {

// What a member holds of a chunk: who contributed to it, each as often as it was added in. No entry: nothing yet.
using Contributions = std::multiset<std::uint32_t>;
using Member = std::map<std::uint32_t, Contributions>;  // by chunk
using State = std::vector<Member>;

inline Contributions everyone(std::uint32_t n) {
    Contributions all;
    for (std::uint32_t i = 0; i < n; ++i) all.insert(i);
    return all;
}

// all_to_all and send_receive number chunks across all members, so they have n times as many names as a message has
// pieces.
inline std::uint32_t chunk_names(const Algorithm& algorithm, const GroupShape& shape) {
    const bool across = algorithm.op == Collective::all_to_all || algorithm.op == Collective::send_receive;
    return algorithm.chunks(shape) * (across ? shape.members : 1);
}

inline State before(const Algorithm& algorithm, const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    State state(n);
    for (std::uint32_t member = 0; member < n; ++member) {
        for (std::uint32_t chunk = 0; chunk < chunk_names(algorithm, shape); ++chunk) {
            bool holds = false;
            switch (algorithm.op) {
                case Collective::all_reduce:
                case Collective::reduce_scatter:
                case Collective::reduce:
                    holds = true;
                    break;
                case Collective::all_gather:
                case Collective::send_receive:
                    holds = chunk == member;
                    break;
                case Collective::all_to_all:
                    holds = chunk / n == member;
                    break;
                case Collective::broadcast:
                case Collective::point_to_point:
                    holds = member == 0;
                    break;
            }
            if (holds) state[member][chunk] = {member};
        }
    }
    return state;
}

// What a member must hold of a chunk at the end; nothing: it does not matter.
inline std::optional<Contributions> wanted(const Algorithm& algorithm, std::uint32_t n, std::uint32_t member,
                                           std::uint32_t chunk) {
    switch (algorithm.op) {
        case Collective::all_reduce:
            return everyone(n);
        case Collective::reduce_scatter:
            if (chunk == member) return everyone(n);
            return std::nullopt;
        case Collective::reduce:
            if (member == n - 1) return everyone(n);
            return std::nullopt;
        case Collective::all_gather:
            return Contributions{chunk};
        case Collective::all_to_all:
            if (chunk % n == member) return Contributions{chunk / n};
            return std::nullopt;
        case Collective::send_receive:
            if (chunk == (member + n - 1) % n) return Contributions{chunk};
            return std::nullopt;
        case Collective::broadcast:
        case Collective::point_to_point:
            return Contributions{0};
    }
    return std::nullopt;
}

inline std::string said(const Transfer& t) {
    return "round " + std::to_string(t.round) + ", " + std::to_string(t.from) + " to " + std::to_string(t.to) +
           ", chunk " + std::to_string(t.chunk);
}

// Executes the transfers; the messages of one round read what their senders held before it. Returns what is wrong
// first, or "".
inline std::string fault(const Algorithm& algorithm, const GroupShape& shape, const std::vector<Transfer>& transfers) {
    const std::uint32_t n = shape.members;
    State state = before(algorithm, shape);
    for (auto first = transfers.begin(); first != transfers.end();) {
        const auto last =
            std::find_if(first, transfers.end(), [&](const Transfer& t) { return t.round != first->round; });
        std::vector<Contributions> sent;
        for (auto t = first; t != last; ++t) {
            const bool exists = t->from < n && t->to < n && t->from != t->to && state[t->from].contains(t->chunk);
            if (!exists) return said(*t) + ": nothing to send, or nobody to send it to";
            sent.push_back(state[t->from].at(t->chunk));
        }
        for (const Contributions& message : sent) {
            Contributions& target = state[first->to][first->chunk];
            if (!first->reduce) target.clear();
            target.insert(message.begin(), message.end());
            ++first;
        }
        if (first != transfers.end() && first->round < std::prev(first)->round) return "rounds out of order";
    }
    for (std::uint32_t member = 0; member < n; ++member) {
        for (std::uint32_t chunk = 0; chunk < chunk_names(algorithm, shape); ++chunk) {
            const auto want = wanted(algorithm, n, member, chunk);
            if (want && state[member][chunk] != *want) {
                return "member " + std::to_string(member) + " ends with a wrong chunk " + std::to_string(chunk);
            }
        }
    }
    return "";
}

}  // namespace weft::testing_support
