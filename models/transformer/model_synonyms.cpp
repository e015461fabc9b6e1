#include "models/transformer/model_synonyms.hpp"

#include <array>

namespace weft {
namespace {

// After Hugging Face's configurations, the arguments of Megatron-LM and GPT-NeoX, torchtitan, and the papers.
constexpr auto synonyms = std::to_array<Synonym>({
    {"num_layers", "layers"},
    {"n_layers", "layers"},
    {"n_layer", "layers"},
    {"num_hidden_layers", "layers"},
    {"depth", "layers"},
    {"hidden_size", "hidden"},
    {"hidden_dim", "hidden"},
    {"d_model", "hidden"},
    {"n_embd", "hidden"},
    {"dim", "hidden"},
    {"embed_dim", "hidden"},
    {"num_attention_heads", "heads"},
    {"num_heads", "heads"},
    {"n_heads", "heads"},
    {"n_head", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"num_query_groups", "kv_heads"},
    {"num_kv_heads", "kv_heads"},
    {"n_kv_heads", "kv_heads"},
    {"head_dim", "head_size"},
    {"kv_channels", "head_size"},
    {"d_head", "head_size"},
    {"ffn_hidden_size", "ffn_hidden"},
    {"intermediate_size", "ffn_hidden"},
    {"n_inner", "ffn_hidden"},
    {"ffn_dim", "ffn_hidden"},
    {"d_ff", "ffn_hidden"},
    {"vocab_size", "vocabulary"},
    {"padded_vocab_size", "vocabulary"},
    {"vocab", "vocabulary"},
    {"n_vocab", "vocabulary"},
    {"make_vocab_size_divisible_by", "vocabulary_multiple"},
    {"max_position_embeddings", "positions_length"},
    {"n_positions", "positions_length"},
    {"position_embedding_type", "positions"},
    {"pos_emb", "positions"},
    {"normalization", "norm"},
    {"swiglu", "gated"},
    {"tie_word_embeddings", "tied_embeddings"},
    {"untie_embeddings_and_output_weights", "tied_embeddings"},
    {"add_bias_linear", "biases"},
    {"bias", "biases"},
    {"attention_bias", "biases"},
    {"add_qkv_bias", "biases"},
    {"sliding_window", "attention_window"},
    {"window_size", "attention_window"},
    {"qk_layernorm", "query_key_norm"},
    {"qk_norm", "query_key_norm"},
    {"use_parallel_residual", "parallel_residual"},
    {"gpt_j_residual", "parallel_residual"},
    {"mtp_num_layers", "mtp_layers"},
    {"num_nextn_predict_layers", "mtp_layers"},
    {"num_experts", "experts.count"},
    {"num_local_experts", "experts.count"},
    {"n_routed_experts", "experts.count"},
    {"num_experts_per_tok", "experts.top_k"},
    {"moe_router_topk", "experts.top_k"},
    {"moe_topk", "experts.top_k"},
    {"moe_intermediate_size", "experts.ffn_hidden"},
    {"moe_ffn_hidden_size", "experts.ffn_hidden"},
    {"n_shared_experts", "experts.shared"},
    {"first_k_dense_replace", "experts.first_dense"},
    {"moe_layer_freq", "experts.every"},
    {"kv_lora_rank", "latent_attention.kv_rank"},
    {"q_lora_rank", "latent_attention.q_rank"},
    {"qk_nope_head_dim", "latent_attention.nope_size"},
    {"qk_rope_head_dim", "latent_attention.rope_size"},
    {"v_head_dim", "latent_attention.value_size"},
});

}  // namespace

std::span<const Synonym> model_synonyms() { return synonyms; }

}  // namespace weft
