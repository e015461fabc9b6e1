#include "workloads/framework/framework.hpp"

#include <algorithm>

#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

PassingStates states_stay(const Job& job) {
    return {.parameters = element_bytes(job.precision),
            .gradients = job.framework->gradient_bytes(job) + job.framework->shares(job).passing_bytes,
            .in_place = false,
            .anew = false};
}
Bytes no_buffers(const Job&, double) { return {}; }
std::vector<Call> no_calls(const Job&) { return {}; }
std::vector<Call> no_stage_calls(const Job&, std::uint32_t) { return {}; }
InputReduction reduced_after_backward(const Job&) { return InputReduction::after_backward; }
Setting always_overlaps(const Job&) { return Setting::on; }

void check_data_only(const Job& job, std::vector<JobError>& errors) {
    const Refusals refuse(errors);
    const std::string_view name = job.framework->name;
    for (const Scheme* scheme : parallelism::all()) {
        const std::uint32_t size = job.layout.size(scheme->axis);
        if (size == 1 || scheme->ranks == Scheme::Ranks::rest) continue;
        refuse(fmt::format("layout.{}", scheme->axis), "{} is data parallelism only; {} must be 1, got {}", name,
               scheme->axis, size);
    }
    refuse.when(job.sequence_parallel == SequenceParallel::on, "sequence_parallel",
                "{} is data parallelism only and has no sequence parallelism", name);
    refuse.when(job.context_method != ContextMethod::ring, "context_method",
                "{} is data parallelism only and shares no sequence", name);
    refuse.when(job.gradient_overlap == Setting::off, "overlap_gradients",
                "{} always reduces gradients under the backward pass", name);
}

const Framework* find_framework(std::string_view name) {
    const auto all = framework::all();
    const auto it = std::ranges::find(all, name, [](const Framework* f) { return f->name; });
    return it == all.end() ? nullptr : *it;
}

std::vector<std::string> framework_names() {
    std::vector<std::string> names;
    for (const Framework* f : framework::all()) names.emplace_back(f->name);
    return names;
}

}  // namespace weft
