// The run that flags of Megatron-LM describe: how many ranks, which batch, which stages.
#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::string model =
    "--num-layers 8\n--hidden-size 512\n--num-attention-heads 8\n--vocab-size 999\n--tokenizer-type NullTokenizer\n"
    "--position-embedding-type rope\n--bf16\n";
const std::string sizes = model + "--seq-length 256\n--micro-batch-size 2\n";
const std::string run = sizes + "--global-batch-size 64\n--nnodes 1\n--nproc_per_node 8\n";

FormatOptions on_dgx() {
    FormatOptions options;
    options.machine = "dgx-h100";
    return options;
}

test::FilesRead read(const std::string& flags, const FormatOptions& options = on_dgx()) {
    return test::files_read({{"run.sh", flags}}, options);
}

FormatOptions set(std::vector<std::string> overrides) {
    FormatOptions options = on_dgx();
    options.overrides = std::move(overrides);
    return options;
}

TEST(megatron_nodes, are_the_users_before_those_of_the_flags) {
    FormatOptions options = on_dgx();
    options.nodes = 3;
    test::FilesRead three = read(sizes + "--nnodes 1\n", options);
    EXPECT_EQ(three.made["nodes"], 3);
    EXPECT_EQ(three.made["batch"]["global"], 2 * 3 * 8) << "micro-batches of all data ranks";
    EXPECT_THAT(three.notes, Contains("run.sh:10: note: --nnodes: 3 nodes are taken in place of 1"));
    options.nodes = 1;
    EXPECT_THAT(read(run, options).notes, testing::IsEmpty());
    options.nodes = 0;
    options.gpus = 4;
    test::FilesRead four = read(sizes, options);
    EXPECT_EQ(four.made["gpus"], 4);
    EXPECT_FALSE(four.made.contains("nodes"));
    EXPECT_EQ(four.made["batch"]["global"], 2 * 4);
}

TEST(megatron_nodes, that_nobody_says_are_assumed_aloud) {
    test::FilesRead one = read(sizes + "--nproc_per_node 8\n");
    EXPECT_EQ(one.made["nodes"], 1);
    EXPECT_THAT(one.notes, Contains("run.sh: note: nodes: are not said; one is taken, as launchers do (--nodes N)"));
    test::FilesRead none = read(sizes + "--global-batch-size 64\n");
    EXPECT_FALSE(none.made.contains("nodes"));
    EXPECT_THAT(none.notes,
                Contains("run.sh: note: nodes: are not said; as many are taken as one replica of the model needs "
                         "(--nodes N)"));
}

TEST(megatron_batch, is_asked_for_where_neither_flags_nor_user_say_it) {
    test::FilesRead nothing = read(model + "--train-iters 10\n--nnodes 1\n");
    for (const char* const words :
         {"run.sh: error: seq_length: the input does not say it; give --set batch.sequence=N (tokens)",
          "run.sh: error: micro_batch_size: the input does not say it; give --set batch.micro=N (sequences per "
          "micro-batch)",
          "run.sh: error: global_batch_size: the input does not say it; give --set batch.global=N (sequences per "
          "step)"})
        EXPECT_THAT(nothing.refusal, HasSubstr(words));
    test::FilesRead said =
        read(model + "--train-iters 10\n--nnodes 1\n", set({"batch.sequence=128", "batch.micro=1", "batch.global=16"}));
    EXPECT_EQ(said.made["batch"], json::parse(R"({"sequence": 128, "micro": 1, "global": 16})")) << said.refusal;
}

TEST(megatron_batch, without_a_global_size_is_one_micro_batch_of_each_data_rank) {
    test::FilesRead all = read(sizes + "--nnodes 1\n--tensor-model-parallel-size 2\n");
    EXPECT_EQ(all.made["batch"]["global"], 2 * 4);
    EXPECT_THAT(all.notes, Contains("run.sh:9: note: micro-batch-size x data ranks: batch.global is 8, its default"));
}

TEST(megatron_batch, is_the_last_of_a_schedule_of_batches) {
    for (const auto& [schedule, last] : {std::pair{"0:32,2B:128", 128}, {"'0:384 200B:768 400B:1152'", 1152}}) {
        test::FilesRead steps = read(sizes + "--nnodes 1\n--step-batch-size-schedule " + std::string(schedule) + "\n");
        EXPECT_EQ(steps.made["batch"]["global"], last) << schedule << steps.refusal;
        EXPECT_THAT(steps.notes, Contains("run.sh:11: note: --step-batch-size-schedule: the last batch of the schedule "
                                          "is simulated, or the one given"));
    }
    EXPECT_EQ(read(run + "--step-batch-size-schedule 0:32,2B:128\n").made["batch"]["global"], 64) << "the one given";
    EXPECT_EQ(read(sizes + "--nnodes 1\n--step-batch-size-schedule 0:x\n").made["batch"]["global"], 16)
        << "of no last batch: as without a schedule";
}

TEST(megatron_batch, of_a_sequence_is_that_of_the_encoders_flag_too) {
    test::FilesRead old = read(model + "--encoder-seq-length 512\n--micro-batch-size 2\n--nnodes 1\n");
    EXPECT_EQ(old.made["batch"]["sequence"], 512) << old.refusal;
}

// "ends" counts embedding and output layer as a layer each: 10 + 2 over 4 stages.
TEST(megatron_stages, with_fewer_layers_at_both_ends_have_a_word_where_the_rest_is_even) {
    const std::string four = run + "--pipeline-model-parallel-size 4\n";
    const std::string ends = "--decoder-first-pipeline-num-layers 2\n--decoder-last-pipeline-num-layers 2\n";
    test::FilesRead ten = read(four + "--num-layers 10\n" + ends);
    EXPECT_EQ(ten.made["layout"], json::parse(R"({"pipeline": 4, "split": "ends"})"));
    EXPECT_FALSE(ten.made.contains("megatron"));
    test::FilesRead eight =
        read(four + "--decoder-first-pipeline-num-layers 1\n--decoder-last-pipeline-num-layers 1\n");
    EXPECT_EQ(eight.made["layout"]["split"], json::parse(R"({"first": 1, "last": 1})"));
    EXPECT_EQ(eight.made["megatron"]["version"], "core-0.9");
}

TEST(megatron_stages, that_are_more_than_layers_or_do_not_share_them_are_refused) {
    const std::string four = run + "--pipeline-model-parallel-size 4\n";
    EXPECT_THAT(read(four + "--num-layers 2\n--decoder-first-pipeline-num-layers 1\n"
                            "--decoder-last-pipeline-num-layers 1\n")
                    .refusal,
                HasSubstr("run.sh:15: error: --decoder-first-pipeline-num-layers: 4 stages are more than 2 layers"));
    EXPECT_THAT(read(run + "--pipeline-model-parallel-size 2\n--decoder-first-pipeline-num-layers 2\n"
                           "--decoder-last-pipeline-num-layers 4\n")
                    .refusal,
                HasSubstr("run.sh:14: error: --decoder-first-pipeline-num-layers: 2 stages do not share 8 layers so"));
    EXPECT_EQ(read(run + "--decoder-first-pipeline-num-layers 9\n").refusal, "")
        << "without a pipeline it says nothing";
}

// 14 layers, embedding and output layer on 4 stages, in parts of 2.
TEST(megatron_stages, in_parts_count_embedding_and_output_layer_where_the_flags_do) {
    const std::string parts =
        run + "--pipeline-model-parallel-size 4\n--num-layers 14\n--num-layers-per-virtual-pipeline-stage 2\n";
    test::FilesRead ends =
        read(parts + "--account-for-embedding-in-pipeline-split\n--account-for-loss-in-pipeline-split\n");
    EXPECT_EQ(ends.made["layout"], json::parse(R"({"pipeline": 4, "split": "ends", "virtual_stages": 2})"));
    EXPECT_EQ(ends.made["schedule"], "interleaved");
    EXPECT_THAT(read(parts).refusal, HasSubstr("--num-layers-per-virtual-pipeline-stage: 14 layers on 4 stages cannot "
                                               "be cut into parts of 2"));
}

TEST(megatron_stages, listed_for_each_part_are_virtual_stages) {
    const std::string two = run + "--pipeline-model-parallel-size 2\n";
    test::FilesRead listed = read(two + "--pipeline-model-parallel-layout 'Et|tt|tt|t*3L'\n");
    EXPECT_EQ(listed.made["layout"], json::parse(R"({"pipeline": 2, "virtual_stages": 2, "split": "Et|tt|tt|t*3L"})"));
    EXPECT_EQ(listed.made["schedule"], "interleaved");
    EXPECT_EQ(listed.made["megatron"]["version"], "core-0.13");
    EXPECT_THAT(read(two + "--pipeline-model-parallel-layout 'Et*4|x*4L'\n").refusal,
                HasSubstr("; expected stages such as \"Et*3|(tt|)*29,m|L\""));
    EXPECT_THAT(read(two + "--pipeline-model-parallel-layout 'Ett|tt|t*4L'\n").refusal,
                HasSubstr("--pipeline-model-parallel-layout: has 3 stages for 2 pipeline ranks"));
}

TEST(megatron_variables, that_the_user_replaces_are_not_asked_for) {
    const std::string script =
        "python pretrain_gpt.py --nnodes 1 --tensor-model-parallel-size $TP --micro-batch-size "
        "$MBS --lr $LR " +
        [] {
            std::string flags = model + "--seq-length 256\n--global-batch-size 64\n";
            std::ranges::replace(flags, '\n', ' ');
            return flags;
        }();
    EXPECT_EQ(read(script).refusal,
              "run.sh:1: error: --micro-batch-size: depends on $MBS, which is not set; give --variable MBS=VALUE\n"
              "run.sh:1: error: --tensor-model-parallel-size: depends on $TP, which is not set; give --variable "
              "TP=VALUE");
    test::FilesRead said = read(script, set({"layout.tensor=2", "batch.micro=4"}));
    EXPECT_EQ(said.made["layout"]["tensor"], 2) << said.refusal;
    EXPECT_EQ(said.made["batch"]["micro"], 4);
}

TEST(megatron_variables, of_commands_have_no_name_to_ask_for) {
    EXPECT_EQ(read("python pretrain_gpt.py --num-layers $(cat layers)\n").refusal,
              "run.sh:1: error: --num-layers: its value is not known");
}

TEST(megatron_arguments, are_no_more_than_any_run_has) {
    std::string flags = run;
    for (int i = 0; i < 4200; ++i) flags += "--lr 1\n";
    EXPECT_THAT(read(flags).refusal, HasSubstr("has more arguments than any training run"));
}

}  // namespace
}  // namespace weft
