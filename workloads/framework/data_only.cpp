#include "workloads/framework/data_only.hpp"

#include <fmt/format.h>

#include "workloads/framework/calls.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/job.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

Framework data_only_framework(const DataOnly& own) {
    return {.name = own.name,
            .summary = own.summary,
            .offers = {},
            .handover = Handover::sequential,
            .input_reduction = reduced_after_backward,
            .overlaps_pipeline = always_overlaps,
            .exchanges = Through::torch,
            .modules = own.modules,
            .split = even_split,
            .default_overlap = always_overlaps,
            .check = own.check,
            .start_up = no_stage_calls,
            .load_batch = no_stage_calls,
            .loss = no_calls,
            .checkpoint_gather = no_calls,
            .expert_counts = no_calls,
            .shapes = no_calls,
            .activation = no_calls,
            .gradient = no_calls,
            .gather_received_activation = no_calls,
            .gather_before_backward = no_calls,
            .step_end = no_stage_calls,
            .data_parallel = own.data_parallel,
            .shares = own.shares,
            .buffers = own.buffers,
            .gradient_bytes = own.gradient_bytes,
            .update_traffic = fused_update,
            .accumulation = own.accumulation};
}

void check_data_only(const Job& job, std::vector<JobError>& errors) {
    for (const Scheme* scheme : parallelism::all()) {
        const std::uint32_t size = job.layout.size(scheme->axis);
        if (size == 1 || scheme->ranks == Scheme::Ranks::rest) continue;
        errors.push_back(
            {fmt::format("layout.{}", scheme->axis), fmt::format("{} is data parallelism only; {} must be 1, got {}",
                                                                 job.framework->name, scheme->axis, size)});
    }
    const auto refuse_setting = [&](std::string_view key, std::string_view why) {
        errors.push_back({std::string(key), fmt::format("{} {}", job.framework->name, why)});
    };
    if (job.sequence_parallel == SequenceParallel::on) {
        refuse_setting("sequence_parallel", "is data parallelism only and has no sequence parallelism");
    }
    if (job.context_method != ContextMethod::ring) {
        refuse_setting("context_method", "is data parallelism only and shares no sequence");
    }
    if (job.gradient_overlap == Setting::off) {
        refuse_setting("overlap_gradients", "always reduces gradients under the backward pass");
    }
}

}  // namespace weft
