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

// Candidates that follow one another and share a layout; what the block refused them for.
struct Block {
    std::size_t first = 0, end = 0;
    std::vector<JobError> refusals{};
};

std::vector<Block> blocks_of(const std::vector<ScreenedCandidate>& candidates) {
    constexpr std::size_t layout_knobs = 3, most = 4096;
    std::vector<Block> blocks;
    const auto together = [&](const Candidate& a, const Candidate& b) {
        return a.base == b.base && std::equal(a.values.begin(), a.values.begin() + layout_knobs, b.values.begin());
    };
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const bool joins = !blocks.empty() && i - blocks.back().first < most &&
                           together(candidates[blocks.back().first].candidate, candidates[i].candidate);
        if (!joins) blocks.push_back({.first = i, .end = i});
        blocks.back().end = i + 1;
    }
    return blocks;
}

std::uint32_t refusal_number(const JobError& error, std::vector<JobError>& known) {
    const auto same = [&](const JobError& other) { return other.key == error.key && other.message == error.message; };
    const auto number = static_cast<std::uint32_t>(std::ranges::find_if(known, same) - known.begin());
    if (number == known.size()) known.push_back(error);
    return number;
}

void screen(PlanResult& result, Block& block, Workbench& bench, bool exactly) {
    const SearchSpace& space = result.space;
    for (std::size_t i = block.first; i < block.end; ++i) {
        ScreenedCandidate& one = result.candidates[i];
        Screen& screen = *bench.screens[one.candidate.base];
        space.apply(one.candidate, screen.job());
        const std::vector<JobError> errors =
            objections(screen.job(), space.machine(), result.searched, Mistakes::first);
        if (!errors.empty()) {
            one.verdict = Verdict::refused;
            one.refusal = refusal_number(errors.front(), block.refusals);
            continue;
        }
        const MemoryVerdict memory = screen.memory();
        one.memory = memory.peak;
        one.verdict = memory.fits ? Verdict::fits : Verdict::does_not_fit;
        if (!memory.fits) continue;
        screen.job().packing = packed_attention(screen.job());  // takes time, and no memory depends on it
        try {
            if (exactly) {
                one.estimate = screen.estimate();
            } else {
                one.bound = screen.bound();
            }
            one.timed = exactly;
        } catch (const RangeError& error) {  // a call that the library cannot run
            one.verdict = Verdict::refused;
            one.refusal = refusal_number({.key = "library", .message = error.what()}, block.refusals);
        }
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
        for (const JobError& error : block.refusals) {
            const auto [it, fresh] =
                known.try_emplace({error.key, error.message}, static_cast<std::uint32_t>(result.refusals.size()));
            number.push_back(it->second);
            if (!fresh) continue;
            const auto [reason, is_new] = known_reasons.try_emplace({error.key, without_numbers(error.message)},
                                                                    static_cast<std::uint32_t>(reasons.size()));
            if (is_new) reasons.push_back({error.key, error.message});
            result.refusals.push_back({error.key, error.message, reason->second});
        }
        for (std::size_t i = block.first; i < block.end; ++i) {
            ScreenedCandidate& one = result.candidates[i];
            if (one.verdict != Verdict::refused) continue;
            one.refusal = number[one.refusal];
            ++reasons[result.refusals[one.refusal].reason].candidates;
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

// Times in closed form those that bounds do not rule out.
void time(PlanResult& result, std::vector<Block>& blocks, const std::vector<std::size_t>& by_bound,
          Shelf<Workbench>& shelf, const SearchOptions& options) {
    const Seconds limit = result.simulated.empty() ? Seconds{} : may_be_best(result);
    for (;;) {
        auto alone = list_of<Block>(next_to_time(result.candidates, by_bound, options.simulations, limit),
                                    [](std::size_t i) { return Block{.first = i, .end = i + 1}; });
        if (alone.empty()) return;
        for_each_on_a_bench(alone.size(), result, shelf, options,
                            [&](std::size_t i, Workbench& bench) { screen(result, alone[i], bench, true); });
        for (const Block& block : alone) {
            if (block.refusals.empty()) continue;
            Block& own = *--std::ranges::upper_bound(blocks, block.first, {}, &Block::first);
            result.candidates[block.first].refusal = refusal_number(block.refusals.front(), own.refusals);
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
    std::deque<Candidate> candidates = result.space.candidates();  // millions, whose place is given back one by one
    result.candidates.reserve(candidates.size());
    for (; !candidates.empty(); candidates.pop_front()) result.candidates.push_back({.candidate = candidates.front()});
    std::vector<Block> blocks = blocks_of(result.candidates);

    Shelf<Workbench> shelf;
    for_each_on_a_bench(blocks.size(), result, shelf, options,
                        [&](std::size_t i, Workbench& bench) { screen(result, blocks[i], bench, options.every); });
    std::vector<std::size_t> by_bound;  // few of millions
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
