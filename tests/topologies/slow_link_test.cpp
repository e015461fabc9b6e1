// A slow link costs no more than a dead one, and no less than a sound one: libraries lay channels past it, and messages
// go around it, where that carries more. Their ways differ by some links, and so by some latency. WEFT_CALLS: how many
// calls are drawn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "sim/io/diagnostics.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

struct Call {
    SetLayout layout{};
    Collective op{};
    Bytes message{};
};

Topology with_fault(const Machine& machine, const Call& call, NicCable cable, double share) {
    Fabric fabric;
    fabric.link_faults = {{.where = cable, .share = share}};
    return machine.topology(call.layout.nodes(), fabric);
}

// Of the choice that the library makes among sound links, where the links have other rates.
Seconds time_of(const Machine& machine, const Call& call, NicCable cable, double share) {
    const Topology sound = with_fault(machine, call, cable, 1.0), topology = with_fault(machine, call, cable, share);
    CollectiveSet by_choice(sound, machine.info().library(), call.layout);
    CollectiveSet set(topology, machine.info().library(), call.layout);
    return set.time(*by_choice.costs().choose(call.op, call.message), call.message);
}

TEST(slow_link, is_never_worse_than_a_dead_one_nor_better_than_a_sound_one) {
    std::mt19937 random(11);
    const auto draw = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::vector<Collective> ops{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                      Collective::all_to_all, Collective::send_receive};
    const char* const calls = std::getenv("WEFT_CALLS");
    const int of_each = calls == nullptr ? 16 : std::atoi(calls) / 5;
    std::uint32_t compared = 0;
    for (const char* const name : {"frontier", "dgx-h100", "perlmutter", "alps-mi250x", "megascale"}) {
        const Machine machine = Machine::load(name);
        for (int i = 0; i < of_each; ++i) {
            const std::uint32_t nodes = 2 + draw(3), per_node = 1 + draw(machine.info().accelerators_per_node);
            Call call{.layout = {.ranks = nodes * per_node, .ranks_per_node = per_node},
                      .op = ops[draw(5)],
                      .message = Bytes{std::ldexp(1.0, static_cast<int>(3 + draw(28)))}};
            if (draw(3) == 0 && per_node > 1) call.layout.groups = per_node;  // each of one rank a node
            if (!machine.info().library().runs(call.op)) continue;
            const NicCable cable{draw(nodes), draw(machine.info().nics_per_node)};
            const double share = 0.05 * (1 + draw(19));
            const Seconds sound = time_of(machine, call, cable, 1.0), slow = time_of(machine, call, cable, share),
                          dead = time_of(machine, call, cable, 0.0);
            const std::string what = fmt::format(
                "{}: {} of {:.0f} B among {} x {} ranks in {} groups, NIC {} of node {} at {:.2f}: {:.3g}, {:.3g}, "
                "{:.3g} s",
                name, weft::name(call.op), call.message.value, nodes, per_node, call.layout.groups, cable.nic,
                cable.node, share, sound.value, slow.value, dead.value);
            EXPECT_LE(sound.value, slow.value * 1.02) << what;
            EXPECT_LE(slow.value, dead.value * 1.02) << what;
            compared += slow > sound ? 1 : 0;
        }
    }
    EXPECT_GT(compared, 10U);
}

}  // namespace
}  // namespace weft
