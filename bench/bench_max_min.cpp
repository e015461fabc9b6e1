// Rates of random flows on a random fabric, and of one flow that comes and goes among many. Twin: the naive solver of
// the tests, link by link and flow by flow.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/proof.hpp"
#include "sim/base/hash.hpp"
#include "sim/network/max_min.hpp"
#include "tests/sim/network/toy.hpp"

namespace {

using namespace weft;

struct System {
    std::vector<double> bandwidths;
    std::vector<Pattern> patterns;
};

// `flows` flows over half as many links, four links each; in blocks of 16 links that share nothing.
System random_system(std::uint32_t flows) {
    constexpr std::uint32_t block = 16;
    const std::uint32_t links = std::max(block, flows / 2);
    System system;
    for (std::uint64_t l = 0; l < links; ++l) {
        system.bandwidths.push_back(10.0 * static_cast<double>(1 + Fingerprint().add(l).value() % 4));
    }
    for (std::uint64_t f = 0; f < flows; ++f) {
        Fingerprint random;
        random.add(f);
        const auto first = static_cast<std::uint32_t>(random.value() % (links / block)) * block;
        std::vector<std::uint32_t> links;
        while (links.size() < 4) {
            const auto link = first + static_cast<std::uint32_t>(random.add(std::uint64_t{1}).value() % block);
            if (std::ranges::find(links, link) == links.end()) links.push_back(link);
        }
        std::ranges::sort(links);
        system.patterns.push_back(toy::path(links));
    }
    return system;
}

MaxMin solver(const System& system) {
    const Topology topology = toy::fabric(system.bandwidths);
    const auto patterns = toy::table(system.patterns);
    const LinkPatterns crossed(topology, patterns);
    return MaxMin(drop_implied(find_constraints(topology, crossed), patterns.size()), patterns);
}

void set_all(MaxMin& max_min, const System& system, std::uint32_t flows) {
    for (std::uint32_t p = 0; p < system.patterns.size(); ++p) max_min.set_flows(PatternId{p}, flows);
}

bool rates_are_equal() {
    for (const std::uint32_t flows : {16U, 128U, 1024U}) {
        const System system = random_system(flows);
        const std::vector<double> expected = toy::naive_max_min(system.bandwidths, system.patterns);
        MaxMin max_min = solver(system);
        set_all(max_min, system, 1);
        max_min.solve();
        for (std::uint32_t p = 0; p < flows; ++p) {
            if (std::abs(max_min.rate(PatternId{p}).value - expected[p]) > 1e-9 * expected[p]) return false;
        }
    }
    return true;
}

void solve_all(benchmark::State& state) {
    const System system = random_system(static_cast<std::uint32_t>(state.range(0)));
    MaxMin max_min = solver(system);
    for (auto _ : state) {
        set_all(max_min, system, 1);
        benchmark::DoNotOptimize(max_min.solve());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(solve_all)->RangeMultiplier(10)->Range(1'000, 100'000);

void solve_one_change(benchmark::State& state) {
    const System system = random_system(static_cast<std::uint32_t>(state.range(0)));
    MaxMin max_min = solver(system);
    set_all(max_min, system, 1);
    max_min.solve();
    std::uint32_t flows = 1;
    for (auto _ : state) {
        flows = 3 - flows;
        max_min.set_flows(PatternId{7}, flows);
        benchmark::DoNotOptimize(max_min.solve());
    }
}
BENCHMARK(solve_one_change)->RangeMultiplier(10)->Range(1'000, 100'000);

void solve_naively(benchmark::State& state) {
    const System system = random_system(static_cast<std::uint32_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(toy::naive_max_min(system.bandwidths, system.patterns));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(solve_naively)->RangeMultiplier(8)->Range(16, 1024);

}  // namespace

int main(int argc, char** argv) { return weft::bench::prove_then_time(argc, argv, rates_are_equal); }
