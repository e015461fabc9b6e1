#include "workloads/search/plan_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <tuple>

#include "sim/base/check.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

// Of each value among all, from 0; equal values share the mean.
std::vector<double> ranks(std::span<const double> values) {
    auto order = numbers_below<std::size_t>(values.size());
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (std::size_t i = first; i < end; ++i) ranks[order[i]] = (double(first) + double(end) - 1) / 2;
        first = end;
    }
    return ranks;
}

ScreeningQuality quality_of(const PlanResult& result, const std::vector<std::size_t>& order) {
    ScreeningQuality quality;
    if (result.simulated.empty()) return quality;
    std::vector<double> screened, simulated;
    for (const SimulatedCandidate& one : result.simulated) {
        screened.push_back(result.candidates[one.number].estimate.time.value);
        simulated.push_back(one.time.value);
        const double error = std::abs(screened.back() / simulated.back() - 1);
        quality.largest_error = std::max(quality.largest_error, error);
        quality.mean_error += error / double(result.simulated.size());
    }
    quality.rank_correlation = rank_correlation(screened, simulated);
    const std::size_t best = result.simulated.front().number;
    quality.best = static_cast<std::size_t>(std::ranges::find(order, best) - order.begin());
    quality.close = still_open(result, order).size();
    return quality;
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const TimeAndMemory> points) {
    auto order = numbers_below<std::size_t>(points.size());
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
        if (points[i].time != points[j].time) return points[i].time < points[j].time;
        return points[i].memory < points[j].memory;
    });
    std::vector<std::size_t> front;
    for (const std::size_t i : order) {
        if (front.empty() || points[i].memory < points[front.back()].memory) front.push_back(i);
    }
    return front;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double middle = (double(x.size()) - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx == 0 || yy == 0 ? 1.0 : xy / std::sqrt(xx * yy);
}

// Numbers that are part of a name ("1f1b", "ZeRO-3") tell reasons apart.
std::string without_numbers(std::string_view message) {
    static const std::regex number(
        R"((^|[^[:alnum:]-])\d+(?:\.+\d+)*(?:e[+-]\d+(?![[:alnum:]])|(?![[:alnum:]]|\.+\d)))");
    return std::regex_replace(std::string(message), number, "$1#");
}

std::vector<Difference> differences(const StepParts& slower, const StepParts& faster) {
    std::vector<Difference> list{{"compute", slower.compute - faster.compute},
                                 {"optimizer", slower.optimizer - faster.optimizer},
                                 {"exposed communication", slower.exposed - faster.exposed},
                                 {"pipeline bubble", slower.bubble - faster.bubble},
                                 {"stage imbalance", slower.imbalance - faster.imbalance}};
    std::ranges::stable_sort(list, std::greater{}, [](const Difference& one) { return one.more.value; });
    return list;
}

std::vector<JobError> objections(const Job& job, const MachineInfo& machine, Searched searched, Mistakes asked) {
    std::vector<JobError> errors = check_job(job, machine, asked);
    if (!errors.empty() || searched == Searched::modelled) return errors;
    errors = lacking_features(job);
    for (JobError& error : errors) error.message += "; --modelled searches it all the same";
    return errors;
}

std::size_t PlanResult::count(Verdict verdict) const {
    if (verdict == Verdict::refused) return considered - count(Verdict::does_not_fit) - count(Verdict::fits);
    return static_cast<std::size_t>(std::ranges::count(candidates, verdict, &ScreenedCandidate::verdict));
}

std::size_t PlanResult::timed() const {
    return static_cast<std::size_t>(std::ranges::count(candidates, true, &ScreenedCandidate::timed));
}

const ScreenedCandidate& PlanResult::nearest_miss() const {
    const ScreenedCandidate* nearest = nullptr;
    for (const ScreenedCandidate& one : candidates) {
        if (one.verdict == Verdict::does_not_fit && (nearest == nullptr || one.memory < nearest->memory)) {
            nearest = &one;
        }
    }
    WEFT_CHECK(nearest != nullptr, "there is no candidate that does not fit");
    return *nearest;
}

PlanResult::NearestRefusal PlanResult::nearest_refusal() const {
    WEFT_CHECK(considered > 0, "a search without candidates");
    NearestRefusal nearest;
    for (const Candidate& one : space.candidates()) {
        Job job = space.bases()[one.base].job;
        space.apply(one, job);
        std::vector<JobError> errors = objections(job, space.machine(), searched);
        const bool nearer = !errors.empty() && errors.size() < nearest.errors.size();
        if (nearest.errors.empty() || nearer) nearest = {one, std::move(errors)};
    }
    return nearest;
}

std::optional<MemoryAdvice> more_nodes(const Study& study) {
    const auto peak = [](const Plan& plan) { return plan.stages[plan.fullest_stage()].memory.total(); };
    const auto larger = [&](const Scheme& scheme, std::uint32_t factor) {
        Study changed = study;
        changed.job.nodes *= factor;
        changed.job.layout.size(scheme.axis) *= factor;
        settle_groups(changed.job);
        changed.job.packing = packed_attention(changed.job);
        return changed;
    };
    for (std::uint32_t factor = 2; study.job.nodes <= study.machine.info().nodes / factor; factor *= 2) {
        for (const Scheme* scheme : parallelism::all()) {
            if (scheme->ranks == Scheme::Ranks::shared) continue;
            const Study changed = larger(*scheme, factor);
            const Job& job = changed.job;
            if (job.batch.global % (std::uint64_t{job.batch.micro} * job.layout.data) != 0) continue;
            if (!check_job(job, changed.machine.info()).empty()) continue;
            const Plan plan = make_plan(changed);
            if (!plan.fits()) continue;
            const std::string text =
                fmt::format("nodes={} layout.{}={}", job.nodes, scheme->axis, job.layout.size(scheme->axis));
            return MemoryAdvice{
                .changes = {text}, .peak = peak(plan), .saved = peak(make_plan(study)) - peak(plan), .fits = true};
        }
    }
    return std::nullopt;
}

std::vector<std::string> PlanResult::assignments(const Candidate& candidate) const {
    std::vector<std::string> all = base_assignments[candidate.base];
    const std::vector<std::string> own = space.assignments(candidate);
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

std::vector<std::size_t> by_screening(const std::vector<ScreenedCandidate>& candidates) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i].timed) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](std::size_t i) {
        return std::tuple{candidates[i].estimate.time.value, candidates[i].memory.value, i};
    });
    return order;
}

Seconds may_be_best(const PlanResult& result) {
    constexpr double usual = 1.01;
    double too_slow = usual, best = std::numeric_limits<double>::infinity();  // by which factor screening was, at most
    for (const SimulatedCandidate& one : result.simulated) {
        too_slow = std::max(too_slow, result.candidates[one.number].estimate.time / one.time);
        best = std::min(best, one.time.value);
    }
    return Seconds{best * too_slow};
}

std::vector<std::size_t> still_open(const PlanResult& result, const std::vector<std::size_t>& order) {
    const Seconds limit = may_be_best(result);
    std::vector<std::size_t> open;
    for (std::size_t i = result.simulated.size(); i < order.size(); ++i) {
        if (result.candidates[order[i]].estimate.time > limit) break;
        open.push_back(order[i]);
    }
    return open;
}

std::vector<std::size_t> next_to_time(const std::vector<ScreenedCandidate>& candidates,
                                      const std::vector<std::size_t>& by_bound, std::size_t fastest, Seconds limit) {
    constexpr std::size_t fewest_at_once = 32, rounds = 16;  // in which what is timed grows by itself
    std::vector<TimeAndMemory> timed;
    for (const std::size_t i : by_bound) {
        if (candidates[i].timed) timed.push_back({candidates[i].estimate.time, candidates[i].memory});
    }
    const std::size_t at_once = std::max(fewest_at_once, timed.size() / rounds);
    std::ranges::sort(timed, {}, &TimeAndMemory::time);
    if (timed.size() < fastest)
        limit = Seconds{std::numeric_limits<double>::infinity()};
    else if (fastest > 0)
        limit = std::max(limit, timed[fastest - 1].time);
    const std::vector<std::size_t> front = pareto_front(timed);
    std::vector<std::size_t> next;
    for (const std::size_t i : by_bound) {
        const ScreenedCandidate& one = candidates[i];
        const auto beats = [&](std::size_t k) { return timed[k].time < one.bound && timed[k].memory <= one.memory; };
        if (one.timed || one.verdict != Verdict::fits) continue;
        if (one.bound <= limit || std::ranges::none_of(front, beats)) next.push_back(i);
        if (next.size() == at_once) break;
    }
    std::ranges::sort(next);
    return next;
}

void rank(PlanResult& result) {
    std::ranges::sort(result.simulated, {}, [&](const SimulatedCandidate& one) {
        return std::tuple{one.time.value, result.candidates[one.number].memory.value, one.number};
    });
    auto points = list_of<TimeAndMemory>(result.simulated, [&](const SimulatedCandidate& one) {
        return TimeAndMemory{one.time, result.candidates[one.number].memory};
    });
    result.pareto = pareto_front(points);
    const std::vector<std::size_t> order = by_screening(result.candidates);
    points.clear();
    for (const std::size_t i : order)
        points.push_back({result.candidates[i].estimate.time, result.candidates[i].memory});
    result.screened_pareto.clear();
    for (const std::size_t i : pareto_front(points)) result.screened_pareto.push_back(order[i]);
    result.quality = quality_of(result, order);
}

}  // namespace weft
