#include "tools/plan/best_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tools/options.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/proposals.hpp"

namespace weft {
namespace {

bool says_layout(const std::vector<std::string>& overrides) {
    return std::ranges::any_of(overrides, [](const std::string& each) { return each.starts_with("layout"); });
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

}  // namespace

po::variables_map with_best_layout(const po::variables_map& arguments) {
    const std::vector<std::string> overrides = job_overrides(arguments);
    if (arguments.count("job") > 0 || says_layout(overrides)) return arguments;
    job_path(arguments);  // refuses too few options
    constexpr unsigned few = 4;
    const PlanResult result =
        find_layouts(request_of(overrides), {.simulations = few, .most_simulations = few, .threads = all_threads()});
    if (result.simulated.empty()) {
        fmt::print(stderr, "note: of {} layouts that weft plan tries none can run; data parallelism alone is taken\n",
                   result.candidates.size());
        return arguments;
    }
    const std::vector<std::string> best = result.assignments(result.candidates[result.simulated.front().number]);
    fmt::print(stderr, "note: the fastest of {} layouts that weft plan tries is taken: {}\n", result.candidates.size(),
               fmt::join(best, " "));
    std::vector<std::string> set = option_texts(arguments, "set");
    set.insert(set.end(), best.begin(), best.end());
    po::variables_map complete = arguments;
    static_cast<std::map<std::string, po::variable_value>&>(complete)["set"] = po::variable_value(set, false);
    return complete;
}

}  // namespace weft
