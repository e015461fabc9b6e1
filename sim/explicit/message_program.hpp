// What actors do that compute and exchange messages, each message a flow of its own. An actor goes through its actions
// one after another; a message counts as an arrival in an inbox of its receiver, which may wait for it. What an inbox
// counts are arrivals, not names: it should have one sender, which sends one message at a time, or be waited for until
// all are there.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/network_model.hpp"

namespace weft {

enum class ActorId : std::uint32_t {};
enum class InboxId : std::uint16_t {};  // of one actor
inline constexpr InboxId no_inbox{std::numeric_limits<std::uint16_t>::max()};

// `salt` chooses among equal routes (see Router).
struct ActorSeat {
    RankId rank{};
    std::uint32_t salt = 0;
};

// What messages have in common: `step` passes before the latencies of the links; then `bytes` move that load links
// as `load` says, no faster than `cap`.
struct MessageShape {
    Bytes bytes{};
    MessageLoad load{};
    BytesPerSecond cap{std::numeric_limits<double>::infinity()};
    Seconds step{};
    bool operator==(const MessageShape&) const = default;
};

enum class MessageActionKind : std::uint8_t {
    over,      // nothing more: the actor has ended
    work,      // for a time
    post,      // a message, and go on
    send,      // a message, and wait until it has arrived
    receive,   // wait for an arrival
    exchange,  // send, and wait for an arrival in the inbox of the same number
    settle,    // wait until every message posted so far has arrived
};

struct MessageAction {
    MessageActionKind kind = MessageActionKind::over;
    InboxId inbox = no_inbox;   // that waits for an arrival; of a message, where it counts at the receiver
    std::uint32_t subject = 0;  // shape of the message, or duration of the work
    ActorId to{};               // of a message
    std::uint32_t repeat = 1;
};
static_assert(sizeof(MessageAction) == 16);

// What a script of actions refers to.
struct MessageTables {
    Table<ActorId, ActorSeat> seats{};
    std::vector<MessageShape> shapes{};
    std::vector<Seconds> durations{};
    std::uint32_t inboxes = 0;  // of each actor
};

// Where an actor is in its script; only the script moves it on. `turn` counts rounds: of equal messages of an actor it
// tells one from another.
struct ScriptPlace {
    std::uint32_t next = 0;
    std::uint32_t branch = 0;
    std::uint32_t turn = 0;  // of the first repetition of the action given last
};

// A script that is written out, actor by actor.
class MessageProgram {
  public:
    MessageTables tables;

    // Actors begin in order of their ids.
    ActorId begin(ActorSeat seat) {
        first_.push_back(static_cast<std::uint32_t>(actions_.size()));
        return tables.seats.push_back(seat);
    }
    // The last actor that has begun does this next.
    void add(const MessageAction& action) { actions_.push_back(action); }

    MessageAction next(ActorId actor, ScriptPlace& place) const {
        const std::size_t at = first_[index(actor)] + place.next;
        const std::size_t end = index(actor) + 1 < first_.size() ? first_[index(actor) + 1] : actions_.size();
        place.turn += place.branch;
        if (at == end) return {};
        place.branch = actions_[at].repeat;
        ++place.next;
        return actions_[at];
    }

  private:
    std::vector<std::uint32_t> first_;  // action of each actor
    std::vector<MessageAction> actions_;
};

}  // namespace weft
