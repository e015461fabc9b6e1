// Transformers and shards for tests: plain ones by hand, arbitrary ones from rapidcheck.
#pragma once

#include <rapidcheck.h>

#include "models/transformer/kernels.hpp"
#include "models/transformer/transformer.hpp"

namespace weft::testing {

// A GPT of the papers' formulae: MLP of 4h, as many key-value heads as heads.
inline Transformer plain(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t vocabulary) {
    Transformer model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = model.kv_heads = heads;
    model.head_size = hidden / heads;
    model.ffn_hidden = 4 * hidden;
    model.vocabulary = vocabulary;
    return model;
}

inline bool any_flag() { return *rc::gen::arbitrary<bool>(); }

// Any model that `tensor` ranks can share.
inline Transformer any_model(std::uint32_t tensor) {
    Transformer model;
    model.layers = *rc::gen::inRange(1U, 100U);
    model.kv_heads = tensor * *rc::gen::inRange(1U, 9U);
    model.heads = model.kv_heads * *rc::gen::inRange(1U, 9U);
    model.head_size = 8 * *rc::gen::inRange(1U, 33U);
    model.hidden = 8 * *rc::gen::inRange(1U, 3000U);
    model.ffn_hidden = tensor * *rc::gen::inRange(1U, 10000U);
    model.vocabulary = *rc::gen::inRange(1U, 300000U);
    model.vocabulary_multiple = *rc::gen::element(1U, 64U, 128U);
    model.gated = any_flag();
    model.tied_embeddings = any_flag();
    model.parallel_residual = any_flag();
    model.biases = any_flag();
    model.positions = *rc::gen::element(Positions::rotary, Positions::learned, Positions::alibi, Positions::none);
    model.positions_length = model.positions == Positions::learned ? *rc::gen::inRange(1U, 9000U) : 0U;
    model.norm = *rc::gen::element(Norm::layer_norm, Norm::rms_norm);
    return model;
}

inline std::uint32_t any_tensor() { return *rc::gen::element(1U, 2U, 3U, 4U, 8U, 16U); }

inline Shard any_shard(std::uint32_t tensor) {
    return {.micro_batch = *rc::gen::inRange(1U, 17U),
            .sequence = *rc::gen::inRange(1U, 9000U),
            .tensor = tensor,
            .element_bytes = *rc::gen::element(2.0, 4.0),
            .attention = *rc::gen::element(AttentionCore::unfused, AttentionCore::flash),
            .sequence_parallel = *rc::gen::element(SequenceParallel::off, SequenceParallel::on)};
}

// Any model with experts that `tensor` x `expert` ranks can share, and any shard of it, with each expert on one or all
// of the tensor ranks and sequence parallelism, so that no router works twice.
inline Transformer any_expert_model(std::uint32_t tensor, std::uint32_t expert) {
    Transformer model = any_model(tensor);
    model.experts.count = expert * *rc::gen::inRange(1U, 9U);
    model.experts.top_k = *rc::gen::inRange(1U, model.experts.count + 1);
    model.experts.ffn_hidden = tensor * *rc::gen::inRange(1U, 2000U);
    model.experts.shared = *rc::gen::inRange(0U, 3U);
    model.experts.shared_ffn_hidden = tensor * *rc::gen::inRange(1U, 2000U);
    model.experts.first_dense = *rc::gen::inRange(0U, model.layers);
    model.experts.every = *rc::gen::inRange(1U, 5U);
    return model;
}

inline Shard any_expert_shard(std::uint32_t tensor, std::uint32_t expert) {
    Shard shard = any_shard(tensor);
    shard.sequence_parallel = SequenceParallel::on;
    shard.expert = expert;
    shard.expert_tensor = *rc::gen::element(1U, tensor);
    shard.context = *rc::gen::element(1U, 2U, 4U);
    shard.sequence *= 8;
    return shard;
}

}  // namespace weft::testing
