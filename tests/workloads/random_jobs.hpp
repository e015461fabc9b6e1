// Jobs of every framework with settings drawn at random, small enough to run every rank on its own.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace weft::test {

using Settings = std::vector<std::string>;

inline const Settings small{"model.layers=8",     "model.hidden=256", "model.heads=8",   "model.vocabulary=1024",
                            "batch.sequence=192", "batch.micro=1",    "layout.tensor=1", "layout.pipeline=1"};

inline std::string key(const std::string& name, std::uint32_t value) { return name + "=" + std::to_string(value); }

template <class Value>
Value one_of(std::initializer_list<Value> values) {
    return *rc::gen::elementOf(std::vector<Value>(values));
}
inline std::string flag(const std::string& name) { return name + one_of<std::string>({"=true", "=false"}); }

inline Settings random_megatron() {
    Settings settings{"framework=megatron",
                      flag("sequence_parallel"),
                      flag("overlap_gradients"),
                      key("zero", one_of({0U, 1U})),
                      flag("megatron.fused_cross_entropy"),
                      flag("megatron.variable_sequence"),
                      flag("model.tied_embeddings")};
    const auto schedule = one_of<std::string>({"1f1b", "gpipe", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe"});
    settings.push_back("schedule=" + schedule);
    if (schedule == "interleaved") settings.push_back("layout.virtual_stages=2");
    settings.push_back("context_method=" + one_of<std::string>({"ring", "all_gather", "all_to_all"}));
    if (one_of({false, true})) {
        settings.insert(settings.end(), {"model.experts.count=8", key("model.experts.top_k", one_of({1U, 2U})),
                                         key("layout.expert", one_of({1U, 2U, 4U}))});
        if (schedule == "interleaved" && one_of({false, true})) {
            settings.insert(settings.end(), {"megatron.version=core-0.14", "experts.overlap=passes",
                                             flag("experts.delay_weight_gradients")});
        }
    }
    settings.push_back("megatron.version=" + one_of<std::string>({"core-0.8", "core-0.13"}));
    if (settings[2] == "overlap_gradients=true") settings.push_back(flag("megatron.overlap_parameters"));
    return settings;
}

inline Settings random_deepspeed() {
    Settings settings{"framework=deepspeed",
                      key("zero", one_of({0U, 1U, 2U, 3U})),
                      "context_method=all_to_all",
                      flag("deepspeed.pipe_partitioned"),
                      flag("deepspeed.grad_partitioned"),
                      flag("deepspeed.attention_mask"),
                      flag("deepspeed.log_calls"),
                      flag("model.parallel_residual"),
                      "schedule=" + one_of<std::string>({"1f1b", "gpipe"}),
                      "optimizer=" + one_of<std::string>({"adam", "adam", R"({"states": "host"})"})};
    if (settings[1] == "zero=3") {
        settings.insert(settings.end(), {flag("deepspeed.quantized_weights"), flag("deepspeed.quantized_gradients"),
                                         key("deepspeed.hierarchical_ranks", one_of({1U, 2U, 4U, 8U})),
                                         key("deepspeed.persistence_elements", one_of({0U, 100U, 100000U})),
                                         key("deepspeed.prefetch_elements", one_of({0U, 300000U, 50000000U})),
                                         key("deepspeed.max_live_elements", one_of({300000U, 1000000000U})),
                                         key("deepspeed.max_reuse_elements", one_of({0U, 1000000000U}))});
    } else {
        settings.push_back(key("layout.expert", one_of({1U, 1U, 2U, 4U})));
        if (one_of({false, true})) settings.push_back("model.experts.count=8");
    }
    return settings;
}

inline Settings random_fsdp() {
    const auto version = one_of({1U, 2U});
    return {
        "framework=fsdp",
        "fsdp.strategy=" + one_of<std::string>({"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}),
        key("fsdp.version", version),
        flag("fsdp.accumulate_locally"),
        flag("fsdp.forward_prefetch"),
        "fsdp.backward_prefetch=" + (version == 1 ? one_of<std::string>({"pre", "post", "none"}) : "pre"),
        "fsdp.reduce_precision=" + one_of<std::string>({"parameters", "fp32"})};
}

inline std::string random_recompute(const std::string& framework) {
    const std::string word = one_of<std::string>({"none", "selective", "full"});
    if (framework == "fsdp") return one_of<std::string>({word, R"({"method": "every", "layers": 2})"});
    if (framework == "ddp" || framework == "deepspeed") return word;
    const std::string groups = R"({"method": "uniform", "layers": 2})";
    return one_of<std::string>({word, word, groups, R"({"method": "block", "layers": 1})",
                                R"({"modules": ["core_attn", "mlp"]})", R"({"modules": ["moe"]})"});
}

// Layers that differ: of every mixer, with every feed-forward, in some order.
inline Settings random_kinds() {
    std::string kinds, pattern;
    const std::uint32_t count = one_of({1U, 2U, 3U, 5U});
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string name(1, static_cast<char>('A' + i));
        const auto mixer =
            one_of<std::string>({"attention", "mamba2", "gated_delta", "kimi_delta", "lightning", "none"});
        kinds += (kinds.empty() ? "\"" : ", \"") + name + R"(": {"mixer": ")" + mixer + "\"";
        if (mixer == "attention") {
            kinds += one_of<std::string>({"", R"(, "kv_heads": 4)", R"(, "attention_window": {"tokens": 48})",
                                          R"(, "attention_gate": "elements", "positions": "none")",
                                          R"(, "heads": 16, "head_size": 16, "value_size": 32)"});
        }
        if (mixer != "none")
            kinds += one_of<std::string>({"", R"(, "feed_forward": "none")", R"(, "ffn_hidden": 512)"});
        kinds += "}";
        pattern += name;
    }
    for (std::uint32_t i = 0; i < 3; ++i) pattern += one_of<std::string>({"A", pattern.substr(pattern.size() - 1)});
    return {"model.recurrence=" + std::string(R"({"heads": 16, "key_heads": 8, "key_size": 32, "chunk": 32})"),
            "model.layer_kinds={" + kinds + "}", "model.layer_pattern=" + pattern};
}

inline Settings random_job() {
    const std::string framework =
        one_of<std::string>({"megatron", "megatron", "deepspeed", "deepspeed", "fsdp", "ddp"});
    Settings settings = small;
    const auto add = [&settings](const Settings& more) { settings.insert(settings.end(), more.begin(), more.end()); };
    const bool data_only = framework == "fsdp" || framework == "ddp";
    const std::uint32_t data = one_of({1U, 2U, 3U, 4U, 8U, 16U});
    if (!data_only) {
        add({key("layout.tensor", one_of({1U, 2U, 4U})), key("layout.context", one_of({1U, 1U, 2U, 3U})),
             key("layout.pipeline", one_of({1U, 2U, 4U}))});
        if (one_of({false, true}))
            add({"layout.order=" + one_of<std::string>({"data,tensor,pipeline", "pipeline,tensor,data",
                                                        "tensor,pipeline,context,data"})});
    }
    add({key("layout.data", data), key("batch.global", data * one_of({1U, 2U, 4U, 8U})),
         "recompute=" + random_recompute(framework), "precision=" + one_of<std::string>({"fp16", "bf16"}),
         "machine=" + one_of<std::string>({"dgx-a100", "frontier"})});
    if (framework == "megatron") add(random_megatron());
    if (framework == "deepspeed") add(random_deepspeed());
    if (framework == "fsdp") add(random_fsdp());
    if (framework == "ddp") add({"framework=ddp", key("ddp.bucket_mib", one_of({1U, 25U}))});
    const bool side_by_side = std::ranges::count(settings, "model.parallel_residual=true") > 0;
    if (one_of({false, false, true}) && !side_by_side) add(random_kinds());
    return settings;
}

}  // namespace weft::test
