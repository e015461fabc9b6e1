#include "workloads/job/job_size.hpp"

#include "models/transformer/prediction.hpp"

namespace weft {

double expected_operations(const Job& job) {
    const double micro_batches = double(job.batch.global) / (double(job.batch.micro) * job.layout.data);
    const std::uint32_t sharing = job.shard().context;
    const double per_layer = 14.0 + (sharing > 1 ? 4.0 * sharing : 0.0) + (job.model.experts.count > 0 ? 12.0 : 0.0);
    return micro_batches * (per_layer * all_layers(job.model) + 24.0 * job.model_parts());
}

}  // namespace weft
