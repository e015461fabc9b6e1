// The table of Megatron-LM's arguments: which are taken over, which have no effect, which are refused or warned of.
// Names: NVIDIA/Megatron-LM megatron/training/arguments.py (and megatron/arguments.py before 2024), those of
// microsoft/Megatron-DeepSpeed and of Primus beside them. "-" and "_" are one; flags that switch off carry the name
// that argparse keeps them under.
#include <algorithm>
#include <array>
#include <set>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron_keys.hpp"

namespace weft {
namespace {

using Names = std::set<std::string, std::less<>>;

Names words_of(std::string_view text) {
    Names names;
    for (std::size_t begin = text.find_first_not_of(" \n"); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        names.emplace(text.substr(begin, end - begin));
        begin = text.find_first_not_of(" \n", end);
    }
    return names;
}

// Read by read_megatron_model(), read_megatron_job() and read_megatron_settings().
constexpr std::string_view taken_over = R"(
num_layers encoder_num_layers hidden_size ffn_hidden_size num_attention_heads kv_channels group_query_attention
num_query_groups num_key_value_heads max_position_embeddings position_embedding_type use_rotary_position_embeddings
add_position_embedding use_alibi_position_embeddings make_vocab_size_divisible_by normalization apply_layernorm_1p swiglu
quick_geglu gated_linear_unit untie_embeddings_and_output_weights add_bias_linear add_qkv_bias qk_layernorm
multi_latent_attention q_lora_rank kv_lora_rank qk_head_dim qk_pos_emb_head_dim v_head_dim num_experts moe_layer_freq
moe_ffn_hidden_size moe_shared_expert_intermediate_size moe_router_topk topk vocab_size padded_vocab_size
vocab_extra_ids tokenizer_type
seq_length encoder_seq_length micro_batch_size global_batch_size rampup_batch_size step_batch_size_schedule train_iters
train_samples train_tokens tensor_model_parallel_size pipeline_model_parallel_size context_parallel_size cp_comm_type
expert_model_parallel_size moe_expert_parallel_size expert_tensor_parallel_size num_layers_per_virtual_pipeline_stage
num_virtual_stages_per_pipeline_rank virtual_pipeline_model_parallel_size pipeline_model_parallel_layout
account_for_embedding_in_pipeline_split account_for_loss_in_pipeline_split decoder_first_pipeline_num_layers
decoder_last_pipeline_num_layers use_tp_pp_dp_mapping sequence_parallel ds_sequence_parallel_size no_pipeline_parallel
fp16 bf16 fp8 fp4 grad_reduce_in_bf16 accumulate_allreduce_grads_in_fp32 main_grads_dtype use_precision_aware_optimizer
recompute_activations recompute_granularity recompute_method recompute_num_layers recompute_modules
checkpoint_activations checkpoint_num_layers activations_checkpoint_method activations_checkpoint_num_layers
use_distributed_optimizer overlap_grad_reduce overlap_param_gather tp_comm_overlap ddp_bucket_size transformer_impl
attention_backend use_flash_attn use_flash_attn_v1 use_flash_attn_v2 use_flash_attn_triton use_flash_attn_builder
cross_entropy_loss_fusion variable_seq_lengths gradient_accumulation_fusion async_tensor_model_parallel_allreduce
overlap_p2p_comm enable_cuda_graph external_cuda_graph cuda_graph_impl cuda_graph_scope hidden_dropout attention_dropout
moe_expert_capacity_factor moe_token_dispatcher_type deepspeed deepspeed_config zero_stage
partition_activations moe_train_capacity_factor disable_moe_token_dropping
)";

// Of those, the ones without a value.
constexpr std::string_view switches = R"(
group_query_attention use_rotary_position_embeddings add_position_embedding use_alibi_position_embeddings
apply_layernorm_1p swiglu quick_geglu untie_embeddings_and_output_weights add_bias_linear add_qkv_bias qk_layernorm
multi_latent_attention account_for_embedding_in_pipeline_split account_for_loss_in_pipeline_split use_tp_pp_dp_mapping
sequence_parallel no_pipeline_parallel fp16 bf16 grad_reduce_in_bf16 accumulate_allreduce_grads_in_fp32
use_precision_aware_optimizer recompute_activations checkpoint_activations use_distributed_optimizer overlap_grad_reduce
overlap_param_gather tp_comm_overlap use_flash_attn use_flash_attn_v1 use_flash_attn_v2 use_flash_attn_triton
use_flash_attn_builder cross_entropy_loss_fusion variable_seq_lengths gradient_accumulation_fusion
async_tensor_model_parallel_allreduce overlap_p2p_comm enable_cuda_graph external_cuda_graph deepspeed
partition_activations disable_moe_token_dropping use_mcore_models use_legacy_models moe_grouped_gemm
moe_permute_fusion mock_data bias_gelu_fusion bias_swiglu_fusion bias_dropout_fusion apply_rope_fusion
masked_softmax_fusion standalone
)";

constexpr std::string_view no_effect = R"(
use_mcore_models deprecated_use_mcore_models use_legacy_models model_type rotary_base rotary_percent
rotary_interleaved rotary_seq_len_interpolation_factor rotary_scaling_factor use_rope_scaling rope_scaling_factor
rope_type mscale mscale_all_dim beta_fast beta_slow no_rope_freq mrope_section original_max_position_embeddings
relative_attention_num_buckets relative_attention_max_distance norm_epsilon layernorm_epsilon
apply_residual_connection_post_layernorm openai_gelu squared_relu quick_gelu activation_func_clamp_value
glu_linear_offset onnx_safe bert_binary_head softmax_scale attention_softmax_in_fp32 apply_query_key_layer_scaling
masked_softmax_fusion use_fused_weighted_squared_relu use_te_activation_func no_persist_layer_norm persist_layer_norm
cross_entropy_fusion_impl disable_bf16_reduced_precision_matmul fp16_lm_cross_entropy clone_scatter_output_in_embedding
mtp_loss_scaling_factor bias_dropout_add_fusion fused_residual_rmsnorm memory_efficient_layer_norm
init_method_std embedding_init_method_std init_method_xavier_uniform data_parallel_random_init seed
perform_initialization use_cpu_initialization init_model_with_meta_device lazy_mpu_init te_rng_tracker
inference_rng_tracker
lr lr_decay_style lr_wsd_decay_style lr_decay_iters lr_decay_samples lr_decay_tokens lr_wsd_decay_samples
lr_wsd_decay_iters lr_warmup_fraction lr_warmup_iters lr_warmup_samples lr_warmup_tokens lr_warmup_init warmup min_lr
override_opt_param_scheduler use_checkpoint_opt_param_scheduler override_lr_scheduler use_checkpoint_lr_scheduler
decoupled_lr decoupled_min_lr weight_decay start_weight_decay end_weight_decay weight_decay_incr_style clip_grad
adam_beta1 adam_beta2 adam_eps sgd_momentum loss_scale initial_loss_scale min_loss_scale loss_scale_window hysteresis
calculate_per_token_loss use_torch_optimizer_for_cpu_offload overlap_cpu_optimizer_d2h_h2d pin_cpu_grads pin_cpu_params
optimizer_offload_fraction dump_param_to_param_group_map decrease_batch_size_if_needed
muon_momentum muon_split_qkv muon_use_nesterov muon_scale_mode muon_fp32_matmul_prec muon_num_ns_steps muon_tp_mode
muon_extra_scale_factor apply_wd_to_qk_layernorm
save load save_interval persistent_save_interval save_retain_interval no_save_optim no_save_rng no_load_optim
no_load_rng load_main_params_from_ckpt strict_fsdp_dtensor_load non_persistent_save_interval non_persistent_ckpt_type
non_persistent_global_ckpt_dir non_persistent_local_ckpt_dir non_persistent_local_ckpt_algo finetune
pretrained_checkpoint ckpt_step use_checkpoint_args use_mp_args_from_checkpoint_args
use_tokenizer_model_from_checkpoint_args exit_on_missing_checkpoint use_dist_ckpt use_dist_ckpt_deprecated
use_persistent_ckpt_worker auto_detect_ckpt_format dist_ckpt_format dist_ckpt_format_deprecated ckpt_format
ckpt_convert_format ckpt_convert_save ckpt_convert_update_legacy_dist_opt_format ckpt_fully_parallel_save
ckpt_fully_parallel_save_deprecated async_save ckpt_fully_parallel_load ckpt_assume_constant_structure
dist_ckpt_strictness dist_ckpt_save_pre_mcore_014 dist_ckpt_optim_fully_reshardable
distrib_optim_fully_reshardable_mem_efficient save_last no_load_lr_state universal_checkpoint
disable_last_saving ckpt_load_validate_sharding_integrity async_ckpt_cpu_priority
replication replication_jump replication_factor
data_path split train_data_path valid_data_path test_data_path data_args_path per_split_data_args_path data_cache_path
mmap_bin_files mock_data retriever_seq_length sample_rate mask_prob short_seq_prob num_workers
reset_position_ids reset_attention_mask eod_mask_loss create_attention_mask_in_dataloader num_dataset_builder_threads
object_storage_cache_path mid_level_dataset_surplus allow_ambiguous_pad_tokens dataloader_type data_impl mmap_warmup
dataloader_save vocab_file merge_file tokenizer_model tokenizer_metadata tiktoken_pattern tiktoken_num_special_tokens
tiktoken_special_tokens legacy_tokenizer trust_remote_code tokenizer_hf_includes_special_tokens
tokenizer_hf_no_use_fast tokenizer_sentencepiece_legacy train_idx_path train_doc_idx_path
train_sample_idx_path train_shuffle_idx_path return_data_index train_weighted_split_paths train_range_split
data_sharding patch_tokenizer_type repeated_dataloader
force_ruler_prefix sft sft_tokenizer_prompt_format
eval_iters eval_interval full_validation multiple_validation_sets test_mode skip_train eval_micro_batch_size
eval_global_batch_size
log_params_norm log_num_zeros_in_grad log_throughput log_progress timing_log_level log_energy barrier_with_l1_time
timing_log_option tensorboard_log_interval tensorboard_queue_size log_timers_to_tensorboard
log_loss_scale_to_tensorboard log_validation_ppl_to_tensorboard log_memory_to_tensorboard
log_world_size_to_tensorboard log_batch_size_to_tensorboard log_optimizer_states_to_tensorboard
log_learning_rate_to_tensorboard log_memory_interval log_device_memory_used log_max_attention_logit wandb_project
wandb_entity wandb_exp_name wandb_save_dir wandb_run_name wandb_group wandb_api_key disable_wandb logging_level
log_interval tensorboard_dir log_straggler disable_straggler_on_startup straggler_ctrlr_port straggler_minmax_count
run_workload_inspector_server enable_one_logger one_logger_project one_logger_run_name one_logger_async
app_tag_run_name app_tag_run_version config_logger_dir log_avg_skip_iterations log_avg_reset_interval
disable_tensorboard disable_mlflow mlflow_run_name mlflow_experiment_name use_rocm_mem_info use_rocm_mem_info_iters
stderr_sink_level file_sink_level sink_level
exit_interval exit_duration_in_mins exit_signal_handler exit_signal check_for_nan_in_loss_and_grad
check_for_spiky_loss check_for_large_grads check_weight_hash_across_dp_replicas_interval error_injection_rate
error_injection_type rerun_mode result_rejected_tracker_filename iterations_to_skip enable_ft_package calc_ft_timeouts
ft_num_warmup_iters adlr_autoresume adlr_autoresume_interval enable_gloo_process_groups inprocess_restart kill_switch_path
inprocess_max_iterations inprocess_monitor_thread_interval inprocess_monitor_process_interval
inprocess_progress_watchdog_interval inprocess_heartbeat_interval inprocess_soft_timeout inprocess_hard_timeout
inprocess_heartbeat_timeout inprocess_barrier_timeout inprocess_completion_timeout inprocess_last_call_wait
inprocess_termination_grace_time inprocess_granularity inprocess_active_world_size inprocess_empty_cuda_cache
profile profile_step_start profile_step_end use_pytorch_profiler profile_ranks record_memory_history
memory_snapshot_path nvtx_ranges pytorch_profiler_collect_shapes pytorch_profiler_collect_callstack
pytorch_profiler_collect_chakra disable_profiler_activity_cpu torch_profiler_record_shapes
torch_profiler_with_stack torch_profiler_use_gzip profile_backward
manual_gc manual_gc_interval manual_gc_eval train_sync_interval empty_unused_memory_level enable_msc
enable_experimental yaml_cfg auto_continue_train
distributed_backend distributed_timeout_minutes distributed_timeout_seconds_after_init local_rank
ddp_pad_buckets_for_high_nccl_busbw ddp_average_in_collective gradient_reduce_div_fusion
align_grad_reduce align_param_gather delay_grad_reduce delay_param_gather scatter_gather_tensors_in_pipeline
nccl_ub disable_symmetric_registration nccl_communicator_config_path
high_priority_stream_groups sharp_enabled_group tp_comm_bootstrap_backend
pipeline_model_parallel_comm_backend fsdp_double_buffer suggested_communication_unit_size keep_fp8_transpose_cache
enable_full_sharding_in_hsdp torch_fsdp2_reshard_after_forward data_parallel_sharding_strategy contiguous_grad_buffer
use_contiguous_buffers_in_local_ddp ddp_impl ddp_use_local hierarchical_context_parallel_sizes
fp8_margin fp8_interval fp8_amax_history_len fp8_amax_compute_algo fp8_wgrad fp8_recipe fp8_quantizer_factory
fp8_dot_product_attention fp8_multi_head_attention first_last_layers_bf16 num_layers_at_start_in_bf16
num_layers_at_end_in_bf16 reuse_grad_buf_for_mxfp8_param_ag fp4_recipe fp4_quantizer_factory tp_only_amax_red
fp8_output_proj
moe_router_load_balancing_type moe_router_dtype moe_router_fusion moe_router_score_function moe_router_pre_softmax
moe_router_num_groups moe_router_group_topk moe_router_topk_scaling_factor moe_router_enable_expert_bias
moe_router_bias_update_rate moe_router_force_load_balancing moe_router_padding_for_fp8
moe_router_padding_for_quantization moe_router_topk_limited_devices moe_aux_loss_coeff moe_z_loss_coeff
moe_input_jitter_eps moe_per_layer_logging moe_permute_fusion moe_token_drop_policy moe_apply_probs_on_input
moe_pad_expert_input_to_capacity moe_grouped_gemm moe_use_legacy_grouped_gemm moe_use_upcycling
moe_upcycling_granularity moe_extended_tp moe_deepep_num_sms moe_hybridep_num_sms moe_flex_dispatcher_backend
moe_pad_experts_for_cuda_graph_inference moe_eval_capacity_factor
moe_min_capacity moe_loss_coeff create_moe_param_group enable_expert_tensor_parallelism mlp_type
use_deprecated_20241209_moe_layer disable_primus_topk_router moe_use_fused_router_with_aux_score
conv_l_cache conv_bias cuda_graph_warmup_steps cuda_graph_num_warmup_steps
mamba_state_dim mamba_head_dim mamba_num_groups mamba_num_heads disable_mamba_mem_eff_path
inference_batch_times_seqlen_threshold max_tokens_to_oom output_bert_embeddings bert_embedder_type flash_decode
use_legacy_static_engine inference_max_seq_length inference_max_batch_size inference_max_requests
inference_dynamic_batching inference_dynamic_batching_buffer_size_gb inference_dynamic_batching_block_size
inference_dynamic_batching_buffer_guaranteed_fraction inference_dynamic_batching_buffer_overflow_factor
inference_dynamic_batching_max_requests_override inference_dynamic_batching_max_tokens_override
inference_dynamic_batching_num_cuda_graphs inference_dynamic_batching_track_paused_request_events
inference_dynamic_batching_unified_memory_level decode_only_cuda_graphs symmetric_ar_type nccl_all_reduce_for_prefill
mlp_chunks_for_prefill disable_chunked_prefill inference_wandb_logging_step_interval cache_mla_latents
retro_project_dir retro_cyclic_train_iters retro_encoder_layers retro_encoder_hidden_dropout
retro_encoder_attention_dropout retro_num_neighbors retro_num_retrieved_chunks retro_attention_gate
retro_verify_neighbor_count ict_head_size biencoder_projection_dim biencoder_shared_query_context_model ict_load
bert_load titles_data_path query_in_block_prob use_one_sent_docs evidence_data_path
retriever_report_topk_accuracies retriever_score_scaling block_data_path embedding_path indexer_batch_size
indexer_log_interval num_classes img_h img_w num_channels patch_dim classes_fraction data_per_class_fraction
head_lr_mult vision_pretraining_type vision_backbone_type swin_backbone_type mask_type mask_factor iter_per_epoch
dino_local_img_size dino_local_crops_number dino_head_hidden_size dino_bottleneck_size dino_freeze_last_layer
dino_norm_last_layer dino_warmup_teacher_temp dino_teacher_temp dino_warmup_teacher_temp_epochs
rl_prompts_per_eval grpo_prompts_per_step grpo_group_size grpo_iterations grpo_clamp_eps_lower grpo_clamp_eps_upper
grpo_kl_beta grpo_entropy_term_weight grpo_filter_groups_with_same_reward grpo_default_temperature grpo_default_top_p
langrl_inference_server_type langrl_inference_server_conversation_template langrl_external_server langrl_env_config
rl_sequence_packing_bin_size rl_sequence_packing_algo
deepspeed_activation_checkpointing deepscale deepscale_config contigious_checkpointing
synchronize_each_layer ds_inference zero_contigious_gradients zero_reduce_bucket_size
zero_allgather_bucket_size ds_pipeline_enabled memory_centric_tiled_linear tile_factor reset_iteration inference
data_efficiency_curriculum_learning curriculum_learning_legacy sync_tp_duplicated_parameters glu_activation_name
wgrad_deferral_limit microbatch_group_size_per_vp_stage
master_addr master_port node_rank rdzv_id rdzv_backend rdzv_endpoint rdzv_conf rdzv_timeout max_restarts monitor_interval
start_method role no_python run_path tee redirects standalone log_dir hostfile include exclude launcher launcher_args
module force_multi num_gpus num_nodes nnodes nproc_per_node nproc ntasks_per_node gpus_per_node nodes ntasks gres
cpus_per_task cpu_bind exclusive export mpi output error job_name partition account time container_image
container_mounts container_name no_container_mount_home container_workdir no_container_entrypoint label unbuffered
kill_on_bad_exit wait gpus_per_task mem mem_bind distribution open_mode overlap pty chdir local_addr
)";

struct Watched {
    std::string_view name;
    FormatNote::Severity severity;
    std::string_view message;
    std::string_view harmless = "";  // a value, beside false, 0, none and no value at all
};
constexpr auto refused = FormatNote::Severity::error;
constexpr auto warned = FormatNote::Severity::warning;

constexpr std::array watched{
    Watched{"use_megatron_fsdp", refused, "weft has no sharding of parameters by Megatron-LM (Megatron-FSDP)"},
    Watched{"use_custom_fsdp", refused, "weft has no sharding of parameters by Megatron-LM (custom FSDP)"},
    Watched{"use_torch_fsdp2", refused, "weft has FSDP of PyTorch's own modules, not of Megatron-LM's"},
    Watched{"num_distributed_optimizer_instances", refused, "weft shards the optimizer over all data ranks", "1"},
    Watched{"optimizer_cpu_offload", refused, "weft has no offloading of states to the host"},
    Watched{"cpu_optimizer", refused, "weft has no offloading of states to the host"},
    Watched{"cpu_torch_adam", refused, "weft has no offloading of states to the host"},
    Watched{"cpu_offloading_num_layers", refused, "weft keeps activations on the device"},
    Watched{"cpu_offloading", refused, "weft keeps activations on the device"},
    Watched{"fine_grained_activation_offloading", refused, "weft keeps activations on the device"},
    Watched{"checkpoint_in_cpu", refused, "weft keeps checkpoints on the device"},
    Watched{"remote_device", refused, "weft has no offloading of parameters", "none"},
    Watched{"use_tiling", refused, "weft has no tiled linear layers"},
    Watched{"distribute_saved_activations", refused, "weft keeps checkpoints whole under Megatron-LM"},
    Watched{"moe_layer_recompute", refused, "weft recomputes whole layers or the attention core"},
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
    Watched{"mos", refused, "weft trains one model"},
    Watched{"kd", refused, "weft trains one model"},
    Watched{"use_mup", refused, "weft has no muP"},
    Watched{"random_ltd", refused, "weft passes all tokens through all layers"},
    Watched{"compression_training", refused, "weft has no compression"},
    Watched{"overlap_moe_expert_parallel_comm", refused, "weft's experts exchange tokens with nothing beside"},
    Watched{"exp_avg_dtype", refused, "weft keeps the optimizer's states in fp32", "fp32"},
    Watched{"exp_avg_sq_dtype", refused, "weft keeps the optimizer's states in fp32", "fp32"},
    Watched{"main_params_dtype", refused, "weft keeps main parameters in fp32", "fp32"},
    Watched{"use_ring_exchange_p2p", refused, "weft's stages exchange by send and receive"},
    Watched{"ddp_num_buckets", refused, "weft cuts gradients by size; give --ddp-bucket-size"},
    Watched{"embed_layernorm", refused, "weft has no norm behind the embedding"},
    Watched{"model_parallel_size", refused, "is an old name; give --tensor-model-parallel-size"},
    Watched{"batch_size", refused, "is an old name; give --micro-batch-size"},
    Watched{"optimizer", warned, "Adam's states are simulated", "adam"},
    Watched{"mtp_num_layers", warned, "layers that predict further tokens are not simulated"},
    Watched{"spec", warned, "what the module changes is not read", "local"},
    Watched{"qk_l2_norm", warned, "norms of queries and keys without weights are not simulated"},
    Watched{"qk_clip", warned, "is not simulated"},
    Watched{"fp32_residual_connection", warned, "the residual stream is simulated in 16 bits"},
    Watched{"fp8_param_gather", warned, "parameters are gathered in 16 bits"},
    Watched{"fp8_param", warned, "parameters are gathered in 16 bits"},
    Watched{"fp4_param", warned, "parameters are gathered in 16 bits"},
    Watched{"deterministic_mode", warned, "kernels are simulated as without it"},
    Watched{"defer_embedding_wgrad_compute", warned, "weights of the output layer are simulated as without it"},
    Watched{"delay_wgrad_compute", warned, "gradients of weights are simulated as without it"},
    Watched{"overlap_param_gather_with_optimizer_step", warned, "parameters are gathered under the forward pass"},
    Watched{"overlap_p2p_comm_warmup_flush", warned, "only the steady phase overlaps"},
    Watched{"ddp_reduce_scatter_with_fp32_accumulation", warned, "gradients are reduce-scattered by the library"},
    Watched{"moe_shared_expert_overlap", warned, "shared experts are simulated with nothing beside"},
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
    Renamed{"fp8_format", "fp8"},
    Renamed{"fp4_format", "fp4"},
    Renamed{"fp4_param_gather", "fp4_param"},
};

const Names& taken_names() {
    static const Names names = words_of(taken_over);
    return names;
}
const Names& names_without_effect() {
    static const Names names = words_of(no_effect);
    return names;
}

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
    const auto is = [&](const auto& each) { return each.name == key; };
    return taken_names().contains(key) || std::ranges::any_of(watched, is) || std::ranges::any_of(usually_on, is);
}

bool is_megatron_switch(std::string_view key) {
    static const Names names = words_of(switches);
    return names.contains(key);
}

bool is_megatron_flag(std::string_view flag) {
    if (!flag.starts_with("--")) return false;
    const std::string key = megatron_name(flag.substr(0, flag.find('='))).key;
    return matters_to_megatron(key) || names_without_effect().contains(key);
}

void sort_out_megatron_keys(MegatronReading& reading, FormatKind kind) {
    sort_out_watched(reading);
    for (const std::string& key : reading.keys.unasked()) {
        // Of a model alone, how it is trained is said elsewhere.
        if (names_without_effect().contains(key) || (kind == FormatKind::model && taken_names().contains(key)))
            reading.without_effect(key);
    }
    note_rest(reading.import, reading.keys);
}

}  // namespace weft
