#include "workloads/framework/data_only.hpp"

#include <fmt/format.h>

#include "workloads/job/job.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

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
