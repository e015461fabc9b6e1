#include <string_view>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/neox/files.hpp"

namespace weft {
namespace {

// Keys by what they are about: EleutherAI/gpt-neox configs/neox_arguments.md, and of earlier releases.
constexpr std::string_view of_model =
    "num_kv_heads max_position_embeddings layernorm_epsilon rms_norm_epsilon scalenorm_epsilon "
    "rpe_num_buckets rpe_max_distance opt_pos_emb_offset param_sharing_style sparsity_config "
    "use_flashattn_swiglu fused_kernels_build_path init_method init_method_std output_layer_init_method "
    "apply_query_key_layer_scaling attention_softmax_in_fp32 use_cpu_initialization rotary_pct "
    "rotary_emb_base rotary_save_freqs_buffer gmlp_attn_dim bias_gelu_fusion layernorm_fusion "
    "rmsnorm_fusion use_bias_in_norms output_layer_parallelism soft_prompt_tuning fp16_lm_cross_entropy "
    "te_columnparallel te_rowparallel te_layernorm_mlp te_mha te_fp8_mha te_fp8_format te_fp8_wgrad "
    "te_fp8_amax_history_len te_fp8_amax_compute_algo te_fp8_margin train_impl "
    "mamba_selective_scan_fusion mamba_causal_conv_fusion mamba_inner_func_fusion "
    "mamba_selective_fp32_params mamba_use_bias_in_conv mamba_use_bias_in_linears dim_att head_size "
    "ffn_dim moe_router_type moe_lbl_in_fp32 moe_jitter_eps moe_loss_coeff moe_eval_capacity_factor "
    "moe_min_capacity create_moe_param_group moe_type enable_expert_tensor_parallelism moe_num_experts "
    "moe_top_k moe_expert_interval moe_token_dropping moe_train_capacity_factor moe_use_residual moe_glu "
    "use_mup coord_check save_base_shapes base_shapes_file mup_init_scale mup_attn_temp mup_output_temp "
    "mup_embedding_mult mup_rp_embedding_mult mup_width_scale padded_vocab_size";
constexpr std::string_view of_optimizer =
    "lr_decay_style lr_decay_iters lr_decay_fraction min_lr warmup override_lr_scheduler "
    "use_checkpoint_lr_scheduler lr optimizer_type zero_stage zero_reduce_scatter "
    "zero_contiguous_gradients zero_reduce_bucket_size zero_allgather_bucket_size weight_decay clip_grad "
    "hysteresis dynamic_loss_scale loss_scale loss_scale_window min_scale";
constexpr std::string_view of_logs =
    "use_wandb wandb wandb_group wandb_run_name wandb_team wandb_project wandb_host wandb_init_all_ranks "
    "git_hash log_dir tensorboard_dir tensorboard use_comet comet_workspace comet_project "
    "comet_experiment_name comet_tags comet_others comet_experiment peak_theoretical_tflops log_interval "
    "log_grad_pct_zeros log_param_norm log_grad_norm log_optimizer_states log_gradient_noise_scale "
    "gradient_noise_scale_n_batches gradient_noise_scale_cpu_offload memory_profiling "
    "memory_profiling_path profile profile_step_start profile_step_stop char_level_ppl";
constexpr std::string_view of_data =
    "data_path use_shared_fs train_data_paths train_label_data_paths train_reward_data_paths "
    "test_data_paths test_label_data_paths test_reward_data_paths valid_data_paths valid_label_data_paths "
    "valid_reward_data_paths train_data_weights valid_data_weights test_data_weights "
    "weight_by_num_documents weighted_sampler_alpha data_impl pack_impl dataset_impl allow_chopped "
    "mmap_warmup label_data_paths save s3_path s3_chunk_size config_files load "
    "checkpoint_validation_with_forward_pass checkpoint_scale checkpoint_factor extra_save_iters "
    "save_iters save_interval no_save_optim no_save_rng no_load_optim no_load_rng finetune batch_size "
    "train_iters train_epochs eval_iters keep_last_n_checkpoints eval_interval split vocab_file "
    "merge_file tokenizer_type num_workers exit_interval short_seq_prob eod_mask_loss z_loss seed "
    "dpo_fp32 dpo_beta dpo_reference_free serve_model_weights";
constexpr std::string_view of_launch =
    "distributed_backend local_rank rank lazy_mpu_init adlr_autoresume adlr_autoresume_interval onnx_safe "
    "deepscale deepscale_config deepspeed_mpi deepspeed_slurm user_script iteration do_train do_valid "
    "do_test world_size is_pipe_parallel hostfile include exclude num_nodes num_gpus global_num_gpus "
    "master_port master_addr launcher force_multi autotuning_run no_ssh_check comment account "
    "context_parallel_size deepspeed_jsrun";
constexpr std::string_view of_text_generation =
    "text_gen_type precompute_model_name temperature top_p top_k return_logits maximum_tokens prompt_end "
    "sample_input_file sample_output_file num_samples recompute eval_results_prefix eval_tasks";

}  // namespace

void pass_over_neox(Import& import, Field& root) {
    for (const std::string_view words : {of_model, of_optimizer, of_logs, of_data, of_launch, of_text_generation})
        unread_without_effect(import, root, words);
}

}  // namespace weft
