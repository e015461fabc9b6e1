// Messages as they would be simulated by hand: at every change the rates of all flows are found anew by raising them
// together link by link (toy::naive_max_min), and all of them move on to the next change. Seconds and bytes are plain
// numbers, and nothing is kept from one change to the next but what is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/sim/network/toy.hpp"

namespace weft::toy {

struct NaiveMessage {
    double latency = 0.0, bytes = 0.0;  // bytes > 0
    std::vector<LinkLoad> route;
};

struct NaiveSender {
    double start = 0.0;
    std::vector<NaiveMessage> messages;  // each begins when the one before has arrived
};

// When the last message of each sender has arrived. `bandwidths`: of the links, in bytes per second.
inline std::vector<double> naive_ends(const std::vector<double>& bandwidths, const std::vector<NaiveSender>& senders) {
    constexpr double nothing_left = 1e-15;  // of a message: what rounding leaves of it
    struct State {
        std::size_t next = 0;
        double wait = 0.0, bytes = 0.0;  // left of the message
    };
    std::vector<State> states;
    const auto begin = [&](std::size_t s, double at) {
        State& state = states[s];
        const auto& messages = senders[s].messages;
        state.bytes = state.next < messages.size() ? messages[state.next].bytes : 0.0;
        state.wait = state.next < messages.size() ? at + messages[state.next].latency : infinity;
    };
    std::vector<double> ends(senders.size(), 0.0);
    for (std::size_t s = 0; s < senders.size(); ++s) {
        states.push_back({});
        begin(s, senders[s].start);
    }
    for (double now = 0.0;;) {
        std::vector<Pattern> flows;
        std::vector<std::size_t> of;
        double then = infinity;
        for (std::size_t s = 0; s < states.size(); ++s) {
            if (states[s].wait > now) {
                then = std::min(then, states[s].wait);
            } else {
                flows.push_back({.loads = senders[s].messages[states[s].next].route});
                of.push_back(s);
            }
        }
        if (flows.empty() && then == infinity) return ends;
        const std::vector<double> rates = naive_max_min(bandwidths, flows);
        for (std::size_t f = 0; f < of.size(); ++f) then = std::min(then, now + states[of[f]].bytes / rates[f]);
        for (std::size_t f = 0; f < of.size(); ++f) {
            State& state = states[of[f]];
            state.bytes -= rates[f] * (then - now);
            if (state.bytes > nothing_left * senders[of[f]].messages[state.next].bytes &&
                now + (then - now) + state.bytes / rates[f] > then) {
                continue;
            }
            ends[of[f]] = then;
            ++state.next;
            begin(of[f], then);
        }
        now = then;
    }
}

}  // namespace weft::toy
