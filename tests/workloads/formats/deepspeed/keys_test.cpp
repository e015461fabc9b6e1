// DeepSpeed's keys where they leave something open, contradict one another, or stand beside a launch of Megatron.
#include <fstream>

#include "tests/temporary_folder.hpp"
#include "tests/workloads/formats/files_read.hpp"
#include "workloads/formats/deepspeed/keys.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

FormatOptions one_node(std::vector<std::string> overrides = {}) {
    FormatOptions options{.machine = "frontier", .nodes = 1, .model = "gpt-neox-1.3b"};
    options.overrides = std::move(overrides);
    return options;
}

test::FilesRead read(const std::string& keys, const FormatOptions& options = one_node()) {
    return test::files_read({{"ds.json", "{" + keys + "}"}}, options);
}
const std::string micro = R"("train_micro_batch_size_per_gpu": 2, )";
const std::string last_key = R"("seed": 1)";

TEST(deepspeed_batch, of_a_whole_is_cut_by_ranks_and_steps) {
    test::FilesRead whole = read(R"("train_batch_size": 64)");
    EXPECT_EQ(whole.made["batch"], json::parse(R"({"micro": 8, "global": 64})")) << "8 data ranks, 1 step";
    FormatOptions nowhere = one_node();
    nowhere.nodes = 0;
    EXPECT_EQ(read(R"("train_batch_size": 64)", nowhere).refusal,
              "error: batch.micro: the input does not say it; give --set batch.micro=N (sequences per micro-batch), or "
              "--machine and --nodes where it follows from them");
    EXPECT_EQ(read(R"("train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto")").refusal,
              "error: batch.global: the input does not say it; give --set batch.global=N (sequences per step)\n"
              "error: batch.micro: the input does not say it; give --set batch.micro=N (sequences per micro-batch)");
    EXPECT_EQ(read(R"("train_batch_size": "auto")", one_node({"batch.micro=1", "batch.global=16"})).made["batch"],
              json::parse(R"({"micro": 1, "global": 16})"));
}

TEST(deepspeed_batch, that_contradicts_itself_is_kept_as_the_whole_says) {
    test::FilesRead run = read(micro + R"("train_batch_size": 64, "gradient_accumulation_steps": 3)");
    EXPECT_EQ(run.made["batch"]["global"], 64);
    EXPECT_THAT(run.notes, Contains("ds.json:1: warning: gradient_accumulation_steps: train_batch_size 64 is kept; "
                                    "micro-batch 2 x 3 steps x 8 data ranks would be 48, and DeepSpeed stops where "
                                    "they differ"));
    EXPECT_THAT(read(micro + R"("train_batch_size": 64, "gradient_accumulation_steps": 4)").notes,
                Not(Contains(HasSubstr("warning"))));
}

TEST(deepspeed_precision, is_the_users_where_the_trainer_says_it) {
    const std::string open = micro + R"("bf16": {"enabled": "auto"})";
    test::FilesRead said = read(open, one_node({"precision=fp16"}));
    EXPECT_EQ(said.made["precision"], "fp16");
    EXPECT_THAT(said.notes, Not(Contains(HasSubstr("the Trainer says it"))));
    EXPECT_THAT(read(open).notes, Contains("ds.json:1: warning: bf16: the Trainer says it; bf16 is assumed, --set "
                                           "precision=fp16 or fp32 says another"));
}

TEST(deepspeed_zero, has_former_keys_for_what_is_on_the_host) {
    test::FilesRead states =
        read(micro + R"("bf16": {"enabled": true}, "zero_optimization": {"stage": 2, "cpu_offload": true})");
    EXPECT_EQ(states.made["optimizer"]["states"], "host") << states.refusal;
    test::FilesRead both = read(micro + R"("bf16": {"enabled": true}, "zero_optimization": {"stage": 3,
        "cpu_offload": true, "cpu_offload_params": true})");
    EXPECT_EQ(both.made["deepspeed"]["offload_parameters"], "host") << both.refusal;
    EXPECT_EQ(read(micro + R"("zero_optimization": false)").made["zero"], 0);
}

// Below stage 3 gradients of a bucket go to their owners: by one call, or by one for each owner.
TEST(deepspeed_zero, reduces_a_bucket_at_once_or_for_each_owner) {
    const auto deepspeed = [](const std::string& zero) {
        return read(micro + R"("bf16": {"enabled": true}, "zero_optimization": {"stage": 2, )" + zero + "}")
            .made.value("deepspeed", json::object());
    };
    EXPECT_EQ(deepspeed(R"("use_multi_rank_bucket_allreduce": false)"),
              json::parse(R"({"multi_rank_allreduce": false})"));
    EXPECT_EQ(deepspeed(R"("use_multi_rank_bucket_allreduce": false, "reduce_scatter": false)"),
              json::parse(R"({"reduce_scatter": false})"))
        << "all ranks reduce the whole bucket then";
}

TEST(deepspeed_keys, have_no_effect_where_they_are_off) {
    test::FilesRead run =
        read(micro + R"("wall_clock_breakdown": false, "communication_data_type": "auto", "data_types": {},
                        "zero_optimization": {"stage": 0, "offload_param": {"device": "none"}, "offload_optimizer": {}})");
    EXPECT_EQ(run.made, read(micro + R"("zero_optimization": {"stage": 0})").made) << run.refusal;
    for (const char* const key :
         {"wall_clock_breakdown", "zero_optimization.offload_param", "zero_optimization.offload_optimizer"})
        EXPECT_THAT(run.without_effect, Contains(key));
}

TEST(deepspeed_keys, the_script_would_say_are_told_unless_the_user_does) {
    EXPECT_THAT(
        read(micro + last_key).notes,
        Contains("note: batch.sequence: the script says it; 2048 is assumed, --set batch.sequence=N says another"));
    EXPECT_THAT(read(micro + last_key).notes,
                Contains("note: recompute: the script says it; none is assumed, --set recompute=full says another"));
    test::FilesRead said = read(micro + last_key, one_node({"batch.sequence=1024", "recompute=full"}));
    EXPECT_THAT(said.notes, Not(Contains(HasSubstr("the script says it"))));
    EXPECT_EQ(said.made["recompute"], "full");
}

TEST(deepspeed_keys, of_partitioned_activations_leave_the_users_recomputation) {
    const std::string parts = R"("activation_checkpointing": {"partition_activations": true})";
    EXPECT_EQ(read(micro + parts).made["recompute"], "full");
    EXPECT_EQ(read(micro + parts, one_node({"recompute=full"})).made["recompute"], "full");
}

TEST(deepspeed_files, are_json_and_one) {
    const std::string text = "{" + micro + "\"seed\": 1}";
    EXPECT_EQ(test::files_read({{"a.json", text}, {"b.json", text}}, one_node()).refusal,
              "b.json: error: DeepSpeed reads one file");
    EXPECT_EQ(find_format({"a.json", "# " + text}), nullptr);
    EXPECT_EQ(find_format({"a.json", "{\"pipe_parallel_size\": 1, " + micro + "\"seed\": 1}"})->name, "neox");
}

// What the launch says of the batch is its own; the rest of the file beside it counts.
TEST(deepspeed_files, beside_a_launch_say_the_rest_of_it) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "ds.json") << R"({"train_batch_size": 512, "wall_clock_breakdown": true,
        "zero_optimization": {"stage": 1, "reduce_bucket_size": 5e6}, "odd": 1, "pipeline": {"stages": 2}})";
    const std::string script =
        "--num-layers 8\n--hidden-size 512\n--num-attention-heads 8\n--vocab-size 999\n--tokenizer-type NullTokenizer\n"
        "--position-embedding-type rope\n--seq-length 256\n--micro-batch-size 2\n--global-batch-size 64\n--fp16\n"
        "--nnodes 1\n--nproc_per_node 8\n--deepspeed\n--deepspeed_config ds.json\n";
    test::FilesRead run = test::files_read({{folder.path() / "run.sh", script}}, {.machine = "dgx-h100"});
    EXPECT_EQ(run.made["batch"]["global"], 64) << run.refusal;
    EXPECT_EQ(run.made["zero"], 1);
    EXPECT_EQ(run.made["bucket_elements"], 5e6);
    EXPECT_EQ(run.made["overlap_gradients"], false) << "the pipeline engine runs it";
    EXPECT_EQ(run.made["deepspeed"]["wall_clock_breakdown"], true);
    EXPECT_THAT(run.notes, Contains(HasSubstr("ds.json:2: note: odd: not known to weft, and left out")));
    EXPECT_THAT(run.notes, Contains(HasSubstr("ds.json:2: warning: pipeline: is not taken over")));
    EXPECT_THAT(run.notes, Not(Contains(HasSubstr("train_batch_size"))));
}

}  // namespace
}  // namespace weft
