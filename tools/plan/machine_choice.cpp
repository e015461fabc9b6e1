#include "tools/plan/machine_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "tools/endurance/run.hpp"
#include "tools/plan/proposals.hpp"

namespace weft {
namespace {

RunAnswer answer(const PlanResult& result, double tokens, std::optional<double> price) {
    constexpr std::uint64_t samples = 200, seed = 1;
    const SimulatedCandidate& best = result.simulated.front();
    const Study study = result.space.study(result.candidates[best.number].candidate);
    const RunStretch step{.batch = study.job.batch.global,
                          .steps = 0,
                          .time = best.time,
                          .compute = best.parts.compute + best.parts.optimizer,
                          .exposed = best.parts.exposed};
    RunPlan plan = plan_run(make_plan(study), {step}, {.tokens = tokens});
    std::vector<RunSample> played;
    for (std::uint64_t i = 0; i < samples; ++i) played.push_back(sample_run(plan.run, seed, i));
    const RunResult run = run_result(std::move(plan), played, seed, price, study.job.layout.ranks());
    RunAnswer told{.time = Seconds{run.quantity("time_s").spread.p50},
                   .goodput = run.quantity("goodput").spread.p50,
                   .energy = {},
                   .cost = {},
                   .assumptions = run.plan.assumptions};
    if (run.plan.power) told.energy = Joules{run.quantity("energy_j").spread.p50};
    if (price) told.cost = run.quantity("cost").spread.p50;
    return told;
}

}  // namespace

std::vector<MachineAnswer> ask_machines(const PlanRequest& request, std::span<const std::string> machines,
                                        const SearchOptions& options, const std::optional<RunQuestion>& question) {
    std::vector<MachineAnswer> answers;
    for (const std::string& machine : machines) {
        PlanRequest own = request;
        own.overrides.push_back("machine=" + machine);
        PlanResult result = find_layouts(own, options);
        std::optional<RunAnswer> run;
        if (question && !result.simulated.empty()) {
            const std::size_t place = answers.size();
            const bool priced = place < question->prices.size();
            run = answer(result, question->tokens, priced ? std::optional(question->prices[place]) : std::nullopt);
        }
        answers.push_back({machine, std::move(own), std::move(result), std::move(run)});
    }
    return answers;
}

}  // namespace weft
