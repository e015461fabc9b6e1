// A torchtitan configuration: one of its models under FSDP. Keys: pytorch/torchtitan torchtitan/config/job_config.py as
// of 2025.
#include <fmt/format.h>

#include <string>

#include "workloads/data_parallel/fsdp_units.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/torchtitan/torchtitan.hpp"

namespace weft::exports {
namespace {

std::string model_section(const Job& job, Unsayable& unsayable) {
    const TorchtitanFlavour* const flavour = torchtitan_flavour_of(job.model);
    unsayable.unless(flavour != nullptr, "model",
                     fmt::format("torchtitan has no model of this shape (known: {})", known_torchtitan_flavours()));
    if (flavour == nullptr) return {};
    return fmt::format("[model]\nname = \"{}\"\nflavor = \"{}\"\n{}\n", flavour->model, flavour->flavour,
                       job.precision == Precision::fp8 ? "converters = [\"float8\"]\n" : "");
}

std::string training_section(const Job& job, Unsayable& unsayable) {
    unsayable.unless(job.precision != Precision::fp4, "precision", "weft writes no converter to fp4");
    unsayable.unless(job.names_recipe == Setting::off || job.recipe == Casting::tensorwise, "fp8_recipe",
                     "torchtitan's float8 scales whole tensors as they are");
    unsayable.unless(job.precision != Precision::fp16, "precision", "torchtitan trains in bfloat16 or float32");
    unsayable.unless(job.fsdp.reduce_bytes == 4 || job.precision == Precision::fp32, "fsdp.reduce_precision",
                     "torchtitan reduces gradients in fp32");
    return fmt::format(
        "[training]\nlocal_batch_size = {}\nglobal_batch_size = {}\nseq_len = {}\nmixed_precision_param = \"{}\"\n"
        "mixed_precision_reduce = \"float32\"\n\n",
        job.layout.pipeline > 1 ? job.batch.global / job.layout.data : job.batch.micro, job.batch.global,
        job.batch.sequence, job.precision == Precision::fp32 ? "float32" : "bfloat16");
}

std::string_view reshard_word(const Job& job) {
    if (job.fsdp.reshard == Reshard::always) return "always";
    return keeps_parameters(job.fsdp) || job.fsdp.reshard == Reshard::never ? "never" : "default";
}

std::string_view schedule_name(const Job& job) {
    const std::string_view key = job.schedule->key;
    return key == "gpipe"         ? "GPipe"
           : key == "interleaved" ? "Interleaved1F1B"
           : key == "zb-v"        ? "ZBVZeroBubble"
                                  : "1F1B";
}

std::string pipeline_keys(const Job& job, Unsayable& unsayable) {
    if (job.layout.pipeline == 1) return {};
    unsayable.unless(job.schedule->key != "interleaved" || job.layout.virtual_stages == 2, "layout.virtual_stages",
                     "torchtitan's interleaved stages have two parts each");
    const bool even = job.layout.split == StageSplit::even;
    return fmt::format("pipeline_parallel_schedule = \"{}\"\npipeline_parallel_microbatch_size = {}\n",
                       schedule_name(job), job.batch.micro) +
           (even ? "pipeline_parallel_first_stage_less_layers = 0\npipeline_parallel_last_stage_less_layers = 0\n"
                 : "");
}

std::string parallelism_section(const Job& job, Unsayable& unsayable) {
    unsayable.unless(job.layout.pipeline == 1 || job.layout.split != StageSplit::ends, "layout.split",
                     "torchtitan deals layers with one less at both ends by its own rule; needs framework or even");
    const std::uint32_t shards = is_hybrid(job.fsdp) ? job.layout.shard_ranks : job.layout.data;
    std::string text = fmt::format(
        "[parallelism]\ndata_parallel_replicate_degree = {}\ndata_parallel_shard_degree = {}\n"
        "fsdp_reshard_after_forward = \"{}\"\ntensor_parallel_degree = {}\npipeline_parallel_degree = {}\n"
        "context_parallel_degree = {}\n",
        job.layout.data / shards, shards, reshard_word(job), job.layout.tensor, job.layout.pipeline,
        job.layout.context);
    if (job.layout.expert > 1) {
        text += fmt::format("expert_parallel_degree = {}\nexpert_tensor_parallel_degree = {}\n", job.layout.expert,
                            job.layout.expert_tensor);
    }
    if (job.layout.context > 1) {
        const bool ring = job.context_method == ContextMethod::ring;
        text += fmt::format("context_parallel_rotate_method = \"{}\"\n", ring ? "alltoall" : "allgather");
    }
    return text + pipeline_keys(job, unsayable) + "\n";
}

std::string activation_section(const Job& job, Unsayable& unsayable) {
    const Recomputation& recompute = job.recompute;
    unsayable.unless(recompute.granularity != Recompute::selective, "recompute",
                     "torchtitan's \"selective\" recomputes other operations than the attention core alone");
    if (recompute == Recompute::operations) {
        return "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n\n";
    }
    if (recompute.granularity == Recompute::full && recompute.method == RecomputeMethod::every) {
        return fmt::format("[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"{}\"\n\n",
                           recompute.layers);
    }
    return fmt::format("[activation_checkpoint]\nmode = \"{}\"\n\n", recompute == Recompute::full ? "full" : "none");
}

void refuse_settings(const Job& job, Unsayable& unsayable) {
    const FsdpSettings& settings = job.fsdp;
    unsayable.unless(settings.version == 2, "fsdp.version", "torchtitan shards by fully_shard, which is version 2");
    unsayable.unless(settings.accumulate == Accumulate::by_version, "fsdp.accumulate_locally",
                     "torchtitan reduces after every micro-batch, and under a pipeline after the last");
    unsayable.unless(settings.reshard != Reshard::over_few, "fsdp.reshard_after_forward",
                     "torchtitan shards over all ranks again, or not");
    unsayable.unless(settings.backward_prefetch == BackwardPrefetch::before, "fsdp.backward_prefetch",
                     "fully_shard prefetches before the backward pass of a unit");
    unsayable.unless(settings.forward_prefetch == Setting::off, "fsdp.forward_prefetch",
                     "torchtitan has no key for it");
    unsayable.unless(settings.limit_all_gathers == Setting::on, "fsdp.limit_all_gathers",
                     "fully_shard always limits them");
    unsayable.unless(settings.fused_cross_entropy == Setting::off || job.compile == Compile::all,
                     "fsdp.fused_cross_entropy", "torchtitan's loss is fused where it is compiled; set compile to all");
    unsayable.unless(job.dropout == Dropout::off, "dropout", "torchtitan's models have none");
    unsayable.unless(job.attention == AttentionCore::flash, "attention", "torchtitan's attention is PyTorch's own");
    unsayable.unless(job.modules == usual_modules(job), "modules", "torchtitan has no key for it");
    unsayable.unless(job.element_wise == ElementWise::fused, "element_wise", "torchtitan has no key for it");
    unsayable.unless(job.cuda_graphs == CudaGraphs::none, "cuda_graphs", "torchtitan has no key for it");
}

std::string compile_section(const Job& job) {
    const std::string_view components = job.compile == Compile::blocks ? "components = [\"model\"]\n" : "";
    return fmt::format("[compile]\nenable = {}\n{}", job.compile != Compile::off, components);
}

std::string write_torchtitan(const Study& study) {
    Unsayable unsayable(study);
    const Job& job = study.job;
    unsayable.unless(job.framework->name == "fsdp", "framework",
                     fmt::format("expected fsdp, the job's is {}", job.framework->name));
    const std::string sections = model_section(job, unsayable) + training_section(job, unsayable) +
                                 parallelism_section(job, unsayable) + activation_section(job, unsayable);
    refuse_settings(job, unsayable);
    refuse_placement(study, unsayable);
    unsayable.check();
    return fmt::format(
               "# {} on {} nodes of {}: {}. For pytorch/torchtitan; data, tokenizer and optimizer are its "
               "defaults{}.\n",
               job.model.name, job.nodes, study.machine.info().name, axes(job.layout),
               job.model.experts.count > 0 && !job.model.experts.balancing_bias ? ", and so is the bias of its experts"
                                                                                : "") +
           own_keys(study, "fsdp") + sections + compile_section(job);
}

}  // namespace

extern const ExportFormat torchtitan{"torchtitan", "torchtitan configuration", write_torchtitan};

}  // namespace weft::exports
