// An actor of SimGrid for each of ours, which reads the same actions. A message goes from host to host by sendto, which
// needs no receiver; who waits for it waits at a semaphore that its sender releases. Messages that nobody waits for at
// the sender's side go to a mailbox with a permanent receiver, so that they, too, start when they are sent.
#include <simgrid/s4u.hpp>

#include <string>
#include <vector>

#include "bench/peers/runs.hpp"
#include "sim/base/check.hpp"

namespace weft::peers {
namespace {

namespace s4u = simgrid::s4u;

class Peer {
  public:
    explicit Peer(const Work& work) : work_(work), inboxes_(work.program.tables.inboxes) {
        s4u::NetZone* const zone = s4u::create_star_zone("crossbar");
        for (std::uint32_t rank = 0; rank < work_.ranks; ++rank) {
            const std::string name = std::to_string(rank);
            s4u::Host* const host = zone->create_host(name, 1e9)->seal();
            hosts_.push_back(host);
            zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {link(*zone, name + "_up")}, false);
            zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {link(*zone, name + "_down")}, false);
        }
        zone->seal();
        for (std::size_t i = 0; i < std::size_t{work_.ranks} * inboxes_; ++i) {
            arrivals_.push_back(s4u::Semaphore::create(0));
            mailboxes_.push_back(s4u::Mailbox::by_name(std::to_string(i)));
        }
        find_posts();
        for (std::uint32_t rank = 0; rank < work_.ranks; ++rank) {
            s4u::Actor::create(std::to_string(rank), hosts_[rank], [this, rank] { act(rank); });
        }
    }
    std::uint64_t messages() const { return messages_; }

  private:
    static s4u::LinkInRoute link(s4u::NetZone& zone, const std::string& name) {
        return s4u::LinkInRoute(zone.create_link(name, bandwidth.value)->set_latency(latency.value)->seal());
    }
    std::size_t slot(ActorId actor, InboxId inbox) const { return index(actor) * inboxes_ + index(inbox); }

    // Inboxes that get posts are mailboxes.
    void find_posts() {
        is_posted_.resize(arrivals_.size());
        for (std::uint32_t rank = 0; rank < work_.ranks; ++rank) {
            ScriptPlace place;
            for (;;) {
                const MessageAction action = work_.program.next(ActorId(rank), place);
                if (action.kind == MessageActionKind::over) break;
                if (action.kind == MessageActionKind::post) is_posted_[slot(action.to, action.inbox)] = true;
            }
        }
    }

    void act(std::uint32_t rank) {
        const ActorId self{rank};
        for (std::uint32_t inbox = 0; inbox < inboxes_; ++inbox) {
            const std::size_t at = std::size_t{rank} * inboxes_ + inbox;
            if (is_posted_[at]) mailboxes_[at]->set_receiver(s4u::Actor::self());
        }
        ScriptPlace place;
        for (;;) {
            const MessageAction action = work_.program.next(self, place);
            if (action.kind == MessageActionKind::over) break;
            for (std::uint32_t i = 0; i < action.repeat; ++i) repeat(self, action);
        }
        for (std::uint32_t inbox = 0; inbox < inboxes_; ++inbox) {
            const std::size_t at = std::size_t{rank} * inboxes_ + inbox;
            if (is_posted_[at]) mailboxes_[at]->set_receiver(nullptr);
        }
    }

    void repeat(ActorId self, const MessageAction& action) {
        switch (action.kind) {
            case MessageActionKind::work:
                s4u::this_actor::sleep_for(work_.program.tables.durations[action.subject].value);
                break;
            case MessageActionKind::post:
                ++messages_;
                mailboxes_[slot(action.to, action.inbox)]->put_init(this, bytes(action))->detach();
                break;
            case MessageActionKind::send:
                send(self, action);
                break;
            case MessageActionKind::receive:
                wait(slot(self, action.inbox));
                break;
            case MessageActionKind::exchange:
                send(self, action);
                wait(slot(self, action.inbox));
                break;
            case MessageActionKind::settle:
            case MessageActionKind::over:
                WEFT_CHECK(false, "no work here settles");
        }
    }

    std::uint64_t bytes(const MessageAction& action) const {
        return static_cast<std::uint64_t>(work_.program.tables.shapes[action.subject].bytes.value);
    }
    void send(ActorId self, const MessageAction& action) {
        ++messages_;
        s4u::Comm::sendto(hosts_[index(self)], hosts_[index(action.to)], bytes(action));
        if (action.inbox != no_inbox) arrivals_[slot(action.to, action.inbox)]->release();
    }
    void wait(std::size_t at) {
        if (is_posted_[at]) {
            mailboxes_[at]->get<Peer>();
        } else {
            arrivals_[at]->acquire();
        }
    }

    const Work& work_;
    std::uint32_t inboxes_;
    std::vector<s4u::Host*> hosts_;
    std::vector<s4u::SemaphorePtr> arrivals_;  // by rank and inbox
    std::vector<s4u::Mailbox*> mailboxes_;
    std::vector<char> is_posted_;
    std::uint64_t messages_ = 0;
};

}  // namespace

Answer run_simgrid(const Work& work) {
    int arguments = 2;
    std::string program = "peers", quiet = "--log=root.thresh:warning";
    char* words[] = {program.data(), quiet.data(), nullptr};
    s4u::Engine engine(&arguments, words);
    // Max-min sharing with nothing of TCP in it, as in tests/outside/simgrid, and small stacks.
    for (const char* const setting :
         {"network/model:CM02", "network/TCP-gamma:0", "network/bandwidth-factor:1", "network/latency-factor:1",
          "network/weight-S:0", "network/crosstraffic:0", "contexts/stack-size:64", "contexts/guard-size:0"}) {
        s4u::Engine::set_config(setting);
    }
    const Peer peer(work);
    engine.run();
    return {{s4u::Engine::get_clock()}, peer.messages()};
}

}  // namespace weft::peers
