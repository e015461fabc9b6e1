#include "topologies/blocks/dragonfly_wires.hpp"

#include <span>

namespace weft::blocks {
namespace {

class Exchange {
  public:
    Exchange(const DragonflyWires& wires, const std::vector<DragonflyUse>& uses, std::uint32_t turn, Seconds local,
             Seconds global, ExchangeSink& sink)
        : wires_(wires), uses_(uses), turn_(turn), local_(local), global_(global), sink_(sink), groups_(wires.groups) {
        const std::size_t m = wires.cables;
        for (const DragonflyUse& use : uses) {
            Group& group = groups_[use.leaf / wires.size];
            if (group.leaves.empty()) group.leaves.resize(wires.size, Side(m)), group.all = Side(m);
            for (Side* side : {&group.leaves[use.leaf % wires.size], &group.all}) {
                side->low_senders[use.as_low] += use.senders;
                side->high_senders[use.as_high] += use.senders;
                side->low_receivers[use.as_low] += use.receivers;
                side->high_receivers[use.as_high] += use.receivers;
                side->senders += use.senders;
                side->receivers += use.receivers;
            }
        }
        for (std::uint32_t g = 0; g < wires.groups; ++g) {
            if (groups_[g].leaves.empty()) continue;
            used_.push_back(g);
            count_within(g);
        }
    }

    // Minimal routes.
    void add_straight() {
        for (const std::uint32_t g : used_) {
            for (const std::uint32_t h : used_) {
                if (g != h) add_between(g, h);
            }
            add_within(g);
        }
    }

    // A share 1 / (middles x cables) of each message leads over each switch, or group with its cables, in between.
    void add_detours() {
        if (wires_.groups > 2) {
            for (std::uint32_t k = 0; k < wires_.groups; ++k) add_by_group(k);
        }
        if (wires_.size > 2) {
            for (const std::uint32_t g : used_) add_by_switches(g);
        }
    }

  private:
    // Who sends and receives at a switch or in a group, by what they add to the number of a cable.
    struct Side {
        explicit Side(std::size_t cables = 0)
            : low_senders(cables), high_senders(cables), low_receivers(cables), high_receivers(cables) {}
        std::vector<double> low_senders, high_senders, low_receivers, high_receivers;
        double senders = 0, receivers = 0;
    };
    struct Group {
        std::vector<Side> leaves{};
        Side all{};                     // of all leaves
        std::vector<double> between{};  // messages from leaf to leaf
    };

    // How many of the pairs of two sides take a cable.
    double pairs(std::span<const double> from, std::span<const double> to, std::uint32_t cable) const {
        const std::uint32_t m = wires_.cables;
        double sum = 0;
        for (std::uint32_t r = 0; r < m; ++r) {
            if (from[r] != 0) sum += from[r] * to[(cable + 2 * m - r - turn_) % m];
        }
        return sum;
    }

    void add_local(std::uint32_t a, std::uint32_t b, ExchangeRoute kind, double messages) {
        if (a != b && messages > 0) sink_.add(wires_.local(a, b), kind, messages);
    }
    void add_global(std::uint32_t g, std::uint32_t h, std::uint32_t cable, ExchangeRoute kind, double messages) {
        if (messages > 0) sink_.add(wires_.global(g, h, cable), kind, messages);
    }
    ExchangeRoute minimal(std::uint32_t others) const {
        return others > 2 ? ExchangeRoute::minimal : ExchangeRoute::only;
    }

    void add_between(std::uint32_t g, std::uint32_t h) {
        const ExchangeRoute kind = minimal(wires_.groups);
        const auto senders = g < h ? &Side::low_senders : &Side::high_senders;
        const auto receivers = g < h ? &Side::high_receivers : &Side::low_receivers;
        for (std::uint32_t c = 0; c < wires_.cables; ++c) {
            const std::uint32_t out = wires_.gateway(g, h, c), in = wires_.gateway(h, g, c);
            double hops = 0, last = 0;  // local ones, at most
            for (std::uint32_t i = 0; i < wires_.size; ++i) {
                const std::uint32_t from = g * wires_.size + i, to = h * wires_.size + i;
                const double sent = pairs(groups_[g].leaves[i].*senders, groups_[h].all.*receivers, c);
                const double received = pairs(groups_[g].all.*senders, groups_[h].leaves[i].*receivers, c);
                add_local(from, out, kind, sent);
                add_local(in, to, kind, received);
                if (sent > 0 && from != out) hops = 1;
                if (received > 0 && to != in) last = 1;
            }
            const double messages = pairs(groups_[g].all.*senders, groups_[h].all.*receivers, c);
            add_global(g, h, c, kind, messages);
            if (messages > 0) sink_.reach(kind, global_ + (hops + last) * local_);
        }
    }

    // Ranks of one node exchange inside it.
    void count_within(std::uint32_t g) {
        Group& group = groups_[g];
        const std::uint32_t n = wires_.size;
        group.between.assign(std::size_t{n} * n, 0.0);
        for (std::uint32_t a = 0; a < n; ++a) {
            for (std::uint32_t b = 0; b < n; ++b)
                group.between[a * n + b] = group.leaves[a].senders * group.leaves[b].receivers;
        }
        for (std::size_t first = 0, end = 0; first < uses_.size(); first = end) {
            for (end = first; end < uses_.size() && uses_[end].node == uses_[first].node;) ++end;
            if (uses_[first].leaf / n != g) continue;
            for (std::size_t a = first; a < end; ++a) {
                for (std::size_t b = first; b < end; ++b)
                    group.between[uses_[a].leaf % n * n + uses_[b].leaf % n] -= uses_[a].senders * uses_[b].receivers;
            }
        }
    }

    void add_within(std::uint32_t g) {
        const Group& group = groups_[g];
        const std::uint32_t n = wires_.size;
        for (std::uint32_t a = 0; a < n; ++a) {
            for (std::uint32_t b = 0; b < n; ++b) {
                const double messages = group.between[a * n + b];
                if (messages <= 0) continue;
                add_local(g * n + a, g * n + b, minimal(n), messages);
                sink_.reach(a == b ? ExchangeRoute::only : minimal(n), (a == b ? 0.0 : 1.0) * local_);
            }
        }
    }

    // All messages between other groups pass group k, which may have none of the ranks.
    void add_by_group(std::uint32_t k) {
        const double middles = wires_.groups - 2.0, m = wires_.cables;
        double senders = 0, receivers = 0;
        for (const std::uint32_t g : used_) {
            if (g == k) continue;
            senders += groups_[g].all.senders;
            receivers += groups_[g].all.receivers;
        }
        for (const std::uint32_t g : used_) {
            if (g == k) continue;
            const Group& group = groups_[g];
            const double to_others = (receivers - group.all.receivers) / (middles * m);
            const double from_others = (senders - group.all.senders) / (middles * m);
            for (std::uint32_t c = 0; c < wires_.cables; ++c) {
                const std::uint32_t end = wires_.gateway(g, k, c);
                for (std::uint32_t i = 0; i < wires_.size; ++i) {
                    const std::uint32_t leaf = g * wires_.size + i;
                    add_local(leaf, end, ExchangeRoute::detour, group.leaves[i].senders * to_others);
                    add_local(end, leaf, ExchangeRoute::detour, group.leaves[i].receivers * from_others);
                }
                add_global(g, k, c, ExchangeRoute::detour, group.all.senders * to_others);
                add_global(k, g, c, ExchangeRoute::detour, group.all.receivers * from_others);
            }
            for (const std::uint32_t h : used_) {
                if (h == k || h == g) continue;
                const double each = group.all.senders * groups_[h].all.receivers / (middles * m * m);
                for (std::uint32_t c = 0; c < wires_.cables; ++c) {
                    for (std::uint32_t d = 0; d < wires_.cables; ++d)
                        add_local(wires_.gateway(k, g, c), wires_.gateway(k, h, d), ExchangeRoute::detour, each);
                }
                if (each > 0) sink_.reach(ExchangeRoute::detour, 2.0 * global_ + 3.0 * local_);
            }
        }
    }

    void add_by_switches(std::uint32_t g) {
        const std::vector<double>& between = groups_[g].between;
        const std::uint32_t n = wires_.size;
        for (std::uint32_t a = 0; a < n; ++a) {
            for (std::uint32_t b = 0; b < n; ++b) {
                const double each = between[a * n + b] / (n - 2.0);
                if (a == b || each <= 0) continue;
                sink_.reach(ExchangeRoute::detour, 2.0 * local_);
                for (std::uint32_t k = 0; k < n; ++k) {
                    if (k == a || k == b) continue;
                    add_local(g * n + a, g * n + k, ExchangeRoute::detour, each);
                    add_local(g * n + k, g * n + b, ExchangeRoute::detour, each);
                }
            }
        }
    }

    const DragonflyWires& wires_;
    const std::vector<DragonflyUse>& uses_;
    std::uint32_t turn_;
    Seconds local_, global_;
    ExchangeSink& sink_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> used_;  // groups that have ranks
};

}  // namespace

void add_dragonfly_exchange(const DragonflyWires& wires, const std::vector<DragonflyUse>& uses, std::uint32_t turn,
                            Router::Routes routes, Seconds local, Seconds global, ExchangeSink& sink) {
    Exchange exchange(wires, uses, turn % wires.cables, local, global, sink);
    if (routes == Router::Routes::straight) {
        exchange.add_straight();
    } else {
        exchange.add_detours();
    }
}

}  // namespace weft::blocks
