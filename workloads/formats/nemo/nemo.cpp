// Pre-training configurations of NeMo 1 (Hydra YAML of NVIDIA/NeMo-Framework-Launcher and NeMo's own examples): the
// same arguments as Megatron-LM's under "model" and "trainer", some by other names. Keys and defaults: NVIDIA/NeMo 1.23
// nemo/collections/nlp/models/language_modeling (megatron_base_model.py, megatron_gpt_model.py).
#include <fmt/format.h>

#include <cstdlib>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/nemo/values.hpp"

namespace weft::formats {
namespace {

bool is_nemo_file(const SourceFile& file) {
    const std::string text = "\n" + file.text;
    return contains(text, "megatron_amp_O2") ||
           ((contains(text, "\ntrainer:") || contains(text, "\nmodel:")) &&
            (contains(text, "tensor_model_parallel_size:") || contains(text, "encoder_seq_length:")));
}

class NemoArguments {
  public:
    NemoArguments(Import& import, Field root, const FormatOptions& options)
        : import_(import), root_{import, root, options}, values_(root, options.variables) {}

    MegatronInput read(const std::string& file) {
        input_.file.file = file;
        ForeignKeys model = root_.object("model");
        refuse_other_models(model);
        for (const std::string& key : model.keys.keys()) take(model, key);
        take_gates(model);
        take_modules(model);
        if (root_.has("trainer")) read_trainer(model);
        if (model.has("optim")) read_optimizer(model.object("optim"));
        if (model.has("tokenizer")) import_.without_effect.push_back(model.origin("tokenizer"));
        root_.pass_over(known_keys("nemo", "outside_of_model"));
        root_.note_rest();
        return std::move(input_);
    }

  private:
    void refuse_other_models(ForeignKeys& model) {
        model.refuse(known_keys("nemo", "refused"));
        model.warn(known_keys("nemo", "warned"));
        if (model.keys.says("transformer_block_type", "normformer"))
            model.refuse("transformer_block_type", "weft has two norms in a layer");
        if (model.keys.is_object("peft")) {
            ForeignKeys peft = model.object("peft");
            if (peft.keys.is_text("peft_scheme") && peft.keys.text("peft_scheme") != "none") read_adapters(peft);
        }
        for (const std::string_view key : {"fsdp", "headscale", "transformer_block_type", "attention_type", "peft"}) {
            if (model.has(key)) import_.without_effect.push_back(model.origin(key));
        }
    }

    // NeMo 1, nlp/parts/peft_config.py: LoraPEFTConfig; "all" is its four.
    void read_adapters(ForeignKeys& peft) {
        if (peft.keys.text("peft_scheme") != "lora" || !peft.keys.is_object("lora_tuning"))
            return peft.refuse("peft_scheme", "weft knows lora, with its lora_tuning");
        ForeignKeys tuning = peft.object("lora_tuning");
        Draft& adapters = import_.object.object("adapters", tuning.origin("adapter_dim"));
        adapters.set("rank", tuning.keys.number("adapter_dim"), tuning.origin("adapter_dim"));
        const std::vector<std::pair<std::string_view, std::string_view>> names{{"attention_qkv", "linear_qkv"},
                                                                               {"attention_dense", "linear_proj"},
                                                                               {"mlp_fc1", "linear_fc1"},
                                                                               {"mlp_fc2", "linear_fc2"}};
        std::vector<std::string> targets;
        for (Field& word : tuning.keys.list("target_modules")) {
            const std::size_t before = targets.size();
            const std::string said = word.as_text();
            for (const auto& [name, target] : names)
                if (said == name || said == "all" || said == name.substr(0, name.find('_')))
                    targets.push_back(fmt::format("\"{}\"", target));
            if (targets.size() == before)
                tuning.refuse("target_modules", fmt::format("weft has no adapters beside \"{}\"", said));
        }
        adapters.set_json("targets", fmt::format("[{}]", fmt::join(targets, ", ")), tuning.origin("target_modules"));
    }

    void take(ForeignKeys& model, const std::string& key) {
        if (known_keys("nemo", "read_apart").contains(key)) return;
        const Origin origin = model.origin(key);
        if (known_keys("nemo", "without_effect").contains(key)) {
            if (model.has(key)) import_.without_effect.push_back(origin);
            return;
        }
        const auto& other_names = known_keys("nemo", "other_names").by_name;
        const auto other = other_names.find(key);
        put(other == other_names.end() ? key : other->second, "model." + key, origin);
    }

    void put(const std::string& name, const std::string& path, const Origin& origin) {
        std::vector<std::string> unknown;
        const std::string text = values_.text(path, unknown);
        if (!unknown.empty()) return input_.add_unknown(name, std::move(unknown), origin);
        input_.add(name, text, true, origin);
    }

    void take_gates(ForeignKeys& model) {
        if (model.keys.is_text("activation")) {
            const std::string activation = model.keys.text("activation");
            const bool gated = activation.ends_with("glu") || activation == "geglu";
            input_.add_json("gated_linear_unit", gated ? "true" : "false", model.origin("activation"));
        }
        // Tied unless said otherwise, as in Megatron-LM.
        if (model.has("share_embeddings_and_output_weights") && !model.on("share_embeddings_and_output_weights")) {
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

    void take_modules(ForeignKeys& model) {
        const bool engine = model.on("transformer_engine") || model.on("mcore_gpt");
        const std::string_view key = model.has("transformer_engine") ? "transformer_engine" : "mcore_gpt";
        input_.add_json("transformer_impl", engine ? "\"transformer_engine\"" : "\"local\"", model.origin(key));
        if (model.on("fp8")) input_.add_json("fp8", "\"hybrid\"", model.origin("fp8"));
        if (model.has("megatron_amp_O2") && !model.on("megatron_amp_O2"))
            model.warn("megatron_amp_O2", "weights are kept in 16 bits, as with it");
    }

    void read_trainer(ForeignKeys& model) {
        ForeignKeys trainer = root_.object("trainer");
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
        if (trainer.keys.is_number("accumulate_grad_batches") && trainer.keys.number("accumulate_grad_batches") > 1)
            trainer.warn("accumulate_grad_batches", "micro-batches follow from the batch alone");
        for (const std::string& key : trainer.keys.keys()) {
            if (trainer.has(key)) import_.without_effect.push_back(trainer.origin(key));
        }
    }

    void read_optimizer(ForeignKeys optimizer) {
        const std::string name = optimizer.keys.text("name", "");
        const bool distributed = name == "distributed_fused_adam" || name == "mcore_distributed_optim";
        if (distributed) input_.add_json("use_distributed_optimizer", "true", optimizer.origin("name"));
        if (distributed && optimizer.on("overlap_grad_sync"))
            input_.add_json("overlap_grad_reduce", "true", optimizer.origin("overlap_grad_sync"));
        if (distributed && optimizer.on("overlap_grad_sync") && optimizer.on("overlap_param_sync"))
            input_.add_json("overlap_param_gather", "true", optimizer.origin("overlap_param_sync"));
        if (optimizer.keys.says("grad_sync_dtype", "bf16"))
            input_.add_json("grad_reduce_in_bf16", "true", optimizer.origin("grad_sync_dtype"));
        if (optimizer.keys.is_number("ddp_bucket_size"))
            input_.add_json("ddp_bucket_size", optimizer.keys.member("ddp_bucket_size").as_json(),
                            optimizer.origin("ddp_bucket_size"));
        if (name == "distributed_fused_adam")
            optimizer.warn("bucket_cap_mb", "buckets are as large as Megatron-core's");
        optimizer.pass_over(known_keys("nemo", "optim"));
        optimizer.note_rest();
    }

    Import& import_;
    ForeignKeys root_;
    HydraValues values_;
    MegatronInput input_;
};

Import read_nemo_files(std::span<const SourceFile> files, const FormatOptions& options) {
    const SourceFile& file = files.front();
    Document document = parse_yaml(file.path, file.text);
    Import found;
    const MegatronInput input = NemoArguments(found, document.root(), options).read(file.path);
    document.check();
    Import import = read_megatron_input(input, options, found);
    import.object.add(found.object);  // what Megatron-LM has no words for
    return import;
}

}  // namespace

extern const Format nemo{"nemo", "configuration of NeMo", is_nemo_file, read_nemo_files,
                         "NeMo's files are read one at a time"};

}  // namespace weft::formats
