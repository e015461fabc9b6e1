// What a search for layouts found, as plain values: for texts, tables and pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/search/screening.hpp"

namespace weft {

// The jobs that a search looks at: every combination of what its knobs may stand at.

// What a search may choose about a job: keys of the job file, each with the values that are worth a try. The axes of
// the layout are those of the registered schemes, the schedules those of the registry.
struct Knob {
    std::string key;                 // "layout.tensor"
    std::vector<std::string> names;  // of its values, by number; empty: the values are numbers
    std::uint32_t neutral = 1;       // its value before it is chosen, that of a job that says nothing
    std::string_view framework{};    // whose key it is, of one framework's; unsaid while neutral
    std::function<void(Job&, std::uint32_t)> set{};
    std::function<std::uint32_t(const Job&)> get{};
    // Worth a try on so many accelerators, ascending, at least one: given what the knobs before this one stand at. The
    // job is as before when it returns.
    std::function<std::vector<std::uint32_t>(Job&, std::uint32_t accelerators)> values{};

    std::string text(std::uint32_t value) const;        // as in a job file
    std::string assignment(std::uint32_t value) const;  // "layout.tensor=8"; "key=null" for what is left unsaid
    std::optional<std::uint32_t> parse(std::string_view text) const;
};

// What layout.split stands at where the job says its stages by hand: its own.
inline constexpr std::string_view split_by_hand = "as the job has it";

// In the order in which they are chosen, every value depending on those before: axes with ranks of their own, data,
// axes cut out of others, micro-batch, schedule, split of layers, virtual stages, recomputation, sequence parallelism,
// ZeRO stage, what communicates under computation.
std::vector<Knob> search_knobs();

// What each knob stands at, in their order, and which of the jobs it is about.
struct Candidate {
    static constexpr std::size_t most_knobs = 18;
    std::uint32_t base = 0;
    std::array<std::uint32_t, most_knobs> values{};
    bool operator==(const Candidate&) const = default;
};

// Values to try of a key, in the order given.
struct Among {
    std::string key;
    std::vector<std::uint32_t> values;
};

class SearchSpace {
  public:
    // `bases`: jobs to choose layouts for, on one machine and equally many nodes and ranks; what else they say about
    // the knobs is overruled. `among`: of some knobs; the others try what they find worth it (Knob::values). LogicError
    // for a key that no knob has.
    SearchSpace(std::vector<Study> bases, std::span<const Among> among);

    const std::vector<Knob>& knobs() const { return knobs_; }
    // Knobs are neutral there, but that all ranks are data parallel: a device that is alone has all of its clock.
    const std::vector<Study>& bases() const { return bases_; }
    std::uint32_t accelerators() const { return bases_.front().job.layout.ranks(); }
    const MachineInfo& machine() const { return bases_.front().machine.info(); }
    // Those of a base with the same values of the layout's own axes follow one another.
    std::deque<Candidate> candidates() const;

    // Gives a job of the candidate's base the candidate's values, and what follows from them but Job::packing.
    void apply(const Candidate& candidate, Job& job) const;
    Study study(const Candidate& candidate) const;
    // "layout.tensor=8", ...: with these, a job file that says what the base says gives study(candidate).
    std::vector<std::string> assignments(const Candidate& candidate) const;

  private:
    // While a knob is not chosen yet: what leaves no choice stands already, so that those before it make room.
    std::uint32_t at_rest(std::size_t knob) const;
    void choose(std::size_t knob, Job& job, Candidate& candidate, std::deque<Candidate>& found) const;

    std::vector<Knob> knobs_;
    std::vector<std::vector<std::uint32_t>> among_;  // by knob; empty: Knob::values
    std::vector<Study> bases_;
};

struct TimeAndMemory {
    Seconds time;
    Bytes memory;
};

// Numbers of those points that no other one beats or equals in both, but for equal points of which the first stays; the
// fastest first.
std::vector<std::size_t> pareto_front(std::span<const TimeAndMemory> points);

// Spearman's: the correlation of ranks, of equal values the mean rank. From -1 to 1; 1 for fewer than two values, or
// where one side is all equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// A message without its numbers, so that refusals for one reason are counted as one: "# heads for # ranks".
std::string without_numbers(std::string_view message);

// What a step is made of, mean over ranks: time is the sum.
struct StepParts {
    Seconds compute;    // without the optimizer
    Seconds optimizer;  // the update of the parameters
    Seconds exposed;
    Seconds bubble;
    Seconds imbalance;
    Seconds time() const { return compute + optimizer + exposed + bubble + imbalance; }
};

// A part of which one step has more than another.
struct Difference {
    std::string_view part;  // "compute", "optimizer", "exposed communication", "pipeline bubble", "stage imbalance"
    Seconds more;
};

// Of `slower` over `faster`, the largest first; parts of which it has less come last.
std::vector<Difference> differences(const StepParts& slower, const StepParts& faster);

// What is searched: layouts that the framework's version runs, or also those that weft models.
enum class Searched : std::uint8_t { runnable, modelled };
// What speaks against a job: check_job's errors, and without such, unless the modelled is searched, lacking_features().
std::vector<JobError> objections(const Job& job, const MachineInfo& machine, Searched searched,
                                 Mistakes asked = Mistakes::all);

enum class Verdict : std::uint8_t { refused, does_not_fit, fits };

struct ScreenedCandidate {
    Candidate candidate;
    Verdict verdict{};
    std::uint32_t refusal = 0;  // refused: into PlanResult::refusals
    bool timed = false;         // fits, and its estimate is known
    Bytes memory{};             // not refused: of the fullest stage
    Seconds bound{};            // fits: the estimate takes no less
    StepEstimate estimate{};    // timed
};

// The first of a refused candidate's errors.
struct Refusal {
    std::string key;  // of the job file
    std::string message;
    std::uint32_t reason = 0;  // into PlanResult::reasons
};

// Refusals that differ in numbers alone.
struct RefusalReason {
    std::string key;      // of the job file
    std::string message;  // of the first candidate refused so
    std::size_t candidates = 0;
};

struct SimulatedCandidate {
    std::size_t number = 0;  // into PlanResult::candidates
    StepParts parts;
    Seconds time;
    double tokens_per_second = 0, model_tflops = 0, mfu = 0;  // TFLOP/s per accelerator
};

// How well screening foretold the simulations.
struct ScreeningQuality {
    double rank_correlation = 1;
    double largest_error = 0, mean_error = 0;  // of screened over simulated time, less one; of absolute values
    std::size_t best = 0;                      // where screening had what turned out best: 0 is first
    // Candidates that were not simulated, and by screening take no more than may_be_best().
    std::size_t close = 0;
};

struct PlanResult {
    SearchSpace space;
    Searched searched{};
    std::vector<std::vector<std::string>> base_assignments;  // of each base of the space, beside the knobs'
    std::size_t considered = 0;                              // candidates of the space
    // In its order; where nobody asks for every candidate, those that are refused at once are in `reasons` alone.
    std::vector<ScreenedCandidate> candidates{};
    std::vector<Refusal> refusals{};              // distinct ones
    std::vector<RefusalReason> reasons{};         // the most frequent first
    std::vector<SimulatedCandidate> simulated{};  // the fastest first
    std::vector<std::size_t> pareto{};            // into `simulated`; the fastest first
    std::vector<std::size_t> screened_pareto{};   // into `candidates`, of all that fit, by screening
    ScreeningQuality quality{};
    Bytes capacity{};  // of the device
    // Where no candidate is possible: assignments with each of which some would be.
    std::vector<std::string> proposals{};

    std::size_t count(Verdict verdict) const;  // of those considered
    bool all_refused() const { return count(Verdict::refused) == considered; }
    std::size_t timed() const;  // candidates
    // Of those that do not fit, what needs least memory; only if there are such.
    const ScreenedCandidate& nearest_miss() const;
    // Of candidates that are all refused, the first with the fewest errors, and these.
    struct NearestRefusal {
        Candidate candidate;
        std::vector<JobError> errors{};
    };
    NearestRefusal nearest_refusal() const;
    // "layout.tensor=8", ...: what makes the job file into the candidate's.
    std::vector<std::string> assignments(const Candidate& candidate) const;
};

// Twice, four times, ... as many nodes, all on one axis: the fewest that let the job fit, if the machine has them.
std::optional<MemoryAdvice> more_nodes(const Study& study);

// The closed form's time up to which a candidate may be faster than the best so far, if screening is too slow for it by
// no more than in any simulation, or by 1 %; infinite before any.
Seconds may_be_best(const PlanResult& result);
// The next numbers of `order`, which is by_screening's, to be simulated: those up to may_be_best().
std::vector<std::size_t> still_open(const PlanResult& result, const std::vector<std::size_t>& order);

// Numbers of some candidates that are still to be timed, ascending; `by_bound`: of all that fit, by bound. None: no
// other one can be among the `fastest`, take `limit` or less, or be what nobody beats in time and memory.
std::vector<std::size_t> next_to_time(const std::vector<ScreenedCandidate>& candidates,
                                      const std::vector<std::size_t>& by_bound, std::size_t fastest, Seconds limit);

// Fills in the order of `simulated`, `pareto`, `screened_pareto` and `quality`.
void rank(PlanResult& result);

// Numbers of the candidates that are timed, the fastest by screening first; of equals the one with less memory.
std::vector<std::size_t> by_screening(const std::vector<ScreenedCandidate>& candidates);

}  // namespace weft
