// Configurations of NeMo 1: Megatron's arguments under other names, with references.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tests/workloads/formats/key_change.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

const std::string start =
    "trainer:\n  num_nodes: 2\n  devices: 8\n  precision: bf16\nmodel:\n  megatron_amp_O2: True\n"
    "  encoder_seq_length: 128\n  max_position_embeddings: ${.encoder_seq_length}\n  num_layers: 4\n"
    "  hidden_size: 64\n  num_attention_heads: 4\n  micro_batch_size: 1\n  tensor_model_parallel_size: 2\n";

Import imported(const std::string& text, FormatOptions options = {}) {
    options.machine = "dgx-h100";
    options.vocabulary = 1000;
    const std::vector<SourceFile> files{{"conf.yaml", text}};
    return import_files(format_of(files, ""), files, options);
}

json object_of(const std::string& text, const FormatOptions& options = {}) {
    return json::parse(imported(text, options).object.json());
}

std::string refusal(const std::string& text) {
    try {
        imported(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "made";
}

TEST(nemo_format, keys_become_those_of_megatron) {
    const json job = object_of(
        start +
        "  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n  global_batch_size: "
        "${multiply:${model.micro_batch_size},32}\n"
        "  bias: false\n  activation: fast-swiglu\n  num_query_groups: 2\n  share_embeddings_and_output_weights: "
        "False\n"
        "  activations_checkpoint_granularity: selective\n  activations_checkpoint_method: null\n  mcore_gpt: True\n"
        "  sequence_parallel: True\n  hidden_dropout: 0\n  attention_dropout: 0\n  optim:\n"
        "    name: mcore_distributed_optim\n    overlap_grad_sync: True\n    overlap_param_sync: True\n    lr: 1\n");
    EXPECT_EQ(job["nodes"], 2);
    EXPECT_EQ(job["model"], json::parse(R"({"layers": 4, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn_hidden": 256,
        "gated": true, "vocabulary": 1000, "positions": "learned", "positions_length": 128, "biases": false})"));
    EXPECT_EQ(job["batch"], json::parse(R"({"sequence": 128, "micro": 1, "global": 32})"));
    EXPECT_EQ(job["precision"], "bf16");
    EXPECT_EQ(job["recompute"], "selective");
    EXPECT_EQ(job["zero"], 1);
    EXPECT_EQ(job["megatron"], json::parse(R"({"overlap_parameters": true, "transformer_engine": true})"));
}

TEST(nemo_format, what_is_said_elsewhere_is_asked_for) {
    EXPECT_NE(refusal(start + "  global_batch_size: ${gbs}\n").find("give --variable gbs=VALUE"), std::string::npos);
    EXPECT_NE(refusal(start + "  global_batch_size: ${oc.env:GBS}\n").find("give --variable GBS=VALUE"),
              std::string::npos);
    FormatOptions options;
    options.variables = {"gbs=64"};
    EXPECT_EQ(object_of(start + "  global_batch_size: ${gbs}\n", options)["batch"]["global"], 64);
}

TEST(nemo_format, references_that_go_round_or_double_end) {
    EXPECT_NE(refusal(start + "  kv_channels: ${.kv_channels}\n"), "made");
    std::string text = start;
    for (int i = 0; i < 40; ++i)
        text += "  a" + std::to_string(i) + ": ${.a" + std::to_string(i + 1) + "}${.a" + std::to_string(i + 1) + "}\n";
    EXPECT_NE(refusal(text + "  kv_channels: ${.a0}\n"), "made");
}

TEST(nemo_format, what_weft_has_not_is_refused_or_noted) {
    EXPECT_NE(refusal(start + "  fsdp: True\n").find("conf.yaml:14: error: model.fsdp"), std::string::npos);
    EXPECT_NE(refusal(start + "  encoder:\n    num_layers: 3\n").find("model.encoder"), std::string::npos);
    const Import import = imported(start + "  no_such_key: 3\n");
    EXPECT_TRUE(std::ranges::any_of(
        import.notes, [](const FormatNote& note) { return note.origin.key.find("no_such_key") != std::string::npos; }));
}

// Resolvers of NeMo's launcher and OmegaConf, and where references lead.
struct Reference {
    std::string_view value, global_batch;
};
std::ostream& operator<<(std::ostream& out, const Reference& each) { return out << each.value; }
class nemo_reference : public ::testing::TestWithParam<Reference> {};
TEST_P(nemo_reference, comes_to_a_value) {
    FormatOptions options;
    options.variables = {"gbs=64", "SLURM_NNODES=4"};
    const std::string text = start + "  global_batch_size: " + std::string(GetParam().value) + "\n  ratio: 8\n";
    if (GetParam().global_batch.empty()) {
        EXPECT_THROW(imported(text, options), ConfigError);
    } else {
        EXPECT_EQ(object_of(text, options)["batch"]["global"].dump(), GetParam().global_batch);
    }
}
INSTANTIATE_TEST_SUITE_P(formats, nemo_reference,
                         ::testing::Values(Reference{"32", "32"}, Reference{"${.ratio}", "8"},
                                           Reference{"${model.ratio}", "8"}, Reference{"${training.model.ratio}", "8"},
                                           Reference{"${..trainer.devices}", "8"}, Reference{"${gbs}", "64"},
                                           Reference{"${oc.env:gbs}", "64"}, Reference{"${oc.env:NONE,16}", "16"},
                                           Reference{"${multiply:2, ${.ratio}}", "16"},
                                           Reference{"${multiply:${oc.env:SLURM_NNODES},${multiply:2,2}}", "16"},
                                           Reference{"${sum:8,8,16}", "32"}, Reference{"${add:8,8}", "16"},
                                           Reference{"${divide:64,2}", "32"}, Reference{"${divide_ceil:63,2}", "32"},
                                           Reference{"${divide_floor:65,2}", "32"}, Reference{"${divide:64,0}", ""},
                                           Reference{"${power:2,5}", ""}, Reference{"${multiply:8}", ""},
                                           Reference{"${.none}", ""}, Reference{"${.micro_batch_size", ""}));

TEST(nemo_format, precisions_of_the_trainer_are_those_of_the_job) {
    for (const auto& [said, precision] :
         {std::pair{"bf16", "bf16"}, {"bf16-mixed", "bf16"}, {"16", "fp16"}, {"16-mixed", "fp16"}, {"32", "fp32"}}) {
        std::string text = start;
        text.replace(text.find("precision: bf16"), 15, std::string("precision: ") + said);
        EXPECT_EQ(object_of(text + "  global_batch_size: 32\n").value("precision", "fp32"), precision) << said;
    }
}

// Keys that Megatron-LM has by another name.
TEST(nemo_format, other_names_are_read_as_megatrons) {
    const json job = object_of(
        start +
        "  global_batch_size: 32\n  pipeline_model_parallel_size: 2\n  activations_checkpoint_granularity: full\n"
        "  activations_checkpoint_method: block\n  activations_checkpoint_num_layers: 1\n  num_moe_experts: 4\n"
        "  moe_router_topk: 2\n  sequence_parallel: True\n  use_flash_attention: True\n  override_vocab_size: 2048\n  "
        "optim:\n"
        "    name: distributed_fused_adam\n    overlap_grad_sync: True\n    grad_sync_dtype: bf16\n");
    EXPECT_EQ(job["recompute"], json::parse(R"({"method": "block", "layers": 1})"));
    EXPECT_EQ(job["model"]["experts"]["count"], 4);
    EXPECT_EQ(job["layout"]["pipeline"], 2);
    EXPECT_EQ(job["zero"], 1);
    EXPECT_EQ(job["overlap_gradients"], true);
    EXPECT_EQ(job["megatron"]["gradients"], "bf16");
}

TEST(nemo_format, what_is_refused_or_warned_of_is_told_by_its_key) {
    for (const auto& [key, words] :
         {std::pair{"headscale: True", "model.headscale: weft has no scaled heads"},
          {"transformer_block_type: normformer", "weft has two norms in a layer"},
          {"peft: {peft_scheme: ia3}", "weft knows lora"},
          {"peft: {peft_scheme: lora, lora_tuning: {adapter_dim: 8, target_modules: [mlp_up]}}", "mlp_up"},
          {"mm_cfg: {a: 1}", "model.mm_cfg: weft has decoders of text only"}})
        EXPECT_NE(refusal(start + "  global_batch_size: 32\n  " + key + "\n").find(words), std::string::npos) << key;
    const Import import = imported(start +
                                   "  global_batch_size: 32\n  activations_checkpoint_layers_per_pipeline: 1\n"
                                   "  peft: {peft_scheme: none}\n  rotary_base: 10000\n");
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return note.origin.key == "model.activations_checkpoint_layers_per_pipeline";
    }));
    for (const char* const key : {"model.peft", "model.rotary_base", "model.megatron_amp_O2"})
        EXPECT_TRUE(std::ranges::any_of(import.without_effect, [&](const Origin& at) { return at.key == key; })) << key;
}

TEST(nemo_format, takes_low_rank_adapters) {
    const auto adapters = [](const std::string& targets) {
        const std::string lora = "peft: {peft_scheme: lora, lora_tuning: {adapter_dim: 32, target_modules: ";
        return json::parse(
            imported(start + "  global_batch_size: 32\n  " + lora + targets + "}}\n").object.json())["adapters"];
    };
    EXPECT_EQ(adapters("[attention_qkv]"), json::parse(R"({"rank": 32, "targets": ["linear_qkv"]})"));
    EXPECT_EQ(adapters("[attention, mlp_fc1]")["targets"],
              json::parse(R"(["linear_qkv", "linear_proj", "linear_fc1"])"));
    EXPECT_EQ(adapters("[all]")["targets"].size(), 4);
}

// A run with a line more under "model".
std::string with_line(const std::string& line) {
    return start + "  global_batch_size: 32\n" + (line.empty() ? "" : "  " + line + "\n");
}

class nemo_key : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(nemo_key, changes_the_job_so_and_no_more) {
    test::expect_change(imported(with_line(GetParam().said)), object_of(with_line("")), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    nemo, nemo_key,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {"num_query_groups: 2", R"({"model": {"kv_heads": 2}})"},
        {"ffn_hidden_size: 512", R"({"model": {"ffn_hidden": 512}})"},
        {"activation: swiglu", R"({"model": {"gated": true}})"},
        {"activation: geglu", R"({"model": {"gated": true}})"},
        {"activation: gelu", "{}"},
        {"normalization: rmsnorm", R"({"model": {"norm": "rms_norm"}})"},
        {"bias: False", R"({"model": {"biases": false}})"},
        {"position_embedding_type: rope", R"({"model": {"positions_length": null, "positions": "rotary"}})"},
        {"position_embedding_type: none", R"({"model": {"positions_length": null, "positions": "none"}})"},
        {"share_embeddings_and_output_weights: False", R"({"model": {"tied_embeddings": null}})"},
        {"share_embeddings_and_output_weights: True", "{}"},
        {"kv_channels: 32", R"({"model": {"head_size": 32}})"},
        {"make_vocab_size_divisible_by: 128", R"({"model": {"vocabulary_multiple": 128}})"},
        {"override_vocab_size: 2048", "{}"},
        {"hidden_dropout: 0", "{}", "model.hidden_dropout: dropout is simulated on hidden states and scores"},
        {"attention_dropout: 0", "{}", "model.attention_dropout: dropout is simulated on hidden states and scores"},
        {"sequence_parallel: True", R"({"sequence_parallel": true})"},
        {"pipeline_model_parallel_size: 2", R"({"layout": {"pipeline": 2}})"},
        {"virtual_pipeline_model_parallel_size: 2", "{}"},
        {"context_parallel_size: 2", R"({"layout": {"context": 2}})"},
        {"activations_checkpoint_granularity: selective", R"({"recompute": "selective"})"},
        {"activations_checkpoint_granularity: full", R"({"recompute": "full"})"},
        {"activations_checkpoint_method: block", "{}"},
        {"num_micro_batches_with_partial_activation_checkpoints: 2", "{}",
         "model.num_micro_batches_with_partial_activation_checkpoints: every micro-batch and stage recomputes alike"},
        {"ub_tp_comm_overlap: True", "{}",
         "model.ub_tp_comm_overlap: has no effect without tensor ranks under sequence parallelism"},
        {"use_flash_attention: True", R"({"attention": "flash"})"},
        {"transformer_engine: True", R"({"attention": null, "megatron": {"transformer_engine": true}})"},
        {"mcore_gpt: True", R"({"attention": null, "megatron": {"transformer_engine": true}})"},
        {"fp8: True", R"({"precision": "fp8"})"},
        {"gradient_accumulation_fusion: False", R"({"megatron": {"fused_accumulation": false}})"},
        {"megatron_legacy: True", "{}"},
        {"masked_softmax_fusion: False", "{}"},
        {"apply_query_key_layer_scaling: True", "{}"},
        {"resume_from_checkpoint: null", "{}"},
        {"tokenizer: {library: megatron}", "{}"},
        {"optim: {name: fused_adam}", "{}"},
        {"optim: {name: distributed_fused_adam}", R"({"zero": 1})"},
        {"optim: {name: distributed_fused_adam, bucket_cap_mb: 125, overlap_grad_sync: True}",
         R"({"zero": 1, "overlap_gradients": true})",
         "model.optim.bucket_cap_mb: buckets are as large as Megatron-core's"},
        {"optim: {name: mcore_distributed_optim, ddp_bucket_size: 1000000, overlap_grad_sync: True}",
         R"({"zero": 1, "overlap_gradients": true, "bucket_elements": 1000000})"},
        {"optim: {name: mcore_distributed_optim, grad_sync_dtype: bf16}",
         R"({"megatron": {"gradients": "bf16"}, "zero": 1})"},
        {"optim: {name: distributed_fused_adam, odd: 1}", R"({"zero": 1})",
         "model.optim.odd: not known to weft, and left out"},
        {"fsdp: False", "{}"},
        {"headscale: False", "{}"},
        {"attention_type: multihead", "{}"},
        {"precision: bf16", "{}"},
        {"seed: 1", "{}"},
        {"odd: 1", "{}", "model.odd: not known to weft, and left out"},
        {"mcore_customization_config: {}", "{}", "model.mcore_customization_config: not known to weft, and left out"},
    }));

class nemo_refused : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(nemo_refused, is_told_by_the_key) {
    const std::string told = refusal(with_line(GetParam().said));
    EXPECT_NE(told.find("error: " + GetParam().patch), std::string::npos) << told;
}
INSTANTIATE_TEST_SUITE_P(
    nemo, nemo_refused,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {"normalization: groupnorm", R"(model.normalization: expected LayerNorm or RMSNorm, got "groupnorm")"},
        {"position_embedding_type: sinusoidal",
         R"(model.position_embedding_type: weft has rotary, learned and ALiBi positions, not "sinusoidal")"},
        {"activations_checkpoint_granularity: some",
         R"(model.activations_checkpoint_granularity: expected full or selective, got "some")"},
        {"num_moe_experts: 8",
         "sequence_parallel: Megatron-core routes tokens to experts only under sequence parallelism when tensor is 2; "
         "set sequence_parallel"},
        {"encoder: {a: 1}", "model.encoder: weft has decoders of text only"},
        {"fsdp: True", "model.fsdp: weft has FSDP of PyTorch's own modules only"},
    }));

}  // namespace
}  // namespace weft
