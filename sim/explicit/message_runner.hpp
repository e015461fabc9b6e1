// Runs a script of messages (see message_program.hpp) on links that flows share max-min fairly. A message takes the
// step of its shape and the latencies of its minimal route, then its bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/hash.hpp"
#include "sim/base/instant.hpp"
#include "sim/engine/delay_queue.hpp"
#include "sim/explicit/message_program.hpp"
#include "sim/explicit/route_network.hpp"

namespace weft {

// Gives the actions of an actor one after another: the one at `place`, which moves behind it.
template <class S>
concept MessageScript = requires(const S& script, ActorId actor, ScriptPlace& place) {
    { script.next(actor, place) } -> std::same_as<MessageAction>;
};

struct MessageRun {
    Seconds time;
    std::uint64_t messages = 0;
    std::uint64_t solves = 0;  // of rates
};

// Sees the messages of a run that move bytes over links: which links when these start, and when all have arrived.
template <class W>
concept MessageWatch = requires(W& watch, ActorId from, Instant now, std::span<const LinkId> links) {
    watch.depart(from, now, links);
    watch.arrive(from, now);
};

struct NobodyWatches {
    void depart(ActorId /*from*/, Instant /*now*/, std::span<const LinkId> /*links*/) {}
    void arrive(ActorId /*from*/, Instant /*now*/) {}
};

template <MessageScript Script, MessageWatch Watch = NobodyWatches>
class MessageRunner {
  public:
    MessageRunner(const Script& script, const MessageTables& tables, const Topology& topology, Watch watch = {})
        : script_(script),
          tables_(tables),
          topology_(topology),
          watch_(std::move(watch)),
          network_(topology),
          actors_(tables.seats.size()),
          arrivals_(tables.seats.size() * tables.inboxes) {}

    // All actors start together. LogicError if one waits for ever, or if the network delivers other than it was asked.
    MessageRun run() {
        for (ActorId id{}; id != actors_.end_id(); id = next(id)) {
            prepare(id);
            begin(id);
            go_on(id);
        }
        std::vector<FlowId> finished;
        std::vector<Delayed>
            arrived;  // looked up before any message departs, which may be given the id of a finished flow
        for (;;) {
            while (delayed_.next() == now_) fall_due(delayed_.pop());
            const Instant then = std::min(delayed_.next(), network_.next_change());
            if (then == Instant::never()) break;
            now_ = then;
            network_.advance(now_, finished);
            for (const FlowId flow : finished) {
                arrived.push_back(under_way_[flow]);
                watch_.arrive(arrived.back().from, now_);
            }
            for (const Delayed& message : arrived) arrive(message);
            finished.clear();
            arrived.clear();
        }
        for (const Actor& actor : actors_)
            WEFT_CHECK(actor.action.kind == MessageActionKind::over, "an actor waits for ever");
        const double missing = std::abs((network_.delivered() - asked_).value);
        WEFT_CHECK(missing <= 1e-6 * asked_.value, "the network delivered other than it was asked for");
        return {since_start(now_), messages_, network_.solves()};
    }

    const Watch& watch() const { return watch_; }

  private:
    struct Actor {
        MessageAction action;
        std::uint32_t left = 1;     // repetitions, with the one under way
        std::uint32_t waiting = 0;  // for its own message or work of this repetition
        std::uint32_t posted = 0;   // messages that have not arrived
        std::uint32_t hops = 0;     // of the route of its message, which is in routes_
        std::int64_t latency = 0;   // of its message, in ticks
        ScriptPlace place;
    };
    // A message, or, without a receiver, work.
    struct Delayed {
        ActorId from{}, to{};
        std::uint32_t shape = 0, turn = 0;
        InboxId inbox = no_inbox;
        MessageActionKind kind{};
    };

    static bool sends(MessageActionKind kind) {
        return kind == MessageActionKind::post || kind == MessageActionKind::send ||
               kind == MessageActionKind::exchange;
    }
    static bool hears(MessageActionKind kind) {
        return kind == MessageActionKind::receive || kind == MessageActionKind::exchange;
    }
    // How many arrivals in an inbox are more than what was waited for.
    std::int32_t& arrivals(ActorId actor, InboxId inbox) {
        return arrivals_[index(actor) * tables_.inboxes + index(inbox)];
    }
    bool takes_detours(ActorId from, ActorId to) const {
        return uses_detours(topology_.routing) &&
               topology_.node_of(tables_.seats[from].rank) != topology_.node_of(tables_.seats[to].rank);
    }
    Route minimal_route(ActorId from, ActorId to) const {
        return topology_.route(tables_.seats[from].rank, tables_.seats[to].rank, tables_.seats[from].salt);
    }

    // Where the fabric routes adaptively, a message looks at the minimal route and two detours, and takes the one on
    // which it can expect most (as UGAL does packet by packet: Singh, PhD thesis, Stanford 2005); under Valiant routing
    // it takes any detour.
    Route choose_route(const Delayed& message) const {
        const ActorSeat from = tables_.seats[message.from], to = tables_.seats[message.to];
        const MessageLoad& load = tables_.shapes[message.shape].load;
        Route best = minimal_route(message.from, message.to);
        const std::uint32_t detours = topology_.router->detours(from.rank, to.rank);
        if (detours == 0) return best;
        Fingerprint random;
        random.add(std::uint64_t{index(message.from)}).add(std::uint64_t{index(message.to)});
        random.add(std::uint64_t{message.turn});
        const auto any_detour = [&] {
            const auto i = static_cast<std::uint32_t>(random.add(std::uint64_t{0}).value() % detours);
            return topology_.router->detour(from.rank, to.rank, from.salt, i);
        };
        if (topology_.routing == Routing::valiant) return any_detour();
        for (int looks = 0; looks < 2; ++looks) {
            const Route other = any_detour();
            if (network_.fair_share(other, load) > network_.fair_share(best, load)) best = other;
        }
        return best;
    }

    // The next action of an actor, with what all its repetitions share.
    void prepare(ActorId id) {
        Actor& actor = actors_[id];
        actor.action = script_.next(id, actor.place);
        actor.left = actor.action.repeat;
        if (actor.action.kind == MessageActionKind::work) {
            actor.latency = ticks(tables_.durations[actor.action.subject]);
        } else if (sends(actor.action.kind)) {
            const Route route = minimal_route(id, actor.action.to);
            actor.latency = ticks(tables_.shapes[actor.action.subject].step + topology_.latency(route));
            actor.hops = route.hops;
            std::ranges::copy(route.links(), routes_.make_room(id, route.hops).begin());
        }
    }

    void begin(ActorId id) {
        Actor& actor = actors_[id];
        const MessageAction& action = actor.action;
        const std::uint32_t turn = actor.place.turn + action.repeat - actor.left;
        const Delayed delayed{id, action.to, action.subject, turn, action.inbox, action.kind};
        if (sends(action.kind) || action.kind == MessageActionKind::work) {
            ++(action.kind == MessageActionKind::post ? actor.posted : actor.waiting);
            delayed_.push(now_, actor.latency, delayed);
        }
        if (hears(action.kind)) --arrivals(id, action.inbox);
    }

    bool is_over(const Actor& actor, ActorId id) {
        if (actor.waiting > 0) return false;
        if (hears(actor.action.kind)) return arrivals(id, actor.action.inbox) >= 0;
        if (actor.action.kind == MessageActionKind::settle) return actor.posted == 0;
        return actor.action.kind != MessageActionKind::over;
    }

    void go_on(ActorId id) {
        Actor& actor = actors_[id];
        while (is_over(actor, id)) {
            if (--actor.left == 0) prepare(id);
            begin(id);
        }
    }

    void fall_due(const Delayed& delayed) {
        if (delayed.kind != MessageActionKind::work) return depart(delayed);
        --actors_[delayed.from].waiting;
        go_on(delayed.from);
    }

    // An actor keeps the route of the message that it waits for; of one that it posted it may have moved on. Routes are
    // large: no branch clears one that it does not fill.
    void depart(const Delayed& message) {
        if (takes_detours(message.from, message.to)) {
            const Route route = choose_route(message);
            start(message, route.links());
        } else if (message.kind == MessageActionKind::post) {
            const Route route = minimal_route(message.from, message.to);
            start(message, route.links());
        } else {
            start(message, routes_.first(message.from, actors_[message.from].hops));
        }
    }

    void start(const Delayed& message, std::span<const LinkId> links) {
        ++messages_;
        const MessageShape& shape = tables_.shapes[message.shape];
        if (links.empty() || shape.bytes == Bytes{}) return arrive(message);
        watch_.depart(message.from, now_, links);
        const FlowId flow = network_.start_on(now_, links, shape.load, shape.bytes, shape.cap);
        while (index(flow) >= under_way_.size()) under_way_.push_back({});
        under_way_[flow] = message;
        asked_ += shape.bytes;
    }

    void arrive(const Delayed& message) {
        Actor& from = actors_[message.from];
        --(message.kind == MessageActionKind::post ? from.posted : from.waiting);
        if (message.inbox != no_inbox) {
            ++arrivals(message.to, message.inbox);
            go_on(message.to);
        }
        go_on(message.from);
    }

    const Script& script_;
    const MessageTables& tables_;
    const Topology& topology_;
    Watch watch_;
    RouteNetwork network_;
    Table<ActorId, Actor> actors_;
    StridedRows<ActorId, LinkId> routes_;
    std::vector<std::int32_t> arrivals_;
    DelayQueue<Delayed> delayed_;
    Table<FlowId, Delayed> under_way_;
    Instant now_;
    Bytes asked_;
    std::uint64_t messages_ = 0;
};

}  // namespace weft
