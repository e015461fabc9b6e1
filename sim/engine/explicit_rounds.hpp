// The rounds of an algorithm's phases, one by one: who sends to whom in each.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft {

class ExplicitRounds {
  public:
    ExplicitRounds(std::vector<Phase> phases, std::uint32_t members) : phases_(std::move(phases)), members_(members) {
        for (std::uint32_t p = 0; p < phases_.size(); ++p) {
            first_.push_back(static_cast<std::uint32_t>(phase_of_.size()));
            phase_of_.insert(phase_of_.end(), phases_[p].repeat, p);
        }
    }

    std::uint32_t count() const { return static_cast<std::uint32_t>(phase_of_.size()); }

    // What each sender sends to each of its peers.
    double fraction(std::uint32_t round) const { return phases_[phase_of_[round]].fraction; }

    // Of a sender, at a time.
    double peers(std::uint32_t round) const {
        return phases_[phase_of_[round]].peer == Peer::all ? members_ - 1.0 : 1.0;
    }

    // Calls `visit` with every member that `member` sends to.
    template <class Visit>
    void for_each_peer(std::uint32_t member, std::uint32_t round, Visit visit) const {
        const Phase& phase = phases_[phase_of_[round]];
        if (phase.peer == Peer::all) {
            for (std::uint32_t k = 1; k < members_; ++k) visit((member + k) % members_);
        } else if (sends(phase, member, round - first_[phase_of_[round]])) {
            if (const std::uint32_t peer = peer_of(phase, member, members_); peer < members_) visit(peer);
        }
    }

  private:
    // A chain fills and drains: member i has its first chunk after i rounds, and as many chunks as the first.
    static bool sends(const Phase& phase, std::uint32_t member, std::uint32_t round) {
        if (phase.duty == 1.0) return true;
        const auto chunks = static_cast<std::uint32_t>(std::lround(phase.repeat * phase.duty));
        return round >= member && round - member < chunks;
    }

    std::vector<Phase> phases_;
    std::uint32_t members_;
    std::vector<std::uint32_t> first_;     // round of each phase
    std::vector<std::uint32_t> phase_of_;  // by round
};

}  // namespace weft
