// How a run of Megatron-LM computes and communicates: precision, recomputation, optimizer, overlaps, kernels.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/version_since.hpp"

namespace weft {
namespace {

// Since Transformer Engine 2.1 a master copy in fp32 is kept as what bf16 lacks of it.
void read_state_formats(MegatronReading& in) {
    Draft& optimizer = in.import.object.object("optimizer");
    const std::string main = in.lower("main_params_dtype", "fp32");
    const bool completes = main == "fp32" && in.on("bf16");
    optimizer.set("master", completes ? "remainders" : main,
                  in.origin(in.keys.has("main_params_dtype") ? "main_params_dtype" : "use_precision_aware_optimizer"));
    if (in.keys.has("exp_avg_dtype")) optimizer.set("momentum", in.lower("exp_avg_dtype"), in.origin("exp_avg_dtype"));
    if (in.keys.has("exp_avg_sq_dtype"))
        optimizer.set("variance", in.lower("exp_avg_sq_dtype"), in.origin("exp_avg_sq_dtype"));
    in.needs("core-0.13", "use_precision_aware_optimizer");
}

bool job_takes_fp8(MegatronReading& in) {
    const std::string eighth = in.lower("fp8", "none");
    return eighth != "none" && eighth != "false" && in.on("use_distributed_optimizer");
}

void read_megatron_precision(MegatronReading& in) {
    Draft& job = in.import.object;
    const bool half = in.on("fp16"), brain = in.on("bf16");
    if (half && brain) in.error("bf16", "fp16 is given, too");
    const auto narrow = [&](std::string_view key) {
        const std::string format = in.lower(key, "none");
        return format != "none" && format != "false";
    };
    const bool fourth = narrow("fp4");
    if (narrow("fp8")) {
        if (fourth) in.error("fp4", "fp8 is given, too");
        job.set("precision", "fp8", in.origin("fp8"));
        const std::string recipe = in.lower("fp8_recipe", "delayed");
        if (recipe == "custom") {
            in.error("fp8_recipe", "weft knows no recipe of one's own; delayed, tensorwise, blockwise and mxfp8");
        } else if (in.keys.has("fp8_recipe")) {
            job.set("fp8_recipe", recipe, in.origin("fp8_recipe"));
        }
    } else if (fourth) {
        job.set("precision", "fp4", in.origin("fp4"));
    } else if (half || brain) {
        job.set("precision", half ? "fp16" : "bf16", in.origin(half ? "fp16" : "bf16"));
    } else {
        Origin origin = in.input.file;
        origin.key = "without --fp16 and --bf16";
        job.set("precision", "fp32", origin);
    }
    in.without_effect("fp8_recipe");  // without fp8
    if (in.deepspeed) {
        for (const std::string_view key : {"grad_reduce_in_bf16", "accumulate_allreduce_grads_in_fp32"})
            in.without_effect(key);
        return;
    }
    Draft& settings = job.object("megatron");
    const bool careful = in.on("use_precision_aware_optimizer");
    const std::string main = in.lower("main_grads_dtype", "fp32");
    if (in.on("grad_reduce_in_bf16")) {
        settings.set("gradients", "bf16", in.origin("grad_reduce_in_bf16"));
    } else if (careful && main != "fp32" && !in.on("accumulate_allreduce_grads_in_fp32")) {
        settings.set("gradients", main, in.origin("main_grads_dtype"));
    } else if (in.on("accumulate_allreduce_grads_in_fp32")) {
        settings.set("gradients", "fp32", in.origin("accumulate_allreduce_grads_in_fp32"));
    }
    in.without_effect("main_grads_dtype");
    if (careful) read_state_formats(in);
    if (in.on("optimizer_cpu_offload")) {
        Draft& optimizer = job.object("optimizer");
        optimizer.set("states", "host", in.origin("optimizer_cpu_offload"));
        if (in.keys.has("optimizer_offload_fraction")) {
            optimizer.set("fraction", in.number("optimizer_offload_fraction"), in.origin("optimizer_offload_fraction"));
        }
    }
    in.without_effect("optimizer_offload_fraction");
    for (const std::string_view key : {"main_params_dtype", "exp_avg_dtype", "exp_avg_sq_dtype"})
        in.without_effect(key);
    const std::string_view gather = in.on("fp8_param_gather") ? "fp8_param_gather" : "fp8_param";
    if (job_takes_fp8(in) && in.on(gather)) {
        in.needs("core-0.13", gather);
        settings.set("fp8_parameters", true, in.origin(gather));
    }
}

// --- optimizer and communication ---

static void read_megatron_sharding(MegatronReading& in) {
    const std::string_view flag = in.on("use_megatron_fsdp") ? "use_megatron_fsdp" : "use_custom_fsdp";
    if (!in.on(flag)) return in.without_effect("data_parallel_sharding_strategy");
    const std::string strategy = in.lower("data_parallel_sharding_strategy", "no_shard");
    if (strategy == "no_shard" || strategy == "optim")
        return in.note(flag, "shares no more than the distributed optimizer does, and is simulated as that");
    if (strategy != "optim_grads" && strategy != "optim_grads_params")
        return in.error("data_parallel_sharding_strategy",
                        "expected no_shard, optim, optim_grads or "
                        "optim_grads_params");
    Draft& megatron = in.import.object.object("megatron");
    in.needs("core-0.13", flag);
    megatron.set("sharding", strategy, in.origin("data_parallel_sharding_strategy"));
}

void read_megatron_optimizer(MegatronReading& in) {
    Draft& job = in.import.object;
    const bool distributed = in.on("use_distributed_optimizer"), overlaps = in.on("overlap_grad_reduce");
    if (distributed) job.set("zero", 1, in.origin("use_distributed_optimizer"));
    if (overlaps) job.set("overlap_gradients", true, in.origin("overlap_grad_reduce"));
    if (in.on("overlap_param_gather"))
        job.object("megatron").set("overlap_parameters", true, in.origin("overlap_param_gather"));
    if (in.on("tp_comm_overlap")) {
        if (job.has("sequence_parallel")) {
            job.object("megatron").set("overlap_tensor", true, in.origin("tp_comm_overlap"));
        } else {
            in.note("tp_comm_overlap", "has no effect without tensor ranks under sequence parallelism");
        }
    }
    read_megatron_sharding(in);
    // Without overlap a buffer is reduced whole.
    if (overlaps && in.number("ddp_bucket_size") > 0) {
        take_count(in.keys, "ddp_bucket_size", job, "bucket_elements");
    } else {
        in.without_effect("ddp_bucket_size");
    }
}

void read_megatron_host(MegatronReading& in) {
    Draft& job = in.import.object;
    const auto off = [&](std::string_view key, std::string_view name) {
        if (!in.on(key, true)) job.object("megatron").set(name, false, in.origin(key));
    };
    off("gradient_accumulation_fusion", "fused_accumulation");
    off("async_tensor_model_parallel_allreduce", "overlap_input_reduction");
    off("overlap_p2p_comm", "overlap_pipeline");
    off("check_for_nan_in_loss_and_grad", "check_for_nan");
    const std::string modules = in.lower("transformer_impl", "");
    if (!modules.empty())
        job.object("megatron").set("transformer_engine", modules != "local", in.origin("transformer_impl"));
    if (in.on("cross_entropy_loss_fusion"))
        job.object("megatron").set("fused_cross_entropy", true, in.origin("cross_entropy_loss_fusion"));
    if (in.on("variable_seq_lengths"))
        job.object("megatron").set("variable_sequence", true, in.origin("variable_seq_lengths"));
    const std::string graphs = in.lower("cuda_graph_impl", "none"), scope = in.lower("cuda_graph_scope", "full");
    const std::string_view key = in.on("enable_cuda_graph")     ? "enable_cuda_graph"
                                 : in.on("external_cuda_graph") ? "external_cuda_graph"
                                 : graphs != "none"             ? "cuda_graph_impl"
                                                                : "";
    if (key.empty()) return in.without_effect("cuda_graph_scope");
    const std::string_view replayed = scope == "full" || scope == "null"          ? "layer"
                                      : scope == "full_iteration"                 ? "full"
                                      : scope == "moe_router moe_preprocess"      ? "router"
                                      : scope == "attn moe_router moe_preprocess" ? "around_experts"
                                                                                  : "";
    if (replayed.empty())
        return in.error("cuda_graph_scope",
                        "weft replays whole layers, whole passes, moe_router with moe_preprocess, or these and attn");
    job.set("cuda_graphs", replayed, in.origin(key));
}

void read_megatron_attention_core(MegatronReading& in) {
    Draft& job = in.import.object;
    for (const std::string_view key : {"use_flash_attn", "use_flash_attn_v1", "use_flash_attn_v2",
                                       "use_flash_attn_triton", "use_flash_attn_builder"}) {
        if (in.on(key)) job.set("attention", key == "use_flash_attn_triton" ? "triton" : "flash", in.origin(key));
    }
    std::string backend = in.lower("attention_backend", "");
    if (const std::size_t dot = backend.rfind('.'); dot != std::string::npos) backend.erase(0, dot + 1);
    if (backend == "flash" || backend == "fused" || backend == "unfused" || backend == "local") {
        job.set("attention",
                backend == "flash"   ? "flash"
                : backend == "fused" ? "cudnn"
                                     : "unfused",
                in.origin("attention_backend"));
    } else if (backend == "auto") {
        if (!job.has("attention"))
            in.note("attention_backend", "FlashAttention-2 is simulated; --set attention=cudnn says another");
    } else if (!backend.empty()) {
        in.error("attention_backend", fmt::format("expected flash, fused, unfused or auto, got \"{}\"", backend));
    } else if (!job.has("attention") && (in.deepspeed || in.lower("transformer_impl") == "local")) {
        Origin origin = in.deepspeed ? in.input.file : in.origin("transformer_impl");
        if (in.deepspeed) origin.key = "without --use-flash-attn";
        job.set("attention", "unfused", origin);
    }
}

void read_megatron_dropout(MegatronReading& in) {
    const auto share = [&](std::string_view key) { return in.keys.has(key) ? in.number(key) : 0.1; };
    const bool hidden = share("hidden_dropout") > 0, scores = share("attention_dropout") > 0;
    if (!hidden && !scores) return;
    Origin origin = in.origin(hidden ? "hidden_dropout" : "attention_dropout");
    if (!in.keys.has("hidden_dropout") && hidden) origin.key = "default of hidden-dropout, 0.1";
    in.import.object.set("dropout", true, origin);
    if (hidden != scores)
        in.note(hidden ? "attention_dropout" : "hidden_dropout", "dropout is simulated on hidden states and scores");
}

void read_environment(MegatronReading& in) {
    for (const auto& [name, value] : in.input.environment) {
        Origin origin = in.input.environment_origin;
        origin.key = name;
        if (name == "CUDA_LAUNCH_BLOCKING") {
            if (value == "1") in.import.object.set("blocking_launches", true, origin);
            continue;
        }
        constexpr std::string_view deciding[] = {"NCCL_ALGO",          "NCCL_PROTO",         "NCCL_NVLS_ENABLE",
                                                 "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS", "NCCL_P2P_DISABLE",
                                                 "NCCL_IB_DISABLE",    "NCCL_SHM_DISABLE",   "NCCL_BUFFSIZE",
                                                 "NCCL_MAX_CTAS",      "NCCL_NET_GDR_LEVEL"};
        if (std::ranges::find(deciding, name) == std::end(deciding)) {
            in.import.without_effect.push_back(origin);
        } else {
            in.import.note(FormatNote::Severity::warning, origin, "the library chooses as without it");
        }
    }
}

void read_deepspeed_settings(MegatronReading& in) {
    Draft& job = in.import.object;
    if (in.keys.has("zero_stage")) job.set("zero", in.keys.whole("zero_stage"), in.origin("zero_stage"));
    if (in.on("partition_activations"))
        job.object("deepspeed").set("partition_activations", true, in.origin("partition_activations"));
    if (in.keys.has("deepspeed_config"))
        in.note("deepspeed_config", "is not read; what else it says is given by --set (bucket_elements, ...)");
    for (const std::string_view key :
         {"deepspeed", "transformer_impl", "use_distributed_optimizer", "overlap_grad_reduce", "overlap_param_gather",
          "gradient_accumulation_fusion", "async_tensor_model_parallel_allreduce", "overlap_p2p_comm",
          "ddp_bucket_size", "overlap_moe_expert_parallel_comm", "delay_wgrad_compute", "moe_shared_expert_overlap"})
        in.without_effect(key);
}

void read_capacity(MegatronReading& in) {
    if (!in.keys.has("num_experts")) {
        for (const std::string_view key : {"moe_expert_capacity_factor", "moe_train_capacity_factor"})
            in.without_effect(key);
        return;
    }
    const std::string_view key = in.deepspeed ? "moe_train_capacity_factor" : "moe_expert_capacity_factor";
    const bool experts = in.import.object.object("model").has("experts");
    double factor = in.number(key);
    if (in.deepspeed && !in.keys.has(key)) factor = 1;  // Megatron-DeepSpeed's default
    if (in.on("disable_moe_token_dropping")) factor = 0;
    if (experts && factor > 0) in.import.object.object("experts").set("capacity_factor", factor, in.origin(key));
}

// With the oldest version that has the flag, which no key of a run tells.
void read_expert_overlap(MegatronReading& in) {
    constexpr std::string_view passes = "overlap_moe_expert_parallel_comm", shared = "moe_shared_expert_overlap",
                               delay = "delay_wgrad_compute";
    const bool exchanges = in.keys.has("num_experts") && in.number("expert_model_parallel_size") > 1;
    const auto overlap = [&](std::string_view key, const char* value, std::string_view version) {
        in.import.object.object("experts").set("overlap", value, in.origin(key));
        in.needs(version, key);
    };
    if (exchanges && in.on(passes)) {
        if (in.on(shared)) in.error(shared, "Megatron-core has it without --overlap-moe-expert-parallel-comm only");
        overlap(passes, "passes", joint_passes_since);
        if (in.on(delay)) in.import.object.object("experts").set("delay_weight_gradients", true, in.origin(delay));
    } else if (exchanges && in.on(shared)) {
        overlap(shared, "shared_experts", shared_overlap_since);
    }
    for (const std::string_view key : {passes, shared, delay}) in.without_effect(key);
}

}  // namespace

void read_megatron_settings(MegatronReading& in) {
    read_megatron_precision(in);
    read_megatron_recompute(in);
    read_megatron_dropout(in);
    read_megatron_attention_core(in);
    read_capacity(in);
    read_megatron_balancing(in);
    if (in.deepspeed) {
        read_deepspeed_settings(in);
    } else {
        read_megatron_optimizer(in);
        read_expert_overlap(in);
        read_megatron_host(in);
        for (const std::string_view key : {"zero_stage", "deepspeed_config", "partition_activations"})
            in.without_effect(key);
        if (in.import.object.object("megatron").empty()) in.import.object.erase("megatron");
    }
    read_environment(in);
}

}  // namespace weft
