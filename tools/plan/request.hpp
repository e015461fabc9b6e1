// Questions about a job whose layout is open: the fastest layouts, with what would make any possible where none is; the
// one that whoever gives none gets; and the best on each of several machines, with what a whole run takes there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/command.hpp"
#include "tools/endurance/run.hpp"
#include "tools/sweep/grid.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {

// What `weft plan` is asked, as a space of candidates.

// A job file whose layout is open, and what is known of it.
struct PlanRequest {
    JobSource job;
    std::vector<std::string> overrides;  // "key.path=value"; of no knob
    std::vector<Variation> among;        // of knobs, and of any other key
};

struct PlanSpace {
    SearchSpace space;
    std::vector<std::vector<std::string>> base_assignments;  // by base: the other keys' values
};

// What the job file itself says about the knobs is passed over, but for overlaps and layout.split. Throws
// ConfigError for the job, std::invalid_argument for a value that a knob does not take or a knob among the overrides.
PlanSpace read_space(const PlanRequest& request);

// The job file with one candidate's layout as JSON text, to lie at `path`, without what follows from the rest of it.
// Relative paths of machine and model are rewritten to be found from there. Throws ConfigError if the job reader does
// not take it.
std::string job_text(const PlanRequest& request, const std::vector<std::string>& assignments,
                     const std::filesystem::path& path);

// What makes a layout that a search found a run: its job file, and what launches it.

// What the format launches the layout with. Throws ConfigError with what it cannot say.
std::string launch_text(const PlanRequest& request, const std::vector<std::string>& layout, const ExportFormat& format);

struct LaunchFiles {
    std::string job;     // JSON, to lie beside the request's job
    std::string format;  // name of that of `launch`; empty: there is none
    std::string launch;  // or why there is none
};

// In the format asked for; without one, in that of the framework's own name, or else the first that can say the job.
LaunchFiles launch_files(const PlanRequest& request, const std::vector<std::string>& layout,
                         const ExportFormat* asked = nullptr);

// As many as `weft plan` simulates where nothing else is said, and on to as many where others may be the best.
inline constexpr unsigned usual_simulations = 8, most_usual_simulations = 128;

struct SearchOptions {
    // Of those that fit, the best by screening; then on, so many at a time, while others may be the best, as far as
    // screening errs: up to the most.
    std::size_t simulations = usual_simulations, most_simulations = most_usual_simulations;
    Searched searched = Searched::runnable;
    bool every = false;  // all that fit are timed in closed form, also those that bounds rule out
    unsigned threads = 1;
    // Hears of what was done of what is to be done, from any thread, one at a time.
    std::function<void(std::size_t done, std::size_t count)> progress{};
};

// Every candidate screened, the best by screening simulated. The same result for any number of threads.
PlanResult search_layouts(PlanSpace space, const SearchOptions& options);

// search_layouts(), with proposals where no candidate is without objections. Throws ConfigError as read_space() does.
PlanResult find_layouts(const PlanRequest& request, const SearchOptions& options);

// Of a job that overrides alone describe, the layout that `weft plan` finds best: none where nothing fits. The note
// says which of how many it is.
struct BestLayout {
    std::vector<std::string> assignments;
    std::string note;
};
BestLayout best_layout(const std::vector<std::string>& overrides,
                       std::function<void(std::size_t done, std::size_t count)> progress = {});

// The arguments of a command that takes a job, with --set for the layout that `weft plan` finds best where neither a
// job file nor --set says one; that is noted on stderr. As they are where something says it, or where nothing fits.
po::variables_map with_best_layout(const po::variables_map& arguments);

// What is asked of a run on each machine.
struct RunQuestion {
    double tokens = 0;
    std::vector<double> prices;  // of an accelerator for an hour, machine by machine; none: no cost is told
};

struct MachineAnswer {
    std::string machine;
    PlanResult result;
    std::optional<RunResult> run;  // where a layout fits and a run is asked for

    bool has_layout() const { return !result.simulated.empty(); }
};

// In the order of `machines`, names or paths. Throws ConfigError as read_space() does.
std::vector<MachineAnswer> ask_machines(const PlanRequest& request, std::span<const std::string> machines,
                                        const SearchOptions& options, const std::optional<RunQuestion>& question);

}  // namespace weft
