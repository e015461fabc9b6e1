#include "tools/plan/machine_choice.hpp"

#include <utility>

#include "tools/plan/proposals.hpp"

namespace weft {
namespace {

RunResult run_of_best(const PlanResult& result, double tokens, std::optional<double> price) {
    const SimulatedCandidate& best = result.simulated.front();
    const Study study = result.space.study(result.candidates[best.number].candidate);
    const RunStretch step{.batch = study.job.batch.global,
                          .steps = 0,
                          .time = best.time,
                          .compute = best.parts.compute + best.parts.optimizer,
                          .exposed = best.parts.exposed};
    return played_run(plan_run(make_plan(study), {step}, {.tokens = tokens}), price, study.job.layout.ranks());
}

}  // namespace

std::vector<MachineAnswer> ask_machines(const PlanRequest& request, std::span<const std::string> machines,
                                        const SearchOptions& options, const std::optional<RunQuestion>& question) {
    std::vector<MachineAnswer> answers;
    for (const std::string& machine : machines) {
        PlanRequest own = request;
        own.overrides.push_back("machine=" + machine);
        PlanResult result = find_layouts(own, options);
        std::optional<RunResult> run;
        if (question && !result.simulated.empty()) {
            const std::size_t place = answers.size();
            const bool priced = place < question->prices.size();
            run = run_of_best(result, question->tokens, priced ? std::optional(question->prices[place]) : std::nullopt);
        }
        answers.push_back({machine, std::move(own), std::move(result), std::move(run)});
    }
    return answers;
}

}  // namespace weft
