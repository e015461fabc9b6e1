// Configurations of Hugging Face: what they come to, against counts of the released weights and counts by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>

#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Import imported(std::string text, const std::vector<std::string>& overrides = {}) {
    const std::vector<SourceFile> files{{"config.json", std::move(text)}};
    return import_files(format_of(files, ""), files, {.overrides = overrides});
}

std::string refusal(std::string text) {
    try {
        return "imported: " + imported(std::move(text)).object.text();
    } catch (const ConfigError& error) {
        return error.what();
    }
}

std::string fact(const Import& import, std::string_view name) {
    for (const FormatFact& found : import.facts) {
        if (found.name == name) return found.json;
    }
    return {};
}

std::string notes(const Import& import) {
    std::string text;
    for (const FormatNote& note : import.notes) text += note.origin.key + ": " + note.message + "\n";
    return text;
}

struct Release {
    std::string_view name;
    std::string_view config;
    std::uint64_t parameters;  // of the weights as their model cards or papers tell them
};
std::ostream& operator<<(std::ostream& out, const Release& release) { return out << release.name; }

// Sizes as the published config.json files have them. Gemma 4 has 60 more: a scalar of each layer.
const Release releases[] = {
    {"nemotron_3_super", R"({"model_type": "nemotron_h", "hidden_size": 4096, "num_hidden_layers": 88,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
        "intermediate_size": 2688, "vocab_size": 131072, "mamba_num_heads": 128,
        "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4,
        "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
        "n_routed_experts": 512, "num_experts_per_tok": 22, "moe_intermediate_size": 2688,
        "moe_latent_size": 1024, "moe_shared_expert_intermediate_size": 5376,
        "mtp_hybrid_override_pattern": "*E", "use_mamba_kernels": true})",
     120'668'707'840},
    {"qwen3_5_122b", R"({"model_type": "qwen3_5_moe", "text_config": {"model_type": "qwen3_5_moe_text",
        "hidden_size": 3072, "num_hidden_layers": 48, "num_attention_heads": 32,
        "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 248320,
        "linear_num_value_heads": 64, "linear_num_key_heads": 16, "num_experts": 256,
        "num_experts_per_tok": 8, "moe_intermediate_size": 1024,
        "shared_expert_intermediate_size": 1024, "attn_output_gate": true,
        "full_attention_interval": 4, "mtp_num_hidden_layers": 1}})",
     122'111'526'912},
    {"kimi_linear_48b", R"({"model_type": "kimi_linear", "hidden_size": 2304, "num_hidden_layers": 27,
        "num_attention_heads": 32, "intermediate_size": 9216, "vocab_size": 163840,
        "kv_lora_rank": 512, "q_lora_rank": null, "mla_use_nope": true, "num_experts": 256,
        "num_experts_per_token": 8, "num_shared_experts": 1, "moe_intermediate_size": 1024,
        "first_k_dense_replace": 1, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20,
        24, 27], "num_heads": 32, "head_dim": 128, "short_conv_kernel_size": 4}})",
     49'122'681'728},
    {"deepseek_v3_2", R"({"model_type": "deepseek_v32", "num_nextn_predict_layers": 1})", 671'877'944'064},
    {"qwen3_next_80b", R"({"model_type": "qwen3_next"})", 79'674'391'296},
    {"minimax_text_01", R"({"model_type": "minimax_text_01", "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
        0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
        0, 0, 0, 0, 0, 0, 0, 1]})",
     456'089'655'296},
    {"minimax_m3", R"({"model_type": "minimax_m3_vl", "text_config": {"hidden_size": 6144,
        "num_hidden_layers": 60, "num_attention_heads": 64, "num_key_value_heads": 4,
        "head_dim": 128, "intermediate_size": 3072, "dense_intermediate_size": 12288,
        "vocab_size": 200064, "num_local_experts": 128, "num_experts_per_tok": 4,
        "n_shared_experts": 1, "shared_intermediate_size": 3072, "moe_layer_freq": [0, 0, 0, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        "use_qk_norm": true, "use_routing_bias": true,
        "sparse_attention_config": {"sparse_attention_freq": [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "sparse_num_index_heads": 4,
        "sparse_index_dim": 128, "sparse_block_size": 128, "sparse_topk_blocks": 16}}})",
     426'174'572'928},
    {"mimo_v2_flash", R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "num_hidden_layers": 48,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
        "intermediate_size": 16384, "vocab_size": 152576, "sliding_window": 128,
        "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192,
        "swa_v_head_dim": 128, "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1,
        1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1,
        1, 1, 1, 0], "moe_layer_freq": [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        "moe_intermediate_size": 2048, "n_routed_experts": 256, "num_experts_per_tok": 8,
        "add_swa_attention_sink_bias": true, "add_full_attention_sink_bias": false})",
     308'778'780'864},
    {"step_3_5_flash", R"({"model_type": "step3p5", "hidden_size": 4096, "num_hidden_layers": 45,
        "num_attention_heads": 64, "num_attention_groups": 8, "head_dim": 128,
        "intermediate_size": 11264, "vocab_size": 128896, "sliding_window": 512,
        "attention_other_setting": {"attention_type": "sliding_attention", "head_dim": 128,
        "num_attention_groups": 8, "num_attention_heads": 96, "true_head_dim": 128},
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
        "sliding_attention"],
        "moe_layers_enum": "3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44",
        "moe_num_experts": 288, "moe_top_k": 8, "moe_intermediate_size": 1280,
        "share_expert_dim": 1280, "use_moe_router_bias": true, "use_qk_norm": true,
        "use_head_wise_attn_gate": true})",
     196'956'130'368},
    {"gemma_4_31b", R"({"model_type": "gemma4_text", "hidden_size": 5376, "num_hidden_layers": 60,
        "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 256,
        "global_head_dim": 512, "num_global_key_value_heads": 4, "attention_k_eq_v": true,
        "intermediate_size": 21504, "vocab_size": 262144, "sliding_window": 1024,
        "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
        "full_attention"], "enable_moe_block": false})",
     30'697'345'280},
    {"gpt2", R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
                 "vocab_size": 50257})",
     124'439'808},
    {"bloom_7b1", R"({"model_type": "bloom", "n_embed": 4096, "n_layer": 30, "num_attention_heads": 32,
                      "vocab_size": 250880})",
     7'069'016'064},
    {"gpt_j", R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "vocab_size": 50400,
                  "tie_word_embeddings": false})",
     6'050'882'784},
    {"gpt_neo_2_7b", R"({"model_type": "gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads": 20,
                         "vocab_size": 50257, "attention_types": [[["global", "local"], 16]]})",
     2'651'307'520},
    {"pythia_6_9b", R"({"model_type": "gpt_neox", "hidden_size": 4096, "intermediate_size": 16384,
                        "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 50432})",
     6'857'302'016},
    {"opt_6_7b", R"({"model_type": "opt", "hidden_size": 4096, "ffn_dim": 16384, "num_hidden_layers": 32,
                     "num_attention_heads": 32, "max_position_embeddings": 2048, "word_embed_proj_dim": 4096})",
     6'658'473'984},
    {"starcoder", R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner": 24576,
                      "n_positions": 8192, "vocab_size": 49152, "multi_query": true})",
     15'517'456'384},
    {"starcoder2_7b", R"({"model_type": "starcoder2", "hidden_size": 4608, "intermediate_size": 18432,
                          "num_hidden_layers": 32, "num_attention_heads": 36, "num_key_value_heads": 4,
                          "vocab_size": 49152, "sliding_window": 4096, "use_bias": true})",
     7'173'923'840},
    {"falcon_180b", R"({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80,
                        "num_attention_heads": 232, "num_kv_heads": 8, "new_decoder_architecture": true,
                        "vocab_size": 65024, "tie_word_embeddings": false})",
     179'522'565'120},
    {"phi_2", R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32,
                  "num_attention_heads": 32, "vocab_size": 51200})",
     2'779'683'840},
    {"phi_3_5_moe", R"({"model_type": "phimoe", "hidden_size": 4096, "intermediate_size": 6400,
                        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                        "vocab_size": 32064, "num_local_experts": 16, "num_experts_per_tok": 2,
                        "attention_bias": true, "lm_head_bias": true, "sliding_window": 131072})",
     41'873'153'344},
    {"gemma_2_9b", R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336,
                       "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8,
                       "head_dim": 256, "vocab_size": 256000})",
     9'241'705'984},
    {"gemma_3_1b", R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
                       "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
                       "head_dim": 256, "vocab_size": 262144, "sliding_window": 512})",
     999'885'952},
    {"olmo_7b", R"({"model_type": "olmo", "hidden_size": 4096, "intermediate_size": 11008,
                    "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 50304})",
     6'888'095'744},
    {"olmo_2_7b", R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008,
                      "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 100352})",
     7'298'617'344},
    {"olmoe", R"({"model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024, "num_hidden_layers": 16,
                  "num_attention_heads": 16, "vocab_size": 50304, "num_experts": 64, "num_experts_per_tok": 8})",
     6'919'161'856},
    {"qwen1_5_moe", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
                        "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16,
                        "vocab_size": 151936, "moe_intermediate_size": 1408,
                        "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4})",
     14'315'784'192},
    {"deepseek_v2_lite", R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
                             "num_hidden_layers": 27, "num_attention_heads": 16, "vocab_size": 102400,
                             "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
                             "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1,
                             "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
                             "qk_rope_head_dim": 64, "v_head_dim": 128, "num_key_value_heads": 16})",
     15'706'484'224},
    {"command_r_plus", R"({"model_type": "cohere", "hidden_size": 12288, "intermediate_size": 33792,
                           "num_hidden_layers": 64, "num_attention_heads": 96, "num_key_value_heads": 8,
                           "vocab_size": 256000, "use_qk_norm": true})",
     103'810'674'688},
    {"dbrx", R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
                 "attn_config": {"clip_qkv": 8, "kv_n_heads": 8},
                 "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})",
     131'596'523'520},
    {"stablelm_2_1_6b", R"({"model_type": "stablelm", "hidden_size": 2048, "intermediate_size": 5632,
                            "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 32,
                            "vocab_size": 100352, "use_qkv_bias": true})",
     1'644'515'328},
    {"qwen_7b", R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016,
                    "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 151936, "no_bias": true})",
     7'721'324'544},
    {"seed_oss_36b", R"({"model_type": "seed_oss", "hidden_size": 5120, "intermediate_size": 27648,
                         "num_hidden_layers": 64, "num_attention_heads": 80, "num_key_value_heads": 8,
                         "head_dim": 128, "vocab_size": 155136, "attention_bias": true})",
     36'151'104'512},
};

class huggingface_release : public ::testing::TestWithParam<Release> {};
TEST_P(huggingface_release, has_the_parameters_of_its_weights) {
    EXPECT_EQ(fact(imported(std::string(GetParam().config)), "parameters"), std::to_string(GetParam().parameters));
}
INSTANTIATE_TEST_SUITE_P(formats, huggingface_release, ::testing::ValuesIn(releases),
                         [](const auto& info) { return std::string(info.param.name); });

// Tensor by tensor, as modeling_qwen2_moe.py builds a model of six layers, of which every second has experts.
TEST(huggingface, counts_a_model_with_few_layers_of_experts_tensor_by_tensor) {
    const std::uint64_t h = 64, kv = 2 * 8, attention = h * h + h + 2 * (h * kv + kv) + h * h, norms = 2 * h;
    const std::uint64_t dense = 3 * h * 160, expert = 3 * h * 48, shared = 3 * h * 96 + h;
    const std::uint64_t rest = 1000 * h + h + 6 * (attention + norms) + 3 * (dense + h * 4 + shared);
    const Import import = imported(R"({"model_type": "qwen2_moe", "vocab_size": 1000, "hidden_size": 64,
        "num_hidden_layers": 6, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 160,
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 48,
        "shared_expert_intermediate_size": 96, "decoder_sparse_step": 2, "tie_word_embeddings": true})");
    EXPECT_EQ(fact(import, "parameters"), std::to_string(rest + 3 * 4 * expert));
    EXPECT_EQ(fact(import, "active_parameters"), std::to_string(rest + 3 * 2 * expert));
}

// Language model and encoder of images together, as the weights' own index files count them.
TEST(huggingface, an_encoder_has_the_parameters_of_its_weights) {
    const auto parameters = [](std::string text) {
        const std::vector<SourceFile> files{{"config.json", std::move(text)}};
        return fact(import_files(format_of(files, ""), files, {.encoder = true}), "parameters");
    };
    const std::string qwen = R"("hidden_size": 3584, "intermediate_size": 18944, "max_window_layers": 28,
        "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064,
        "tie_word_embeddings": false, "use_sliding_window": false, "vision_config": {"depth": 32, "num_heads": 16,
        "in_chans": 3, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, )";
    EXPECT_EQ(parameters(R"({"model_type": "qwen2_vl", )" + qwen + R"("embed_dim": 1280, "mlp_ratio": 4}})"),
              "8291375616");
    EXPECT_EQ(parameters(R"({"model_type": "qwen2_5_vl", )" + qwen +
                         R"("hidden_size": 1280, "intermediate_size": 3420, "window_size": 112,
                            "fullatt_block_indexes": [7, 15, 23, 31]}})"),
              "8292166656");
    EXPECT_EQ(parameters(R"({"model_type": "qwen3_vl", "tie_word_embeddings": false, "text_config": {
                  "model_type": "qwen3_vl_text", "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
                  "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936},
                  "vision_config": {"deepstack_visual_indexes": [8, 16, 24], "depth": 27, "hidden_size": 1152,
                  "in_channels": 3, "intermediate_size": 4304, "num_heads": 16, "num_position_embeddings": 2304,
                  "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2}})"),
              "8767123696");
    const std::string siglip = R"("num_attention_heads": 16, "patch_size": 14, )";
    EXPECT_EQ(parameters(R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {
                  "model_type": "gemma3_text", "head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
                  "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16,
                  "sliding_window": 1024}, "vision_config": {)" +
                         siglip + R"("hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
                                     "num_hidden_layers": 27}})"),
              "27432406640");
    EXPECT_EQ(parameters(R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
                  "vision_config": {)" +
                         siglip + R"("hidden_size": 1024, "image_size": 336, "intermediate_size": 4096,
                                     "num_hidden_layers": 24}})"),
              "7063427072");
    EXPECT_THROW(parameters(R"({"model_type": "mllama", "text_config": {"model_type": "llama"},
                                "vision_config": {}})"),
                 ConfigError);
}

TEST(huggingface, takes_defaults_of_the_class_and_says_so) {
    const Import import = imported(R"({"model_type": "gemma3", "vision_config": {"depth": 27},
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34,
                        "intermediate_size": 10240, "sliding_window": 1024}})");
    EXPECT_EQ(fact(import, "parameters"), "3880263168");
    EXPECT_THAT(import.object.text(), HasSubstr("num_attention_heads of gemma3_text"));
    EXPECT_THAT(notes(import), HasSubstr("sliding_window: 29 of 34 layers attend to the last 1024 tokens"));
    EXPECT_THAT(notes(import), HasSubstr("vision_config"));
}

const std::string small =
    R"("hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 100)";

TEST(huggingface, finds_which_layers_have_a_window) {
    const auto window = [](const std::string& keys) {
        const std::string text = imported("{" + small + ", " + keys + "}").object.json();
        const std::size_t at = text.find("\"attention_window\"");
        return at == std::string::npos ? "" : text.substr(at + 19, text.find('}', at) - at - 18);
    };
    EXPECT_EQ(window(R"("model_type": "mistral")"), R"({"tokens":4096})");
    EXPECT_EQ(window(R"("model_type": "mistral", "sliding_window": null)"), "");
    EXPECT_EQ(window(R"("model_type": "qwen2", "sliding_window": 32, "use_sliding_window": false)"), "");
    EXPECT_EQ(window(R"("model_type": "qwen2", "sliding_window": 32, "use_sliding_window": true,
                        "max_window_layers": 5)"),
              R"({"tokens":32,"first_full":5})");
    EXPECT_EQ(window(R"("model_type": "gpt_neo")"), R"({"tokens":256,"first_full":1,"full_every":2})");
    EXPECT_EQ(window(R"("model_type": "llama4_text")"),
              R"({"tokens":8192,"chunked":true,"full_rotary":false,"full_every":4})");
}

TEST(huggingface, refuses_layers_that_are_not_alike_key_by_key) {
    const std::string text = refusal("{" + small + R"(, "model_type": "llama", "mamba_d_state": 16,
        "num_kv_shared_layers": 2, "attention_k_eq_v": false})");
    EXPECT_THAT(text, HasSubstr("config.json:1: error: mamba_d_state"));
    EXPECT_THAT(text, HasSubstr("num_kv_shared_layers"));
    EXPECT_THAT(text, Not(HasSubstr("attention_k_eq_v")));
    EXPECT_THAT(refusal("{" + small + R"(, "model_type": "olmo3", "layer_types": ["full_attention",
        "linear_attention"]})"),
                HasSubstr("no \"linear_attention\""));
    EXPECT_THAT(refusal(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "MR*"})"),
                HasSubstr("hybrid_override_pattern: weft knows no layers \"R\""));
    EXPECT_THAT(refusal(R"({"model_type": "nemotron_h"})"), HasSubstr("expected the kind of each layer"));
    EXPECT_THAT(refusal("{" + small + R"(, "model_type": "olmo3", "layer_types": ["full_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "full_attention", "full_attention",
        "full_attention"], "mlp_only_layers": [3], "num_experts": 8, "num_experts_per_tok": 2})"),
                HasSubstr("both windows and experts follow no rule"));
    EXPECT_THAT(refusal("{" + small + R"(, "model_type": "opt", "word_embed_proj_dim": 32})"),
                HasSubstr("word_embed_proj_dim"));
}

// A config.json with no more than the type is the class's default; a few classes have none that makes a model.
TEST(huggingface, every_class_has_defaults_that_make_a_model) {
    for (const char* const type :
         {"llama",       "mistral",   "mixtral",     "qwen",        "qwen2",      "qwen2_moe",
          "qwen3",       "qwen3_moe", "llama4_text", "deepseek_v3", "kimi_k2",    "dots1",
          "gpt_oss",     "gpt2",      "gpt_bigcode", "gpt_neo",     "gptj",       "codegen",
          "gpt_neox",    "opt",       "bloom",       "mpt",         "dbrx",       "falcon",
          "RefinedWeb",  "phi",       "phi3",        "phimoe",      "gemma",      "gemma2",
          "gemma3_text", "olmo",      "stablelm",    "cohere",      "cohere2",    "granite",
          "granitemoe",  "glm",       "glm4",        "glm4_moe",    "chatglm",    "internlm2",
          "internlm3",   "baichuan",  "starcoder2",  "nemotron",    "persimmon",  "exaone",
          "exaone4",     "seed_oss",  "smollm3",     "ernie4_5",    "minimax_m2", "hunyuan_v1_dense",
          "minicpm",     "arcee",     "helium",      "mimo",        "orion",      "internlm"}) {
        const Import import = imported(std::string(R"({"model_type": ")") + type + "\"}");
        EXPECT_GT(std::stoull(fact(import, "parameters")), 10'000'000U) << type;
        EXPECT_THAT(import.object.text(), HasSubstr(std::string(" of ") + type)) << type;
    }
}

// What terms of the classes make of keys.
struct Term {
    std::string_view keys, made;  // made: part of the object; with '!' before it, not part
};
std::ostream& operator<<(std::ostream& out, const Term& term) { return out << term.keys; }
class huggingface_term : public ::testing::TestWithParam<Term> {};
TEST_P(huggingface_term, says_what_layers_are) {
    const std::string json = imported("{" + small + ", " + std::string(GetParam().keys) + "}").object.json();
    const std::string made(GetParam().made);
    if (made.starts_with('!')) {
        EXPECT_THAT(json, Not(HasSubstr(made.substr(1))));
    } else {
        EXPECT_THAT(json, HasSubstr(made));
    }
}
const Term terms[] = {
    {R"("model_type": "llama")", R"("biases":false)"},
    {R"("model_type": "llama", "attention_bias": true)", R"("biases":["qkv", "projection"])"},
    {R"("model_type": "llama", "mlp_bias": true)", R"("biases":["mlp"])"},
    {R"("model_type": "qwen2")", R"("biases":["qkv"])"},
    {R"("model_type": "qwen", "no_bias": false)", R"("biases":["qkv", "projection", "mlp"])"},
    {R"("model_type": "qwen", "intermediate_size": 256)", R"("ffn_hidden":128)"},
    {R"("model_type": "qwen3")", R"("query_key_norm":"per_head")"},
    {R"("model_type": "cohere", "use_qk_norm": true)", R"("query_key_norm":"whole")"},
    {R"("model_type": "llama4_text")", R"("query_key_norm":"unweighted")"},
    {R"("model_type": "gpt_oss", "layer_types": ["full_attention", "full_attention", "full_attention",
        "full_attention", "full_attention", "full_attention", "full_attention", "full_attention"])",
     R"("attention_sinks":true)"},
    {R"("model_type": "gpt_neox")", R"("parallel_residual":true)"},
    {R"("model_type": "gpt_neox", "use_parallel_residual": false)", R"(!"parallel_residual")"},
    {R"("model_type": "gptj")", R"("norm_placement":"shared")"},
    {R"("model_type": "gemma2")", R"("norm_placement":"sandwich")"},
    {R"("model_type": "exaone4")", R"("norm_placement":"post")"},
    {R"("model_type": "olmo")", R"("norm_weight":false)"},
    {R"("model_type": "dbrx")", R"("norm_bias":false)"},
    {R"("model_type": "bloom")", R"("embedding_norm":true)"},
    {R"("model_type": "bloom")", R"("positions":"alibi")"},
    {R"("model_type": "opt", "max_position_embeddings": 128)", R"("positions_length":130)"},
    {R"("model_type": "mpt", "attn_config": {"alibi": false})", R"("positions":"learned")"},
    {R"("model_type": "baichuan")", R"("positions":"alibi")"},
    {R"("model_type": "baichuan", "max_position_embeddings": 4096)", R"("positions":"rotary")"},
    {R"("model_type": "falcon", "alibi": true)", R"("positions":"alibi")"},
    {R"("model_type": "falcon")", R"("kv_heads":1)"},
    {R"("model_type": "falcon", "multi_query": false)", R"("kv_heads":8)"},
    {R"("model_type": "falcon", "new_decoder_architecture": true)", R"("kv_heads":8)"},
    {R"("model_type": "falcon", "new_decoder_architecture": true)", R"(!"norm_placement")"},
    {R"("model_type": "falcon", "new_decoder_architecture": true, "num_ln_in_parallel_attn": 1)",
     R"("norm_placement":"shared")"},
    {R"("model_type": "chatglm", "multi_query_attention": true, "multi_query_group_num": 2)", R"("kv_heads":8)"},
    {R"("model_type": "chatglm", "rmsnorm": false)", R"("norm":"layer_norm")"},
    {R"("model_type": "mixtral", "num_local_experts": 4)", R"("experts":{"count":4,"top_k":2)"},
    {R"("model_type": "qwen2_moe", "num_experts": 4)", R"("shared_gate":true)"},
    {R"("model_type": "deepseek_v3", "first_k_dense_replace": 2, "n_routed_experts": 8)", R"("first_dense":2)"},
    {R"("model_type": "phi3", "head_dim": 16)", R"("head_size":16)"},
    {R"("model_type": "gpt2")", R"("tied_embeddings":true)"},
    {R"("model_type": "gpt2", "tie_word_embeddings": false)", R"("tied_embeddings":false)"},
    // Which layers have experts, and which a window.
    {R"("model_type": "qwen3_moe", "num_experts": 8, "decoder_sparse_step": 2)", R"("first_dense":1,"every":2)"},
    {R"("model_type": "qwen3_moe", "num_experts": 8, "mlp_only_layers": [0, 1])", R"("first_dense":2})"},
    {R"("model_type": "qwen3_moe", "num_experts": 8, "mlp_only_layers": [0, 1, 2, 3, 4, 5, 6, 7])", R"(!"experts")"},
    {R"("model_type": "llama4_text", "interleave_moe_layer_step": 2)", R"("first_dense":1,"every":2)"},
    {R"("model_type": "llama4_text", "moe_layers": [1, 3, 5, 7])", R"("first_dense":1,"every":2)"},
    {R"("model_type": "deepseek_v2", "n_routed_experts": 8, "num_experts_per_tok": 2,
        "moe_layer_freq": [0, 1, 1, 1, 1, 1, 1, 1])",
     R"("first_dense":1})"},
    {R"("model_type": "deepseek_v2", "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_layer_freq": 2)",
     R"("every":2})"},
    {R"("model_type": "ernie4_5_moe", "moe_layer_interval": 2, "moe_layer_end_index": 7)",
     R"("first_dense":1,"every":2)"},
    {R"("model_type": "qwen3_moe", "num_experts": 8, "mlp_only_layers": [3])",
     R"("layer_kinds":{"experts":{},"mlp":{"feed_forward":"mlp"}},"layer_pattern":["experts", "experts", "experts", "mlp", )"
     R"("experts")"},
    {R"("model_type": "olmo3", "layer_types": ["full_attention", "full_attention", "sliding_attention",
        "full_attention", "sliding_attention", "sliding_attention", "full_attention", "full_attention"])",
     R"("layer_kinds":{"windowed":{"attention_window":{"tokens":4096}},"full":{}},"layer_pattern":["full", "full", )"
     R"("windowed")"},
    {R"("model_type": "gemma3_text", "sliding_window_pattern": 3)",
     R"("attention_window":{"tokens":4096,"full_every":3})"},
    {R"("model_type": "gemma2", "sliding_window": 64)", R"("attention_window":{"tokens":64,"full_every":2})"},
    {R"("model_type": "cohere2")", R"("full_every":4)"},
    {R"("model_type": "phi3", "sliding_window": 2047)", R"("attention_window":{"tokens":2047})"},
    {R"("model_type": "qwen3", "use_sliding_window": true, "max_window_layers": 6)", R"("first_full":6)"},
    {R"("model_type": "gemma3_text", "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
        "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention"])",
     R"("full_every":2)"},
    {R"("model_type": "gpt_neo", "attention_types": [[["local", "local", "global"], 2], [["local"], 2]])",
     R"("full_every":3)"},
};
INSTANTIATE_TEST_SUITE_P(formats, huggingface_term, ::testing::ValuesIn(terms));

TEST(huggingface, names_the_nearest_of_the_types_that_it_knows) {
    EXPECT_THAT(refusal(R"({"model_type": "qwen9"})"),
                HasSubstr("weft knows no model of type \"qwen9\", did you mean"));
    EXPECT_THAT(refusal(R"({"model_type": ""})"), HasSubstr("expected the model's type"));
}

TEST(huggingface, notes_what_is_left_out) {
    const Import import = imported("{" + small + R"(, "model_type": "llama", "quantization_config": {"bits": 4},
        "num_nextn_predict_layers": 1, "rope_theta": 10000.0, "attention_feature_x": 3})");
    EXPECT_THAT(notes(import), HasSubstr("quantization_config"));
    EXPECT_THAT(notes(import), HasSubstr("num_nextn_predict_layers"));
    EXPECT_THAT(notes(import), HasSubstr("attention_feature_x: not known to weft"));
    EXPECT_THAT(notes(import), Not(HasSubstr("rope_theta")));
}

TEST(huggingface, does_not_note_what_is_off_or_said_elsewhere) {
    const Import import = imported("{" + small + R"(, "model_type": "llama", "sink": false, "num_reward_heads": 0,
        "mlp_only_layers": [], "finetuning_task": "x", "vision_feature_layer": 2, "num_beams": 4, "top_k": 50,
        "diversity_penalty": 0.5, "_name_or_path": "m", "sep_token_id": 3, "use_mtp": true, "num_mtp_modules": 3})");
    EXPECT_EQ(import.notes.size(), 1u) << notes(import);
    EXPECT_THAT(notes(import), HasSubstr("modules that predict further tokens are left out"));
}

TEST(huggingface, is_overridden_by_the_user) {
    const Import import = imported("{" + small + R"(, "model_type": "llama"})", {"layers=2"});
    EXPECT_THAT(import.object.json(), HasSubstr("\"layers\":2"));
}

TEST(huggingface, tells_bad_values_at_their_place) {
    EXPECT_THAT(refusal("{\n\"model_type\": \"llama\",\n\"hidden_size\": -64}"),
                HasSubstr("config.json:3: error: hidden (hidden_size)"));
    EXPECT_THAT(refusal("{\n\"model_type\": \"llama\",\n\"num_hidden_layers\": 1e30}"),
                HasSubstr("config.json:3: error: layers (num_hidden_layers)"));
    EXPECT_THAT(refusal("{\n\"model_type\": \"llama\",\n\"num_attention_heads\": \"many\"}"),
                HasSubstr("config.json:3"));
    EXPECT_THAT(refusal("{\n\"model_type\": \"llama\",\n\"vocab_size\": Infinity}"), HasSubstr("config.json:3"));
    EXPECT_THAT(refusal(R"({"model_type": 7, "architectures": ["XForCausalLM"]})"), HasSubstr("config.json:1"));
    EXPECT_THAT(refusal(R"({"model_type": "llama", "hidden_size": )"), HasSubstr("config.json"));
    EXPECT_THAT(refusal(R"({"model_type": "gpt_neo", "attention_types": [[["local"], 4e9]]})"),
                HasSubstr("config.json"));
}

}  // namespace
}  // namespace weft
