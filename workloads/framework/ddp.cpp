// PyTorch's DistributedDataParallel: replicas whose gradients are all-reduced in buckets under the backward pass
// (data_parallel/torch_ddp.cpp issues the calls).
#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"

namespace weft::framework {
namespace {

void check_ddp(const Job& job, const Refusals& refuse) {
    check_data_only(job, refuse);
    refuse.when(job.bucket_elements > 0 && job.ddp.bucket_mib != DdpSettings{}.bucket_mib, "bucket_elements",
                "ddp.bucket_mib sizes the buckets as well; give one of them");
    refuse.when(job.zero != 0, "zero", "DistributedDataParallel shards nothing; zero must be 0");
}

// Under autocast parameters are in fp32 and so are their gradients, each a view of its bucket, to which autograd's own
// is copied (gradient_as_bucket_view); products keep casts of their weights.
PassingStates passing(const Job& job) {
    const double element = element_bytes(job.precision);
    return {.anew = false, .saved = element < 4 ? element : 0, .units = PassingStates::Units::tensors, .made = 4};
}

}  // namespace

extern const Framework ddp{
    .name = "ddp",
    .summary = "PyTorch DistributedDataParallel",
    .modules = [](const Job&) { return Modules::pytorch; },
    .split = even_split,
    .check = check_ddp,
    .data_parallel = make_torch_ddp,
    .shares = [](const Job&) { return StateShares{}; },
    .passing = passing,
    .autocast = Autocast::on,
    .fragmentation = 0.12,  // mean of four steps on one H100, 0.03 to 0.15
    .gradient_bytes = [](const Job& job) { return element_bytes(job.precision); },
    .update_traffic = fused_update,
    .accumulation = repeated_accumulation,
};

}  // namespace weft::framework
