#include "workloads/exports/deepspeed_keys.hpp"

#include <fmt/format.h>

namespace weft {
namespace {

bool is_on(Setting setting) { return setting == Setting::on; }

void add_batch(Draft& config, const Job& job) {
    config.set("train_batch_size", job.batch.global, {});
    config.set("train_micro_batch_size_per_gpu", job.batch.micro, {});
    config.set("gradient_accumulation_steps", job.micro_batches(), {});
}

void add_precision(Draft& config, const Job& job, Unsayable& unsayable) {
    if (job.precision == Precision::fp16) config.object("fp16").set("enabled", true, {});
    if (job.precision == Precision::bf16) config.object("bf16").set("enabled", true, {});
    unsayable.unless(!is_narrow(job.precision), "precision", "DeepSpeed's configuration has no fp8");
}

void add_stage3(Draft& zero, const DeepSpeedSettings& settings) {
    zero.set("stage3_prefetch_bucket_size", settings.prefetch_elements, {});
    zero.set("stage3_param_persistence_threshold", settings.persistence_elements, {});
    zero.set("stage3_max_live_parameters", settings.max_live_elements, {});
    zero.set("stage3_max_reuse_distance", settings.max_reuse_elements, {});
    zero.set("sub_group_size", settings.sub_group_elements, {});
    if (settings.hierarchical_ranks > 1) zero.set("zero_hpz_partition_size", settings.hierarchical_ranks, {});
    if (is_on(settings.quantized_weights)) zero.set("zero_quantized_weights", true, {});
    if (is_on(settings.quantized_gradients)) zero.set("zero_quantized_gradients", true, {});
}

void add_zero(Draft& config, const Job& job) {
    if (job.zero == 0) return;
    Draft& zero = config.object("zero_optimization");
    zero.set("stage", job.zero, {});
    zero.set("overlap_comm", is_on(job.gradient_overlap), {});
    zero.set("reduce_scatter", is_on(job.deepspeed.reduce_scatter), {});
    zero.set("contiguous_gradients", true, {});
    if (job.bucket_elements > 0) {
        zero.set("reduce_bucket_size", job.bucket_elements, {});
        zero.set("allgather_bucket_size", job.bucket_elements, {});
    }
    if (job.deepspeed.multi_rank_allreduce)
        zero.set("use_multi_rank_bucket_allreduce", is_on(*job.deepspeed.multi_rank_allreduce), {});
    if (job.optimizer.leave_device()) {
        zero.object("offload_optimizer").set("device", job.optimizer.states == StatesOn::nvme ? "nvme" : "cpu", {});
    }
    if (job.deepspeed.parameters != ParametersOn::device) {
        zero.object("offload_param").set("device", job.deepspeed.parameters == ParametersOn::nvme ? "nvme" : "cpu", {});
    }
    if (job.zero == 3) add_stage3(zero, job.deepspeed);
}

}  // namespace

Draft deepspeed_keys(const Study& study, Unsayable& unsayable) {
    const Job& job = study.job;
    unsayable.unless(job.framework->name == "deepspeed", "framework",
                     fmt::format("expected deepspeed, the job's is {}", job.framework->name));
    Draft config;
    add_batch(config, job);
    add_precision(config, job, unsayable);
    add_zero(config, job);
    if (is_on(job.deepspeed.log_calls)) config.object("comms_logger").set("enabled", true, {});
    return config;
}

}  // namespace weft
