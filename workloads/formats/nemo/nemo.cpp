// Pre-training configurations of NeMo 1 (Hydra YAML of NVIDIA/NeMo-Framework-Launcher and NeMo's own examples): the
// same arguments as Megatron-LM's under "model" and "trainer", some by other names. Keys and defaults: NVIDIA/NeMo 1.23
// nemo/collections/nlp/models/language_modeling (megatron_base_model.py, megatron_gpt_model.py).
#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/io/syntaxes.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/nemo/values.hpp"

namespace weft::formats {
namespace {

bool has_key_line(std::string_view text, std::string_view begin) {
    return text.starts_with(begin) || text.find("\n" + std::string(begin)) != std::string_view::npos;
}

bool recognises(const SourceFile& file) {
    const std::string_view text = file.text;
    if (text.find("megatron_amp_O2") != std::string_view::npos) return true;
    const bool trains = has_key_line(text, "trainer:") || has_key_line(text, "model:");
    return trains && (text.find("tensor_model_parallel_size:") != std::string_view::npos ||
                      text.find("encoder_seq_length:") != std::string_view::npos);
}

struct OtherName {
    std::string_view nemo, megatron;
};
// Keys of "model" that Megatron-LM has by another name; all others are looked up under their own.
constexpr std::array other_names{
    OtherName{"encoder_seq_length", "seq_length"},
    OtherName{"bias", "add_bias_linear"},
    OtherName{"num_moe_experts", "num_experts"},
    OtherName{"override_vocab_size", "padded_vocab_size"},
    OtherName{"activations_checkpoint_granularity", "recompute_granularity"},
    OtherName{"activations_checkpoint_method", "recompute_method"},
    OtherName{"activations_checkpoint_num_layers", "recompute_num_layers"},
    OtherName{"ub_tp_comm_overlap", "tp_comm_overlap"},
    OtherName{"use_flash_attention", "use_flash_attn"},
    OtherName{"bias_activation_fusion", "bias_swiglu_fusion"},
    OtherName{"bias_dropout_add_fusion", "bias_dropout_fusion"},
    OtherName{"layernorm_epsilon", "norm_epsilon"},
    OtherName{"num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers"},
    OtherName{"num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers"},
    OtherName{"first_pipeline_num_layers", "decoder_first_pipeline_num_layers"},
    OtherName{"last_pipeline_num_layers", "decoder_last_pipeline_num_layers"},
    OtherName{"grad_div_ar_fusion", "gradient_reduce_div_fusion"},
};

// Neither read nor Megatron-LM's, and without effect on time and memory.
constexpr std::array<std::string_view, 58> idle{"ffn_dropout",
                                                "mcore_gpt",
                                                "megatron_amp_O2",
                                                "resume_from_checkpoint",
                                                "pre_process",
                                                "post_process",
                                                "gradient_as_bucket_view",
                                                "fsdp_sharding_strategy",
                                                "fsdp_grad_reduce_dtype",
                                                "fsdp_sharded_checkpoint",
                                                "fsdp_cpu_offload",
                                                "batch_p2p_comm",
                                                "native_amp_init_scale",
                                                "native_amp_growth_interval",
                                                "grad_allreduce_chunk_size_mb",
                                                "sharp",
                                                "fp8_e4m3",
                                                "fp8_hybrid",
                                                "fp8_params",
                                                "sync_batch_comm",
                                                "apex_transformer_log_level",
                                                "gc_interval",
                                                "nsys_profile",
                                                "data",
                                                "use_scaled_init_method",
                                                "do_layer_norm_weight_decay",
                                                "openai_gelu",
                                                "normalize_attention_scores",
                                                "rotary_percentage",
                                                "use_emha",
                                                "ub_tp_comm_overlap_cfg",
                                                "megatron_legacy",
                                                "dist_ckpt_format",
                                                "dist_ckpt_load_on_device",
                                                "dist_ckpt_parallel_save",
                                                "dist_ckpt_parallel_load",
                                                "dist_ckpt_torch_dist_multiproc",
                                                "dist_ckpt_assume_constant_structure",
                                                "dist_ckpt_parallel_dist_opt",
                                                "scale_positional_embedding",
                                                "seq_len_interpolation_factor",
                                                "get_attention_mask_from_fusion",
                                                "memory_profile",
                                                "gradient_accumulation_steps",
                                                "restore_from_path",
                                                "restore_from_ckpt",
                                                "save_nemo_on_validation_end",
                                                "reduce_amax",
                                                "name",
                                                "nccl_communicator_config_path",
                                                "answer_only_loss",
                                                "async_grad_allreduce",
                                                "embedding_init_method_std",
                                                "precision",
                                                "target",
                                                "rotary_base",
                                                "cpu_offloading_activations",
                                                "cpu_offloading_weights"};

class NemoArguments {
  public:
    NemoArguments(Import& import, Field root, const FormatOptions& options)
        : import_(import), root_(root), values_(root, options.variables) {}

    MegatronInput read(const std::string& file) {
        input_.file.file = file;
        Field model = root_.object("model");
        refuse_other_models(model);
        for (const std::string& key : model.keys()) take(model, key);
        take_gates(model);
        take_modules(model);
        if (root_.has("trainer")) read_trainer(model);
        if (model.has("optim")) read_optimizer(model.object("optim"));
        if (model.has("tokenizer")) import_.without_effect.push_back(model.origin("tokenizer"));
        without_effect(import_, root_, {"run", "exp_manager", "hydra", "name", "defaults", "cluster", "stages"});
        note_rest(import_, root_);
        return std::move(input_);
    }

  private:
    static bool on(Field& field, std::string_view key) { return field.is_flag(key) && field.flag(key); }

    void refuse_other_models(Field& model) {
        for (const std::string_view key : {"encoder", "decoder", "mm_cfg", "vision"}) {
            if (model.is_object(key)) refuse_key(import_, model, key, "weft has decoders of text only");
        }
        if (on(model, "fsdp")) refuse_key(import_, model, "fsdp", "weft has FSDP of PyTorch's own modules only");
        if (on(model, "headscale")) refuse_key(import_, model, "headscale", "weft has no scaled heads");
        if (model.is_text("transformer_block_type") && model.text("transformer_block_type") == "normformer")
            refuse_key(import_, model, "transformer_block_type", "weft has two norms in a layer");
        if (model.is_object("peft")) {
            Field peft = model.object("peft");
            if (peft.is_text("peft_scheme") && peft.text("peft_scheme") != "none")
                refuse_key(import_, peft, "peft_scheme", "weft trains all weights");
        }
        for (const std::string_view key :
             {"num_micro_batches_with_partial_activation_checkpoints", "activations_checkpoint_layers_per_pipeline"})
            warn_key(import_, model, key, "every micro-batch and stage recomputes alike");
        for (const std::string_view key : {"fsdp", "headscale", "transformer_block_type", "attention_type", "peft"}) {
            if (model.has(key)) import_.without_effect.push_back(model.origin(key));
        }
    }

    void take(Field& model, const std::string& key) {
        constexpr std::string_view apart[] = {"activation",
                                              "optim",
                                              "tokenizer",
                                              "fp8",
                                              "transformer_engine",
                                              "share_embeddings_and_output_weights",
                                              "encoder",
                                              "decoder",
                                              "mm_cfg",
                                              "vision",
                                              "fsdp",
                                              "headscale",
                                              "transformer_block_type",
                                              "attention_type",
                                              "peft",
                                              "num_micro_batches_with_partial_activation_checkpoints",
                                              "activations_checkpoint_layers_per_pipeline"};
        if (std::ranges::find(apart, key) != std::end(apart)) return;
        const Origin origin = model.origin(key);
        if (std::ranges::find(idle, key) != idle.end()) {
            if (model.has(key)) import_.without_effect.push_back(origin);
            return;
        }
        const auto other = std::ranges::find(other_names, key, &OtherName::nemo);
        put(other == other_names.end() ? key : std::string(other->megatron), "model." + key, origin);
    }

    void put(const std::string& name, const std::string& path, const Origin& origin) {
        std::vector<std::string> unknown;
        const std::string text = values_.text(path, unknown);
        if (!unknown.empty()) return input_.add_unknown(name, std::move(unknown), origin);
        input_.add(name, text, true, origin);
    }

    void take_gates(Field& model) {
        if (model.is_text("activation")) {
            const std::string activation = model.text("activation");
            const bool gated = activation.ends_with("glu") || activation == "geglu";
            input_.add_json("gated_linear_unit", gated ? "true" : "false", model.origin("activation"));
        }
        // Tied unless said otherwise, as in Megatron-LM.
        if (model.has("share_embeddings_and_output_weights") && !on(model, "share_embeddings_and_output_weights")) {
            input_.add_json("untie_embeddings_and_output_weights", "true",
                            model.origin("share_embeddings_and_output_weights"));
        }
        if (model.has("num_query_groups"))
            input_.add_json("group_query_attention", "true", model.origin("num_query_groups"));
        // A method says nothing without a granularity.
        if (!model.has("activations_checkpoint_granularity")) {
            for (const std::string_view key : {"recompute_method", "recompute_num_layers"})
                input_.add_json(key, "null", model.origin(""));
        }
    }

    void take_modules(Field& model) {
        const bool engine = on(model, "transformer_engine") || on(model, "mcore_gpt");
        const std::string_view key = model.has("transformer_engine") ? "transformer_engine" : "mcore_gpt";
        input_.add_json("transformer_impl", engine ? "\"transformer_engine\"" : "\"local\"", model.origin(key));
        if (on(model, "fp8")) input_.add_json("fp8", "\"hybrid\"", model.origin("fp8"));
        if (model.has("megatron_amp_O2") && !on(model, "megatron_amp_O2"))
            warn_key(import_, model, "megatron_amp_O2", "weights are kept in 16 bits, as with it");
    }

    void read_trainer(Field& model) {
        Field trainer = root_.object("trainer");
        const auto count = [&](std::string_view key) -> std::uint32_t {
            std::vector<std::string> unknown;
            const std::string text = trainer.has(key) ? values_.text("trainer." + std::string(key), unknown) : "";
            if (!unknown.empty() && key == "num_nodes") input_.unknown_nodes = unknown;
            const double number = std::strtod(text.c_str(), nullptr);
            return number >= 1 && number <= 1e6 ? static_cast<std::uint32_t>(number) : 0;
        };
        input_.nodes = count("num_nodes");
        input_.nodes_origin = trainer.origin("num_nodes");
        input_.ranks_per_node = count("devices");
        std::vector<std::string> unknown;
        const std::string_view where = trainer.has("precision") ? "trainer.precision" : "model.precision";
        const std::string precision =
            trainer.has("precision") || model.has("precision") ? values_.text(where, unknown) : "32";
        const Origin origin = trainer.origin("precision");
        if (!unknown.empty()) {
            input_.add_unknown("bf16", unknown, origin);
        } else if (precision.starts_with("bf16")) {
            input_.add_json("bf16", "true", origin);
        } else if (precision.starts_with("16")) {
            input_.add_json("fp16", "true", origin);
        }
        if (trainer.has("accumulate_grad_batches") && trainer.is_number("accumulate_grad_batches") &&
            trainer.number("accumulate_grad_batches") > 1)
            warn_key(import_, trainer, "accumulate_grad_batches", "micro-batches follow from the batch alone");
        for (const std::string& key : trainer.keys()) {
            if (trainer.has(key)) import_.without_effect.push_back(trainer.origin(key));
        }
    }

    void read_optimizer(Field optimizer) {
        const std::string name = optimizer.text("name", "");
        const bool distributed = name == "distributed_fused_adam" || name == "mcore_distributed_optim";
        if (distributed) input_.add_json("use_distributed_optimizer", "true", optimizer.origin("name"));
        if (distributed && on(optimizer, "overlap_grad_sync"))
            input_.add_json("overlap_grad_reduce", "true", optimizer.origin("overlap_grad_sync"));
        if (distributed && on(optimizer, "overlap_grad_sync") && on(optimizer, "overlap_param_sync"))
            input_.add_json("overlap_param_gather", "true", optimizer.origin("overlap_param_sync"));
        if (optimizer.is_text("grad_sync_dtype") && optimizer.text("grad_sync_dtype") == "bf16")
            input_.add_json("grad_reduce_in_bf16", "true", optimizer.origin("grad_sync_dtype"));
        if (optimizer.is_number("ddp_bucket_size"))
            input_.add_json("ddp_bucket_size", optimizer.member("ddp_bucket_size").as_json(),
                            optimizer.origin("ddp_bucket_size"));
        if (name == "distributed_fused_adam")
            warn_key(import_, optimizer, "bucket_cap_mb", "buckets are as large as Megatron-core's");
        without_effect(import_, optimizer,
                       {"lr", "weight_decay", "betas", "sched", "bucket_cap_mb", "contiguous_grad_buffer",
                        "contiguous_param_buffer", "overlap_grad_sync", "overlap_param_sync", "grad_sync_dtype", "eps",
                        "param_sync_dtype", "store_params", "store_param_remainders", "exclude_distopt_params",
                        "average_in_collective", "capturable", "master_weights", "clip_grad"});
        note_rest(import_, optimizer);
    }

    Import& import_;
    Field root_;
    HydraValues values_;
    MegatronInput input_;
};

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1)
        throw ConfigError(
            {Diagnostic{.file = files[1].path, .key = {}, .message = "NeMo's files are read one at a time"}});
    const SourceFile& file = files.front();
    Document document = parse_yaml(file.path, file.text);
    Import found;
    const MegatronInput input = NemoArguments(found, document.root(), options).read(file.path);
    document.check();
    return read_megatron_input(input, options, found);
}

}  // namespace

extern const Format nemo;
const Format nemo{"nemo", "configuration of NeMo", recognises, read};

}  // namespace weft::formats
