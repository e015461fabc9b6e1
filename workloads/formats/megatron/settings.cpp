// How a run of Megatron-LM computes and communicates: precision, optimizer, overlaps, kernels, environment.

#include <algorithm>
#include <filesystem>

#include "sim/io/files.hpp"
#include "workloads/formats/deepspeed/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

// --- precision ---

bool is_given_format(MegatronReading& in, std::string_view key) {
    const std::string format = in.lower(key, "none");
    return format != "none" && format != "false";
}

void read_number_format(MegatronReading& in) {
    const bool half = in.on("fp16"), brain = in.on("bf16"), fourth = is_given_format(in, "fp4");
    if (half && brain) in.error("bf16", "fp16 is given, too");
    if (is_given_format(in, "fp8")) {
        if (fourth) in.error("fp4", "fp8 is given, too");
        in.put("precision", "fp8", "fp8");
        const std::string recipe = in.lower("fp8_recipe", "delayed");
        if (recipe == "custom") {
            in.error("fp8_recipe", "weft knows no recipe of one's own; delayed, tensorwise, blockwise and mxfp8");
        } else if (in.has("fp8_recipe")) {
            in.put("fp8_recipe", recipe, "fp8_recipe");
        }
    } else if (fourth) {
        in.put("precision", "fp4", "fp4");
    } else if (half || brain) {
        in.put("precision", half ? "fp16" : "bf16", half ? "fp16" : "bf16");
    } else {
        in.import.object.set("precision", "fp32", in.derived("", "without --fp16 and --bf16"));
    }
}

// Since Transformer Engine 2.1 a master copy in fp32 is kept as what bf16 lacks of it.
void read_state_formats(MegatronReading& in) {
    const std::string main = in.lower("main_params_dtype", "fp32");
    in.put("optimizer.master", main == "fp32" && in.on("bf16") ? "remainders" : main,
           in.first_of({"main_params_dtype", "use_precision_aware_optimizer"}));
    if (in.has("exp_avg_dtype")) in.put("optimizer.momentum", in.lower("exp_avg_dtype"), "exp_avg_dtype");
    if (in.has("exp_avg_sq_dtype")) in.put("optimizer.variance", in.lower("exp_avg_sq_dtype"), "exp_avg_sq_dtype");
    in.needs("core-0.13", "use_precision_aware_optimizer");
}

void read_states(MegatronReading& in) {
    in.import.object.object("megatron");  // stands here
    const bool careful = in.on("use_precision_aware_optimizer");
    const std::string main = in.lower("main_grads_dtype", "fp32");
    if (in.on("grad_reduce_in_bf16")) {
        in.put("megatron.gradients", "bf16", "grad_reduce_in_bf16");
    } else if (in.on("accumulate_allreduce_grads_in_fp32")) {
        in.put("megatron.gradients", "fp32", "accumulate_allreduce_grads_in_fp32");
    } else if (careful && main != "fp32") {
        in.put("megatron.gradients", main, "main_grads_dtype");
    }
    if (careful) read_state_formats(in);
    if (in.on("optimizer_cpu_offload")) {
        in.put("optimizer.states", "host", "optimizer_cpu_offload");
        if (in.has("optimizer_offload_fraction"))
            in.put("optimizer.fraction", in.number("optimizer_offload_fraction"), "optimizer_offload_fraction");
    }
    const std::string_view gather = in.on("fp8_param_gather") ? "fp8_param_gather" : "fp8_param";
    if (is_given_format(in, "fp8") && in.on("use_distributed_optimizer") && in.on(gather)) {
        in.needs("core-0.13", gather);
        in.put("megatron.fp8_parameters", true, gather);
    }
    if ((is_given_format(in, "fp8") || is_given_format(in, "fp4")) && in.on("fp8_dot_product_attention")) {
        in.put("megatron.fp8_attention", true, "fp8_dot_product_attention");
    }
    if (is_given_format(in, "fp8") && in.on("fp8_output_proj")) {
        in.needs("core-0.18", "fp8_output_proj");
        in.put("megatron.fp8_output", true, "fp8_output_proj");
    }
}

// --- optimizer and communication ---

void read_sharding(MegatronReading& in) {
    const std::string_view flag = in.on("use_megatron_fsdp") ? "use_megatron_fsdp" : "use_custom_fsdp";
    constexpr std::string_view key = "data_parallel_sharding_strategy";
    if (!in.on(flag)) return;
    const std::string strategy = in.lower(key, "no_shard");
    if (strategy == "no_shard" || strategy == "optim")
        return in.note(flag, "shares no more than the distributed optimizer does, and is simulated as that");
    if (strategy != "optim_grads" && strategy != "optim_grads_params")
        return in.error(key, "expected no_shard, optim, optim_grads or optim_grads_params");
    in.needs("core-0.13", flag);
    in.put("megatron.sharding", strategy, key);
}

void read_optimizer(MegatronReading& in) {
    if (in.on("use_distributed_optimizer")) in.put("zero", 1, "use_distributed_optimizer");
    const bool overlaps = in.on("overlap_grad_reduce");
    if (overlaps) in.put("overlap_gradients", true, "overlap_grad_reduce");
    if (in.on("overlap_param_gather")) in.put("megatron.overlap_parameters", true, "overlap_param_gather");
    if (in.on("tp_comm_overlap")) {
        if (in.import.object.has("sequence_parallel")) {
            in.put("megatron.overlap_tensor", true, "tp_comm_overlap");
        } else {
            in.note("tp_comm_overlap", "has no effect without tensor ranks under sequence parallelism");
        }
    }
    read_sharding(in);
    // Without overlap a buffer is reduced whole.
    if (overlaps && in.number("ddp_bucket_size") > 0) in.take("ddp_bucket_size", in.import.object, "bucket_elements");
}

// With the oldest version that has the flag, which no key of a run tells.
void read_expert_overlap(MegatronReading& in) {
    constexpr std::string_view passes = "overlap_moe_expert_parallel_comm", shared = "moe_shared_expert_overlap",
                               delay = "delay_wgrad_compute";
    if (!in.has("num_experts") || in.number("expert_model_parallel_size") <= 1) return;
    if (in.on(passes)) {
        if (in.on(shared)) in.error(shared, "Megatron-core has it without --overlap-moe-expert-parallel-comm only");
        in.put("experts.overlap", "passes", passes);
        in.needs(joint_passes_since, passes);
        if (in.on(delay)) in.put("experts.delay_weight_gradients", true, delay);
    } else if (in.on(shared)) {
        in.put("experts.overlap", "shared_experts", shared);
        in.needs(shared_overlap_since, shared);
    }
}

// --- what the host does ---

void read_cuda_graphs(MegatronReading& in) {
    const std::string by = in.lower("cuda_graph_impl", "none");
    const std::string scope = by == "full_iteration" ? by : in.lower("cuda_graph_scope", "full");
    const std::string_view key = in.on("enable_cuda_graph")     ? "enable_cuda_graph"
                                 : in.on("external_cuda_graph") ? "external_cuda_graph"
                                 : by != "none"                 ? "cuda_graph_impl"
                                                                : "";
    if (key.empty()) return;
    constexpr std::pair<std::string_view, std::string_view> replayed[] = {
        {"full", "layer"},
        {"null", "layer"},
        {"full_iteration", "full"},
        {"moe_router moe_preprocess", "router"},
        {"attn moe_router moe_preprocess", "around_experts"}};
    const auto found = std::ranges::find(replayed, scope, &std::pair<std::string_view, std::string_view>::first);
    if (found != std::end(replayed)) return in.put("cuda_graphs", found->second, key);
    in.error("cuda_graph_scope",
             "weft replays whole layers, whole passes, moe_router with moe_preprocess, or these and attn");
}

void read_host(MegatronReading& in) {
    const auto off = [&](std::string_view key, std::string_view path) {
        if (!in.on(key, true)) in.put(path, false, key);
    };
    off("gradient_accumulation_fusion", "megatron.fused_accumulation");
    off("async_tensor_model_parallel_allreduce", "megatron.overlap_input_reduction");
    off("overlap_p2p_comm", "megatron.overlap_pipeline");
    off("check_for_nan_in_loss_and_grad", "megatron.check_for_nan");
    const std::string modules = in.lower("transformer_impl");
    if (!modules.empty()) in.put("megatron.transformer_engine", modules != "local", "transformer_impl");
    if (in.on("cross_entropy_loss_fusion")) in.put("megatron.fused_cross_entropy", true, "cross_entropy_loss_fusion");
    if (in.on("variable_seq_lengths")) in.put("megatron.variable_sequence", true, "variable_seq_lengths");
    read_cuda_graphs(in);
}

void read_attention_core(MegatronReading& in) {
    const Draft& job = in.import.object;
    for (const std::string_view key : {"use_flash_attn", "use_flash_attn_v1", "use_flash_attn_v2",
                                       "use_flash_attn_triton", "use_flash_attn_builder"}) {
        if (in.on(key)) in.put("attention", key == "use_flash_attn_triton" ? "triton" : "flash", key);
    }
    std::string backend = in.lower("attention_backend");
    if (const std::size_t dot = backend.rfind('.'); dot != std::string::npos) backend.erase(0, dot + 1);
    if (backend == "flash" || backend == "fused" || backend == "unfused" || backend == "local") {
        in.put("attention",
               backend == "fused"   ? "cudnn"
               : backend == "local" ? "unfused"
                                    : backend.c_str(),
               "attention_backend");
    } else if (backend == "auto") {
        if (!job.has("attention"))
            in.note("attention_backend", "FlashAttention-2 is simulated; --set attention=cudnn says another");
    } else if (!backend.empty()) {
        in.error("attention_backend", "expected flash, fused, unfused or auto, got \"{}\"", backend);
    } else if (!job.has("attention") && in.deepspeed) {
        in.import.object.set("attention", "unfused", in.derived("", "without --use-flash-attn"));
    } else if (!job.has("attention") && in.lower("transformer_impl") == "local") {
        in.put("attention", "unfused", "transformer_impl");
    }
}

void read_dropout(MegatronReading& in) {
    const auto share = [&](std::string_view key) { return in.has(key) ? in.number(key) : 0.1; };
    const bool hidden = share("hidden_dropout") > 0, scores = share("attention_dropout") > 0;
    if (!hidden && !scores) return;
    const bool assumed = hidden && !in.has("hidden_dropout");
    in.import.object.set("dropout", true,
                         assumed ? in.derived("", "default of hidden-dropout, 0.1")
                                 : in.origin(hidden ? "hidden_dropout" : "attention_dropout"));
    if (hidden != scores)
        in.note(hidden ? "attention_dropout" : "hidden_dropout", "dropout is simulated on hidden states and scores");
}

void read_environment(MegatronReading& in) {
    for (const auto& [name, value] : in.input.environment) {
        Origin origin = in.input.environment_origin;
        origin.key = name;
        constexpr std::string_view deciding[] = {"NCCL_ALGO",          "NCCL_PROTO",         "NCCL_NVLS_ENABLE",
                                                 "NCCL_MAX_NCHANNELS", "NCCL_MIN_NCHANNELS", "NCCL_P2P_DISABLE",
                                                 "NCCL_IB_DISABLE",    "NCCL_SHM_DISABLE",   "NCCL_BUFFSIZE",
                                                 "NCCL_MAX_CTAS",      "NCCL_NET_GDR_LEVEL"};
        if (name == "CUDA_LAUNCH_BLOCKING") {
            if (value == "1") in.import.object.set("blocking_launches", true, origin);
        } else if (std::ranges::find(deciding, name) == std::end(deciding)) {
            in.import.without_effect.push_back(origin);
        } else {
            in.import.warn(origin, "the library chooses as without it");
        }
    }
}

void read_capacity(MegatronReading& in) {
    if (!in.has("num_experts")) return;
    const std::string_view key = in.deepspeed ? "moe_train_capacity_factor" : "moe_expert_capacity_factor";
    double factor = in.number(key);
    if (in.deepspeed && !in.has(key)) factor = 1;  // Megatron-DeepSpeed's default
    if (in.on("disable_moe_token_dropping")) factor = 0;
    if (factor > 0 && in.import.object.object("model").has("experts")) in.put("experts.capacity_factor", factor, key);
}

void read_deepspeed(MegatronReading& in) {
    if (in.has("zero_stage")) in.put("zero", in.keys.whole("zero_stage"), "zero_stage");
    if (in.on("partition_activations")) in.put("deepspeed.partition_activations", true, "partition_activations");
    constexpr std::string_view key = "deepspeed_config";
    if (!in.has(key)) return;
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(in.origin(key).file).parent_path(), name = in.word(key);
    for (const fs::path& path : {folder / name, folder / name.filename()}) {
        std::error_code ignored;
        if (in.options.alone || !fs::is_regular_file(path, ignored)) continue;
        return read_deepspeed_of_launch(
            {path.string(), read_text(path)}, in.import, in.options,
            in.on("no_pipeline_parallel") ? DeepSpeedEngine::plain : DeepSpeedEngine::pipeline);
    }
    in.note(key, "is not beside the script, and not read; what else it says is given by --set (bucket_elements, ...)");
}

}  // namespace

void read_megatron_settings(MegatronReading& in) {
    read_number_format(in);
    if (!in.deepspeed) read_states(in);
    read_megatron_recompute(in);
    read_dropout(in);
    read_attention_core(in);
    read_capacity(in);
    read_megatron_balancing(in);
    if (in.deepspeed) {
        read_deepspeed(in);
    } else {
        read_optimizer(in);
        read_expert_overlap(in);
        read_host(in);
        if (in.import.object.object("megatron").empty()) in.import.object.erase("megatron");
    }
    read_environment(in);
}

}  // namespace weft
