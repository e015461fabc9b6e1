#include "workloads/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

struct Change {
    std::string text;  // one or more KEY=VALUE, separated by spaces
    std::function<void(Job&)> apply;
};

// Twice the ranks on an axis, half of them on the data axis.
std::optional<Change> from_data(const Job& job, std::string_view axis) {
    if (job.layout.data % 2 != 0) return std::nullopt;
    return Change{fmt::format("layout.{}={} layout.data={}", axis, job.layout.size(axis) * 2, job.layout.data / 2),
                  [axis](Job& changed) {
                      changed.layout.size(axis) *= 2;
                      changed.layout.data /= 2;
                  }};
}

// In the order of what they usually cost: nothing, more but smaller steps, communication, computation.
std::vector<Change> changes(const Job& job) {
    std::vector<Change> list;
    const auto add = [&](std::string text, std::function<void(Job&)> apply) {
        list.push_back({std::move(text), std::move(apply)});
    };
    if (job.attention == AttentionCore::unfused) {
        add("attention=flash", [](Job& changed) { changed.attention = AttentionCore::flash; });
    }
    if (job.framework->name == "megatron" && job.megatron.fused_cross_entropy == Setting::off) {
        add("megatron.fused_cross_entropy=true",
            [](Job& changed) { changed.megatron.fused_cross_entropy = Setting::on; });
    }
    if (job.layout.tensor > 1 && job.sequence_parallel == SequenceParallel::off) {
        add("sequence_parallel=true", [](Job& changed) { changed.sequence_parallel = SequenceParallel::on; });
    }
    for (std::uint32_t zero = job.zero + 1; zero <= 3 && job.layout.data > 1; ++zero) {
        add(fmt::format("zero={}", zero), [zero](Job& changed) { changed.zero = zero; });
    }
    if (job.batch.micro % 2 == 0) {
        add(fmt::format("batch.micro={}", job.batch.micro / 2), [](Job& changed) { changed.batch.micro /= 2; });
    }
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->ranks != Scheme::Ranks::own || scheme->holds != Scheme::Holds::parts) continue;
        if (auto change = from_data(job, scheme->axis)) list.push_back(*change);
    }
    if (job.recompute == Recompute::none) {
        add("recompute=selective", [](Job& changed) { changed.recompute = Recompute::selective; });
    }
    if (job.recompute != Recompute::full) {
        add("recompute=full", [](Job& changed) { changed.recompute = Recompute::full; });
    }
    return list;
}

Bytes peak(const Plan& plan) { return plan.stages[plan.fullest_stage()].memory.total(); }

bool possible(const Study& study) {
    const Job& job = study.job;
    const std::uint64_t sequences = std::uint64_t{job.batch.micro} * job.layout.data;
    if (job.batch.global % sequences != 0) return false;
    std::string why;
    return check_job(job, study.machine.info()).empty() && !job.part_layers(why).empty();
}

struct Tried {
    Study study;
    MemoryAdvice advice;
};

// What saves less than a hundredth is not worth a line.
constexpr double worth_while = 0.99;

// Every single change of `study` that is possible and helps, after `before` had been made.
std::vector<Tried> tried(const Study& study, const MemoryAdvice& before) {
    std::vector<Tried> list;
    for (const Change& change : changes(study.job)) {
        Study changed = study;
        change.apply(changed.job);
        if (!possible(changed)) continue;
        const Plan plan = make_plan(changed);
        if (peak(plan) > before.peak * worth_while) continue;
        MemoryAdvice advice = before;
        advice.changes.push_back(change.text);
        advice.saved += before.peak - peak(plan);
        advice.peak = peak(plan);
        advice.fits = peak(plan) <= plan.device.memory;
        list.push_back({std::move(changed), std::move(advice)});
    }
    return list;
}

const Tried& best(const std::vector<Tried>& list) {
    return *std::ranges::min_element(list, {}, [](const Tried& t) { return t.advice.peak.value; });
}

// Takes the best change until the job fits; changes beyond `most` make another job.
std::optional<MemoryAdvice> combination(std::vector<Tried> list) {
    constexpr std::size_t most = 5;
    while (!list.empty() && best(list).advice.changes.size() < most) {
        const Tried chosen = best(list);
        list = tried(chosen.study, chosen.advice);
        const auto enough = std::ranges::find_if(list, [](const Tried& t) { return t.advice.fits; });
        if (enough != list.end()) return enough->advice;
    }
    return std::nullopt;
}

}  // namespace

std::vector<MemoryAdvice> memory_advice(const Study& study) {
    const MemoryAdvice unchanged{.changes = {}, .peak = peak(make_plan(study)), .saved = {}, .fits = false};
    std::vector<Tried> singles = tried(study, unchanged);
    std::vector<MemoryAdvice> advice;
    for (const Tried& single : singles) advice.push_back(single.advice);
    std::stable_partition(advice.begin(), advice.end(), [](const MemoryAdvice& a) { return a.fits; });
    if (!advice.empty() && advice.front().fits) return advice;
    std::ranges::stable_sort(advice, {}, [](const MemoryAdvice& a) { return a.peak.value; });
    if (auto combined = combination(std::move(singles))) advice.insert(advice.begin(), *combined);
    return advice;
}

LargestPart largest_part(const MemoryUse& use) {
    const std::array<LargestPart, 7> parts{{{"parameters", use.parameters},
                                            {"gradients", use.gradients},
                                            {"optimizer", use.optimizer},
                                            {"activations", use.activations},
                                            {"buffers", use.buffers},
                                            {"workspace", use.workspace},
                                            {"overhead", use.overhead.expected}}};
    return *std::ranges::max_element(parts, {}, [](const LargestPart& part) { return part.bytes.value; });
}

}  // namespace weft
