// GPT-NeoX's YAML: its own rules for sizes and batches, files put together, what is refused and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/workloads/formats/key_change.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

std::string neox_run(const std::string& more) {
    return "{ \"pipe_parallel_size\": 1, \"model_parallel_size\": 2, \"num_layers\": 4, \"hidden_size\": 512,\n"
           "  \"num_attention_heads\": 8, \"seq_length\": 1024, \"max_position_embeddings\": 1024,\n"
           "  \"pos_emb\": \"rotary\", \"train_micro_batch_size_per_gpu\": 2, \"fp16\": { \"enabled\": true },\n" +
           more + "}\n";
}

FormatOptions frontier_node() { return {.machine = "frontier", .nodes = 1, .vocabulary = 50257}; }

Import neox_import(const std::vector<SourceFile>& files, const FormatOptions& options = frontier_node()) {
    return import_files(format_of(files, ""), files, options);
}

json neox_object(const std::string& more) {
    return json::parse(neox_import({{"a.yml", neox_run(more)}}).object.json());
}

std::string neox_refusal(const std::vector<SourceFile>& files, const FormatOptions& options = frontier_node()) {
    try {
        neox_import(files, options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

bool neox_notes(const Import& import, std::string_view key, std::string_view message) {
    return std::ranges::any_of(import.notes, [&](const FormatNote& note) {
        return note.origin.key == key && note.message.find(message) != std::string::npos;
    });
}

TEST(neox, batch_and_layout_follow_from_the_ranks_left_for_data) {
    const json job = neox_object("\"gradient_accumulation_steps\": 4");
    EXPECT_EQ(job["framework"], "deepspeed");
    EXPECT_EQ(job["layout"], json({{"tensor", 2}, {"pipeline", 1}}));
    EXPECT_EQ(job["batch"], json({{"sequence", 1024}, {"micro", 2}, {"global", 2 * 4 * (8 / 2)}}));
    EXPECT_EQ(job["precision"], "fp16");
    EXPECT_EQ(job["attention"], "unfused");  // attention_config is "global" by default
    EXPECT_EQ(job["model"]["tied_embeddings"], true);
}

// 3072 x 2/3 = 2048 for two matrices: 1024 each, or the next multiple.
TEST(neox, a_gated_mlp_shares_two_thirds_and_is_rounded_up) {
    const auto width = [](const std::string& more) {
        return neox_object("\"activation\": \"swiglu\"" + more)["model"]["ffn_hidden"].get<int>();
    };
    EXPECT_EQ(width(R"(, "intermediate_size": 3072)"), 1024);
    EXPECT_EQ(width(R"(, "intermediate_size": 3072, "mlp_multiple_of": 1000)"), 2000);
    EXPECT_EQ(width(R"(, "expansion_factor": 6)"), 1024);
    EXPECT_EQ(width(R"(, "mlp_multiple_of": 128)"), 768);  // of 4 x 512: 682
    EXPECT_EQ(neox_object(R"("intermediate_size": 3072)")["model"]["ffn_hidden"], 3072);
}

// Of 8/3 x 512 the next multiple of 256, where release 2.0 takes a third of 4 x 512.
TEST(neox, a_gated_mlp_of_a_former_release_is_as_wide_as_is_said) {
    const std::string former = R"("mlp_type": "llama", "activation": "silu")";
    const json model = neox_object(former)["model"];
    EXPECT_EQ(model["ffn_hidden"], 1536);
    EXPECT_EQ(model["gated"], true);
    EXPECT_EQ(neox_object(former + R"(, "intermediate_size": 1376)")["model"]["ffn_hidden"], 1376);
    EXPECT_TRUE(neox_notes(neox_import({{"a.yml", neox_run(R"("activation": "swiglu")")}}), "activation",
                           "ffn_hidden is 682: of a gated MLP GPT-NeoX gives two matrices 2/3 of 2048; releases before "
                           "2.0 made it 1536 (--set model.ffn_hidden=1536)"));
}

TEST(neox, biases_norms_and_windows_are_those_of_its_layers) {
    EXPECT_FALSE(neox_object("")["model"].contains("biases"));
    EXPECT_EQ(neox_object(R"("use_bias_in_mlp": false)")["model"]["biases"], json({"qkv", "projection"}));
    EXPECT_EQ(neox_object(R"("use_bias_in_attn_linear": false)")["model"]["biases"], json({"mlp"}));
    const json tied = neox_object(R"("gpt_j_residual": true, "gpt_j_tied": true, "use_qk_layernorm": true)")["model"];
    EXPECT_EQ(tied["norm_placement"], "shared");
    EXPECT_EQ(tied["query_key_norm"], "whole");
    const std::string flash = R"("attention_config": [[["flash"], 4]], "sliding_window_width": )";
    EXPECT_EQ(neox_object(flash + "256")["model"]["attention_window"], json({{"tokens", 257}}));
    EXPECT_FALSE(neox_object(flash + "4096")["model"].contains("attention_window"));
    EXPECT_FALSE(neox_object(R"("sliding_window_width": 256)")["model"].contains("attention_window"));
}

TEST(neox, the_pipeline_engine_runs_where_pipe_parallel_size_is_one) {
    const std::string zero = R"("zero_optimization": { "stage": 1, "overlap_comm": True })";
    EXPECT_EQ(neox_object(zero)["overlap_gradients"], false);
    std::string plain = neox_run(zero);
    plain.replace(plain.find("\"pipe_parallel_size\": 1"), 23, "\"pipe_parallel_size\": 0");
    EXPECT_EQ(json::parse(neox_import({{"a.yml", plain}}).object.json())["overlap_gradients"], true);
    const std::string refusal = neox_refusal({{"a.yml", neox_run(R"("zero_optimization": { "stage": 2 })")}});
    EXPECT_NE(refusal.find("a.yml:4: error: zero_optimization.stage: DeepSpeed's pipeline engine"), std::string::npos)
        << refusal;
}

TEST(neox, rotary_embeddings_are_passes_of_their_own_in_bf16) {
    const std::string bf16 = R"("precision": "bfloat16")";
    std::string text = neox_run(bf16);
    text.replace(text.find("\"fp16\": { \"enabled\": true },"), 28, "");
    const auto element_wise = [](const std::string& run) {
        return json::parse(neox_import({{"a.yml", run}}).object.json()).value("element_wise", "fused");
    };
    EXPECT_EQ(element_wise(text), "unfused");
    text.replace(text.find(bf16), bf16.size(), bf16 + ", \"rope_fusion\": true");
    EXPECT_EQ(element_wise(text), "fused");
    EXPECT_EQ(element_wise(neox_run("")), "fused");
}

TEST(neox, files_are_put_together_with_the_places_of_each) {
    const SourceFile model{"model.yml", neox_run("\"data-path\": \"a\"")};
    const SourceFile site{"site.yml", "{ \"data_path\": \"b\",\n  \"save\": \"c\", \"checkpoint_factor\": 10,\n}"};
    const Import import = neox_import({model, site});
    EXPECT_TRUE(neox_notes(import, "data_path", "model.yml:4 has it, too")) << import.object.text();
    const SourceFile other{"other.yml", "{ \"hidden-size\": 512, \"checkpoint_factor\": 10 }"};
    const std::string refusal = neox_refusal({model, other});
    EXPECT_NE(refusal.find("other.yml:1: error: hidden-size: model.yml:1 has it, too"), std::string::npos) << refusal;
}

TEST(neox, mistakes_are_told_at_their_places_all_at_once) {
    const std::string refusal = neox_refusal(
        {{"a.yml", neox_run("\"num-kv-heads\": -2,\n\"hidden_dropout\": \"no\",\n\"norm\": \"scalenorm\"")}});
    EXPECT_NE(refusal.find("a.yml:4: error: num_kv_heads"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("a.yml:5: error: hidden_dropout"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("a.yml:6: error: norm: weft has no scalenorm"), std::string::npos) << refusal;
}

TEST(neox, what_weft_cannot_represent_is_refused_by_name) {
    for (const auto& [more, word] : std::vector<std::pair<std::string, std::string>>{
             {R"("attention_config": [[["gmlp"], "all"]])", "weft has no gmlp layers"},
             {R"("attention_config": [[["local", "global"], 2]])", "weft has no local layers"},
             {R"("attention_config": [[["flash"], 2], [["global"], 2]])", "one kind of attention"},
             {R"("norm": "scalenorm")", "scalenorm"},
             {R"("pos_emb": "rpe")", "duplicate key"},
             {R"("sequence_parallel": true)", "sequence parallelism"},
             {R"("context_parallel_size": 2)", "context_parallel_size"},
             {R"("num_unique_layers": 2)", "share their weights"},
             {R"("moe_num_experts": 8)", "deals experts to the tensor ranks"},
             {R"("optimizer": { "type": "OneBitAdam" })", "compressed communication"},
             {R"("zero_optimization": { "stage": 1, "cpu_offload_params": True })", "under ZeRO-3"},
             {R"("precision": "bfloat16")", "section fp16 is enabled"},
         }) {
        const std::string refusal = neox_refusal({{"a.yml", neox_run(more)}});
        EXPECT_NE(refusal.find(word), std::string::npos) << more << ": " << refusal;
    }
}

TEST(neox, what_is_not_said_is_asked_for_or_assumed_aloud) {
    std::string text = neox_run("");
    const std::string no_tokenizer = neox_refusal({{"a.yml", text}}, {.machine = "frontier", .nodes = 1});
    EXPECT_NE(no_tokenizer.find("--vocabulary N"), std::string::npos) << no_tokenizer;
    const Import counted = neox_import({{"a.yml", neox_run(R"("tokenizer_type": "CharLevelTokenizer")")}},
                                       {.machine = "frontier", .nodes = 1});
    EXPECT_EQ(json::parse(counted.object.json())["model"]["vocabulary"], 512);
    const std::string no_ranks = neox_refusal({{"a.yml", text}}, {.machine = "frontier", .vocabulary = 512});
    EXPECT_NE(no_ranks.find("--machine and --nodes"), std::string::npos) << no_ranks;
    text.replace(text.find("\"train_micro_batch_size_per_gpu\": 2,"), 36, "");
    EXPECT_TRUE(neox_notes(neox_import({{"a.yml", text}}), "train_micro_batch_size_per_gpu", "1 is assumed"));
}

// Of the file where the user says nothing: 3 nodes of 8.
TEST(neox, nodes_and_gpus_of_the_runner_count) {
    const auto layout = [](const std::string& more, std::uint32_t nodes) {
        const FormatOptions options{.machine = "frontier", .nodes = nodes, .vocabulary = 512};
        return json::parse(neox_import({{"a.yml", neox_run(more)}}, options).object.json());
    };
    EXPECT_EQ(layout(R"("num_nodes": 3, "gas": 2)", 0)["batch"]["global"], 2 * 2 * (24 / 2));
    EXPECT_EQ(layout(R"("num_nodes": 3)", 2)["batch"]["global"], 2 * (16 / 2));
    EXPECT_EQ(layout(R"("global_num_gpus": 16)", 0)["layout"]["data"], 8);
    EXPECT_EQ(layout(R"("num_nodes": 1, "num_gpus": 4)", 0)["layout"]["data"], 2);
}

// Keys that are read, known or noted: none is passed over.
TEST(neox, an_unknown_key_is_noted) {
    EXPECT_TRUE(neox_notes(neox_import({{"a.yml", neox_run("\"sparkle\": 3")}}), "sparkle", "not known"));
}

TEST(neox, bad_input_is_a_config_error) {
    for (const std::string& text :
         {std::string("{ \"pipe_parallel_size\": "), std::string("[ \"pipe_parallel_size\": 1 ]"),
          std::string("{ \"pipe_parallel_size\": [[1]], \"num_layers\": 1e30, \"hidden_size\": -1 }"),
          neox_run("\"num_kv_heads\": 3"), neox_run("\"attention_config\": 7"), neox_run("\"zero_optimization\": []"),
          "{ \"pipe_parallel_size\": " + std::string(100000, '[') + " }"}) {
        EXPECT_FALSE(neox_refusal({{"a.yml", text}}).empty()) << text.substr(0, 200);
    }
}

class neox_key : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(neox_key, changes_the_job_so_and_no_more) {
    test::expect_change(neox_import({{"a.yml", neox_run(GetParam().said)}}), neox_object(""), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    neox, neox_key,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {R"("num_kv_heads": 2)", R"({"model": {"kv_heads": 2}})"},
        {R"("no_weight_tying": true)", R"({"model": {"tied_embeddings": false}})"},
        {R"("gpt_j_residual": true)", R"({"model": {"parallel_residual": true}})"},
        {R"("gpt_j_residual": true, "gpt_j_tied": true)",
         R"({"model": {"parallel_residual": true, "norm_placement": "shared"}})"},
        {R"("gpt_j_tied": true)", "{}"},
        {R"("use_qk_layernorm": true)", R"({"model": {"query_key_norm": "whole"}})"},
        {R"("norm": "te_rmsnorm")", R"({"model": {"norm": "rms_norm"}})"},
        {R"("norm": "te_layernorm")", R"({"model": {"norm": "layer_norm"}})"},
        {R"("use_bias_in_mlp": false)", R"({"model": {"biases": ["qkv", "projection"]}})"},
        {R"("use_bias_in_attn_linear": false)", R"({"model": {"biases": ["mlp"]}})"},
        {R"("use_bias_in_mlp": false, "use_bias_in_attn_linear": false)", R"({"model": {"biases": false}})"},
        {R"("make_vocab_size_divisible_by": 128)", R"({"model": {"vocabulary_multiple": 128}})"},
        {R"("intermediate_size": 1024)", R"({"model": {"ffn_hidden": 1024}})"},
        {R"("expansion_factor": 3)", R"({"model": {"ffn_hidden": 1536}})"},
        {R"("activation": "geglu")", R"({"model": {"gated": true, "ffn_hidden": 682}})",
         "activation: ffn_hidden is 682: of a gated MLP GPT-NeoX gives two matrices 2/3 of 2048; releases before 2.0 "
         "made it 1536 (--set model.ffn_hidden=1536)"},
        {R"("activation": "swiglu", "mlp_multiple_of": 256)", R"({"model": {"gated": true, "ffn_hidden": 768}})",
         "activation: ffn_hidden is 768: of a gated MLP GPT-NeoX gives two matrices 2/3 of 2048; releases before 2.0 "
         "made it 1536 (--set model.ffn_hidden=1536)"},
        {R"("attention_config": [[["flash"], "all"]])", R"({"attention": "flash"})"},
        {R"("attention_config": [[["flash"], "all"]], "sliding_window_width": 127)",
         R"({"model": {"attention_window": {"tokens": 128}}, "attention": "flash"})",
         "sliding_window_width: a token attends to the 127 before it, and to itself"},
        {R"("sliding_window_width": 127)", "{}", "sliding_window_width: is read by flash attention alone"},
        {R"("attention_config": ["flash", "flash", "flash", "flash"], "sliding_window_width": 2048)",
         R"({"attention": "flash"})", "sliding_window_width: is no shorter than the sequence"},
        {R"("scaled_upper_triang_masked_softmax_fusion": false)", "{}",
         "scaled_upper_triang_masked_softmax_fusion: scale, mask and softmax are simulated as one pass, as with this "
         "fusion"},
        {R"("scaled_masked_softmax_fusion": true)", "{}"},
        {R"("bias_gelu_fusion": false)", "{}", "bias_gelu_fusion: is simulated as one pass, as with this fusion"},
        {R"("bias_gelu_fusion": true)", "{}"},
        {R"("norm": "rmsnorm", "rmsnorm_fusion": false)", R"({"model": {"norm": "rms_norm"}})",
         "rmsnorm_fusion: is simulated as one pass, as with this fusion"},
        {R"("te_columnparallel": true)", "{}",
         "te_columnparallel: Transformer Engine's kernels are taken as GPT-NeoX's"},
        {R"("attention_softmax_in_fp32": true)", "{}",
         "attention_softmax_in_fp32: the softmax is simulated in the layers' precision"},
        {R"("fp16_lm_cross_entropy": true)", "{}", "fp16_lm_cross_entropy: the loss is simulated in fp32"},
        {R"("bias_dropout_fusion": false)", "{}",
         "bias_dropout_fusion: biases of outputs are simulated as rotary embeddings are: fused"},
        {R"("rope_fusion": true)", "{}"},
        {R"("checkpoint_activations": true)", R"({"recompute": "full", "deepspeed": {}})"},
        {R"("checkpoint_activations": true, "checkpoint_num_layers": 2)",
         R"({"recompute": {"layers": 2}, "deepspeed": {}})"},
        {R"("checkpoint_activations": true, "partition_activations": true)",
         R"({"recompute": "full", "deepspeed": {"partition_activations": true}})"},
        {R"("partition_activations": true)", "{}"},
        {R"("synchronize_each_layer": true)", R"({"deepspeed": {"synchronize_each_layer": true}})"},
        {R"("profile_backward": true)", "{}"},
        {R"("hidden_dropout": 0.1)", R"({"dropout": true})",
         "hidden_dropout: dropout is simulated on the scores and on the outputs of attention and MLP, or on neither"},
        {R"("hidden_dropout": 0.1, "attention_dropout": 0.1)", R"({"dropout": true})"},
        {R"("attention_dropout": 0.1)", R"({"dropout": true})",
         "attention_dropout: dropout is simulated on the scores and on the outputs of attention and MLP, or on "
         "neither"},
        {R"("zero_optimization": {"stage": 1})", R"({"zero": 1, "overlap_gradients": false})"},
        {R"("zero_optimization": {"stage": 1, "reduce_scatter": false, "reduce_bucket_size": 5e7})",
         R"({"zero": 1, "bucket_elements": 50000000, "deepspeed": {"reduce_scatter": false}, "overlap_gradients": false})"},
        {R"("zero_optimization": true)", R"({"zero": 1})"},
        {R"("pipe_partition_method": "uniform")", "{}",
         R"(pipe_partition_method: layers are dealt to stages as by "type:transformer|mlp", GPT-NeoX's default)"},
        {R"("use_bnb_optimizer": true)", "{}",
         "use_bnb_optimizer: the optimizer's states are simulated in fp32, not in 8 bits"},
        {R"("soft_prompt_tuning": {"enabled": false})", "{}"},
        {R"("precision": "fp16")", "{}"},
        {R"("train_batch_size": 16)", R"({"batch": {"global": 16}})"},
        {R"("train_batch_size": 24)", R"({"batch": {"global": 24}})"},
        {R"("wall_clock_breakdown": true)", R"({"deepspeed": {"wall_clock_breakdown": true}})"},
        {R"("comms_logger": {"enabled": true})", R"({"deepspeed": {"log_calls": true}})"},
        {R"("communication_data_type": "fp32")", "{}",
         "communication_data_type: gradients travel as the framework keeps them"},
        {R"("fp32_allreduce": true)", "{}",
         "fp32_allreduce: gradients travel as the framework keeps them, not in fp32"},
        {R"("data_types": {"grad_accum_dtype": "fp32"})", "{}",
         "data_types: gradients are added up as the framework does by itself"},
        {R"("curriculum_learning": {"enabled": true})", "{}", "curriculum_learning: is not taken over"},
        {R"("deepspeed_extra_args": {"bf16": {"enabled": false}, "odd": 1})", "{}",
         "deepspeed_extra_args.odd: not known to weft, and left out"},
        {R"("moe_num_experts": 1)", "{}"},
        {R"("optimizer": {"type": "Adam"})", "{}"},
        {R"("optimizer": {"type": "SGD"})", "{}", "optimizer.type: time and memory of the update are those of Adam"},
        {R"("num_gpus": -1)", "{}"},
    }));

class neox_refused : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(neox_refused, is_told_by_the_key) {
    const std::string refusal = neox_refusal({{"a.yml", neox_run(GetParam().said)}});
    EXPECT_NE(refusal.find("error: " + GetParam().patch), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(
    neox, neox_refused,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {R"("checkpoint_activations": true, "checkpoint_in_cpu": true)",
         "checkpoint_in_cpu: weft keeps checkpoints on the device"},
        {R"("zero_optimization": {"stage": 2})",
         "zero_optimization.stage: DeepSpeed's pipeline engine, which runs the model, refuses stage 2"},
        {R"("ring_attention_size": 2)",
         "ring_attention_size: weft has no ring attention of GPT-NeoX; its DeepSpeed has all-to-all"},
        {R"("deepspeed": false)", "deepspeed: GPT-NeoX runs with DeepSpeed alone"},
        {R"("train_impl": "dpo")", R"(train_impl: weft simulates pre-training ("normal"))"},
        {R"("te_fp8_mha": true)", "te_fp8_mha: weft's fp8 is not that of one module"},
        {R"("soft_prompt_tuning": {"enabled": true})", "soft_prompt_tuning: weft trains all weights"},
        {R"("optimizer": {"type": "CPUAdam"})",
         "optimizer.states (optimizer.type): states on the host are those of ZeRO (offload_optimizer), framework "
         "deepspeed with zero 1 to 3, "
         "or of Megatron-core (--optimizer-cpu-offload), framework megatron with zero 1"},
        {R"("activation": "gelu_fast")",
         R"(activation: expected one of gelu, geglu, relu, softsign, swish, mish, silu, reglu, swiglu, bilinear, glu, got "gelu_fast")"},
    }));

}  // namespace
}  // namespace weft
