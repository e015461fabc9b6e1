// The jobs that a search looks at: every combination of what its knobs may stand at.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

// What a search may choose about a job: keys of the job file, each with the values that are worth a try. The axes of
// the layout are those of the registered schemes, the schedules those of the registry.
struct Knob {
    std::string key;                 // "layout.tensor"
    std::vector<std::string> names;  // of its values, by number; empty: the values are numbers
    std::uint32_t neutral = 1;       // its value before it is chosen, that of a job that says nothing
    std::string_view framework{};    // whose key it is, of one framework's; unsaid while neutral
    std::function<void(Job&, std::uint32_t)> set{};
    std::function<std::uint32_t(const Job&)> get{};
    // Worth a try on so many accelerators, ascending, at least one: given what the knobs before this one stand at.
    std::function<std::vector<std::uint32_t>(const Job&, std::uint32_t accelerators)> values{};

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
    static constexpr std::size_t most_knobs = 20;
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
    const std::vector<Study>& bases() const { return bases_; }
    std::uint32_t accelerators() const { return accelerators_.front(); }
    const MachineInfo& machine() const { return bases_.front().machine.info(); }
    // Those of a base with the same values of the layout's own axes follow one another.
    std::vector<Candidate> candidates() const;

    // Gives a job of the candidate's base the candidate's values, and what follows from them but Job::packing.
    void apply(const Candidate& candidate, Job& job) const;
    Study study(const Candidate& candidate) const;
    // "layout.tensor=8", ...: with these, a job file that says what the base says gives study(candidate).
    std::vector<std::string> assignments(const Candidate& candidate) const;

  private:
    // While a knob is not chosen yet: what leaves no choice stands already, so that those before it make room.
    std::uint32_t at_rest(std::size_t knob) const;
    void choose(std::size_t knob, Job& job, Candidate& candidate, std::vector<Candidate>& found) const;

    std::vector<Knob> knobs_;
    std::vector<std::vector<std::uint32_t>> among_;  // by knob; empty: Knob::values
    std::vector<Study> bases_;
    std::vector<std::uint32_t> accelerators_;  // of each base
};

}  // namespace weft
