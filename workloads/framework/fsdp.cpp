// PyTorch's fully sharded data parallelism, one unit per transformer layer and one for the rest. No model parallelism:
// that is other libraries' (data_parallel/fsdp.cpp issues the calls).
#include <fmt/format.h>

#include <algorithm>

#include "workloads/data_parallel/engines.hpp"
#include "workloads/framework/calls.hpp"
#include "workloads/framework/data_only.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/job.hpp"

namespace weft::framework {
namespace {

bool hybrid(const Job& job) {
    return job.fsdp.strategy == Sharding::hybrid || job.fsdp.strategy == Sharding::hybrid_gradients;
}
bool keeps_parameters(const Job& job) {
    return job.fsdp.strategy == Sharding::gradients || job.fsdp.strategy == Sharding::hybrid_gradients;
}

void check(const Job& job, std::vector<JobError>& errors) {
    check_data_only(job, errors);
    if (job.zero != 0) {
        errors.push_back({"zero", "FSDP shards by fsdp.strategy, not by a ZeRO stage"});
    }
    if (job.bucket_elements > 0) {
        errors.push_back({"bucket_elements", "FSDP reduces one unit at a time and has no buckets"});
    }
    if (!hybrid(job) && job.fsdp.shard_ranks > 0) {
        errors.push_back({"fsdp.shard_ranks", "only hybrid strategies shard inside groups; the others over all ranks"});
    }
    if (hybrid(job) && job.layout.shard_ranks == 1 && job.layout.data > 1) {
        errors.push_back(
            {"fsdp.shard_ranks",
             fmt::format("hybrid sharding needs groups of 2 ranks or more, got 1 of data {}", job.layout.data)});
    }
    if (hybrid(job) && job.layout.data % job.layout.shard_ranks != 0) {
        errors.push_back({"fsdp.shard_ranks", fmt::format("{} ranks of a shard group do not divide data {}",
                                                          job.layout.shard_ranks, job.layout.data)});
    }
}

std::unique_ptr<DataParallel> data_parallel(const ShardingInput& input) { return make_fsdp(input); }

StateShares shares(const Job& job) {
    const double ranks = hybrid(job) ? job.layout.shard_ranks : job.layout.data;
    return {.parameters = keeps_parameters(job) ? 1 : ranks,
            .gradients = job.fsdp.accumulate_locally == Setting::on ? 1 : ranks,
            .optimizer = ranks};
}

// Gathered: two neighbouring layers and the root unit (embedding, final norm and head), and the gradient of one layer.
// Those of layers with experts are whole: every rank has all experts.
Bytes buffers(const Job& job, double) {
    double layer = 0, neighbours = 0, before = 0;  // the largest layer and pair, and the layer before this
    for (std::uint32_t i = 0; i < job.model.layers; ++i) {
        const auto size = double(layer_parameters(job.model, layer_kind(job.model, i), job.split()));
        layer = std::max(layer, size);
        neighbours = std::max(neighbours, before + size);
        before = size;
    }
    const double root =
        double(embedding_parameters(job.model, 1) + final_norm_parameters(job.model) + head_parameters(job.model, 1));
    const double gathered = keeps_parameters(job) ? 0 : neighbours + root;
    return {(gathered + layer) * element_bytes(job.precision)};
}

Modules modules(const Job&) { return Modules::pytorch_units; }
double gradient_bytes(const Job& job) { return element_bytes(job.precision); }
// Gradients leave unsharded memory with every micro-batch; only under no_sync are they added up there.
Bytes sharded_accumulation(const Job& job) {
    return job.fsdp.accumulate_locally == Setting::on ? repeated_accumulation(job) : Bytes{};
}

}  // namespace

extern const Framework fsdp;
const Framework fsdp = data_only_framework({.name = "fsdp",
                                            .summary = "PyTorch FSDP, one unit per layer",
                                            .check = check,
                                            .data_parallel = data_parallel,
                                            .shares = shares,
                                            .buffers = buffers,
                                            .gradient_bytes = gradient_bytes,
                                            .accumulation = sharded_accumulation,
                                            .modules = modules});

}  // namespace weft::framework
