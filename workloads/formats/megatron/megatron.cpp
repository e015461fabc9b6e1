// Arguments of Megatron-LM and Megatron-core: launch scripts, lists of flags, model_config.yaml of the functional
// tests, Primus's YAML. Keys and defaults: NVIDIA/Megatron-LM megatron/training/arguments.py; for Primus AMD-AGI/Primus
// primus/configs. No script is run.

#include "workloads/formats/megatron/keys.hpp"

namespace weft::formats {
namespace {

bool has_line(std::string_view text, std::string_view begin) {
    return text.starts_with(begin) || text.find("\n" + std::string(begin)) != std::string_view::npos;
}

bool is_test_configuration(std::string_view text) { return has_line(text, "MODEL_ARGS:"); }

// Keys of Megatron-LM that no other tool has at the outermost level.
bool is_primus(std::string_view text) {
    if (has_line(text, "extends:")) return true;
    if (has_line(text, "modules:") && text.find("pre_trainer:") != std::string_view::npos) return true;
    for (const std::string_view key :
         {"untie_embeddings_and_output_weights:", "num_query_groups:", "add_bias_linear:",
          "tensor_model_parallel_size:", "group_query_attention:", "moe_router_topk:", "moe_token_dispatcher_type:",
          "language_model:", "moe_router_force_load_balancing:", "num_attention_heads:", "ffn_hidden_size:"}) {
        if (has_line(text, key))
            return text.find("pipe_parallel_size") == std::string_view::npos &&
                   text.find("pipe-parallel-size") == std::string_view::npos;
    }
    return false;
}

// At least one flag that only these programs have, as a word.
bool is_script(std::string_view text) {
    for (const std::string_view flag :
         {"--num-layers", "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--num-attention-heads",
          "--micro-batch-size", "--encoder-num-layers", "--num_layers", "--micro_batch_size", "--hidden-size"}) {
        for (std::size_t at = text.find(flag); at != std::string_view::npos; at = text.find(flag, at + 1)) {
            const std::size_t end = at + flag.size();
            const bool ends =
                end == text.size() || std::string_view(" =\t\r\n\\\"'$").find(text[end]) != std::string_view::npos;
            const bool begins = at == 0 || std::string_view(" =\t\n\"'(").find(text[at - 1]) != std::string_view::npos;
            if (begins && ends) return true;
        }
    }
    return false;
}

bool is_megatron_file(const SourceFile& file) {
    const std::string_view text = file.text;
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text[begin] == '{' || text[begin] == '<' ||
        text.substr(begin).starts_with("//"))
        return false;
    if (has_line(text, "trainer:") || has_line(text, "model:")) return false;  // NeMo's
    return is_test_configuration(text) || is_script(text) || is_primus(text);
}

Import read_megatron_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Import found;
    const SourceFile& last = files.back();
    const bool yaml = is_test_configuration(last.text) || !is_script(last.text);
    if (files.size() > 1 && is_test_configuration(last.text)) refuse_file(last.path, "is read alone");
    const MegatronInput input = is_test_configuration(last.text) ? megatron_test_arguments(last, options, found)
                                : yaml                           ? primus_arguments(files, options, found)
                                                                 : megatron_script_arguments(files, options, found);
    return read_megatron_input(input, options, found);
}

}  // namespace

extern const Format megatron{"megatron", "arguments of Megatron-LM", is_megatron_file, read_megatron_files};

}  // namespace weft::formats
