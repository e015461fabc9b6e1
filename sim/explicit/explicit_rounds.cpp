#include "sim/explicit/explicit_rounds.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"

namespace weft {
namespace {

// A chain fills and drains: member i has its first chunk after i rounds, and as many chunks as the first.
bool sends_in(const Phase& phase, std::uint32_t member, std::uint32_t round) {
    if (phase.duty == 1.0) return true;
    const auto chunks = static_cast<std::uint32_t>(std::lround(phase.repeat * phase.duty));
    return round >= member && round - member < chunks;
}

}  // namespace

ExplicitRounds::ExplicitRounds(std::vector<Phase> phases, std::uint32_t members, Waits waits)
    : phases_(std::move(phases)), members_(members), waits_(waits) {
    const bool hears = waits_ == Waits::sends_and_receives;
    if (hears) sender_.assign(phases_.size() * members_, members_);
    for (std::uint32_t p = 0; p < phases_.size(); ++p) {
        const Phase& phase = phases_[p];
        first_.push_back(static_cast<std::uint32_t>(phase_of_.size()));
        phase_of_.insert(phase_of_.end(), phase.repeat, p);
        if (!hears) continue;
        first_inbox_.push_back(inboxes_);
        inboxes_ += phase.peer == Peer::all ? phase.repeat : 1;
        for (std::uint32_t i = 0; phase.peer != Peer::all && i < members_; ++i) {
            const std::uint32_t peer = peer_of(phase, i, members_);
            if (peer >= members_) continue;
            std::uint32_t& sender = sender_[std::size_t{p} * members_ + peer];
            WEFT_CHECK(sender == members_, "two members send to one in a round");
            sender = i;
        }
    }
    WEFT_CHECK(inboxes_ <= index(no_inbox), "too many phases for an explicit run");
}

ExplicitRounds::Part ExplicitRounds::part(std::uint32_t member, std::uint32_t round) const {
    const std::uint32_t p = phase_of_[round];
    const Phase& phase = phases_[p];
    const std::uint32_t in_phase = round - first_[p];
    Part part;
    part.sends = peer_of(phase, member, members_) < members_ && sends_in(phase, member, in_phase);
    if (waits_ == Waits::sends_and_receives) {
        const std::uint32_t sender = sender_[std::size_t{p} * members_ + member];
        part.receives = sender < members_ && sends_in(phase, sender, in_phase);
    }
    return part;
}

// Posts to the others, waits until all those have arrived, and for as many.
MessageAction ExplicitRounds::next_among_all(std::uint32_t member, ScriptPlace& place) const {
    const std::uint32_t p = phase_of_[place.next];
    const bool hears = waits_ == Waits::sends_and_receives;
    const InboxId inbox =
        hears ? InboxId(static_cast<std::uint16_t>(first_inbox_[p] + place.next - first_[p])) : no_inbox;
    const std::uint32_t peer = ++place.branch;
    if (peer < members_) {
        return {
            .kind = MessageActionKind::post, .inbox = inbox, .subject = p, .to = ActorId((member + peer) % members_)};
    }
    if (peer == members_) {
        if (!hears) ++place.next, place.branch = 0;
        return {.kind = MessageActionKind::settle};
    }
    ++place.next, place.branch = 0;
    return {.kind = MessageActionKind::receive, .inbox = inbox, .repeat = members_ - 1};
}

MessageAction ExplicitRounds::next(std::uint32_t member, ScriptPlace& place) const {
    for (; place.next < phase_of_.size(); ++place.next) {
        const std::uint32_t round = place.turn = place.next;
        const std::uint32_t p = phase_of_[round];
        if (phases_[p].peer == Peer::all) return next_among_all(member, place);
        const Part now = part(member, round);
        if (now == Part{}) continue;
        if (phases_[p].duty == 1.0) {
            place.next = end_of(p);
        } else {
            while (++place.next < end_of(p) && part(member, place.next) == now) {
            }
        }
        MessageAction action{.kind = MessageActionKind::send, .subject = p, .repeat = place.next - round};
        if (now.sends) action.to = ActorId(peer_of(phases_[p], member, members_));
        if (now.receives) action.kind = now.sends ? MessageActionKind::exchange : MessageActionKind::receive;
        if (waits_ == Waits::sends_and_receives) action.inbox = InboxId(static_cast<std::uint16_t>(first_inbox_[p]));
        return action;
    }
    return {};
}

}  // namespace weft
