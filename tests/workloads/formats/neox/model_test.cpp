// Models of GPT-NeoX: experts, widths, positions and norms, and which files are one of its runs.
#include "tests/workloads/formats/files_read.hpp"
#include "workloads/formats/deepspeed/keys.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

FormatOptions frontier_node() { return {.machine = "frontier", .nodes = 1, .vocabulary = 50257}; }

// No tensor ranks, no pipeline.
test::FilesRead read(const std::string& more, const FormatOptions& options = frontier_node()) {
    return test::files_read({{"a.yml",
                              "{ \"pipe_parallel_size\": 0, \"model_parallel_size\": 1, \"num_layers\": 4,\n"
                              "  \"hidden_size\": 512, \"num_attention_heads\": 8, \"seq_length\": 1024,\n"
                              "  \"max_position_embeddings\": 1024, \"train_micro_batch_size_per_gpu\": 2,\n" +
                                  more + "}\n"}},
                            options);
}

// megatron/model/moe_mlp.py: experts are as wide as the layer's own MLP, rounded up to 256.
TEST(neox_experts, are_those_of_every_so_manieth_layer) {
    test::FilesRead run = read(R"("moe_num_experts": 8, "moe_top_k": 2, "moe_expert_interval": 2)");
    EXPECT_EQ(run.made["model"]["experts"], json::parse(R"({"count": 8, "top_k": 2, "every": 2, "ffn_hidden": 2048})"))
        << run.refusal;
    EXPECT_THAT(run.notes, Contains("a.yml:4: note: moe_num_experts: GPT-NeoX's experts have no biases; weft's have "
                                    "what the model has"));
    test::FilesRead before = read(R"("num_experts": 8, "moe_top_k": 2, "expert_interval": 2)");
    EXPECT_EQ(before.made["model"]["experts"], run.made["model"]["experts"]) << "by their former names";
    EXPECT_EQ(read(R"("moe_num_experts": 8, "intermediate_size": 1000)").made["model"]["experts"]["ffn_hidden"], 1000);
}

TEST(neox_experts, are_dealt_to_ranks_and_drop_tokens_as_deepspeed_says) {
    EXPECT_EQ(read(R"("moe_num_experts": 8, "moe_expert_parallel_size": 4)").made["layout"]["expert"], 4);
    EXPECT_EQ(read(R"("moe_num_experts": 8, "moe_token_dropping": true)").made["experts"]["capacity_factor"], 1);
    EXPECT_EQ(read(R"("moe_num_experts": 8, "moe_token_dropping": true, "moe_train_capacity_factor": 1.25)")
                  .made["experts"]["capacity_factor"],
              1.25);
    EXPECT_FALSE(read(R"("moe_num_experts": 8, "moe_train_capacity_factor": 1.25)").made.contains("experts"));
}

TEST(neox_experts, that_weft_has_not_are_refused_by_their_key) {
    for (const auto& [more, refusal] :
         {std::pair{R"("moe_use_residual": true)", "moe_use_residual: weft has no MLP beside the experts of a layer"},
          {R"("moe_glu": true)", "moe_glu: weft's experts are gated as the model is"},
          {R"("activation": "swiglu")", "activation: GPT-NeoX's experts are not gated, weft's are as the model"}})
        EXPECT_EQ(read(R"("moe_num_experts": 8, )" + std::string(more)).refusal,
                  "a.yml:4: error: " + std::string(refusal));
}

TEST(neox_mlp, is_as_wide_as_one_key_says) {
    EXPECT_EQ(read(R"("intermediate_size": 1024, "expansion_factor": 2)").refusal,
              "a.yml:4: error: expansion_factor: expected either this or intermediate_size, as GPT-NeoX does");
    for (const char* const factor : {"0", "1e9", "-2"})
        EXPECT_EQ(read(R"("expansion_factor": )" + std::string(factor)).refusal,
                  "a.yml:4: error: expansion_factor: expected a factor that makes a size from 1 to 2^32 - 1")
            << factor;
    EXPECT_EQ(read(R"("expansion_factor": 2.5)").made["model"]["ffn_hidden"], 1280);
}

// model/transformer.py, ParallelMLP: the first map rounds up to twice the multiple, the second to the multiple.
TEST(neox_mlp, whose_maps_do_not_meet_is_warned_of) {
    test::FilesRead odd = read(R"("mlp_multiple_of": 100)");
    EXPECT_EQ(odd.made["model"]["ffn_hidden"], 2100);
    EXPECT_THAT(odd.notes, Contains("a.yml:4: warning: mlp_multiple_of: GPT-NeoX's first map makes 2200 and its second "
                                    "takes 2100, and it stops there; another intermediate_size or mlp_multiple_of is "
                                    "needed"));
    EXPECT_THAT(read(R"("mlp_multiple_of": 128)").notes, Not(Contains(HasSubstr("it stops there"))));
}

TEST(neox_positions, are_learned_unless_said_otherwise) {
    EXPECT_EQ(read("").made["model"]["positions"], "learned");
    EXPECT_EQ(read("").made["model"]["positions_length"], 1024);
    for (const char* const kind : {"rotary", "alibi", "none"}) {
        test::FilesRead run = read(R"("pos_emb": ")" + std::string(kind) + "\"");
        EXPECT_EQ(run.made["model"]["positions"], kind);
        EXPECT_FALSE(run.made["model"].contains("positions_length")) << kind;
    }
    for (const std::string kind : {"sinusoidal", "rpe"})
        EXPECT_EQ(read(R"("pos_emb": ")" + kind + "\"").refusal,
                  "a.yml:4: error: pos_emb: weft has no " + kind + " positions");
}

TEST(neox_norms, that_weft_has_not_are_refused) {
    for (const std::string norm : {"scalenorm", "non_parametric_layernorm"})
        EXPECT_EQ(read(R"("norm": ")" + norm + "\"").refusal, "a.yml:4: error: norm: weft has no " + norm);
    EXPECT_THAT(read(R"("norm": "groupnorm")").refusal, HasSubstr("a.yml:4: error: norm: expected one of layernorm"));
}

// Without rotary positions what weft calls unfused is the bias behind a layer's outputs.
TEST(neox_kernels, of_biases_are_passes_of_their_own_unless_they_are_fused) {
    EXPECT_EQ(read("").made["element_wise"], "unfused");
    EXPECT_FALSE(read(R"("bias_dropout_fusion": true)").made.contains("element_wise"));
}

TEST(neox_precision, is_that_of_any_section_of_deepspeed) {
    EXPECT_EQ(read("").made["precision"], "fp32");
    EXPECT_EQ(read(R"("bf16": {"enabled": true})").made["precision"], "bf16");
    EXPECT_EQ(read(R"("deepspeed_extra_args": {"bf16": {"enabled": true}})").made["precision"], "bf16");
    EXPECT_THAT(read(R"("precision": "fp64")").refusal,
                HasSubstr("a.yml:4: error: precision: expected one of fp16, fp32, bfloat16, got \"fp64\""));
}

TEST(neox_batch, without_sizes_is_one_sequence_of_each_rank) {
    const std::string sizes =
        "{\"pipe_parallel_size\": 0, \"num_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4,\n"
        "\"pos_emb\": \"rotary\", \"gradient_accumulation_steps\": 3}";
    test::FilesRead run = test::files_read({{"a.yml", sizes}}, frontier_node());
    EXPECT_EQ(run.made["batch"]["micro"], 1) << run.refusal;
    EXPECT_EQ(run.made["batch"]["global"], 3 * 8);
    EXPECT_THAT(run.notes, Contains("a.yml: warning: seq_length: the input does not say it; 2048 is assumed, --set "
                                    "batch.sequence=N says another"));
    FormatOptions said = frontier_node();
    said.overrides = {"batch.sequence=128", "batch.micro=2", "batch.global=32"};
    test::FilesRead told = test::files_read({{"a.yml", sizes}}, said);
    EXPECT_EQ(told.made["batch"], json::parse(R"({"sequence": 128, "micro": 2, "global": 32})")) << told.refusal;
    EXPECT_THAT(told.notes, Not(Contains(HasSubstr("assumed"))));
}

TEST(neox_runs, may_leave_the_model_to_the_user) {
    test::FilesRead run = test::files_read(
        {{"site.yml", R"({"pipe_parallel_size": 0, "train_micro_batch_size_per_gpu": 2, "seq_length": 128})"}},
        {.machine = "frontier", .nodes = 1, .model = "gpt-neox-125m"});
    EXPECT_EQ(run.made["model"], "gpt-neox-125m") << run.refusal;
    EXPECT_EQ(run.made["batch"]["global"], 16);
    EXPECT_EQ(run.made["layout"], (json{{"pipeline", 1}})) << "0 stages are a plain model";
}

TEST(neox_files, have_keys_of_its_own_or_two_shared_ones_in_braces) {
    for (const char* const text :
         {"{ \"pipe_parallel_size\": 1 }", "pipe-parallel-size: 1\n", "'no-weight-tying' : true",
          "# model\n{ \"pos_emb\": \"rotary\", \"data-path\": \"x\" }"})
        EXPECT_TRUE(is_neox(text)) << text;
    for (const char* const text : {"", "{}", "pos_emb: rotary\ndata_path: x\n", "{ \"pos_emb\": \"rotary\" }",
                                   "{ \"pos_emb\": \"rotary\", \"pos-emb\": \"rotary\" }", "--pipe-parallel-size: 1",
                                   "[\"pos_emb\": 1, \"data_path\": 2]", "# {\npos_emb: 1\ndata_path: 2\n"})
        EXPECT_FALSE(is_neox(text)) << text;
}

TEST(neox_files, have_no_more_keys_than_any_run) {
    std::string text = "{ \"pipe_parallel_size\": 1";
    for (int i = 0; i < 5000; ++i) text += ", \"k" + std::to_string(i) + "\": 1";
    EXPECT_EQ(test::files_read({{"a.yml", text + " }"}}, frontier_node()).refusal,
              "a.yml: error: has more than 4096 keys");
}

}  // namespace
}  // namespace weft
