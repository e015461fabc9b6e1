// Degrees of torchtitan: what becomes of ranks, stages and the batch where not all is said, and what is refused.
#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

FormatOptions two_nodes() { return {.machine = "dgx-h100", .nodes = 2}; }

test::FilesRead read(const std::string& parallelism, const FormatOptions& options = two_nodes(),
                     const std::string& model = "name = \"llama3\"\nflavor = \"8B\"\n") {
    return test::files_read({{"run.toml", "[lr_scheduler]\n[model]\n" + model +
                                              "[training]\nlocal_batch_size = 2\n[parallelism]\n" + parallelism}},
                            options);
}

TEST(torchtitan_degrees, tell_the_batch_where_nobody_says_nodes) {
    test::FilesRead run = read("data_parallel_shard_degree = 8\n", {.machine = "dgx-h100"});
    EXPECT_EQ(run.made["layout"]["data"], 8) << run.refusal;
    EXPECT_EQ(run.made["batch"]["global"], 2 * 8);
    EXPECT_EQ(read("data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = 8\n", {.machine = "dgx-h100"})
                  .made["batch"]["global"],
              2 * 16);
    EXPECT_EQ(read("", {.machine = "dgx-h100"}).refusal,
              "error: batch.global: follows from the ranks, which the input does not say; give --machine and --nodes");
    FormatOptions said{.machine = "dgx-h100"};
    said.overrides = {"batch.global=64"};
    EXPECT_EQ(read("", said).made["batch"]["global"], 64);
}

TEST(torchtitan_degrees, of_no_ranks_have_no_say_of_what_they_would_do) {
    test::FilesRead plain = read("");
    for (const char* const key :
         {"enable_async_tensor_parallel = true", "disable_loss_parallel = true",
          "expert_parallel_comm_backend = \"deepep\"", "expert_tensor_parallel_degree = 2",
          "context_parallel_rotate_method = \"alltoall\"", "pipeline_parallel_schedule = \"DualPipeV\"",
          "pipeline_parallel_first_stage_less_layers = 7"}) {
        test::FilesRead run = read(std::string(key) + "\n");
        EXPECT_EQ(run.made, plain.made) << key << run.refusal;
        EXPECT_EQ(run.notes, plain.notes) << key;
    }
}

// Parts of 9 of 34 layers, as embedding and head count: 4 parts on 2 stages.
TEST(torchtitan_stages, have_as_many_parts_as_layers_of_a_part_make) {
    const std::string interleaved =
        "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
        "pipeline_parallel_layers_per_stage = ";
    EXPECT_EQ(read(interleaved + "9\n").made["layout"]["virtual_stages"], 2);
    EXPECT_EQ(read(interleaved + "4\npipeline_parallel_first_stage_less_layers = 0\n"
                                 "pipeline_parallel_last_stage_less_layers = 0\n")
                  .made["layout"]["virtual_stages"],
              4);
}

// torchtitan's pipeline_parallel.py: parts must be divisible by stages.
TEST(torchtitan_stages, that_do_not_divide_the_parts_are_refused) {
    const test::FilesRead run = read(
        "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
        "pipeline_parallel_layers_per_stage = 12\n");
    EXPECT_NE(run.refusal.find("makes 3 parts, which torchtitan refuses: 2 stages do not divide them"),
              std::string::npos)
        << run.refusal;
}

TEST(torchtitan_stages, with_other_ends_are_refused_by_the_key_that_says_so) {
    const std::string two = "pipeline_parallel_degree = 2\n";
    const std::string why = ": weft knows first and last stages with one layer less, or with none";
    EXPECT_EQ(read(two + "pipeline_parallel_last_stage_less_layers = 3\n").refusal,
              "run.toml:9: error: parallelism.pipeline_parallel_last_stage_less_layers" + why);
    EXPECT_EQ(read(two + "pipeline_parallel_first_stage_less_layers = 0\n").refusal,
              "run.toml:9: error: parallelism.pipeline_parallel_first_stage_less_layers" + why);
    EXPECT_EQ(read(two + "module_fqns_per_model_part = [[\"tok_embeddings\"], [\"output\"]]\n").refusal,
              "run.toml:9: error: parallelism.module_fqns_per_model_part: weft deals layers to stages by torchtitan's "
              "own rule");
}

TEST(torchtitan_stages, run_the_batch_of_a_rank_micro_batch_by_micro_batch) {
    test::FilesRead run = read("pipeline_parallel_degree = 2\n");
    EXPECT_EQ(run.made["batch"]["micro"], 1) << run.refusal;
    EXPECT_EQ(run.made["batch"]["global"], 2 * 8) << "8 data ranks of 16";
}

TEST(torchtitan_models, are_called_by_name_and_flavour) {
    EXPECT_EQ(read("", two_nodes(), "name = \"llama3\"\n").made["model"]["hidden"], 256) << "debugmodel";
    const test::FilesRead unknown = read("", two_nodes(), "name = \"llama9\"\n");
    EXPECT_THAT(unknown.refusal, HasSubstr("run.toml:3: error: model.name: weft does not know the shape of llama9 "
                                           "\"debugmodel\" (known: "));
    FormatOptions said = two_nodes();
    said.model = "llama3-70b";
    EXPECT_EQ(read("", said, "name = \"llama9\"\n").made["model"], "llama3-70b") << "the user's word counts";
    said = two_nodes();
    said.vocabulary = 1000;
    EXPECT_EQ(read("", said).made["model"]["vocabulary"], 1000);
}

TEST(torchtitan_models, have_rms_norms) {
    const std::string model = "name = \"llama3\"\nflavor = \"8B\"\nnorm_type = ";
    EXPECT_EQ(read("", two_nodes(), model + "\"layernorm\"\n").refusal,
              "run.toml:5: error: model.norm_type: weft knows torchtitan's models with rmsnorm");
    EXPECT_EQ(read("", two_nodes(), model + "\"fused_rmsnorm\"\n").refusal, "");
}

TEST(torchtitan_models, under_a_mask_of_documents_are_warned_of) {
    test::FilesRead run = read("", two_nodes(), "name = \"llama3\"\nflavor = \"8B_flex\"\n");
    EXPECT_EQ(run.made["model"]["layers"], 32);
    EXPECT_THAT(run.notes,
                Contains("run.toml:4: warning: model.flavor: attention is simulated as causal over the whole "
                         "sequence, with no mask between documents"));
}

TEST(torchtitan_recomputation, of_every_layer_is_full_and_of_operations_its_own) {
    const auto recompute = [](const std::string& keys) {
        return read("[activation_checkpoint]\n" + keys).made["recompute"];
    };
    EXPECT_EQ(recompute("mode = \"selective\"\nselective_ac_option = \"1\"\n"), "full");
    EXPECT_EQ(recompute("mode = \"selective\"\nselective_ac_option = \"op\"\n"), "operations");
    EXPECT_EQ(recompute("mode = \"full\"\nselective_ac_option = \"3\"\n"), "full");
    EXPECT_EQ(recompute("mode = \"none\"\nselective_ac_option = \"3\"\n"), "none");
}

}  // namespace
}  // namespace weft
