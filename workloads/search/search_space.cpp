#include "workloads/search/search_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/parallelism/experts.hpp"

namespace weft {

SearchSpace::SearchSpace(std::vector<Study> bases, std::span<const Among> among)
    : knobs_(search_knobs()), among_(knobs_.size()), bases_(std::move(bases)) {
    WEFT_CHECK(!bases_.empty(), "a search without a job");
    WEFT_CHECK(knobs_.size() <= Candidate::most_knobs, "more knobs than a candidate has room for");
    for (const Among& one : among) {
        const auto knob = std::ranges::find(knobs_, one.key, &Knob::key);
        WEFT_CHECK(knob != knobs_.end(), "no knob " + one.key);
        among_[static_cast<std::size_t>(knob - knobs_.begin())] = one.values;
    }
    for (Study& base : bases_) {
        for (const Knob& knob : knobs_) knob.set(base.job, knob.neutral);
    }
}

std::vector<Candidate> SearchSpace::candidates() const {
    std::vector<Candidate> found;
    for (std::uint32_t base = 0; base < bases_.size(); ++base) {
        Job job = bases_[base].job;
        for (std::size_t k = 0; k < knobs_.size(); ++k) knobs_[k].set(job, at_rest(k));
        Candidate candidate{.base = base};
        choose(0, job, candidate, found);
    }
    return found;
}

void SearchSpace::choose(std::size_t knob, Job& job, Candidate& candidate, std::vector<Candidate>& found) const {
    if (knob == knobs_.size()) {
        found.push_back(candidate);
        return;
    }
    const std::uint32_t accelerators = job.nodes * job.ranks_per_node;
    const std::vector<std::uint32_t> values =
        among_[knob].empty() ? knobs_[knob].values(job, accelerators) : among_[knob];
    for (const std::uint32_t value : values) {
        knobs_[knob].set(job, value);
        candidate.values[knob] = value;
        choose(knob + 1, job, candidate, found);
    }
    knobs_[knob].set(job, at_rest(knob));
}

std::uint32_t SearchSpace::at_rest(std::size_t knob) const {
    return among_[knob].size() == 1 ? among_[knob].front() : knobs_[knob].neutral;
}

std::uint32_t SearchSpace::value(const Candidate& candidate, std::string_view key) const {
    const auto knob = std::ranges::find(knobs_, key, &Knob::key);
    WEFT_CHECK(knob != knobs_.end(), "no knob " + std::string(key));
    return candidate.values[static_cast<std::size_t>(knob - knobs_.begin())];
}

void SearchSpace::apply(const Candidate& candidate, Job& job) const {
    for (std::size_t k = 0; k < knobs_.size(); ++k) knobs_[k].set(job, candidate.values[k]);
    job.layout.shard_ranks = shard_ranks(job);
    job.layout.expert_inner = expert_inner(job);
    settle_imbalance(job);
}

Study SearchSpace::study(const Candidate& candidate) const {
    Study study = bases_[candidate.base];
    apply(candidate, study.job);
    study.job.packing = packed_attention(study.job);
    return study;
}

std::vector<std::string> SearchSpace::assignments(const Candidate& candidate) const {
    std::vector<std::string> texts;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
        const Knob& knob = knobs_[k];
        if (knob.framework.empty() || candidate.values[k] != knob.neutral) {
            texts.push_back(knob.assignment(candidate.values[k]));
        }
    }
    return texts;
}

}  // namespace weft
