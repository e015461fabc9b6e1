// What flags of Megatron-LM say of layers one by one, and what does not go together.
#include "tests/workloads/formats/files_read.hpp"
#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string run =
    "--num-layers 8\n--hidden-size 512\n--num-attention-heads 8\n--vocab-size 999\n--tokenizer-type NullTokenizer\n"
    "--position-embedding-type rope\n--seq-length 256\n--micro-batch-size 2\n--global-batch-size 64\n--bf16\n"
    "--nnodes 1\n--nproc_per_node 8\n";

test::FilesRead read(const std::string& flags, std::string machine = "dgx-h100") {
    FormatOptions options;
    options.machine = std::move(machine);
    return test::files_read({{"run.sh", run + flags + "\n"}}, options);
}

TEST(megatron_layers, of_lists_are_no_more_than_a_list_may_have) {
    EXPECT_THAT(read("--num-layers 70000\n--no-rope-freq 4").refusal,
                HasSubstr("run.sh:14: error: --no-rope-freq: expected at most 65536 layers, got 70000"));
}

TEST(megatron_layers, without_positions_are_every_so_manieth) {
    test::FilesRead bare = read("--no-rope-freq 4");
    EXPECT_EQ(bare.made["model"]["layer_pattern"],
              (json{"attention", "attention", "attention", "attention_without_positions"}));
    EXPECT_EQ(bare.made["model"]["layer_kinds"]["attention_without_positions"],
              json::parse(R"({"positions": "none"})"));
    EXPECT_FALSE(read("--no-rope-freq none").made["model"].contains("layer_kinds"));
}

// Linear attention in 3 of 4 layers, experts in every second: four kinds of which three occur.
TEST(megatron_layers, are_of_as_many_kinds_as_lists_make_together) {
    test::FilesRead both = read(
        "--num-experts 8\n--moe-token-dispatcher-type alltoall\n--moe-layer-freq [1,0,0,1,1,0,0,1]\n"
        "--experimental-attention-variant gated_delta_net\n--linear-attention-freq 4");
    EXPECT_EQ(both.made["model"]["layer_pattern"],
              (json{"gated_delta", "gated_delta_dense", "gated_delta_dense", "attention"}))
        << both.refusal;
    const json dense = both.made["model"]["layer_kinds"]["gated_delta_dense"];
    EXPECT_EQ(dense["feed_forward"], "mlp");
    EXPECT_EQ(dense["mixer"], "gated_delta");
}

TEST(megatron_layers, with_windows_alone_need_no_list) {
    EXPECT_EQ(read("--window-size 63,0").made["model"]["attention_window"], json::parse(R"({"tokens": 64})"));
    EXPECT_FALSE(read("--window-size 63,0\n--window-attn-skip-freq 1").made["model"].contains("attention_window"))
        << "of every layer the window is skipped";
    EXPECT_FALSE(read("--window-size none").made["model"].contains("attention_window"));
    EXPECT_FALSE(read("--window-attn-skip-freq 2").made["model"].contains("attention_window"));
}

TEST(megatron_hybrid, patterns_are_given_once) {
    EXPECT_EQ(read("--hybrid-layer-pattern 'M*M-M*M-'\n--hybrid-override-pattern 'M*M-M*M-'").refusal,
              "run.sh:14: error: --hybrid-override-pattern: --hybrid-layer-pattern is given, too");
}

TEST(megatron_hybrid, predictions_have_letters_of_their_own) {
    EXPECT_EQ(
        read("--hybrid-layer-pattern 'M*M-'\n--mtp-num-layers 1").refusal,
        "run.sh:14: error: --mtp-num-layers: needs the letters of each prediction module behind / in the pattern");
    EXPECT_EQ(read("--hybrid-layer-pattern 'M-M*/*/*'\n--mtp-num-layers 2").made["model"]["mtp_layers"], 2);
    EXPECT_THAT(read("--hybrid-layer-pattern 'M-M*'\n--mtp-hybrid-override-pattern M").refusal,
                HasSubstr("run.sh:14: error: --mtp-hybrid-override-pattern: weft's prediction modules are one layer "
                          "each, like the last; not M"));
}

TEST(megatron_hybrid, patterns_say_how_many_layers_there_are) {
    test::FilesRead hybrid = read("--hybrid-override-pattern 'M*M-M*'\n--is-hybrid-model\n--linear-attention-freq 4");
    EXPECT_EQ(hybrid.made["model"]["layers"], 6) << hybrid.refusal;
    EXPECT_THAT(hybrid.notes, Contains("run.sh:15: note: --linear-attention-freq: has no effect on a hybrid pattern"));
    EXPECT_THAT(read("--hybrid-override-pattern 'M*M-M*'\n--no-rope-freq 2").refusal,
                HasSubstr("run.sh:14: error: --no-rope-freq: weft reads it of layers without a hybrid pattern"));
}

TEST(megatron_hybrid, stages_of_a_pattern_have_a_word_where_weft_has_one) {
    const std::string two = "--pipeline-model-parallel-size 2\n--hybrid-layer-pattern ";
    EXPECT_EQ(read(two + "'M*M-|M*M-'").made["layout"], json::parse(R"({"pipeline": 2})"));
    EXPECT_EQ(read("--pipeline-model-parallel-size 4\n--hybrid-layer-pattern 'M*|M-M|M*M|M-'").made["layout"],
              json::parse(R"({"pipeline": 4, "split": "ends"})"));
    EXPECT_THAT(read(two + "'M*M-|M*M-'\n--num-layers-per-virtual-pipeline-stage 2").refusal,
                HasSubstr("--num-layers-per-virtual-pipeline-stage: parts of a hybrid pattern stand between | in it"));
}

TEST(megatron_hybrid, latent_attention_is_what_its_letters_have) {
    test::FilesRead sparse = read("--hybrid-layer-pattern 'M+M-'\n--kv-lora-rank 64\n--qk-layernorm");
    EXPECT_EQ(sparse.made["model"]["latent_attention"]["kv_rank"], 64) << sparse.refusal;
    EXPECT_FALSE(sparse.made["model"]["layer_kinds"]["+"].contains("mixer"));
    EXPECT_THAT(read("--hybrid-layer-pattern 'MDM-'\n--qk-layernorm").refusal,
                HasSubstr("--hybrid-layer-pattern: needs --dsa-indexer-n-heads, --dsa-indexer-head-dim and "
                          "--dsa-indexer-topk"));
}

TEST(megatron_settings, of_8_bit_outputs_come_with_the_version_that_has_them) {
    test::FilesRead narrow = read("--fp8-format e4m3\n--fp8-recipe mxfp8\n--fp8-output-proj", "dgx-b200");
    EXPECT_EQ(narrow.made["megatron"], json::parse(R"({"version": "core-0.18", "fp8_output": true})"))
        << narrow.refusal;
    test::FilesRead attention = read(
        "--fp8-format e4m3\n--fp8-recipe mxfp8\n--attention-backend fused\n--fp8-dot-product-attention", "dgx-b200");
    EXPECT_EQ(attention.made["megatron"], json::parse(R"({"fp8_attention": true})")) << attention.refusal;
    test::FilesRead stash = read(
        "--num-experts 8\n--expert-model-parallel-size 2\n--fp8-format e4m3\n--fp8-recipe mxfp8\n--cuda-graph-impl "
        "full_iteration\n--moe-token-dispatcher-type flex\n--moe-flex-dispatcher-backend hybridep\n--moe-paged-stash",
        "dgx-b200");
    EXPECT_EQ(stash.made["experts"]["paged_stash"], true) << stash.refusal;
}

TEST(megatron_settings, several_losses_balance_experts_at_once) {
    test::FilesRead two = read(
        "--num-experts 8\n--moe-token-dispatcher-type alltoall\n--moe-router-load-balancing-type aux_loss "
        "global_aux_loss\n--moe-aux-loss-coeff 1e-2 1e-3");
    EXPECT_EQ(two.made["experts"]["balancing"], (json{"auxiliary_loss", "global_auxiliary_loss"})) << two.refusal;
    test::FilesRead none = read(
        "--num-experts 8\n--moe-token-dispatcher-type alltoall\n"
        "--moe-router-load-balancing-type aux_loss");
    EXPECT_THAT(none.notes, Contains("run.sh:15: note: --moe-router-load-balancing-type: without a coefficient nothing "
                                     "balances experts; they are taken to be evenly loaded"));
}

TEST(python_lists, are_joined_and_repeated_as_python_does) {
    using List = std::vector<std::uint32_t>;
    EXPECT_EQ(python_list("[1, 0]"), (List{1, 0}));
    EXPECT_EQ(python_list(" [ 1 ] * 2 + [ 0 ] "), (List{1, 1, 0}));
    EXPECT_EQ(python_list("([0]+[1]*2)*2"), (List{0, 1, 1, 0, 1, 1}));
    EXPECT_EQ(python_list("[1]*2*2"), (List{1, 1, 1, 1}));
    for (const char* const none :
         {"", "[]", "1", "[1", "[1]*", "[1]+", "([1]", "[1])", "[a]", "[-1]", "[1]*0", "[1] x"})
        EXPECT_TRUE(python_list(none).empty()) << none;
}

}  // namespace
}  // namespace weft
