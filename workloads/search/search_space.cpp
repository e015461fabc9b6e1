#include "workloads/search/plan_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/texts.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/scheme.hpp"

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
        const std::uint32_t ranks = base.job.layout.ranks();
        for (const Knob& knob : knobs_) knob.set(base.job, knob.neutral);
        base.job.layout.data = ranks;
    }
}

std::deque<Candidate> SearchSpace::candidates() const {
    std::deque<Candidate> found;
    for (std::uint32_t base = 0; base < bases_.size(); ++base) {
        Job job = bases_[base].job;
        for (std::size_t k = 0; k < knobs_.size(); ++k) knobs_[k].set(job, at_rest(k));
        Candidate candidate{.base = base};
        choose(0, job, candidate, found);
    }
    return found;
}

void SearchSpace::choose(std::size_t knob, Job& job, Candidate& candidate, std::deque<Candidate>& found) const {
    if (knob == knobs_.size()) {
        found.push_back(candidate);
        return;
    }
    const std::uint32_t accelerators = bases_[candidate.base].job.layout.ranks();
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

void SearchSpace::apply(const Candidate& candidate, Job& job) const {
    for (std::size_t k = 0; k < knobs_.size(); ++k) knobs_[k].set(job, candidate.values[k]);
    settle_groups(job);
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

namespace {

using Values = std::vector<std::uint32_t>;

// A larger micro-batch hardly makes kernels more efficient, and its activations rarely fit.
constexpr std::uint32_t largest_micro_batch = 16;

// Ascending.
Values divisors(std::uint32_t number) {
    Values found;
    for (std::uint32_t candidate = 1; candidate <= number / candidate; ++candidate) {
        if (number % candidate != 0) continue;
        found.push_back(candidate);
        if (candidate != number / candidate) found.push_back(number / candidate);
    }
    std::ranges::sort(found);
    return found;
}

std::uint32_t left_for(const Job& job, std::uint32_t accelerators) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(accelerators / job.layout.ranks_of_replica(), 1));
}

Values axis_values(Scheme::Ranks ranks, const Job& job, std::uint32_t accelerators) {
    switch (ranks) {
        case Scheme::Ranks::own:
            return divisors(left_for(job, accelerators));
        case Scheme::Ranks::rest:
            return {left_for(job, accelerators)};
        case Scheme::Ranks::shared:
            break;
    }
    return job.model.experts.count == 0 ? Values{1} : divisors(job.model.experts.count);
}

Values expert_tensor(const Job& job, std::uint32_t) {
    const bool cut = job.model.experts.count > 0 && job.layout.tensor > 1;
    return cut ? Values{1, job.layout.tensor} : Values{1};
}

// Powers of two, and all of a data rank's sequences where these are few.
Values micro_batch(const Job& job, std::uint32_t) {
    Values values{1};
    if (job.batch.global % job.layout.data != 0) return values;
    const std::uint32_t sequences = job.batch.global / job.layout.data;
    for (std::uint32_t size = 2; size <= largest_micro_batch; size *= 2) {
        if (sequences % size == 0) values.push_back(size);
    }
    return values;
}

// Without a pipeline the schedules say the same but for what they keep.
Values schedules(const Job& job, std::uint32_t) {
    static const auto usual = static_cast<std::uint32_t>(value_of(Job{}, "schedule"));
    if (job.layout.pipeline == 1) return {usual};
    return numbers_below<std::uint32_t>(schedule::all().size());
}

// All numbers that the layers can be dealt by.
Values virtual_stage_counts(const Job& job) {
    Values values;
    Job tried = job;
    std::string why;
    for (std::uint32_t stages = 2; stages * job.layout.pipeline <= job.model.own_layers(); ++stages) {
        tried.layout.virtual_stages = stages;
        if (!tried.part_layers(why).empty()) values.push_back(stages);
    }
    return values;
}

bool deals_layers(const Job& job) {
    std::string why;
    return job.schedule->chunks == 0 ? !virtual_stage_counts(job).empty() : !job.part_layers(why).empty();
}

// Others than the framework's own only where that cannot deal the layers and they can.
Values split(const Job& job, std::uint32_t) {
    if (deals_layers(job)) return {0};
    Values values;
    Job tried = job;
    for (std::uint32_t value = 1; value < static_cast<std::uint32_t>(StageSplit::cost); ++value) {
        tried.layout.split = StageSplit{static_cast<std::uint8_t>(value)};
        if (deals_layers(tried)) values.push_back(value);
    }
    return values.empty() ? Values{0} : values;
}

// Where the layers can be dealt by no number, one that the job is refused for.
Values virtual_stages(const Job& job, std::uint32_t) {
    if (job.schedule->chunks != 0) return {1};
    const Values values = virtual_stage_counts(job);
    return values.empty() ? Values{2} : values;
}

// Fused attention recomputes its scores itself: selective recomputation then costs a second forward of it and frees
// next to nothing.
Values recomputation(const Job& job, std::uint32_t) {
    if (job.attention == AttentionCore::unfused) return {0, 1, 2};
    return job.framework->name == "fsdp" && job.fsdp.version == 2 ? Values{0, 2, 3} : Values{0, 2};
}

Values sequence_parallel(const Job& job, std::uint32_t) { return job.layout.tensor == 1 ? Values{0} : Values{0, 1}; }

// A single data rank has nobody to share states with.
Values zero_stage(const Job& job, std::uint32_t) { return job.layout.copies() == 1 ? Values{0} : Values{0, 1, 2, 3}; }

// Whether the framework takes a job with gradients reduced under the backward pass.
bool may_overlap_gradients(Job& job) {
    const Setting before = std::exchange(job.gradient_overlap, Setting::on);
    std::vector<JobError> errors;
    job.framework->check(job, Refusals(errors, "overlap_gradients"));
    job.gradient_overlap = before;
    return errors.empty();
}

// Wherever it can be and there is something to reduce: what is hidden costs no more than what is not.
Values gradient_overlap(Job& job, std::uint32_t) {
    const bool usual = job.framework->default_overlap(job) == Setting::on;
    return {usual || (job.layout.copies() > 1 && may_overlap_gradients(job)) ? 1U : 0U};
}

Values parameter_overlap(const Job& job, std::uint32_t) {
    const bool gathers = job.framework->name == "megatron" && job.zero == 1;
    return {gathers && job.gradient_overlap == Setting::on ? 1U : 0U};
}

// Transformer Engine's user buffers lie in the memory of one node. Products in pieces may take longer than what they
// hide: both are tried.
Values tensor_overlap(const Job& job, std::uint32_t) {
    const bool may = job.framework->name == "megatron" && job.megatron.transformer_engine == Setting::on &&
                     job.sequence_parallel == SequenceParallel::on && job.layout.tensor <= job.ranks_per_node;
    return may ? Values{0, 1} : Values{0};
}

Knob knob(const std::string& path, decltype(Knob::values) values) {
    const JobKey& key = key_of(path);
    Knob knob{.key = path, .names = key.words, .neutral = static_cast<std::uint32_t>(key.get(Job{}))};
    if (key.kind == KeyKind::flag) knob.names = {"false", "true"};
    if (const Framework* const framework = find_framework(path.substr(0, path.find('.')))) {
        knob.framework = framework->name;
    }
    knob.set = [&key](Job& job, std::uint32_t value) { key.set(job, value); };
    knob.get = [&key](const Job& job) { return static_cast<std::uint32_t>(key.get(job)); };
    knob.values = std::move(values);
    return knob;
}

}  // namespace

std::string Knob::text(std::uint32_t value) const { return names.empty() ? fmt::to_string(value) : names[value]; }

std::string Knob::assignment(std::uint32_t value) const {
    const bool unsaid = !framework.empty() && value == neutral;
    return fmt::format("{}={}", key, unsaid ? "null" : text(value));
}

std::optional<std::uint32_t> Knob::parse(std::string_view text) const {
    if (!names.empty()) {
        const auto found = std::ranges::find(names, text);
        if (found == names.end()) return std::nullopt;
        return static_cast<std::uint32_t>(found - names.begin());
    }
    const auto value = parse_as<std::uint32_t>(text);
    return value && *value >= neutral ? value : std::nullopt;
}

std::vector<Knob> search_knobs() {
    std::vector<Knob> knobs;
    for (const Scheme::Ranks ranks : {Scheme::Ranks::own, Scheme::Ranks::rest, Scheme::Ranks::shared}) {
        for (const Scheme* scheme : schemes_by_place()) {
            if (scheme->ranks == ranks)
                knobs.push_back(knob(fmt::format("layout.{}", scheme->axis), std::bind_front(axis_values, ranks)));
        }
    }
    knobs.push_back(knob("layout.expert_tensor", expert_tensor));
    knobs.push_back(knob("batch.micro", micro_batch));
    knobs.push_back(knob("schedule", schedules));
    knobs.push_back(knob("layout.split", split));
    knobs.back().names.emplace_back(split_by_hand);
    knobs.push_back(knob("layout.virtual_stages", virtual_stages));
    knobs.push_back(knob("recompute", recomputation));
    knobs.push_back(knob("sequence_parallel", sequence_parallel));
    knobs.push_back(knob("zero", zero_stage));
    knobs.push_back(knob("overlap_gradients", gradient_overlap));
    knobs.push_back(knob("megatron.overlap_parameters", parameter_overlap));
    knobs.push_back(knob("megatron.overlap_tensor", tensor_overlap));
    return knobs;
}

}  // namespace weft
