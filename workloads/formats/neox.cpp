// A GPT-NeoX run: YAML files of model, training and site, put together as one job under DeepSpeed. Keys and defaults:
// EleutherAI/gpt-neox configs/neox_arguments.md, megatron/neox_arguments/arguments.py (calculate_derived).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "topologies/machine.hpp"
#include "workloads/formats/deepspeed_keys.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/neox_files.hpp"
#include "workloads/formats/neox_model.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

bool recognises(const SourceFile& file) { return is_neox(file.text); }

Origin neox_default(std::string what) { return {.file = {}, .line = 0, .key = "GPT-NeoX's default" + std::move(what)}; }

// The key "precision" or one of DeepSpeed's sections; fp32 where nothing is said.
std::string read_neox_precision(Import& import, Field& root) {
    read_half_precision(import, root);
    if (root.is_object("deepspeed_extra_args")) {
        Field extra = root.object("deepspeed_extra_args");
        read_half_precision(import, extra);
        note_rest(import, extra);
    }
    const auto enabled = [&](std::string_view section) {
        if (!root.is_object(section)) return false;
        Field field = root.object(section);
        return is_on(field, "enabled");
    };
    std::string name = enabled("fp16") ? "fp16" : import.object.has("precision") ? "bf16" : "fp32";
    if (root.has("precision")) {
        const std::string said = root.choice("precision", {"fp16", "fp32", "bfloat16"});
        const std::string own = said == "bfloat16" ? "bf16" : said;
        if (import.object.has("precision") && own != name)
            root.error("precision", fmt::format("is {}, but DeepSpeed's section {} is enabled", said, name));
        name = own;
        import.object.set("precision", name, root.origin("precision"));
    } else if (!import.object.has("precision")) {
        import.object.set("precision", name, neox_default(""));
    }
    return name;
}

DeepSpeedEngine engine_of(Field& root) {  // training.py, setup_model_and_optimizer: 0 is a plain model
    return root.whole("pipe_parallel_size", 0) >= 1 ? DeepSpeedEngine::pipeline : DeepSpeedEngine::plain;
}

void read_layout(Import& import, Field& root) {
    Draft& layout = import.object.object("layout");
    if (root.has("model_parallel_size")) {
        layout.set("tensor", std::max(root.whole("model_parallel_size"), 1U), root.origin("model_parallel_size"));
    }
    if (root.has("pipe_parallel_size")) {
        layout.set("pipeline", std::max(root.whole("pipe_parallel_size"), 1U), root.origin("pipe_parallel_size"));
    }
    if (root.has("pipe_partition_method") && root.text("pipe_partition_method") != "type:transformer|mlp") {
        const std::string method = root.text("pipe_partition_method");
        warn_key(import, root, "pipe_partition_method",
                 "layers are dealt to stages as by \"type:transformer|mlp\", GPT-NeoX's default");
    }
    for (const std::string_view key : {"context_parallel_size", "ring_attention_size"}) {
        if (root.has(key) && root.count(key) > 1)
            refuse_key(import, root, key, "weft has no ring attention of GPT-NeoX; its DeepSpeed has all-to-all");
    }
    if (is_on(root, "sequence_parallel"))
        refuse_key(import, root, "sequence_parallel", "weft has no sequence parallelism of GPT-NeoX on DeepSpeed");
    if (layout.empty()) import.object.erase("layout");
}

// All ranks of the job, by the files or by what the user says; 0 where neither does.
std::uint64_t ranks_said(Import& import, Field& root, const FormatOptions& options) {
    if (root.has("num_nodes") && options.nodes == 0 && root.number("num_nodes") >= 1)
        take_count(root, "num_nodes", import.object, "nodes");
    FormatOptions complete = options;
    if (options.nodes == 0 && import.object.has("nodes")) complete.nodes = root.count("num_nodes");
    return ranks_of(complete);
}

// calculate_derived(): the ranks that are left for data share the batch.
void read_batch(Import& import, Field& root, const FormatOptions& options) {
    const double model_ranks = double(std::max(root.whole("model_parallel_size", 1), 1U)) *
                               double(std::max(root.whole("pipe_parallel_size", 0), 1U));
    const double ranks = static_cast<double>(ranks_said(import, root, options)) / model_ranks;
    if (root.has("seq_length"))
        import.object.object("batch").set("sequence", root.count("seq_length"), root.origin("seq_length"));
    const bool none = !root.has("train_batch_size") && !root.has("train_micro_batch_size_per_gpu");
    if (!none || (overridden_by_user(options, "batch.micro") && overridden_by_user(options, "batch.global")))
        return read_deepspeed_batch(import, root, options, ranks);
    const double steps = root.count("gradient_accumulation_steps", 1);
    Draft& batch = import.object.object("batch");
    const Origin assumed{.file = {}, .line = 0, .key = "assumed: one sequence per rank and micro-batch"};
    batch.set("micro", 1, assumed);
    batch.set("global", steps * std::max(ranks, 1.0), assumed);
    import.note(Severity::warning,
                {.file = root.origin("num_layers").file, .line = 0, .key = "train_micro_batch_size_per_gpu"},
                fmt::format("the input does not say it; 1 is assumed, so batch.global is {:g}; --set batch.micro=N and "
                            "--set batch.global=N say others",
                            steps * std::max(ranks, 1.0)));
}

void read_memory_savings(Import& import, Field& root) {
    Draft& job = import.object;
    const bool recomputes = root.flag("checkpoint_activations", false);
    const std::uint32_t interval = root.whole("checkpoint_num_layers", 1);
    if (recomputes && interval > 0) {
        job.set("recompute", "full", root.origin("checkpoint_activations"));
        take_flag(root, "partition_activations", job.object("deepspeed"), "partition_activations");
        if (interval > 1)
            warn_key(import, root, "checkpoint_num_layers", "every layer is a checkpoint of its own in the simulation");
        if (is_on(root, "checkpoint_in_cpu"))
            refuse_key(import, root, "checkpoint_in_cpu", "weft keeps checkpoints on the device");
    }
    if (is_on(root, "synchronize_each_layer"))
        take_flag(root, "synchronize_each_layer", job.object("deepspeed"), "synchronize_each_layer");
    without_effect(import, root,
                   {"contiguous_checkpointing", "deepspeed_activation_checkpointing", "profile_backward"});
    unread_without_effect(import, root, {"partition_activations", "checkpoint_in_cpu", "activation_checkpointing"});
}

// Without scores in memory, dropout of them costs nothing of its own.
void read_dropout(Import& import, Field& root) {
    const bool hidden = root.number("hidden_dropout", 0.0) > 0, scores = root.number("attention_dropout", 0.0) > 0;
    const bool flash = import.object.json().find(R"("attention":"flash")") != std::string::npos;
    if (hidden) import.object.set("dropout", true, root.origin("hidden_dropout"));
    if (flash || hidden == scores) return;
    import.object.set("dropout", true, root.origin(hidden ? "hidden_dropout" : "attention_dropout"));
    warn_key(import, root, hidden ? "hidden_dropout" : "attention_dropout",
             "dropout is simulated on the scores and on the outputs of attention and MLP, or on neither");
}

void read_rest(Import& import, Field& root) {
    read_deepspeed_rest(import, root);
    if (is_on(root, "use_bnb_optimizer"))
        warn_key(import, root, "use_bnb_optimizer", "the optimizer's states are simulated in fp32, not in 8 bits");
    if (root.has("deepspeed") && !root.flag("deepspeed"))
        refuse_key(import, root, "deepspeed", "GPT-NeoX runs with DeepSpeed alone");
    unread_without_effect(import, root,
                          {"lr_decay_style",
                           "lr_decay_iters",
                           "lr_decay_fraction",
                           "min_lr",
                           "warmup",
                           "override_lr_scheduler",
                           "use_checkpoint_lr_scheduler",
                           "lr",
                           "optimizer_type",
                           "zero_stage",
                           "zero_reduce_scatter",
                           "zero_contiguous_gradients",
                           "zero_reduce_bucket_size",
                           "zero_allgather_bucket_size",
                           "weight_decay",
                           "clip_grad",
                           "hysteresis",
                           "dynamic_loss_scale",
                           "loss_scale",
                           "loss_scale_window",
                           "min_scale"});
    unread_without_effect(import, root,
                          {"use_wandb",
                           "wandb",
                           "wandb_group",
                           "wandb_run_name",
                           "wandb_team",
                           "wandb_project",
                           "wandb_host",
                           "wandb_init_all_ranks",
                           "git_hash",
                           "log_dir",
                           "tensorboard_dir",
                           "tensorboard",
                           "use_comet",
                           "comet_workspace",
                           "comet_project",
                           "comet_experiment_name",
                           "comet_tags",
                           "comet_others",
                           "comet_experiment",
                           "peak_theoretical_tflops",
                           "log_interval",
                           "log_grad_pct_zeros",
                           "log_param_norm",
                           "log_grad_norm",
                           "log_optimizer_states",
                           "log_gradient_noise_scale",
                           "gradient_noise_scale_n_batches",
                           "gradient_noise_scale_cpu_offload",
                           "memory_profiling",
                           "memory_profiling_path",
                           "profile",
                           "profile_step_start",
                           "profile_step_stop",
                           "char_level_ppl"});
    unread_without_effect(import, root,
                          {"data_path",
                           "use_shared_fs",
                           "train_data_paths",
                           "train_label_data_paths",
                           "train_reward_data_paths",
                           "test_data_paths",
                           "test_label_data_paths",
                           "test_reward_data_paths",
                           "valid_data_paths",
                           "valid_label_data_paths",
                           "valid_reward_data_paths",
                           "train_data_weights",
                           "valid_data_weights",
                           "test_data_weights",
                           "weight_by_num_documents",
                           "weighted_sampler_alpha",
                           "data_impl",
                           "pack_impl",
                           "dataset_impl",
                           "allow_chopped",
                           "mmap_warmup",
                           "label_data_paths",
                           "save",
                           "s3_path",
                           "s3_chunk_size",
                           "config_files",
                           "load",
                           "checkpoint_validation_with_forward_pass",
                           "checkpoint_scale",
                           "checkpoint_factor",
                           "extra_save_iters",
                           "save_iters",
                           "save_interval",
                           "no_save_optim",
                           "no_save_rng",
                           "no_load_optim",
                           "no_load_rng",
                           "finetune",
                           "batch_size",
                           "train_iters",
                           "train_epochs",
                           "eval_iters",
                           "keep_last_n_checkpoints",
                           "eval_interval",
                           "split",
                           "vocab_file",
                           "merge_file",
                           "tokenizer_type",
                           "num_workers",
                           "exit_interval",
                           "short_seq_prob",
                           "eod_mask_loss",
                           "z_loss",
                           "seed",
                           "dpo_fp32",
                           "dpo_beta",
                           "dpo_reference_free",
                           "serve_model_weights"});
    unread_without_effect(import, root,
                          {"distributed_backend",
                           "local_rank",
                           "rank",
                           "lazy_mpu_init",
                           "adlr_autoresume",
                           "adlr_autoresume_interval",
                           "onnx_safe",
                           "deepscale",
                           "deepscale_config",
                           "deepspeed_mpi",
                           "deepspeed_slurm",
                           "user_script",
                           "iteration",
                           "do_train",
                           "do_valid",
                           "do_test",
                           "world_size",
                           "is_pipe_parallel",
                           "hostfile",
                           "include",
                           "exclude",
                           "num_nodes",
                           "num_gpus",
                           "global_num_gpus",
                           "master_port",
                           "master_addr",
                           "launcher",
                           "force_multi",
                           "autotuning_run",
                           "no_ssh_check",
                           "comment",
                           "account",
                           "context_parallel_size",
                           "deepspeed_jsrun"});
    unread_without_effect(import, root,
                          {"text_gen_type", "precompute_model_name", "temperature", "top_p", "top_k", "return_logits",
                           "maximum_tokens", "prompt_end", "sample_input_file", "sample_output_file", "num_samples",
                           "recompute", "eval_results_prefix", "eval_tasks"});
    note_rest(import, root);
}

// GPT-NeoX stops at a key that two files have (from_ymls). Where nothing hangs on it the first is kept.
void tell_repeated(Import& import, std::span<const RepeatedKey> repeated) {
    for (const auto& [first, second] : repeated) {
        const bool harmless = std::ranges::any_of(import.without_effect, [&origin = first](const Origin& other) {
            return other.file == origin.file && other.line == origin.line && other.key == origin.key;
        });
        import.note(harmless ? Severity::warning : Severity::error, second,
                    fmt::format("{}:{} has it, too, and GPT-NeoX takes a key once{}", first.file, first.line,
                                harmless ? "; it has no effect on time and memory" : ""));
    }
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    NeoxFiles merged = merged_neox(files);
    Document& document = merged.document;
    Field root = document.root();
    Import import;
    import.object.set("framework", "deepspeed", {.file = files.front().path, .line = 0, .key = {}});
    const std::string precision = read_neox_precision(import, root);
    read_neox_model(import, root, options, precision);
    read_layout(import, root);
    read_batch(import, root, options);
    read_zero_optimization(import, root, engine_of(root));
    read_memory_savings(import, root);
    read_dropout(import, root);
    read_rest(import, root);
    tell_repeated(import, merged.repeated);
    document.check();
    return import;
}

}  // namespace

extern const Format neox;
const Format neox{"neox", "GPT-NeoX configuration", recognises, read};

}  // namespace weft::formats
