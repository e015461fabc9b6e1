// What NeMo's configurations say outside of the model: nodes, precision, the optimizer, and what is left to the launch.
#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

FormatOptions on_dgx(std::vector<std::string> variables = {}) {
    FormatOptions options{.machine = "dgx-h100", .vocabulary = 1000};
    options.variables = std::move(variables);
    return options;
}

// A run with keys of its trainer, and lines more under "model".
test::FilesRead read(const std::string& trainer, const std::string& model = "",
                     const FormatOptions& options = on_dgx()) {
    return test::files_read(
        {{"conf.yaml",
          "trainer: {" + trainer +
              "}\nmodel:\n  megatron_amp_O2: True\n  encoder_seq_length: 128\n"
              "  position_embedding_type: rope\n  num_layers: 4\n  hidden_size: 64\n  num_attention_heads: 4\n"
              "  micro_batch_size: 1\n  global_batch_size: 32\n" +
              model}},
        options);
}
const std::string two_nodes = "num_nodes: 2, devices: 8, precision: bf16";

TEST(nemo_trainer, has_nodes_that_the_launch_may_fill_in) {
    const std::string later = "num_nodes: \"${nodes}\", devices: 8, precision: bf16";
    EXPECT_EQ(read(later).refusal,
              "conf.yaml:1: error: trainer.num_nodes: is not set; give --variable nodes=VALUE, or --nodes N");
    EXPECT_EQ(read(later, "", on_dgx({"nodes=4"})).made["nodes"], 4);
    FormatOptions said = on_dgx();
    said.nodes = 2;
    EXPECT_EQ(read(later, "", said).made["nodes"], 2);
}

TEST(nemo_trainer, has_devices_of_a_node) {
    test::FilesRead half = read("num_nodes: 2, devices: 4, precision: bf16");
    EXPECT_EQ(half.made["nodes"], 1);
    EXPECT_THAT(half.notes,
                Contains("conf.yaml:1: note: trainer.num_nodes: 2 nodes of 4 ranks are 1 nodes of dgx-h100"));
}

TEST(nemo_trainer, has_a_precision_before_the_model_has) {
    EXPECT_EQ(read("num_nodes: 2", "  precision: bf16\n").made["precision"], "bf16");
    EXPECT_EQ(read("num_nodes: 2, precision: 16", "  precision: bf16\n").made["precision"], "fp16");
    EXPECT_EQ(read("num_nodes: 2").made["precision"], "fp32");
    EXPECT_THAT(read("num_nodes: 2, precision: \"${how}\"").refusal,
                HasSubstr("depends on $how, which is not set; give --variable how=VALUE"));
}

TEST(nemo_trainer, adds_up_no_batches_of_its_own) {
    EXPECT_THAT(read(two_nodes + ", accumulate_grad_batches: 4").notes,
                Contains("conf.yaml:1: warning: trainer.accumulate_grad_batches: micro-batches follow from the batch "
                         "alone"));
    EXPECT_THAT(read(two_nodes + ", accumulate_grad_batches: 1").notes,
                Not(Contains(HasSubstr("accumulate_grad_batches"))));
}

TEST(nemo_model, keeps_weights_in_16_bits) {
    test::FilesRead run = test::files_read(
        {{"conf.yaml",
          "trainer: {num_nodes: 1, precision: bf16}\nmodel:\n  megatron_amp_O2: False\n"
          "  encoder_seq_length: 128\n  position_embedding_type: rope\n  num_layers: 4\n"
          "  hidden_size: 64\n  num_attention_heads: 4\n  micro_batch_size: 1\n  global_batch_size: 32\n"}},
        on_dgx());
    EXPECT_THAT(run.notes,
                Contains("conf.yaml:3: warning: model.megatron_amp_O2: weights are kept in 16 bits, as with it"));
}

TEST(nemo_model, has_ends_of_its_pipeline_by_either_name) {
    for (const char* const lines : {"  num_layers_in_first_pipeline_stage: 1\n", "  first_pipeline_num_layers: 1\n",
                                    "  num_layers_in_last_pipeline_stage: 3\n", "  last_pipeline_num_layers: 3\n"}) {
        test::FilesRead run = read(two_nodes, std::string(lines) + "  pipeline_model_parallel_size: 2\n");
        const bool first = std::string_view(lines).find("first") != std::string_view::npos;
        EXPECT_EQ(run.made["layout"]["split"], (json{{first ? "first" : "last", first ? 1 : 3}})) << run.refusal;
    }
}

TEST(nemo_optimizer, gathers_parameters_under_the_forward_pass_where_gradients_overlap_too) {
    const auto optimizer = [](const std::string& keys) {
        return read(two_nodes, "  optim: {name: mcore_distributed_optim, " + keys + "}\n");
    };
    EXPECT_EQ(optimizer("overlap_grad_sync: True, overlap_param_sync: True").made["megatron"]["overlap_parameters"],
              true);
    EXPECT_FALSE(
        optimizer("overlap_param_sync: True").made.value("megatron", json::object()).contains("overlap_parameters"));
    EXPECT_FALSE(
        read(two_nodes, "  optim: {name: fused_adam, overlap_grad_sync: True}\n").made.contains("overlap_gradients"))
        << "of optimizers that share nothing";
}

TEST(nemo_modules, are_transformer_engines_where_a_key_says_so) {
    EXPECT_EQ(read(two_nodes).made["megatron"]["transformer_engine"], false);
    EXPECT_EQ(read(two_nodes, "  transformer_engine: True\n").made["megatron"]["transformer_engine"], true);
    EXPECT_EQ(read(two_nodes, "  transformer_engine: False\n  mcore_gpt: False\n").made["attention"], "unfused");
}

TEST(nemo_files, refer_to_values_no_deeper_than_any_configuration) {
    std::string chain = "  global_batch_size: ${.a0}\n";
    for (int i = 0; i < 60; ++i) chain += "  a" + std::to_string(i) + ": ${.a" + std::to_string(i + 1) + "}\n";
    const std::string run =
        "trainer: {num_nodes: 1, precision: bf16}\nmodel:\n  encoder_seq_length: 128\n"
        "  position_embedding_type: rope\n  num_layers: 4\n  hidden_size: 64\n"
        "  num_attention_heads: 4\n  micro_batch_size: 1\n  megatron_amp_O2: True\n";
    EXPECT_THAT(test::files_read({{"conf.yaml", run + chain + "  a60: 32\n"}}, on_dgx()).refusal,
                HasSubstr("model.global_batch_size: depends on $"));
    EXPECT_EQ(test::files_read({{"conf.yaml", run + "  global_batch_size: ${.a58}\n" +
                                                  chain.substr(chain.find("  a58")) + "  a60: 32\n"}},
                               on_dgx())
                  .made["batch"]["global"],
              32);
}

TEST(nemo_files, are_read_one_at_a_time) {
    const SourceFile file{"conf.yaml", "model:\n  megatron_amp_O2: True\n"};
    EXPECT_EQ(test::files_read({file, file}, on_dgx()).refusal,
              "conf.yaml: error: NeMo's files are read one at a time");
}

}  // namespace
}  // namespace weft
