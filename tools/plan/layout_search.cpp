#include "tools/plan/request.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/base/check.hpp"
#include "tools/parallel.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

// A topology and, of each base, what screens its candidates.
struct Workbench {
    explicit Workbench(const SearchSpace& space) : prepared(prepare(space.bases().front())) {
        for (const Study& base : space.bases()) {
            screens.push_back(std::make_unique<Screen>(base, prepared->topology()));
        }
    }
    std::unique_ptr<PreparedTopology> prepared;
    std::vector<std::unique_ptr<Screen>> screens;
};

// Candidates that follow one another and share a layout: where they begin and end in the space, and once they are
// screened in PlanResult::candidates; what became of them; how many were refused for what.
struct Block {
    std::size_t first = 0, end = 0;
    std::vector<ScreenedCandidate> screened{};  // without the refused ones, but where every candidate is asked for
    struct Refused {
        std::string key, message;
        std::size_t candidates = 0;
    };
    std::vector<Refused> refused{};
};

std::vector<Block> blocks_of(const std::deque<Candidate>& candidates) {
    constexpr std::size_t layout_knobs = 3, most = 4096;
    std::vector<Block> blocks;
    const auto together = [&](const Candidate& a, const Candidate& b) {
        return a.base == b.base && std::equal(a.values.begin(), a.values.begin() + layout_knobs, b.values.begin());
    };
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const bool joins = !blocks.empty() && i - blocks.back().first < most &&
                           together(candidates[blocks.back().first], candidates[i]);
        if (!joins) blocks.push_back({.first = i, .end = i});
        blocks.back().end = i + 1;
    }
    return blocks;
}

void refuse(ScreenedCandidate& one, std::string key, std::string message, Block& block) {
    const auto same = [&](const Block::Refused& other) { return other.key == key && other.message == message; };
    one.verdict = Verdict::refused;
    one.refusal = static_cast<std::uint32_t>(std::ranges::find_if(block.refused, same) - block.refused.begin());
    if (one.refusal == block.refused.size()) block.refused.push_back({std::move(key), std::move(message)});
    ++block.refused[one.refusal].candidates;
}

// `exactly`: its time in closed form, in place of a bound.
void screen(ScreenedCandidate& one, const PlanResult& result, Block& block, Workbench& bench, bool exactly) {
    Screen& screen = *bench.screens[one.candidate.base];
    result.space.apply(one.candidate, screen.job());
    std::vector<JobError> errors = objections(screen.job(), result.space.machine(), result.searched, Mistakes::first);
    if (!errors.empty()) {
        return refuse(one, std::move(errors.front().key), std::move(errors.front().message), block);
    }
    const MemoryVerdict memory = screen.memory();
    one.memory = memory.peak;
    one.verdict = memory.fits ? Verdict::fits : Verdict::does_not_fit;
    if (!memory.fits) return;
    screen.job().packing = packed_attention(screen.job());  // takes time, and no memory depends on it
    try {
        if (exactly) {
            one.estimate = screen.estimate();
        } else {
            one.bound = screen.bound();
        }
        one.timed = exactly;
    } catch (const RangeError& error) {  // a call that the library cannot run
        refuse(one, "library", error.what(), block);
    }
}

// One list of refusals for all blocks. Those that differ in numbers alone are for one reason; the most frequent comes
// first.
void collect_refusals(const std::vector<Block>& blocks, PlanResult& result) {
    using Text = std::pair<std::string, std::string>;
    std::map<Text, std::uint32_t> known, known_reasons;
    std::vector<RefusalReason> reasons;
    for (const Block& block : blocks) {
        std::vector<std::uint32_t> number;
        for (const Block::Refused& refused : block.refused) {
            const auto [it, fresh] =
                known.try_emplace({refused.key, refused.message}, static_cast<std::uint32_t>(result.refusals.size()));
            number.push_back(it->second);
            if (fresh) {
                const auto [reason, is_new] = known_reasons.try_emplace({refused.key, without_numbers(refused.message)},
                                                                        static_cast<std::uint32_t>(reasons.size()));
                if (is_new) reasons.push_back({refused.key, refused.message});
                result.refusals.push_back({refused.key, refused.message, reason->second});
            }
            reasons[result.refusals[it->second].reason].candidates += refused.candidates;
        }
        for (std::size_t i = block.first; i < block.end; ++i) {
            ScreenedCandidate& one = result.candidates[i];
            if (one.verdict == Verdict::refused) one.refusal = number[one.refusal];
        }
    }
    std::vector<std::uint32_t> order(reasons.size()), place(reasons.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return reasons[i].candidates; });
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        result.reasons.push_back(reasons[order[i]]);
    }
    for (Refusal& refusal : result.refusals) refusal.reason = place[refusal.reason];
}

SimulatedCandidate simulated(const PlanResult& result, std::size_t number, Workbench& bench) {
    const ScreenedCandidate& screened = result.candidates[number];
    Plan plan = make_plan(result.space.study(screened.candidate));
    WEFT_CHECK(plan.stages[plan.fullest_stage()].memory.total() == screened.memory,
               "screening and the plan differ about memory");
    Simulation run = simulate_step(std::move(plan), {.kept = Kept::sums}, std::move(bench.prepared));
    const Report report = make_report(run);
    bench.prepared = std::move(run.prepared);
    const auto seconds = [&](std::string_view key) { return Seconds{report.metric(key)}; };
    const Seconds optimizer = seconds("step.optimizer_s");
    return {.number = number,
            .parts = {.compute = seconds("step.compute_s") - optimizer,
                      .optimizer = optimizer,
                      .exposed = seconds("step.exposed_communication_s"),
                      .bubble = seconds("step.bubble_s"),
                      .imbalance = seconds("step.imbalance_s")},
            .time = seconds("step.time_s"),
            .tokens_per_second = report.metric("throughput.tokens_per_s"),
            .model_tflops = report.metric("throughput.model_tflops_per_gpu"),
            .mfu = report.metric("throughput.mfu")};
}

// work(i, bench) for each of `count`, in parallel, with whichever bench is free.
void for_each_on_a_bench(std::size_t count, const PlanResult& result, Shelf<Workbench>& shelf,
                         const SearchOptions& options, const std::function<void(std::size_t, Workbench&)>& work) {
    for_each_in_parallel(
        count, options.threads,
        [&](std::size_t i) {
            std::unique_ptr<Workbench> bench = shelf.take([&] { return std::make_unique<Workbench>(result.space); });
            work(i, *bench);
            shelf.give_back(std::move(bench));
        },
        options.progress);
}

// Screens all candidates of the space; what is kept of a block is in result.candidates from its `first` to its `end`.
std::vector<Block> screened_blocks(PlanResult& result, Shelf<Workbench>& shelf, const SearchOptions& options) {
    const std::deque<Candidate> candidates = result.space.candidates();  // millions, most of them refused
    std::vector<Block> blocks = blocks_of(candidates);
    for_each_on_a_bench(blocks.size(), result, shelf, options, [&](std::size_t i, Workbench& bench) {
        Block& block = blocks[i];
        for (std::size_t k = block.first; k < block.end; ++k) {
            ScreenedCandidate one{.candidate = candidates[k]};
            screen(one, result, block, bench, options.every);
            if (options.every || one.verdict != Verdict::refused) block.screened.push_back(one);
        }
    });
    result.considered = candidates.size();
    for (Block& block : blocks) {
        block.first = result.candidates.size();
        std::ranges::move(std::exchange(block.screened, {}), std::back_inserter(result.candidates));
        block.end = result.candidates.size();
    }
    return blocks;
}

// Times in closed form those that bounds do not rule out.
void time(PlanResult& result, std::vector<Block>& blocks, const std::vector<std::size_t>& by_bound,
          Shelf<Workbench>& shelf, const SearchOptions& options) {
    const Seconds limit = result.simulated.empty() ? Seconds{} : may_be_best(result);
    for (;;) {
        const std::vector<std::size_t> next = next_to_time(result.candidates, by_bound, options.simulations, limit);
        if (next.empty()) return;
        std::vector<Block> alone(next.size());
        for_each_on_a_bench(next.size(), result, shelf, options, [&](std::size_t i, Workbench& bench) {
            screen(result.candidates[next[i]], result, alone[i], bench, true);
        });
        for (std::size_t i = 0; i < next.size(); ++i) {
            if (alone[i].refused.empty()) continue;
            Block& own = *--std::ranges::upper_bound(blocks, next[i], {}, &Block::first);
            Block::Refused& why = alone[i].refused.front();
            refuse(result.candidates[next[i]], std::move(why.key), std::move(why.message), own);
        }
    }
}

// Appends to result.simulated.
void simulate(PlanResult& result, std::vector<std::size_t> numbers, Shelf<Workbench>& shelf,
              const SearchOptions& options) {
    std::ranges::sort(numbers);  // candidates that share a layout, and so the costs of its groups, follow one another
    const std::size_t before = result.simulated.size();
    result.simulated.resize(before + numbers.size());
    for_each_on_a_bench(numbers.size(), result, shelf, options, [&](std::size_t i, Workbench& bench) {
        result.simulated[before + i] = simulated(result, numbers[i], bench);
    });
}

}  // namespace

PlanResult search_layouts(PlanSpace space, const SearchOptions& options) {
    PlanResult result{.space = std::move(space.space),
                      .searched = options.searched,
                      .base_assignments = std::move(space.base_assignments)};
    result.capacity = result.space.bases().front().device.memory;
    Shelf<Workbench> shelf;
    std::vector<Block> blocks = screened_blocks(result, shelf, options);
    std::vector<std::size_t> by_bound;
    for (std::size_t i = 0; i < result.candidates.size(); ++i) {
        if (result.candidates[i].verdict == Verdict::fits) by_bound.push_back(i);
    }
    std::ranges::stable_sort(by_bound, {}, [&](std::size_t i) { return result.candidates[i].bound; });
    std::vector<std::size_t> next;
    do {
        if (!next.empty()) simulate(result, std::move(next), shelf, options);
        time(result, blocks, by_bound, shelf, options);  // how far screening errs becomes known meanwhile
        next = still_open(result, by_screening(result.candidates));
        const std::size_t left = options.most_simulations - std::min(options.most_simulations, result.simulated.size());
        next.resize(std::min({next.size(), left, options.simulations}));
    } while (!next.empty());
    collect_refusals(blocks, result);
    rank(result);
    return result;
}

}  // namespace weft
