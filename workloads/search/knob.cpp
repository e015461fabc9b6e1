#include "workloads/search/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "workloads/job/layout_reader.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

using Values = std::vector<std::uint32_t>;

// A larger micro-batch hardly makes kernels more efficient, and its activations rarely fit.
constexpr std::uint32_t largest_micro_batch = 16;

std::uint32_t left_for(const Job& job, std::uint32_t accelerators) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(accelerators / job.layout.ranks_of_replica(), 1));
}

Knob axis(const Scheme& scheme) {
    Knob knob{.key = fmt::format("layout.{}", scheme.axis), .names = {}, .set = {}, .get = {}, .values = {}};
    knob.set = [axis = scheme.axis](Job& job, std::uint32_t value) { job.layout.size(axis) = value; };
    knob.get = [axis = scheme.axis](const Job& job) { return job.layout.size(axis); };
    switch (scheme.ranks) {
        case Scheme::Ranks::own:
            knob.values = [](const Job& job, std::uint32_t accelerators) {
                return divisors(left_for(job, accelerators));
            };
            break;
        case Scheme::Ranks::rest:
            knob.values = [](const Job& job, std::uint32_t accelerators) {
                return Values{left_for(job, accelerators)};
            };
            break;
        case Scheme::Ranks::shared:
            knob.values = [](const Job& job, std::uint32_t) {
                return job.model.experts.count == 0 ? Values{1} : divisors(job.model.experts.count);
            };
            break;
    }
    return knob;
}

Knob expert_tensor() {
    return {.key = "layout.expert_tensor",
            .names = {},
            .set = [](Job& job, std::uint32_t value) { job.layout.expert_tensor = value; },
            .get = [](const Job& job) { return job.layout.expert_tensor; },
            .values =
                [](const Job& job, std::uint32_t) {
                    const bool cut = job.model.experts.count > 0 && job.layout.tensor > 1;
                    return cut ? Values{1, job.layout.tensor} : Values{1};
                }};
}

// Powers of two, and all of a data rank's sequences where these are few.
Knob micro_batch() {
    return {.key = "batch.micro",
            .names = {},
            .set = [](Job& job, std::uint32_t value) { job.batch.micro = value; },
            .get = [](const Job& job) { return job.batch.micro; },
            .values =
                [](const Job& job, std::uint32_t) {
                    Values values{1};
                    if (job.batch.global % job.layout.data != 0) return values;
                    const std::uint32_t sequences = job.batch.global / job.layout.data;
                    for (std::uint32_t size = 2; size <= largest_micro_batch; size *= 2) {
                        if (sequences % size == 0) values.push_back(size);
                    }
                    return values;
                }};
}

// Without a pipeline the schedules say the same but for what they keep.
Knob schedules() {
    const std::vector<std::string> keys = schedule_keys();
    const auto plain = static_cast<std::uint32_t>(std::ranges::find(keys, plain_schedule) - keys.begin());
    return {.key = "schedule",
            .names = keys,
            .neutral = plain,
            .set = [](Job& job, std::uint32_t value) { job.schedule = schedule::all()[value]; },
            .get =
                [](const Job& job) {
                    const auto all = schedule::all();
                    return static_cast<std::uint32_t>(std::ranges::find(all, job.schedule) - all.begin());
                },
            .values =
                [plain](const Job& job, std::uint32_t) {
                    if (job.layout.pipeline == 1) return Values{plain};
                    Values values(schedule::all().size());
                    for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i;
                    return values;
                }};
}

// All numbers that the layers can be dealt by.
Values virtual_stage_counts(const Job& job) {
    Values values;
    Job tried = job;
    std::string why;
    for (std::uint32_t stages = 2; stages * job.layout.pipeline <= job.model.layers; ++stages) {
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
Knob split() {
    Knob knob{.key = "layout.split", .names = stage_split_names(), .neutral = 0, .set = {}, .get = {}, .values = {}};
    knob.names.emplace_back(split_by_hand);
    knob.set = [](Job& job, std::uint32_t value) { job.layout.split = StageSplit{static_cast<std::uint8_t>(value)}; };
    knob.get = [](const Job& job) { return static_cast<std::uint32_t>(job.layout.split); };
    knob.values = [set = knob.set, count = stage_split_names().size()](const Job& job, std::uint32_t) {
        Values values;
        if (deals_layers(job)) return Values{0};
        Job tried = job;
        for (std::uint32_t value = 1; value < count; ++value) {
            set(tried, value);
            if (deals_layers(tried)) values.push_back(value);
        }
        return values.empty() ? Values{0} : values;
    };
    return knob;
}

// Where the layers can be dealt by no number, one that the job is refused for.
Knob virtual_stages() {
    return {.key = "layout.virtual_stages",
            .names = {},
            .set = [](Job& job, std::uint32_t value) { job.layout.virtual_stages = value; },
            .get = [](const Job& job) { return job.layout.virtual_stages; },
            .values =
                [](const Job& job, std::uint32_t) {
                    if (job.schedule->chunks != 0) return Values{1};
                    const Values values = virtual_stage_counts(job);
                    return values.empty() ? Values{2} : values;
                }};
}

// Fused attention recomputes its scores itself: selective recomputation then costs a second forward of it and frees
// next to nothing.
Knob recomputation() {
    return {.key = "recompute",
            .names = {"none", "selective", "full", "operations"},
            .neutral = 0,
            .set = [](Job& job, std::uint32_t value) { job.recompute = Recompute{static_cast<std::uint8_t>(value)}; },
            .get = [](const Job& job) { return static_cast<std::uint32_t>(job.recompute.granularity); },
            .values =
                [](const Job& job, std::uint32_t) {
                    if (job.attention == AttentionCore::unfused) return Values{0, 1, 2};
                    return job.framework->name == "fsdp" && job.fsdp.version == 2 ? Values{0, 2, 3} : Values{0, 2};
                }};
}

// Off while neutral; of `framework`, if one is named.
Knob flag(std::string key, std::string_view framework, std::function<void(Job&, Setting)> set,
          std::function<Setting(const Job&)> get, std::function<Values(const Job&, std::uint32_t)> values) {
    return {.key = std::move(key),
            .names = {"false", "true"},
            .neutral = 0,
            .framework = framework,
            .set = [set = std::move(set)](Job& job, std::uint32_t value) { set(job, static_cast<Setting>(value)); },
            .get = [get = std::move(get)](const Job& job) { return static_cast<std::uint32_t>(get(job)); },
            .values = std::move(values)};
}

Knob sequence_parallel() {
    return flag(
        "sequence_parallel", {},
        [](Job& job, Setting setting) { job.sequence_parallel = static_cast<SequenceParallel>(setting); },
        [](const Job& job) { return static_cast<Setting>(job.sequence_parallel); },
        [](const Job& job, std::uint32_t) {
            return job.layout.tensor == 1 ? Values{0} : Values{0, 1};
        });
}

// A single data rank has nobody to share states with.
Knob zero_stage() {
    return {.key = "zero",
            .names = {},
            .neutral = 0,
            .set = [](Job& job, std::uint32_t value) { job.zero = value; },
            .get = [](const Job& job) { return job.zero; },
            .values =
                [](const Job& job, std::uint32_t) {
                    return job.layout.copies() == 1 ? Values{0} : Values{0, 1, 2, 3};
                }};
}

// Whether the framework takes a job with gradients reduced under the backward pass.
bool may_overlap_gradients(Job job) {
    job.gradient_overlap = Setting::on;
    std::vector<JobError> errors;
    job.framework->check(job, errors);
    return std::ranges::find(errors, "overlap_gradients", &JobError::key) == errors.end();
}

// Wherever it can be and there is something to reduce: what is hidden costs no more than what is not.
Knob gradient_overlap() {
    return flag(
        "overlap_gradients", {}, [](Job& job, Setting setting) { job.gradient_overlap = setting; },
        [](const Job& job) { return job.gradient_overlap; },
        [](const Job& job, std::uint32_t) {
            const bool usual = job.framework->default_overlap(job) == Setting::on;
            return Values{usual || (job.layout.copies() > 1 && may_overlap_gradients(job)) ? 1U : 0U};
        });
}

Knob parameter_overlap() {
    return flag(
        "megatron.overlap_parameters", "megatron",
        [](Job& job, Setting setting) { job.megatron.overlap_parameters = setting; },
        [](const Job& job) { return job.megatron.overlap_parameters; },
        [](const Job& job, std::uint32_t) {
            const bool gathers = job.framework->name == "megatron" && job.zero == 1;
            return Values{gathers && job.gradient_overlap == Setting::on ? 1U : 0U};
        });
}

// Transformer Engine's user buffers lie in the memory of one node. Products in pieces may take longer than what they
// hide: both ways.
Knob tensor_overlap() {
    return flag(
        "megatron.overlap_tensor", "megatron", [](Job& job, Setting setting) { job.megatron.overlap_tensor = setting; },
        [](const Job& job) { return job.megatron.overlap_tensor; },
        [](const Job& job, std::uint32_t) {
            const bool may = job.framework->name == "megatron" && job.megatron.transformer_engine == Setting::on &&
                             job.sequence_parallel == SequenceParallel::on && job.layout.tensor <= job.ranks_per_node;
            return may ? Values{0, 1} : Values{0};
        });
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
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < neutral) return std::nullopt;
    return value;
}

std::vector<Knob> search_knobs() {
    std::vector<Knob> knobs;
    for (const Scheme::Ranks ranks : {Scheme::Ranks::own, Scheme::Ranks::rest, Scheme::Ranks::shared}) {
        for (const Scheme* scheme : schemes_by_place()) {
            if (scheme->ranks == ranks) knobs.push_back(axis(*scheme));
        }
    }
    for (Knob& knob :
         std::vector{expert_tensor(), micro_batch(), schedules(), split(), virtual_stages(), recomputation(),
                     sequence_parallel(), zero_stage(), gradient_overlap(), parameter_overlap(), tensor_overlap()}) {
        knobs.push_back(std::move(knob));
    }
    return knobs;
}

std::vector<std::uint32_t> divisors(std::uint32_t number) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t candidate = 1; candidate <= number / candidate; ++candidate) {
        if (number % candidate != 0) continue;
        found.push_back(candidate);
        if (candidate != number / candidate) found.push_back(number / candidate);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace weft
