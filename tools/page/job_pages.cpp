#include "tools/page/pages.hpp"

#include <fmt/format.h>

#include "tools/output/figures.hpp"
#include "tools/output/plan_text.hpp"
#include "tools/page/simulation_page.hpp"

namespace weft {

std::string step_page(const Study& study, const ExplainedStep& step, const Report& report, const JobInput& input,
                      const TimelineLimits& limits) {
    const Explanation explanation = explain(study, step);
    const PageExplanation part{.explanation = explanation, .command = {}};
    return simulation_page(step.run, report, input, &part, limits);
}

std::string explained_page(const JobExplanation& explained, const JobInput& input, const std::string& simulate) {
    const PageExplanation part{.explanation = explained.explanation,
                               .knobs = explained.knobs,
                               .settings = explained.settings,
                               .command = simulate};
    return simulation_page(explained.step.run, explained.report, input, &part);
}

std::vector<std::string> simulated_layout(const PlanResult& result, std::size_t place) {
    return result.assignments(result.candidates[result.simulated[place].number]);
}

// Files of the simulated ones: those of thousands of others would take longer than the search.
static PlanPageFacts page_facts(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands) {
    PlanPageFacts facts{.simulate = commands.simulate, .files = {}};
    if (!result.simulated.empty()) {
        facts.mean_error = result.quality.mean_error;
        facts.largest_error = result.quality.largest_error;
    }
    for (std::size_t place = 0; place < result.simulated.size(); ++place) {
        facts.files[result.simulated[place].number] =
            launch_files(request, simulated_layout(result, place), commands.launch);
    }
    return facts;
}

std::string search_page(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands) {
    const Study& base = result.space.bases().front();
    const std::string job = request.job.path.empty() ? std::string() : request.job.path.string() + ": ";
    const ResultPageText text{
        .title = fmt::format("Layouts of {} on {}", model_text(base.job.model), base.machine.info().name),
        .command =
            commands.plan + fmt::format("{} --simulate {}", result.searched == Searched::modelled ? " --modelled" : "",
                                        result.simulated.size()),
        .summary = job + plan_heading(result)};
    return plan_page(text, plan_rows(result), page_facts(request, result, commands));
}

}  // namespace weft
