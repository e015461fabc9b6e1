#include "topologies/message_traffic.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/cost/cost.hpp"
#include "sim/explicit/message_runner.hpp"
#include "topologies/channels.hpp"

namespace weft {
namespace {

// What one message of its kind costs where nothing else is under way.
struct LoneSend {
    std::uint32_t method = 0;
    MessageLoad load{};
    BytesPerSecond most{};
    Seconds latency;  // before its bytes, on the minimal route
};

// Worked out once for messages of one size on like links.
class LoneSends {
  public:
    LoneSends(const Topology& topology, const Library& library, const Preference& preference)
        : topology_(topology), library_(library), preference_(preference) {}

    const LoneSend& of(const TrafficMessage& message) {
        Kind kind{message.bytes, topology_.node_of(message.from) != topology_.node_of(message.to), {}};
        const Route route = topology_.route(message.from, message.to);
        for (const LinkId link : route.links()) kind.links.push_back(topology_.link_class(link));
        const auto [known, fresh] = known_.try_emplace(std::move(kind));
        if (fresh) known->second = work_out(message);
        return known->second;
    }

    std::vector<SendingMethod> methods() && { return std::move(methods_); }

  private:
    struct Kind {
        Bytes bytes{};
        bool across = false;
        std::vector<LinkClassId> links{};
        auto operator<=>(const Kind&) const = default;
    };

    LoneSend work_out(const TrafficMessage& message) {
        const std::vector<RankId> pair{message.from, message.to};
        GroupCosts costs(topology_, library_, shape_of(topology_, pair),
                         [&](Order) { return std::vector{Communicator{.channels = {pair}}}; });
        const std::optional<Choice> choice = costs.choose(Collective::send_receive, message.bytes, preference_);
        if (!choice) {
            throw RangeError("{} on {} has no row for a send_receive of {:.0f} B", library_.name, topology_.name,
                             message.bytes.value);
        }
        const PhaseCost& cost = costs.phases(*choice).front();
        const bool across = topology_.node_of(message.from) != topology_.node_of(message.to);
        const MessageLoad load = load_of(*choice->protocol, across, Ports::own);
        return {method(*choice->protocol, across, load, cost.pattern.cap), load, cost.pattern.cap,
                cost.latency(message.bytes)};
    }

    std::uint32_t method(const ProtocolCost& protocol, bool across, const MessageLoad& load, BytesPerSecond most) {
        const auto same = [&](const SendingMethod& each) {
            return each.protocol == protocol.protocol && each.across == across && each.most == most;
        };
        const auto found = std::ranges::find_if(methods_, same);
        const auto place = static_cast<std::uint32_t>(found - methods_.begin());
        if (found == methods_.end()) methods_.push_back({protocol.protocol, across, 1.0 / load.at_ends, most});
        return place;
    }

    const Topology& topology_;
    const Library& library_;
    const Preference& preference_;
    std::map<Kind, LoneSend> known_;
    std::vector<SendingMethod> methods_;
};

// Message i is sent by actor i; actors that only receive come after those.
MessageProgram program_of(std::span<const TrafficMessage> messages, const Topology& topology, Seconds host,
                          LoneSends& sends, std::vector<SentMessage>& sent) {
    std::map<std::pair<RankId, Seconds>, double> together;  // messages that a rank sends at one time
    for (const TrafficMessage& message : messages) ++together[{message.from, message.start}];
    MessageProgram program;
    const auto receiver = [&](RankId rank) {
        return ActorId(static_cast<std::uint32_t>(messages.size() + index(rank)));
    };
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        const TrafficMessage& message = messages[i];
        WEFT_CHECK(message.from != message.to && message.bytes > Bytes{}, "a message moves bytes to another rank");
        const LoneSend& alone = sends.of(message);
        const Seconds flight = topology.latency(topology.route(message.from, message.to));
        program.begin({message.from, 0});
        if (message.start > Seconds{}) {
            const auto wait = static_cast<std::uint32_t>(program.tables.durations.size());
            program.tables.durations.push_back(message.start);
            program.add({.kind = MessageActionKind::work, .subject = wait});
        }
        program.add({.kind = MessageActionKind::send, .subject = i, .to = receiver(message.to)});
        program.tables.shapes.push_back({.bytes = message.bytes,
                                         .load = alone.load,
                                         .cap = alone.most / together[{message.from, message.start}],
                                         .step = std::max(host + alone.latency - flight, -flight)});
        sent.push_back({.method = alone.method});
    }
    for (std::uint32_t rank = 0; rank < topology.ranks; ++rank) program.begin({RankId(rank), 0});
    return program;
}

// Which links every message takes, and when.
class Recorder {
  public:
    explicit Recorder(std::vector<SentMessage>& sent) : sent_(&sent), first_(sent.size()) {}

    void depart(ActorId from, Instant now, std::span<const LinkId> links) {
        SentMessage& message = (*sent_)[index(from)];
        message.depart = since_start(now);
        message.hops = static_cast<std::uint32_t>(links.size());
        first_[index(from)] = links_.size();
        links_.insert(links_.end(), links.begin(), links.end());
    }
    void arrive(ActorId from, Instant now) { (*sent_)[index(from)].arrival = since_start(now); }

    std::span<const LinkId> links(std::size_t message) const {
        return std::span(links_).subspan(first_[message], (*sent_)[message].hops);
    }

  private:
    std::vector<SentMessage>* sent_;
    std::vector<std::size_t> first_;
    std::vector<LinkId> links_;
};

void add_links(std::span<const TrafficMessage> messages, const MessageTables& tables, const Topology& topology,
               const Recorder& recorder, TrafficRun& run) {
    std::map<LinkId, CarryingLink> carried;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        for (const LinkId id : recorder.links(i)) {
            CarryingLink& link = carried[id];
            const double load = tables.shapes[i].load.on(topology.joins_switches(id));
            ++link.messages;
            link.bytes += messages[i].bytes;
            link.held += messages[i].bytes * load / topology.link(id).bandwidth;
        }
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
        CarryingLink* longest = nullptr;
        for (const LinkId id : recorder.links(i)) {
            CarryingLink& link = carried[id];
            if (longest == nullptr || link.held > longest->held) longest = &link;
        }
        const Seconds at_most = messages[i].bytes / tables.shapes[i].cap;
        ++(longest == nullptr || at_most > longest->held ? run.bound_by_library : longest->bound);
    }
    for (auto& [id, link] : carried) {
        link.link = id;
        run.links.push_back(link);
    }
}

}  // namespace

TrafficRun run_traffic(std::span<const TrafficMessage> messages, const Topology& topology, const Library& library,
                       const Preference& preference, Seconds host) {
    TrafficRun run;
    LoneSends sends(topology, library, preference);
    const MessageProgram program = program_of(messages, topology, host, sends, run.messages);
    run.methods = std::move(sends).methods();
    for (const SentMessage& message : run.messages) ++run.methods[message.method].messages;
    MessageRunner runner(program, program.tables, topology, Recorder(run.messages));
    run.time = runner.run().time;
    add_links(messages, program.tables, topology, runner.watch(), run);
    return run;
}

}  // namespace weft
