// The same actions on SimGrid, without its actors: each message is a Comm between two hosts, work is an Exec, and when
// one completes a callback starts the next. So does SimGrid run graphs of tasks, and fastest: with an
// actor for each of ours, every message costs several switches of context besides (see README.md).
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "bench/peers/runs.hpp"
#include "sim/base/check.hpp"

namespace weft::peers {
namespace {

namespace s4u = simgrid::s4u;

constexpr double speed = 1e9;  // flops of a host per second: work is given in seconds

class Peer {
  public:
    explicit Peer(const Work& work)
        : work_(work),
          inboxes_(work.program.tables.inboxes),
          actors_(work.size()),
          arrivals_(std::size_t{work.size()} * inboxes_) {
        const bool has_racks = work_.racks.size() > 1;
        s4u::NetZone* const all = s4u::create_star_zone("all");
        for (std::uint32_t rack = 0; rack < work_.racks.size(); ++rack) {
            const std::string name = "rack_" + std::to_string(rack);
            s4u::NetZone* zone = all;
            simgrid::kernel::routing::NetPoint* gateway = nullptr;
            if (has_racks) {
                zone = s4u::create_star_zone(name);
                zone->set_parent(all);
                gateway = zone->create_router(name + "_switch");
            }
            add_ranks(*zone, rack);
            if (!has_racks) continue;
            zone->seal();
            plug(*all, zone->get_netpoint(), gateway, name, work_.racks[rack]);
        }
        all->seal();
        s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) { complete(activity); });
    }

    // All actors start together, before the engine runs.
    void start() {
        for (std::uint32_t rank = 0; rank < work_.size(); ++rank) begin(ActorId(rank));
    }
    std::uint64_t messages() const { return messages_; }
    bool is_over() const {
        return std::ranges::all_of(actors_, [](const Actor& actor) { return actor.over; });
    }

  private:
    // What completes: `posted` if its actor did not wait for it.
    struct Task {
        ActorId from{}, to{};
        InboxId inbox = no_inbox;
        bool posted = false;
        s4u::ActivityPtr activity{};  // which must live until it has completed
    };
    struct Actor {
        MessageAction action;
        ScriptPlace place;
        std::uint32_t left = 0;
        bool busy = false, over = false;
        Task task;
    };

    void add_ranks(s4u::NetZone& zone, std::uint32_t rack) {
        const auto per_rack = static_cast<std::uint32_t>(work_.size() / work_.racks.size());
        for (std::uint32_t rank = rack * per_rack; rank < (rack + 1) * per_rack; ++rank) {
            const std::string name = std::to_string(rank);
            hosts_.push_back(zone.create_host(name, speed)->seal());
            plug(zone, hosts_.back()->get_netpoint(), nullptr, name, work_.ranks[rank]);
        }
    }
    // A link from `end` to the middle of a star, and one back.
    void plug(s4u::NetZone& star, simgrid::kernel::routing::NetPoint* end, simgrid::kernel::routing::NetPoint* gateway,
              const std::string& name, const Cable& cable) {
        star.add_route(end, nullptr, gateway, nullptr, {link(star, name + "_up", cable.up)}, false);
        star.add_route(nullptr, end, nullptr, gateway, {link(star, name + "_down", cable.down)}, false);
    }
    s4u::LinkInRoute link(s4u::NetZone& zone, const std::string& name, BytesPerSecond rate) const {
        return s4u::LinkInRoute(zone.create_link(name, rate.value)->set_latency(work_.latency.value)->seal());
    }
    int& arrivals(ActorId actor, InboxId inbox) { return arrivals_[index(actor) * inboxes_ + index(inbox)]; }

    bool must_wait(ActorId id) {
        const Actor& actor = actors_[index(id)];
        if (actor.busy) return true;
        const bool waits =
            actor.action.kind == MessageActionKind::exchange || actor.action.kind == MessageActionKind::receive;
        return waits && arrivals(id, actor.action.inbox) < 0;
    }

    // Goes on as far as it can.
    void begin(ActorId id) {
        Actor& actor = actors_[index(id)];
        while (!actor.over && !must_wait(id)) {
            if (actor.left == 0) {
                actor.action = work_.program.next(id, actor.place);
                actor.left = actor.action.repeat;
            }
            --actor.left;
            act(id, actor);
        }
    }

    void act(ActorId id, Actor& actor) {
        const MessageAction& action = actor.action;
        switch (action.kind) {
            case MessageActionKind::over:
                actor.over = true;
                break;
            case MessageActionKind::work: {
                const double flops = work_.program.tables.durations[action.subject].value * speed;
                actor.busy = true;
                actor.task = {id, {}, no_inbox, false, {}};
                const s4u::ExecPtr exec = s4u::Exec::init()->set_flops_amount(flops)->set_host(hosts_[index(id)]);
                exec->set_data(&actor.task);
                actor.task.activity = exec;
                exec->start();
                break;
            }
            case MessageActionKind::post:
                posts_.push_back({id, action.to, action.inbox, true, {}});
                send(action, posts_.back(), id);
                break;
            case MessageActionKind::exchange:
                --arrivals(id, action.inbox);
                [[fallthrough]];
            case MessageActionKind::send:
                actor.busy = true;
                actor.task = {id, action.to, action.inbox, false, {}};
                send(action, actor.task, id);
                break;
            case MessageActionKind::receive:
                --arrivals(id, action.inbox);
                break;
            case MessageActionKind::settle:
                WEFT_CHECK(false, "no work here settles");
        }
    }

    void send(const MessageAction& action, Task& task, ActorId from) {
        ++messages_;
        const auto bytes = static_cast<std::uint64_t>(work_.program.tables.shapes[action.subject].bytes.value);
        const s4u::CommPtr comm = s4u::Comm::sendto_init(hosts_[index(from)], hosts_[index(action.to)]);
        comm->set_payload_size(bytes)->set_data(&task);
        task.activity = comm;
        comm->start();
    }

    static Task& task_of(const s4u::Activity& activity) {
        if (const auto* const comm = dynamic_cast<const s4u::Comm*>(&activity)) return *comm->get_data<Task>();
        return *dynamic_cast<const s4u::Exec&>(activity).get_data<Task>();
    }

    void complete(const s4u::Activity& activity) {
        Task& place = task_of(activity);
        const Task task = place;
        completing_ = std::move(place.activity);  // alive while SimGrid looks at it after this call
        if (!task.posted) actors_[index(task.from)].busy = false;
        if (task.inbox != no_inbox) {
            ++arrivals(task.to, task.inbox);
            begin(task.to);
        }
        if (!task.posted) begin(task.from);
    }

    const Work& work_;
    std::uint32_t inboxes_;
    std::vector<s4u::Host*> hosts_;
    std::vector<Actor> actors_;
    std::vector<int> arrivals_;  // by rank and inbox: more than what was waited for
    std::deque<Task> posts_;     // which stay where they are
    s4u::ActivityPtr completing_;
    std::uint64_t messages_ = 0;
};

}  // namespace

Answer run_simgrid(const Work& work) {
    int arguments = 2;
    std::string program = "peers", quiet = "--log=root.thresh:warning";
    char* words[] = {program.data(), quiet.data(), nullptr};
    s4u::Engine engine(&arguments, words);
    // Max-min sharing with nothing of TCP in it, as in tests/outside/simgrid, and small stacks.
    for (const char* const setting : {"network/model:CM02", "network/TCP-gamma:0", "network/bandwidth-factor:1",
                                      "network/latency-factor:1", "network/weight-S:0", "network/crosstraffic:0",
                                      "contexts/stack-size:64", "contexts/guard-size:0", "surf/precision:1e-12"}) {
        s4u::Engine::set_config(setting);
    }
    Peer peer(work);
    peer.start();
    engine.run();
    WEFT_CHECK(peer.is_over(), "an actor waits for ever");
    return {{s4u::Engine::get_clock()}, peer.messages()};
}

}  // namespace weft::peers
