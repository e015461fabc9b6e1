// weft as a library: load, plan, simulate, explain, report. Installed as <weft/weft.hpp>; nothing else is promised.
//
//   namespace w = weft::library;
//   const w::WarmJob job = w::WarmJob::open("job.json");
//   for (const char* micro : {"batch.micro=1", "batch.micro=2"}) {
//       const w::SimulatedStep step = job.simulate({micro});
//       std::printf("%s: %.3f s\n", micro, step.metric("step.time_s"));
//   }
//
// Units are SI: seconds and bytes. Texts that end in _json are what the command of that name prints with --json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft::library {

// One of the user's mistakes. What is unknown is empty or 0.
struct Mistake {
    std::string file;
    int line = 0, column = 0;  // from 1
    std::string key;           // "layout.tensor"
    std::string message;
    std::vector<std::string> suggestions;  // the nearest known names
};

// All mistakes of an input at once; what() has a line of each.
class InputError : public std::runtime_error {
  public:
    InputError(const std::string& what, std::vector<Mistake> mistakes);
    const std::vector<Mistake>& mistakes() const { return mistakes_; }

  private:
    std::vector<Mistake> mistakes_;
};

using Overrides = std::vector<std::string>;  // "layout.tensor=8", as --set takes them

struct SimulationChoices {
    std::string network = "flow";       // or "ideal", "free"
    std::string folding = "automatic";  // or "exact", "stages", "none"
    bool beyond_memory = false;         // simulate what does not fit in memory, too
};

// Hears of what was done of what is to be done, from any thread, one at a time. What it throws ends the work.
using Progress = std::function<void(std::size_t done, std::size_t count)>;

struct WorkChoices {
    unsigned threads = 0;  // 0: the processor's
    Progress progress{};
};

// Operations of one rank of each class, class by class: columns of equal length.
struct TimelineColumns {
    std::vector<std::uint32_t> rank{}, stage{};    // that stands for its class; its pipeline stage
    std::vector<std::uint16_t> lane{};             // place in `lanes`
    std::vector<std::uint32_t> label{};            // place in `labels`
    std::vector<double> posted{}, begin{}, end{};  // seconds since the step's start; begin - posted: waiting for others
    std::vector<std::string> lanes{}, labels{};
};

// A simulated step; of a job that does not fit in memory, what is known without one. Cheap to copy.
class SimulatedStep {
  public:
    bool fits() const;
    bool is_simulated() const;
    double metric(std::string_view key) const;  // "step.time_s", as in simulate_json(); throws std::out_of_range
    std::vector<std::string> metrics() const;   // their keys
    std::string simulate_json() const;
    std::string text() const;  // as `weft simulate` prints it
    // Beside what PyTorch's profiler recorded of the job: as `weft compare JOB TRACE... --json` prints it.
    std::string compare_json(const std::vector<std::string>& traces) const;
    // Of steps that are simulated (std::logic_error for others); each simulates once more, keeping every operation.
    std::string page() const;                                   // HTML
    void write_trace(const std::filesystem::path& path) const;  // for Chrome and Perfetto: .json or .json.gz
    TimelineColumns timeline() const;

    struct State;
    explicit SimulatedStep(std::shared_ptr<const State> state);

  private:
    std::shared_ptr<const State> state_;
};

struct PlanChoices : WorkChoices {
    std::vector<std::string> among;  // "layout.tensor=2,4,8": values to try of a key; one value: it is fixed
    bool modelled = false;           // also what the framework's version has not, but weft models
    std::size_t top = 5;
};

struct SweepChoices : WorkChoices {
    std::vector<std::string> vary;   // "batch.sequence=512..65536*2", as --vary takes them
    std::vector<std::string> zip;    // "layout.tensor=1,2 layout.data=16,8"
    std::vector<std::string> where;  // conditions
    std::string network = "flow", folding = "stages";
};

// Rows of named columns. A cell is nothing where a point has no result; the last column says why.
struct SweepTable {
    using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
    std::vector<std::string> columns, units;
    std::vector<std::vector<Cell>> rows;
};

// A job and all that it names, kept between calls. Any thread may call; copies share what is kept.
class WarmJob {
  public:
    // A job file, or what another tool is configured with; without a file the overrides say machine and model.
    static WarmJob open(const std::filesystem::path& file, const Overrides& overrides = {});
    // The text of a job file, which names files from `folder`.
    static WarmJob read(std::string json, const Overrides& overrides = {}, const std::filesystem::path& folder = {});

    const std::vector<std::string>& notes() const;  // on a file of another tool, and on what is assumed

    // All throw InputError.
    SimulatedStep simulate(const Overrides& overrides = {}, const SimulationChoices& choices = {}) const;
    std::string explain_json(const Overrides& overrides = {}, const WorkChoices& choices = {}) const;
    std::string plan_json(const PlanChoices& choices = {}) const;
    SweepTable sweep(const SweepChoices& choices) const;

    struct State;
    explicit WarmJob(std::shared_ptr<const State> state);

  private:
    std::shared_ptr<const State> state_;
};

// What `weft COMMAND` prints: of run, collective, traffic, share, replay, calibrate, export. With
// {"all_reduce", "--machine", "frontier", "--ranks", "64", "--json"} for "collective", JSON. Throws InputError.
std::string command_text(std::string_view command, const std::vector<std::string>& arguments);

// What `weft import` makes of files of other tools that belong together.
std::string import_json(const std::vector<std::string>& files, const Overrides& overrides = {});
// A model by name, or out of a file: what JSON tells of a job's model, with its parameters.
std::string model_json(const std::string& name);

std::vector<std::string> machines();  // that weft ships, by name
std::vector<std::string> models();
std::string_view version();

}  // namespace weft::library
