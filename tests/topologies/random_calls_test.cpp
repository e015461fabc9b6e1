// What holds of any call, on machines, libraries, groups and placements drawn at random: more bytes take no less time,
// no link carries more than it can, and a faster link makes nothing slower, but for some six in a thousand whose
// channels the library then lays elsewhere. WEFT_CALLS: how many are drawn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"
#include "topologies/placement.hpp"

namespace weft {
namespace {

class Draw {
  public:
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    template <class T>
    const T& of(const std::vector<T>& all) {
        return all[below(static_cast<std::uint32_t>(all.size()))];
    }

  private:
    std::mt19937 random_{20};
};

std::uint32_t calls() {
    const char* const text = std::getenv("WEFT_CALLS");
    return text == nullptr ? 300U : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

struct RandomCall {
    const Machine* machine = nullptr;
    const Library* library = nullptr;
    SetLayout layout{};
    Fabric fabric{};
    Collective op{};
    Bytes message{};
    std::string text{};
};

RandomCall draw_call(Draw& draw, const std::vector<Machine>& machines) {
    RandomCall call{.machine = &draw.of(machines)};
    const MachineInfo& info = call.machine->info();
    call.library = &draw.of(info.libraries);
    const std::uint32_t nodes = 1 + draw.below(std::min(info.nodes, 1U << (1 + draw.below(6))));
    const std::uint32_t per_node = 1 + draw.below(info.accelerators_per_node);
    call.layout = {.ranks = nodes * per_node, .ranks_per_node = per_node};
    if (draw.below(4) == 0) call.layout.groups = per_node;
    const std::string placement = fmt::format("random:{}", draw.below(1000));
    const bool is_random = draw.below(2) == 0;
    if (is_random) call.fabric.placement = place_nodes(placement, nodes, info, ".");
    call.op = draw.of(std::vector{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                  Collective::all_to_all, Collective::broadcast, Collective::send_receive});
    call.message = {std::exp2(10.0 + draw.below(21))};
    call.text = fmt::format("{} {} of {:.0f} B, {} nodes x {} ranks in {} groups on {}, {}", call.library->name,
                            name(call.op), call.message.value, nodes, per_node, call.layout.groups, info.name,
                            is_random ? placement : "contiguous");
    return call;
}

struct Outcome {
    Seconds time;
    double busiest = 0.0;
    bool is_tuned = false;
    Choice choice{};
};

std::optional<Outcome> outcome(const RandomCall& call, const Topology& topology, Bytes message) {
    CollectiveSet set(topology, *call.library, call.layout);
    const std::optional<Choice> choice = set.costs().choose(call.op, message);
    if (!choice) return std::nullopt;
    Outcome result{.time = set.time(*choice, message), .choice = *choice};
    for (const CollectiveSet::ClassUse& use : set.utilization(*choice, message)) {
        result.busiest = std::max(result.busiest, use.utilization);
    }
    result.is_tuned = set.costs().is_tuned(call.op, message);
    return result;
}

TEST(random_calls, take_longer_with_more_bytes_fill_no_link_and_hardly_ever_take_longer_on_faster_ones) {
    std::vector<Machine> machines;
    for (const std::string& name : machine_names()) machines.push_back(Machine::load(name));
    Draw draw;
    std::uint32_t asked = 0, slower = 0;
    for (std::uint32_t i = 0; i < calls(); ++i) {
        const RandomCall call = draw_call(draw, machines);
        Topology topology = call.machine->topology(call.layout.nodes(), call.fabric);
        const std::optional<Outcome> plain = outcome(call, topology, call.message);
        if (!plain || call.layout.members() == 1) continue;
        ++asked;
        EXPECT_LE(plain->busiest, 1.0 + 1e-9) << call.text;
        const std::optional<Outcome> longer = outcome(call, topology, call.message * 2.0);
        ASSERT_TRUE(longer) << call.text;
        if (!plain->is_tuned && !longer->is_tuned) {  // a tuner goes by its tables, not by time
            EXPECT_LE(plain->time.value, longer->time.value * (1 + 1e-9)) << call.text;
        }
        const auto classes = static_cast<std::uint32_t>(topology.classes.size());
        const auto faster = LinkClassId(static_cast<std::uint16_t>(draw.below(classes)));
        topology.classes[faster].bandwidth *= 2.0;
        const std::optional<Outcome> sooner = outcome(call, topology, call.message);
        ASSERT_TRUE(sooner) << call.text;
        if (sooner->time.value <= plain->time.value * (1 + 1e-9)) continue;
        if (plain->is_tuned && sooner->choice != plain->choice) continue;  // what it believes of faster links
        ++slower;
        EXPECT_EQ(sooner->choice, plain->choice) << call.text << ", " << topology.classes[faster].name;
    }
    EXPECT_GT(asked, calls() / 2);
    EXPECT_LE(slower, calls() / 150);
}

}  // namespace
}  // namespace weft
