// The rounds of an algorithm's phases, one by one, as what each member does in them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/explicit/message_program.hpp"

namespace weft {

// What a member waits for before it starts the messages of its next round.
enum class Waits : std::uint8_t {
    sends,               // its own of the round before: where nothing that it sends has to arrive first
    sends_and_receives,  // those to it as well
};

class ExplicitRounds {
  public:
    ExplicitRounds(std::vector<Phase> phases, std::uint32_t members, Waits waits);

    const std::vector<Phase>& phases() const { return phases_; }
    // To how many peers a sender sends in a round of the phase.
    double peers(const Phase& phase) const { return phase.peer == Peer::all ? members_ - 1.0 : 1.0; }
    // Of each member. In a phase it hears of one peer only, which sends one message at a time: an inbox for each phase.
    // From all peers it waits for as many messages as there are: an inbox for each round.
    std::uint32_t inboxes() const { return inboxes_; }

    // A script of actions, whose subjects are phases and whose receivers are members. Turns are rounds.
    MessageAction next(std::uint32_t member, ScriptPlace& place) const;

  private:
    struct Part {
        bool sends = false, receives = false;
        bool operator==(const Part&) const = default;
    };
    Part part(std::uint32_t member, std::uint32_t round) const;
    MessageAction next_among_all(std::uint32_t member, ScriptPlace& place) const;
    std::uint32_t end_of(std::uint32_t phase) const { return first_[phase] + phases_[phase].repeat; }

    std::vector<Phase> phases_;
    std::uint32_t members_;
    Waits waits_;
    std::uint32_t inboxes_ = 0;
    std::vector<std::uint32_t> first_;        // round of each phase
    std::vector<std::uint32_t> phase_of_;     // by round
    std::vector<std::uint32_t> first_inbox_;  // by phase
    std::vector<std::uint32_t> sender_;       // to each member in each phase: the past-the-end member if there is none
};

}  // namespace weft
