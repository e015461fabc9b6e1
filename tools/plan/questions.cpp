#include "tools/plan/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

// Whether some layout can be, of the search with one more override.
bool is_possible(PlanRequest request, std::string assignment, Searched searched) {
    request.overrides.push_back(std::move(assignment));
    try {
        const SearchSpace space = read_space(request).space;
        return std::ranges::any_of(space.candidates(), [&](const Candidate& candidate) {
            return objections(space.study(candidate).job, space.machine(), searched, Mistakes::first).empty();
        });
    } catch (const ConfigError&) {
        return false;
    }
}

// What data ranks that the batch can be dealt to leave for the model: tensor and pipeline ranks are mostly powers of
// two.
bool may_divide(std::uint64_t ranks, std::uint64_t batch) {
    return ranks > 0 && batch > 0 && std::has_single_bit(ranks / std::gcd(ranks, batch));
}

// The nearest of `from` - k x unit and `from` + k x unit that may be and are, k > 0; a few tries each.
template <class May>
void add_nearest(const PlanRequest& request, Searched searched, std::string_view key, std::int64_t from,
                 std::int64_t unit, May may, std::vector<std::string>& found) {
    constexpr int reach = 256, most_tries = 3;
    for (const int direction : {-1, 1}) {
        int tries = 0;
        for (int k = 1; k < reach && tries < most_tries; ++k) {
            const std::int64_t value = from + direction * k * unit;
            if (value <= 0 || !may(static_cast<std::uint64_t>(value))) continue;
            ++tries;
            std::string assignment = fmt::format("{}={}", key, value);
            if (!is_possible(request, assignment, searched)) continue;
            found.push_back(std::move(assignment));
            break;
        }
    }
}

// The nearest numbers of accelerators and batches, below and above, with which some layout can be: "gpus=512",
// "batch.global=2016". Each was tried.
std::vector<std::string> proposals(const PlanRequest& request, const PlanResult& result) {
    const Study& base = result.space.bases().front();
    const std::uint64_t ranks = result.space.accelerators(), batch = base.job.batch.global;
    const std::uint32_t part = std::bit_floor(base.machine.info().accelerators_per_node);
    const auto unit = static_cast<std::int64_t>(std::min<std::uint64_t>(part, std::bit_floor(ranks)));
    PlanRequest free = request;
    free.overrides.emplace_back("nodes=null");
    std::vector<std::string> found;
    add_nearest(
        free, result.searched, "gpus", static_cast<std::int64_t>(ranks / part * part), unit,
        [&](std::uint64_t gpus) { return may_divide(gpus, batch); }, found);
    const std::uint64_t dealt = ranks / std::gcd<std::uint64_t>(ranks, 16);  // to data ranks of 16 or fewer each
    add_nearest(
        request, result.searched, "batch.global", static_cast<std::int64_t>(batch / dealt * dealt),
        static_cast<std::int64_t>(dealt), [&](std::uint64_t) { return true; }, found);
    return found;
}

// What is said of a knob leaves the search no choice.
PlanRequest request_of(const std::vector<std::string>& overrides) {
    PlanRequest request;
    const std::vector<Knob> knobs = search_knobs();
    for (const std::string& each : overrides) {
        const bool of_knob = std::ranges::find(knobs, each.substr(0, each.find('=')), &Knob::key) != knobs.end();
        if (of_knob) {
            request.among.push_back(parse_variation(each));
        } else {
            request.overrides.push_back(each);
        }
    }
    return request;
}

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

PlanResult find_layouts(const PlanRequest& request, const SearchOptions& options) {
    PlanResult result = search_layouts(read_space(request), options);
    if (result.all_refused()) result.proposals = proposals(request, result);
    return result;
}

BestLayout best_layout(const std::vector<std::string>& overrides,
                       std::function<void(std::size_t, std::size_t)> progress) {
    constexpr unsigned few = 4;
    const PlanResult result = find_layouts(
        request_of(overrides),
        {.simulations = few, .most_simulations = few, .threads = all_threads(), .progress = std::move(progress)});
    const std::size_t tried = result.considered;
    if (result.simulated.empty()) {
        return {{},
                fmt::format("of {} layouts that weft plan tries none can run; data parallelism alone is taken", tried)};
    }
    std::vector<std::string> best = result.assignments(result.candidates[result.simulated.front().number].candidate);
    std::string note =
        fmt::format("the fastest of {} layouts that weft plan tries is taken: {}", tried, fmt::join(best, " "));
    return {std::move(best), std::move(note)};
}

po::variables_map with_best_layout(const po::variables_map& arguments) {
    const std::vector<std::string> overrides = job_overrides(arguments);
    const auto says_layout = [](const std::string& each) { return each.starts_with("layout"); };
    if (arguments.count("job") > 0 || std::ranges::any_of(overrides, says_layout)) return arguments;
    job_path(arguments);  // refuses too few options
    const BestLayout best = best_layout(overrides);
    fmt::print(stderr, "note: {}\n", best.note);
    if (best.assignments.empty()) return arguments;
    std::vector<std::string> set = option_texts(arguments, "set");
    set.insert(set.end(), best.assignments.begin(), best.assignments.end());
    po::variables_map complete = arguments;
    static_cast<std::map<std::string, po::variable_value>&>(complete)["set"] = po::variable_value(set, false);
    return complete;
}

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
        answers.push_back({machine, std::move(result), std::move(run)});
    }
    return answers;
}

}  // namespace weft
