// What `weft collective` computes, at the scale of whole machines. First the loads of a phase are proven equal to those
// that a naive twin finds, which walks every transfer of an algorithm and adds up links in a map.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bench/proof.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

const Machine& frontier() {
    static const Machine machine = Machine::load("frontier");
    return machine;
}

constexpr Collective ops[] = {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                              Collective::all_to_all};

// Bytes on every link for a message of one byte, from the transfers.
std::map<LinkId, double> walk(const Choice& choice, const GroupShape& shape, const Communicator& communicator,
                              const Topology& topology) {
    std::map<LinkId, double> bytes;
    const double chunk = 1.0 / choice.algorithm->chunks(shape) / static_cast<double>(communicator.channels.size());
    for (std::size_t c = 0; c < communicator.channels.size(); ++c) {
        const std::vector<RankId>& order = communicator.channels[c];
        for (const Transfer& transfer : choice.algorithm->transfers(shape)) {
            const RankId from = order[transfer.from], to = order[transfer.to];
            const bool across = topology.node_of(from) != topology.node_of(to);
            const double efficiency = across ? choice.protocol->efficiency_across : choice.protocol->efficiency_in_node;
            const Route route = topology.route(from, to, c);
            // On wires between switches, the flags of LL beside the bytes.
            const double wire = choice.protocol->protocol == "LL" ? 2.0 : 1.0;
            for (const LinkId link : route.links()) {
                bytes[link] += topology.joins_switches(link) ? chunk * wire : chunk / efficiency;
            }
        }
    }
    return bytes;
}

bool same_loads(CollectiveSet& set, const Choice& choice, const Topology& topology) {
    std::map<LinkId, double> compact;
    for (const PhaseCost& phase : set.costs().phases(choice)) {
        for (const LinkLoad& each : phase.pattern.loads) compact[each.link] += each.load * phase.bytes_per_message_byte;
    }
    const auto naive = walk(choice, set.costs().shape(), set.communicators(choice.algorithm->order).front(), topology);
    return compact.size() == naive.size() && std::all_of(naive.begin(), naive.end(), [&](const auto& entry) {
               return std::abs(compact[entry.first] - entry.second) <= 1e-8 * entry.second;
           });
}

}  // namespace

static bool loads_proven() {
    const Topology topology = frontier().topology(3, {.routing = Routing::minimal});
    CollectiveSet set(topology, frontier().info().library(), {.ranks = 24, .ranks_per_node = 8});
    for (const Collective op : ops) {
        for (const Choice& choice : set.costs().candidates(op)) {
            if (!same_loads(set, choice, topology)) return false;
        }
    }
    return true;
}

namespace {

// From the machine's description to the time of one call.
void predict(benchmark::State& state, Collective op, const char* algorithm, std::uint32_t ranks) {
    for (auto _ : state) {
        const Topology topology = frontier().topology(ranks / 8);
        CollectiveSet set(topology, frontier().info().library(), {.ranks = ranks, .ranks_per_node = 8});
        const auto choice = set.costs().choose(op, 1_GiB, {.algorithm = algorithm});
        benchmark::DoNotOptimize(set.time(*choice, 1_GiB));
    }
}

BENCHMARK_CAPTURE(predict, ring_all_reduce_65536_ranks, Collective::all_reduce, "ring", 65536)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, tree_all_reduce_65536_ranks, Collective::all_reduce, "tree", 65536)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict, all_to_all_1024_ranks, Collective::all_to_all, "", 1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft

int main(int argc, char** argv) { return weft::bench::prove_then_time(argc, argv, weft::loads_proven); }
