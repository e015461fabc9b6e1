// Arguments of Megatron-LM in YAML: experiments of Primus, with the files that they are made of, and functional tests.
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.hpp"
#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string model = "num_layers: 4\nhidden_size: 64\nnum_attention_heads: 4\nposition_embedding_type: rope\n";
const std::string batch =
    "      seq_length: 128\n      micro_batch_size: 1\n      global_batch_size: 32\n      bf16: true\n";

FormatOptions on_dgx(std::vector<std::string> variables = {}) {
    FormatOptions options;
    options.machine = "dgx-h100";
    options.nodes = 1;
    options.vocabulary = 1000;
    options.variables = std::move(variables);
    return options;
}

std::string experiment(const std::string& of_trainer, const std::string& more = "") {
    return "work_group: x\nmodules:\n  pre_trainer:\n" + of_trainer + "    overrides:\n" + batch + more;
}

test::FilesRead read(const std::string& text, const FormatOptions& options = on_dgx()) {
    return test::files_read({{"model.yaml", model}, {"exp.yaml", text}}, options);
}

TEST(primus_experiment, is_its_model_and_what_it_says_otherwise) {
    test::FilesRead run = read(experiment("    framework: megatron\n    model: model.yaml\n    name: trainer\n",
                                          "      num_layers: 6\n  logger:\n    level: 3\n"));
    EXPECT_EQ(run.made["model"]["layers"], 6) << run.refusal;
    EXPECT_EQ(run.made["model"]["hidden"], 64);
    for (const char* const key : {"work_group", "modules.logger", "modules.pre_trainer.name"})
        EXPECT_THAT(run.without_effect, Contains(key));
}

TEST(primus_experiment, of_another_framework_is_refused_at_its_word) {
    EXPECT_EQ(read(experiment("    framework: torchtitan\n    model: model.yaml\n")).refusal,
              "exp.yaml:4: error: modules.pre_trainer.framework: weft reads Primus's runs of Megatron-LM, not of "
              "torchtitan");
}

TEST(primus_experiment, names_its_files_by_variables) {
    const std::string by_name = experiment("    model: ${MODEL}.yaml\n");
    EXPECT_EQ(read(by_name).refusal,
              "exp.yaml:4: error: modules.pre_trainer.model: \"MODEL\" is not set; give --variable MODEL=VALUE");
    EXPECT_EQ(read(by_name, on_dgx({"MODEL=model"})).made["model"]["layers"], 4);
    EXPECT_EQ(read(experiment("    model: ${MODEL:model}.yaml\n")).made["model"]["layers"], 4);
}

TEST(primus_experiment, notes_what_a_trainer_says_beside) {
    EXPECT_THAT(read(experiment("    model: model.yaml\n    odd: 1\n")).notes,
                Contains("exp.yaml:5: note: modules.pre_trainer.odd: not known to weft, and left out"));
}

// A file is beside the experiment, or where Primus keeps such files: in a folder above it.
TEST(primus_experiment, finds_files_in_the_folders_of_primus) {
    const test::TemporaryFolder folder;
    const std::filesystem::path root = folder.path(), models = root / "primus" / "configs" / "models" / "megatron";
    std::filesystem::create_directories(models);
    std::filesystem::create_directories(root / "examples" / "megatron");
    std::ofstream(models / "tiny.yaml") << model;
    const std::string path = root / "examples" / "megatron" / "exp.yaml";
    const std::string text = experiment("    model: tiny.yaml\n");
    EXPECT_EQ(test::files_read({{path, text}}, on_dgx()).made["model"]["layers"], 4);
    FormatOptions alone = on_dgx();
    alone.alone = true;
    EXPECT_THAT(test::files_read({{path, text}}, alone).refusal,
                HasSubstr("exp.yaml:4: error: modules.pre_trainer.model: \"tiny.yaml\" is neither beside"));
    EXPECT_THAT(test::files_read({{path, experiment("    model: gone.yaml\n")}}, on_dgx()).refusal,
                HasSubstr("\"gone.yaml\" is neither beside"));
}

TEST(primus_model, is_what_it_extends_by_any_of_the_words_for_it) {
    for (const char* const words : {"extends: model.yaml\n", "extends:\n  - model.yaml\n", "includes: [model.yaml]\n",
                                    "bases:\n  - model.yaml\n"}) {
        const std::string text = std::string(words) + "hidden_size: 128\nnum_query_groups: 2\n";
        test::FilesRead run = read(text, {.vocabulary = 100});
        EXPECT_EQ(run.made["layers"], 4) << words << run.refusal;
        EXPECT_EQ(run.made["hidden"], 128) << words;
    }
}

TEST(primus_model, is_made_of_no_more_files_than_any_configuration) {
    std::string many = "num_attention_heads: 4\nincludes:\n";
    for (int i = 0; i < 70; ++i) many += "  - model.yaml\n";
    EXPECT_THAT(read(many, {.vocabulary = 100}).refusal, HasSubstr("is made of more files than any configuration"));
}

TEST(primus_values, in_quotes_are_read_as_if_there_were_none) {
    for (const char* const value : {"'\"512\"'", "\"'512'\"", "\"512\"", "512"})
        EXPECT_EQ(read("extends: model.yaml\nffn_hidden_size: " + std::string(value) + "\n", {.vocabulary = 100})
                      .made["ffn_hidden"],
                  512)
            << value;
    test::FilesRead off = read("extends: model.yaml\nadd_bias_linear: 'false'\n", {.vocabulary = 100});
    EXPECT_EQ(off.made["biases"], false) << off.refusal;
    EXPECT_EQ(read("extends: model.yaml\ndisable_bias_linear: 'true'\n", {.vocabulary = 100}).made["biases"], false);
    EXPECT_FALSE(
        read("extends: model.yaml\ndisable_bias_linear: 'false'\n", {.vocabulary = 100}).made.contains("biases"));
}

const std::string functional =
    "MODEL_ARGS:\n  --num-layers: 2\n  --hidden-size: 64\n  --num-attention-heads: 2\n  --position-embedding-type: "
    "rope\n"
    "  --seq-length: 32\n  --micro-batch-size: 1\n  --global-batch-size: 8\n  --bf16: true\n";

TEST(megatron_functional_test, has_flags_that_are_false_or_null_as_if_they_were_not_there) {
    test::FilesRead plain = test::files_read({{"model_config.yaml", functional}}, on_dgx());
    for (const char* const key : {"--disable-bias-linear: false", "--swiglu: null",
                                  "--untie-embeddings-and-output-"
                                  "weights: false",
                                  "--use-distributed-optimizer: false"})
        EXPECT_EQ(test::files_read({{"model_config.yaml", functional + "  " + key + "\n"}}, on_dgx()).made, plain.made)
            << key;
    EXPECT_EQ(test::files_read({{"model_config.yaml", functional + "  --use-distributed-optimizer: true\n"}}, on_dgx())
                  .made["zero"],
              1);
}

TEST(megatron_functional_test, says_how_it_is_run_besides) {
    test::FilesRead run = test::files_read({{"model_config.yaml",
                                             "TEST_TYPE: regular\nODD: 1\nENV_VARS:\n  CUDA_LAUNCH_BLOCKING: null\n"
                                             "  NCCL_PROTO: \"Simple\"\n" +
                                                 functional}},
                                           on_dgx());
    EXPECT_THAT(run.without_effect, Contains("TEST_TYPE"));
    EXPECT_THAT(run.notes, Contains("model_config.yaml:2: note: ODD: not known to weft, and left out"));
    EXPECT_THAT(run.notes, Contains(HasSubstr("warning: NCCL_PROTO: the library chooses as without it")));
    EXPECT_FALSE(run.made.contains("blocking_launches"));
}

TEST(megatron_functional_test, is_read_alone) {
    const SourceFile file{"model_config.yaml", functional};
    EXPECT_EQ(test::files_read({file, file}, on_dgx()).refusal, "model_config.yaml: error: is read alone");
}

}  // namespace
}  // namespace weft
