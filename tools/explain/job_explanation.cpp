#include "tools/explain/job_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "tools/parallel.hpp"
#include "workloads/search/screening.hpp"

namespace weft {
namespace {

// A knob or a setting, and whether it should be simulated.
struct Prospect {
    std::size_t number = 0;  // knobs, then settings
    enum class Rank : std::uint8_t {
        unforeseen,  // nothing but a simulation tells
        setting,
        foreseen,  // but the path may change
        known,
    } rank{};
    double promise = 0;  // share of the step that may be saved
    double price = 0;    // in events of the engine
    OtherTimes times{};  // of what is foreseen
};

// In events of the engine, of which some ten millions take a second: what may be spent, what building a program takes,
// by its events and by ranks, and what it takes to lay groups that were not laid before.
constexpr double effort = 22e6;
constexpr double build_again = 0.5, per_rank = 10.0, per_rank_of_other_groups = 45.0;

double price_of(const Job& other, const Study& study, double events) {
    const bool other_groups = !(other.layout == study.job.layout) || !(other.fabric == study.job.fabric);
    return events * (1 + build_again) + other.layout.ranks() * (other_groups ? per_rank_of_other_groups : per_rank);
}

// What the path alone tells of a knob.
Prospect foresee(const WhatIf& change, const Foresight& foresight, const Study& study, double events,
                 ExplainedKnob& knob) {
    constexpr double enough = 0.1;  // of what is saved may be undecided
    using enum Prospect::Rank;
    std::optional<OtherTimes> times = foresight.times(change);
    if (!times) {
        knob.means = Means::none;
        return {.rank = unforeseen, .promise = 1.0, .price = price_of(study.job, study, events)};
    }
    const Seconds own = knob.step, undecided = foresight.undecided(change);
    knob.step = foresight.first_order(*times);
    knob.means = Means::first_order;
    const double saved = 1.0 - knob.step / own, promise = saved + undecided / own;
    Prospect one{.rank = foreseen, .promise = promise, .price = events};
    if (promise < no_difference) {
        one.rank = known;
    } else if (undecided / own > saved * enough) {
        one.rank = unforeseen;
        knob.means = Means::none;
        knob.step = knob.step - undecided;
    } else if (change.slight) {
        one.rank = known;
    }
    if (one.rank == foreseen) one.times = *std::move(times);
    return one;
}

// Numbers, ascending: of all, or of the most promising of each rank, as far as the effort goes.
std::vector<std::size_t> to_simulate(const std::vector<Prospect>& prospects, ExplainOptions::Simulated which) {
    if (which == ExplainOptions::Simulated::all) return list_of<std::size_t>(prospects, &Prospect::number);
    std::vector<const Prospect*> order;
    for (const Prospect& one : prospects) {
        if (one.rank != Prospect::Rank::known) order.push_back(&one);
    }
    std::ranges::stable_sort(order, {}, [](const Prospect* one) { return std::pair(one->rank, -one->promise); });
    std::vector<std::size_t> numbers;
    double left = effort;
    const auto take = [&](const Prospect& one) {
        if (one.price > left || std::ranges::find(numbers, one.number) != numbers.end()) return;
        left -= one.price;
        numbers.push_back(one.number);
    };
    for (const Prospect* const one : order) {  // what cannot be foreseen leaves half of it to settings
        if (one->rank != Prospect::Rank::unforeseen || left - one->price >= effort / 2) take(*one);
    }
    for (const Prospect* const one : order) take(*one);
    std::ranges::sort(numbers);
    return numbers;
}

double largest_error(const std::vector<OtherJob>& others) {
    double largest = 0;
    for (const OtherJob& other : others) {
        if (other.setting.means != Means::simulated || !other.setting.fits) continue;
        largest = std::max(largest, std::abs(other.foreseen / other.setting.step - 1.0));
    }
    return largest;
}

// Of `settings`, numbered from `first` on, as their closed form foresees them.
std::vector<Prospect> foresee(const std::vector<OtherJob>& settings, std::size_t first, const Study& study,
                              double events, Seconds own) {
    std::vector<Prospect> prospects;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const ExplainedSetting& setting = settings[i].setting;
        if (!setting.fits) continue;
        const double promise = 1.0 - setting.step / own;
        const bool is_known = settings[i].is_equal || promise < -screening_error;
        prospects.push_back({.number = first + i,
                             .rank = is_known ? Prospect::Rank::known : Prospect::Rank::setting,
                             .promise = promise,
                             .price = price_of(settings[i].study.job, study, events)});
    }
    return prospects;
}

// With layers where the costs of the plan put them.
Study dealt_as(const Plan& plan, Study study) {
    study.job.layout = plan.job.layout;
    return study;
}

void add_changes(JobExplanation& result, const Study& study, const JobFile& file, const ExplainOptions& options) {
    const Seconds own = since_start(result.explanation.end);
    const auto events = static_cast<double>(result.step.run.timeline.events);
    const OtherDevices devices(result.step.run.plan, result.step.folded);
    const Study dealt = dealt_as(result.step.run.plan, study);
    const Foresight foresight(dealt, result.step, devices, result.explanation);
    const std::vector<WhatIf> changes = what_ifs(dealt, result.step, result.explanation);
    std::vector<Prospect> prospects;
    for (const WhatIf& change : changes) {
        result.knobs.push_back({change.knob, change.change, own});
        prospects.push_back(foresee(change, foresight, study, events, result.knobs.back()));
        prospects.back().number = result.knobs.size() - 1;
    }
    std::vector<OtherJob> others = other_jobs(file, study, result.step.run.topology(), own);
    std::ranges::copy(foresee(others, changes.size(), study, events, own), std::back_inserter(prospects));

    const std::vector<std::size_t> simulated = to_simulate(prospects, options.simulated);
    std::vector<const Prospect*> replayed;
    for (const Prospect& one : prospects) {
        if (one.rank != Prospect::Rank::foreseen || std::ranges::binary_search(simulated, one.number)) continue;
        replayed.push_back(&one);
    }

    SimulationOptions simulation = options.simulation;
    simulation.kept = Kept::sums;
    simulation.recording = Recording::spans;
    Shelf<PreparedTopology> shelf;
    shelf.give_back(std::move(result.step.run.prepared));
    const auto prepare_one = [&] { return prepare(study); };
    const auto simulate_one = [&](std::size_t number) {
        std::unique_ptr<PreparedTopology> prepared = shelf.take(prepare_one);
        if (number < changes.size()) {
            result.knobs[number].step =
                simulate_what_if(changes[number], dealt, result.step.folded, devices, simulation, *prepared);
            result.knobs[number].means = Means::simulated;
        } else {
            simulate_setting(others[number - changes.size()], study, simulation, prepared);
        }
        if (prepared != nullptr) shelf.give_back(std::move(prepared));  // a setting that cannot run keeps it
    };
    const auto replay_one = [&](const Prospect& one) {
        result.knobs[one.number].step = foresight.replayed(one.times);
        result.knobs[one.number].means = Means::replayed;
    };
    for_each_in_parallel(
        simulated.size() + replayed.size(), options.threads,
        [&](std::size_t i) {
            i < simulated.size() ? simulate_one(simulated[i]) : replay_one(*replayed[i - simulated.size()]);
        },
        options.progress);
    result.step.run.prepared = shelf.take(prepare_one);

    result.screening_error = largest_error(others);
    for (OtherJob& other : others) result.settings.push_back(std::move(other.setting));
    std::ranges::stable_sort(result.knobs, {},
                             [](const ExplainedKnob& knob) { return std::pair(!knob.is_told(), knob.step.value); });
    std::ranges::stable_sort(result.settings, {}, [](const ExplainedSetting& setting) {
        return std::pair(!setting.is_told(), setting.is_told() ? setting.step.value : setting.memory.value);
    });
}

}  // namespace

JobExplanation explain_job(const Study& study, const JobFile& file, const ExplainOptions& options) {
    JobExplanation result{.step = simulate_to_explain(study, options.simulation, prepare(study))};
    result.report = make_report(result.step.run);
    result.explanation = explain(study, result.step);
    if (options.changes) add_changes(result, study, file, options);
    return result;
}

std::string_view name(Means means) {
    constexpr std::array<std::string_view, 5> names{"simulated", "replayed", "first order", "closed form",
                                                    "not simulated"};
    static_assert(names.size() == static_cast<std::size_t>(Means::none) + 1);
    return names[static_cast<std::size_t>(means)];
}

std::array<std::size_t, 5> changes_by_means(const JobExplanation& explained) {
    std::array<std::size_t, 5> counts{};
    for (const ExplainedKnob& knob : explained.knobs) ++counts[static_cast<std::size_t>(knob.means)];
    for (const ExplainedSetting& setting : explained.settings) {
        if (setting.fits) ++counts[static_cast<std::size_t>(setting.means)];
    }
    return counts;
}

std::string assignments_text(const ExplainedSetting& setting) {
    return fmt::format("{}", fmt::join(setting.assignments, " "));
}

std::vector<ExplainedCause> main_causes(const Explanation& explanation) {
    constexpr double worth_a_row = 0.001;
    const double least = worth_a_row * static_cast<double>(explanation.end.femtoseconds);
    std::vector<ExplainedCause> causes;
    ExplainedCause rest{.cause = {"all else", {}, {}}};
    for (const ExplainedCause& each : explanation.causes) {
        if (static_cast<double>(each.ticks) >= least) {
            causes.push_back(each);
        } else {
            rest.ticks += each.ticks;
            rest.elsewhere += each.elsewhere;
        }
    }
    if (rest.ticks > 0) causes.push_back(std::move(rest));
    return causes;
}

}  // namespace weft
