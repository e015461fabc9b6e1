#include "sim/engine/explicit_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/engine/explicit_rounds.hpp"
#include "sim/event/heap.hpp"
#include "sim/network/fingerprint.hpp"
#include "sim/network/route_network.hpp"

namespace weft {
namespace {

// One member in one channel.
struct Actor {
    std::uint32_t round = 0;        // of which its messages are under way; past the last: done
    std::uint32_t outstanding = 0;  // sends of this round that are not over
};

// Actors are numbered channel by channel.
struct Message {
    std::uint32_t from = 0, to = 0, round = 0;
};

// A message whose latency is over at `at`.
struct Departure {
    Instant at;
    std::uint64_t order = 0;  // of equal times the one that was posted first
    Message message;
};

constexpr auto earlier = [](const Departure& a, const Departure& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
};

class ExplicitRunner {
  public:
    ExplicitRunner(const ExplicitRounds& rounds, const Communicator& communicator, Bytes message, Waits waits,
                   const Topology& topology, const ProtocolCost& protocol);
    ExplicitRun run();

  private:
    RankId rank(std::uint32_t actor) const { return communicator_.channels[actor / members_][actor % members_]; }
    double load(bool across) const;
    BytesPerSecond rate_of_a_member() const;
    Route choose_route(const Message& message, double load) const;
    std::uint16_t& awaited(std::uint32_t actor, std::uint32_t round);
    bool may_go_on(std::uint32_t actor);
    void go_on(std::uint32_t actor);
    void post_round(std::uint32_t actor);
    void depart(const Message& message);
    void arrive(const Message& message);

    const ExplicitRounds& rounds_;
    const Communicator& communicator_;
    Bytes message_;  // of one channel
    Waits waits_;
    const Topology& topology_;
    const ProtocolCost& protocol_;
    std::uint32_t members_;
    BytesPerSecond rate_;  // that a member sends at most in one channel
    RouteNetwork network_;
    std::vector<Actor> actors_;
    std::vector<std::uint16_t> awaited_;  // messages to each actor by round; empty if nobody waits for receives
    std::vector<Departure> departures_;
    Table<FlowId, Message> under_way_;
    Instant now_;
    Bytes asked_;
    std::uint64_t posted_ = 0;
    std::uint64_t messages_ = 0;
};

ExplicitRunner::ExplicitRunner(const ExplicitRounds& rounds, const Communicator& communicator, Bytes message,
                               Waits waits, const Topology& topology, const ProtocolCost& protocol)
    : rounds_(rounds),
      communicator_(communicator),
      message_(message / static_cast<double>(communicator.channels.size())),
      waits_(waits),
      topology_(topology),
      protocol_(protocol),
      members_(communicator.size()),
      rate_(rate_of_a_member()),
      network_(topology),
      actors_(communicator.channels.size() * members_) {
    if (waits_ == Waits::sends) return;
    WEFT_CHECK(members_ <= std::numeric_limits<std::uint16_t>::max(), "too many members for an explicit run");
    awaited_.resize(actors_.size() * rounds_.count());
    for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
        const std::uint32_t first = actor - actor % members_;
        for (std::uint32_t round = 0; round < rounds_.count(); ++round) {
            rounds_.for_each_peer(actor % members_, round, [&](std::uint32_t peer) { ++awaited(first + peer, round); });
        }
    }
}

std::uint16_t& ExplicitRunner::awaited(std::uint32_t actor, std::uint32_t round) {
    return awaited_[std::size_t{actor} * rounds_.count() + round];
}

bool ExplicitRunner::may_go_on(std::uint32_t actor) {
    const Actor& state = actors_[actor];
    if (state.round >= rounds_.count() || state.outstanding > 0) return false;
    return waits_ == Waits::sends || awaited(actor, state.round) == 0;
}

// Leaves a round that is over, and those after it in which the member has nothing to do.
void ExplicitRunner::go_on(std::uint32_t actor) {
    while (may_go_on(actor)) {
        ++actors_[actor].round;
        post_round(actor);
    }
}

void ExplicitRunner::post_round(std::uint32_t actor) {
    Actor& state = actors_[actor];
    if (state.round >= rounds_.count()) return;
    const std::uint32_t first = actor - actor % members_;
    rounds_.for_each_peer(actor % members_, state.round, [&](std::uint32_t peer) {
        const RankId from = rank(actor), to = rank(first + peer);
        const bool across = topology_.node_of(from) != topology_.node_of(to);
        const Seconds latency = (across ? protocol_.step_across : protocol_.step_in_node) +
                                topology_.latency(topology_.route(from, to, actor / members_));
        ++state.outstanding;
        heap::push(departures_, Departure{now_ + latency, posted_++, {actor, first + peer, state.round}}, earlier);
    });
}

// On links, per byte of a message.
double ExplicitRunner::load(bool across) const {
    if (!across) return 1.0 / protocol_.efficiency_in_node;
    return 1.0 / (communicator_.ports == Ports::shared ? protocol_.efficiency_shared : protocol_.efficiency_across);
}

// As in PhaseTraffic: by whether the group spans nodes.
BytesPerSecond ExplicitRunner::rate_of_a_member() const {
    const std::vector<RankId>& ranks = communicator_.channels.front();
    const bool inside = std::all_of(ranks.begin(), ranks.end(), [&](RankId rank) {
        return topology_.node_of(rank) == topology_.node_of(ranks.front());
    });
    return (inside ? protocol_.rate_in_node : protocol_.rate_across) /
           static_cast<double>(communicator_.channels.size());
}

Route ExplicitRunner::choose_route(const Message& message, double load) const {
    const RankId from = rank(message.from), to = rank(message.to);
    const std::uint64_t channel = message.from / members_;
    Route best = topology_.route(from, to, channel);
    if (topology_.routing == Routing::minimal || topology_.node_of(from) == topology_.node_of(to)) return best;
    const std::uint32_t detours = topology_.router->detours(from, to);
    if (detours == 0) return best;
    Fingerprint random;
    random.add(std::uint64_t{message.from}).add(std::uint64_t{message.to}).add(std::uint64_t{message.round});
    const auto any_detour = [&] {
        const auto i = static_cast<std::uint32_t>(random.add(std::uint64_t{0}).value() % detours);
        return topology_.router->detour(from, to, channel, i);
    };
    if (topology_.routing == Routing::valiant) return any_detour();
    for (int looks = 0; looks < 2; ++looks) {
        const Route other = any_detour();
        if (network_.fair_share(other, load) > network_.fair_share(best, load)) best = other;
    }
    return best;
}

void ExplicitRunner::depart(const Message& message) {
    ++messages_;
    const bool across = topology_.node_of(rank(message.from)) != topology_.node_of(rank(message.to));
    const Route route = choose_route(message, load(across));
    const Bytes bytes = message_ * rounds_.fraction(message.round);
    if (route.hops == 0 || bytes == Bytes{}) return arrive(message);
    const FlowId flow = network_.start(now_, route, load(across), bytes, rate_ / rounds_.peers(message.round));
    while (index(flow) >= under_way_.size()) under_way_.push_back({});
    under_way_[flow] = message;
    asked_ += bytes;
}

void ExplicitRunner::arrive(const Message& message) {
    --actors_[message.from].outstanding;
    if (waits_ == Waits::sends_and_receives) {
        --awaited(message.to, message.round);
        go_on(message.to);
    }
    go_on(message.from);
}

ExplicitRun ExplicitRunner::run() {
    for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
        post_round(actor);
        go_on(actor);
    }
    std::vector<FlowId> finished;
    std::vector<Message> arrived;  // looked up before any message departs, which may be given the id of a finished flow
    for (;;) {
        while (!departures_.empty() && departures_.front().at == now_) depart(heap::pop(departures_, earlier).message);
        const Instant departure = departures_.empty() ? Instant::never() : departures_.front().at;
        const Instant then = std::min(departure, network_.next_change());
        if (then == Instant::never()) break;
        now_ = then;
        network_.advance(now_, finished);
        for (const FlowId flow : finished) arrived.push_back(under_way_[flow]);
        for (const Message& message : arrived) arrive(message);
        finished.clear();
        arrived.clear();
    }
    for (const Actor& actor : actors_) WEFT_CHECK(actor.round == rounds_.count(), "a member waits for ever");
    const double missing = std::abs((network_.delivered() - asked_).value);
    WEFT_CHECK(missing <= 1e-6 * asked_.value, "the network delivered other than it was asked for");
    return {since_start(now_), messages_, network_.solves()};
}

}  // namespace

bool has_rounds(const Algorithm& algorithm, const GroupShape& shape) {
    const std::vector<Phase> phases = algorithm.phases(shape);
    return algorithm.needs == Needs::nothing &&
           std::none_of(phases.begin(), phases.end(), [](const Phase& phase) { return phase.peer == Peer::listed; });
}

// In an all-to-all whose members send (n - 1)/n of the message in all, every block goes straight to where it belongs.
Waits waits_of(const Algorithm& algorithm, const GroupShape& shape) {
    if (algorithm.op == Collective::send_receive || algorithm.op == Collective::point_to_point) return Waits::sends;
    if (algorithm.op != Collective::all_to_all) return Waits::sends_and_receives;
    const double others = shape.members - 1.0;
    double sent = 0.0;
    for (const Phase& phase : algorithm.phases(shape)) {
        sent += phase.volume() * (phase.peer == Peer::all ? others : 1.0);
    }
    return sent <= others / shape.members * (1.0 + 1e-9) ? Waits::sends : Waits::sends_and_receives;
}

ExplicitRun run_explicitly(const Algorithm& algorithm, const GroupShape& shape, const Communicator& communicator,
                           Bytes message, Waits waits, const Topology& topology, const Library& library,
                           const ProtocolCost& protocol) {
    const Seconds launch = library.launch + protocol.launch;
    WEFT_CHECK(communicator.size() == shape.members, "a communicator of another size than its shape says");
    if (shape.members < 2) return {.time = launch};
    const std::string name(algorithm.name);
    WEFT_CHECK(algorithm.runs(shape), name + " cannot run in a group of this shape");
    WEFT_CHECK(has_rounds(algorithm, shape), name + " does not consist of messages in rounds");
    const ExplicitRounds rounds(algorithm.phases(shape), shape.members);
    ExplicitRun run = ExplicitRunner(rounds, communicator, message, waits, topology, protocol).run();
    run.time += launch;
    return run;
}

}  // namespace weft
