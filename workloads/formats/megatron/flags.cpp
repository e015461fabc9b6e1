// The table of Megatron-LM's arguments: which are refused or warned of, and which carry other names
// (megatron_names.cpp: which are taken over, which have no effect).
// Names: NVIDIA/Megatron-LM megatron/training/arguments.py (and megatron/arguments.py before 2024), those of
// microsoft/Megatron-DeepSpeed and of Primus beside them. "-" and "_" are one; flags that switch off carry the name
// that argparse keeps them under.
#include <algorithm>
#include <array>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/megatron/names.hpp"

namespace weft {
namespace {

struct Watched {
    std::string_view name;
    FormatNote::Severity severity;
    std::string_view message;
    std::string_view harmless = "";  // a value, beside false, 0, none and no value at all
};
constexpr auto refused = FormatNote::Severity::error;
constexpr auto warned = FormatNote::Severity::warning;

constexpr std::array watched{
    Watched{"use_torch_fsdp2", refused, "weft has FSDP of PyTorch's own modules, not of Megatron-LM's"},
    Watched{"num_distributed_optimizer_instances", refused, "weft shards the optimizer over all data ranks", "1"},
    Watched{"cpu_optimizer", refused, "weft has no offloading of states to the host"},
    Watched{"cpu_torch_adam", refused, "weft has no offloading of states to the host"},
    Watched{"fine_grained_activation_offloading", refused, "weft keeps activations on the device"},
    Watched{"checkpoint_in_cpu", refused, "weft keeps checkpoints on the device"},
    Watched{"remote_device", refused, "weft has no offloading of parameters", "none"},
    Watched{"use_tiling", refused, "weft has no tiled linear layers"},
    Watched{"distribute_saved_activations", refused, "weft keeps checkpoints whole under Megatron-LM"},
    Watched{"window_size", refused, "weft attends to all tokens of a sequence"},
    Watched{"softmax_type", refused, "weft's attention has no sink", "vanilla"},
    Watched{"attention_output_gate", refused, "weft's attention has no gate"},
    Watched{"experimental_attention_variant", refused, "weft has plain and latent attention"},
    Watched{"linear_attention_type", refused, "weft has no linear attention"},
    Watched{"linear_attention_freq", refused, "weft has no linear attention"},
    Watched{"heterogeneous_layers_config_path", refused, "weft's layers are alike"},
    Watched{"heterogeneous_layers_config_encoded_json", refused, "weft's layers are alike"},
    Watched{"lfm_layer_types", refused, "weft has no convolution layers"},
    Watched{"is_hybrid_model", refused, "weft has no Mamba layers"},
    Watched{"hybrid_override_pattern", refused, "weft has no Mamba layers"},
    Watched{"hybrid_layer_pattern", refused, "weft has no Mamba layers"},
    Watched{"hybrid_attention_ratio", refused, "weft has no Mamba layers"},
    Watched{"hybrid_mlp_ratio", refused, "weft has no Mamba layers"},
    Watched{"moe_latent_size", refused, "weft's experts take the hidden state as it is"},
    Watched{"decoder_num_layers", refused, "weft has decoders only, no encoder beside them"},
    Watched{"decoder_seq_length", refused, "weft has decoders only, no encoder beside them"},
    Watched{"encoder_tensor_model_parallel_size", refused, "weft has decoders only, no encoder beside them"},
    Watched{"encoder_pipeline_model_parallel_size", refused, "weft has decoders only, no encoder beside them"},
    Watched{"pipeline_model_parallel_split_rank", refused, "weft has decoders only, no encoder beside them"},
    Watched{"vision_pretraining", refused, "weft has decoders of text only"},
    Watched{"retro_add_retriever", refused, "weft has no retriever"},
    Watched{"perform_rl_step", refused, "weft simulates pre-training"},
    Watched{"rl_use_sequence_packing", refused, "weft simulates pre-training"},
    Watched{"teacher_num_layers", refused, "weft trains one model"},
    Watched{"kitchen_config_file", refused, "weft has products in 8 or 16 bits"},
    Watched{"kitchen_recipe_number", refused, "weft has products in 8 or 16 bits"},
    Watched{"mos", refused, "weft trains one model"},
    Watched{"kd", refused, "weft trains one model"},
    Watched{"use_mup", refused, "weft has no muP"},
    Watched{"random_ltd", refused, "weft passes all tokens through all layers"},
    Watched{"compression_training", refused, "weft has no compression"},
    Watched{"use_ring_exchange_p2p", refused, "weft's stages exchange by send and receive"},
    Watched{"ddp_num_buckets", refused, "weft cuts gradients by size; give --ddp-bucket-size"},
    Watched{"embed_layernorm", refused, "weft has no norm behind the embedding"},
    Watched{"model_parallel_size", refused, "is an old name; give --tensor-model-parallel-size"},
    Watched{"batch_size", refused, "is an old name; give --micro-batch-size"},
    Watched{"optimizer", warned, "Adam's states are simulated", "adam"},
    Watched{"spec", warned, "what the module changes is not read", "local"},
    Watched{"qk_l2_norm", warned, "norms of queries and keys without weights are not simulated"},
    Watched{"qk_clip", warned, "is not simulated"},
    Watched{"fp32_residual_connection", warned, "the residual stream is simulated in 16 bits"},
    Watched{"fp4_param", warned, "parameters are gathered in 16 bits"},
    Watched{"deterministic_mode", warned, "kernels are simulated as without it"},
    Watched{"defer_embedding_wgrad_compute", warned, "weights of the output layer are simulated as without it"},
    Watched{"overlap_param_gather_with_optimizer_step", warned, "parameters are gathered under the forward pass"},
    Watched{"overlap_p2p_comm_warmup_flush", warned, "only the steady phase overlaps"},
    Watched{"ddp_reduce_scatter_with_fp32_accumulation", warned, "gradients are reduce-scattered by the library"},
    Watched{"moe_shared_expert_gate", warned, "the gate of shared experts is not simulated"},
    Watched{"moe_enable_deepep", warned, "tokens are exchanged all-to-all"},
    Watched{"use_turbo_deepep", warned, "tokens are exchanged all-to-all"},
    Watched{"window_attn_skip_freq", warned, "weft attends to all tokens of a sequence"},
    Watched{"final_logit_softcapping", warned, "is not simulated"},
    Watched{"attn_logit_softcapping", warned, "is not simulated"},
    Watched{"router_logit_softcapping", warned, "is not simulated"},
    Watched{"tp_comm_overlap_cfg", warned, "which exchanges overlap is weft's own"},
    Watched{"tp_comm_overlap_rs_dgrad", warned, "which exchanges overlap is weft's own"},
    Watched{"use_sharp", warned, "in-switch reduction is as the machine file says"},
    Watched{"enable_primus_turbo", warned, "kernels are simulated as without it"},
    Watched{"patch_primus_pipeline", warned, "the schedule is Megatron-LM's own"},
    Watched{"patch_zero_bubble", warned, "the schedule is Megatron-LM's own; give --set schedule=zb-h1"},
};

// Switches that are on where nothing is said.
struct Usual {
    std::string_view name, message;
};
constexpr std::array usually_on{
    Usual{"bias_gelu_fusion", "element-wise kernels are simulated fused"},
    Usual{"bias_swiglu_fusion", "element-wise kernels are simulated fused"},
    Usual{"bias_dropout_fusion", "element-wise kernels are simulated fused"},
    Usual{"apply_rope_fusion", "element-wise kernels are simulated fused"},
    Usual{"tp_comm_overlap_ag", "which exchanges overlap is weft's own"},
    Usual{"tp_comm_overlap_rs", "which exchanges overlap is weft's own"},
    Usual{"tp_comm_split_ag", "which exchanges overlap is weft's own"},
    Usual{"tp_comm_split_rs", "which exchanges overlap is weft's own"},
    Usual{"tp_comm_bulk_dgrad", "which exchanges overlap is weft's own"},
    Usual{"tp_comm_bulk_wgrad", "which exchanges overlap is weft's own"},
};

// Flags that argparse keeps under another name; where `json` is "false", they switch off.
struct Renamed {
    std::string_view flag, key, json = "true";
};
constexpr std::array renamed{
    Renamed{"disable_bias_linear", "add_bias_linear", "false"},
    Renamed{"no_position_embedding", "add_position_embedding", "false"},
    Renamed{"no_masked_softmax_fusion", "masked_softmax_fusion", "false"},
    Renamed{"no_bias_gelu_fusion", "bias_gelu_fusion", "false"},
    Renamed{"no_bias_swiglu_fusion", "bias_swiglu_fusion", "false"},
    Renamed{"no_bias_dropout_fusion", "bias_dropout_fusion", "false"},
    Renamed{"no_rope_fusion", "apply_rope_fusion", "false"},
    Renamed{"no_gradient_accumulation_fusion", "gradient_accumulation_fusion", "false"},
    Renamed{"no_async_tensor_model_parallel_allreduce", "async_tensor_model_parallel_allreduce", "false"},
    Renamed{"no_overlap_p2p_communication", "overlap_p2p_comm", "false"},
    Renamed{"overlap_p2p_communication_warmup_flush", "overlap_p2p_comm_warmup_flush"},
    Renamed{"microbatch_group_size_per_virtual_pipeline_stage", "microbatch_group_size_per_vp_stage"},
    Renamed{"no_align_grad_reduce", "align_grad_reduce", "false"},
    Renamed{"no_align_param_gather", "align_param_gather", "false"},
    Renamed{"no_scatter_gather_tensors_in_pipeline", "scatter_gather_tensors_in_pipeline", "false"},
    Renamed{"no_gradient_reduce_div_fusion", "gradient_reduce_div_fusion", "false"},
    Renamed{"torch_fsdp2_no_reshard_after_forward", "torch_fsdp2_reshard_after_forward", "false"},
    Renamed{"no_clone_scatter_output_in_embedding", "clone_scatter_output_in_embedding", "false"},
    Renamed{"no_check_for_nan_in_loss_and_grad", "check_for_nan_in_loss_and_grad", "false"},
    Renamed{"disable_gloo_process_groups", "enable_gloo_process_groups", "false"},
    Renamed{"disable_tp_comm_overlap_ag", "tp_comm_overlap_ag", "false"},
    Renamed{"disable_tp_comm_overlap_rs", "tp_comm_overlap_rs", "false"},
    Renamed{"disable_tp_comm_split_ag", "tp_comm_split_ag", "false"},
    Renamed{"disable_tp_comm_split_rs", "tp_comm_split_rs", "false"},
    Renamed{"disable_tp_comm_bulk_dgrad", "tp_comm_bulk_dgrad", "false"},
    Renamed{"disable_tp_comm_bulk_wgrad", "tp_comm_bulk_wgrad", "false"},
    Renamed{"no_pin_cpu_grads", "pin_cpu_grads", "false"},
    Renamed{"no_pin_cpu_params", "pin_cpu_params", "false"},
    Renamed{"no_manual_gc_eval", "manual_gc_eval", "false"},
    Renamed{"no_mmap_bin_files", "mmap_bin_files", "false"},
    Renamed{"no_create_attention_mask_in_dataloader", "create_attention_mask_in_dataloader", "false"},
    Renamed{"no_ckpt_fully_parallel_save", "ckpt_fully_parallel_save", "false"},
    Renamed{"no_initialization", "perform_initialization", "false"},
    Renamed{"no_use_tokenizer_model_from_checkpoint_args", "use_tokenizer_model_from_checkpoint_args", "false"},
    Renamed{"no_strict_fsdp_dtensor_load", "strict_fsdp_dtensor_load", "false"},
    Renamed{"no_one_logger", "enable_one_logger", "false"},
    Renamed{"no_log_loss_scale_to_tensorboard", "log_loss_scale_to_tensorboard", "false"},
    Renamed{"no_log_learnig_rate_to_tensorboard", "log_learning_rate_to_tensorboard", "false"},
    Renamed{"no_barrier_with_level_1_timing", "barrier_with_l1_time", "false"},
    Renamed{"disable_msc", "enable_msc", "false"},
    Renamed{"bert_no_binary_head", "bert_binary_head", "false"},
    Renamed{"no_data_sharding", "data_sharding", "false"},
    Renamed{"muon_no_split_qkv", "muon_split_qkv", "false"},
    Renamed{"muon_no_use_nesterov", "muon_use_nesterov", "false"},
    Renamed{"retro_no_verify_neighbor_count", "retro_verify_neighbor_count", "false"},
    Renamed{"use_nccl_ub", "nccl_ub"},
    Renamed{"no_fp8_wgrad", "fp8_wgrad", "false"},
    Renamed{"fp8_format", "fp8"},
    Renamed{"fp4_format", "fp4"},
    Renamed{"fp4_format", "fp4"},
    Renamed{"fp4_param_gather", "fp4_param"},
};

bool is_harmless(const Field& keys, std::string_view key, std::string_view harmless) {
    Field copy = keys;
    if (!copy.has(key)) return true;
    std::string json = copy.member(key).as_json();
    std::erase(json, '"');
    for (const std::string_view value : {"false", "0", "0.0", "", "none", "None", "null", "[]", "False"}) {
        if (json == value) return true;
    }
    return !harmless.empty() && json == harmless;
}

void sort_out_watched(MegatronReading& reading) {
    for (const Watched& each : watched) {
        if (!reading.keys.has(each.name)) continue;
        if (is_harmless(reading.keys, each.name, each.harmless)) {
            reading.without_effect(each.name);
        } else {
            reading.import.note(each.severity, reading.origin(each.name), std::string(each.message));
        }
    }
    for (const Usual& each : usually_on) {
        if (!reading.keys.has(each.name)) continue;
        if (reading.on(each.name)) {
            reading.without_effect(each.name);
        } else {
            reading.warn(each.name, std::string(each.message));
        }
    }
}

}  // namespace

MegatronName megatron_name(std::string_view flag) {
    std::string key(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
    std::ranges::replace(key, '-', '_');
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto found = std::ranges::find(renamed, key, &Renamed::flag);
    if (found != renamed.end()) return {std::string(found->key), found->json};
    return {std::move(key), "true"};
}

bool matters_to_megatron(std::string_view key) {
    if (key.starts_with("train_") || key == "tokenizer_type") return false;
    const auto is = [&](const auto& each) { return each.name == key; };
    return is_taken_over(key) || std::ranges::any_of(watched, is) || std::ranges::any_of(usually_on, is);
}

bool is_megatron_flag(std::string_view flag) {
    if (!flag.starts_with("--")) return false;
    const std::string key = megatron_name(flag.substr(0, flag.find('='))).key;
    return matters_to_megatron(key) || has_no_effect(key);
}

void sort_out_megatron_keys(MegatronReading& reading, FormatKind kind) {
    sort_out_watched(reading);
    for (const std::string& key : reading.keys.unasked()) {
        // Of a model alone, how it is trained is said elsewhere.
        if (has_no_effect(key) || (kind == FormatKind::model && is_taken_over(key))) reading.without_effect(key);
    }
    note_rest(reading.import, reading.keys);
}

}  // namespace weft
