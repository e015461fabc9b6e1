// PyTorch's DistributedDataParallel: replicas whose gradients are all-reduced in buckets under the backward pass
// (data_parallel/torch_ddp.cpp issues the calls).
#include "workloads/data_parallel/engines.hpp"
#include "workloads/framework/calls.hpp"
#include "workloads/framework/data_only.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/job/job.hpp"

namespace weft::framework {
namespace {

void check(const Job& job, std::vector<JobError>& errors) {
    check_data_only(job, errors);
    if (job.bucket_elements > 0 && job.ddp.bucket_mib != DdpSettings{}.bucket_mib) {
        errors.push_back({"bucket_elements", "ddp.bucket_mib sizes the buckets as well; give one of them"});
    }
    if (job.zero != 0) errors.push_back({"zero", "DistributedDataParallel shards nothing; zero must be 0"});
}

std::unique_ptr<DataParallel> data_parallel(const ShardingInput& input) { return make_torch_ddp(input); }
StateShares shares(const Job&) { return {}; }
// Buckets are views of a second copy of the gradients.
Bytes buffers(const Job& job, double parameters) { return {parameters * element_bytes(job.precision)}; }
Modules modules(const Job&) { return Modules::pytorch; }
double gradient_bytes(const Job& job) { return element_bytes(job.precision); }

}  // namespace

extern const Framework ddp;
const Framework ddp{
    .name = "ddp",
    .summary = "PyTorch DistributedDataParallel",
    .offers = {},
    .handover = Handover::sequential,
    .input_reduction = reduced_after_backward,
    .overlaps_pipeline = always_overlaps,
    .exchanges = Through::torch,
    .modules = modules,
    .split = even_split,
    .default_overlap = always_overlaps,
    .check = check,
    .data_parallel = data_parallel,
    .shares = shares,
    .buffers = buffers,
    .gradient_bytes = gradient_bytes,
    .update_traffic = fused_update,
    .accumulation = repeated_accumulation,
};

}  // namespace weft::framework
