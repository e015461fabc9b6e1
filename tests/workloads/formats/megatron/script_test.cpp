// Launches of Megatron-LM in scripts: which words are flags, where they stand, what launchers and Slurm say besides.
#include "tests/workloads/formats/files_read.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string model =
    " --num-layers 8 --hidden-size 512 --num-attention-heads 8 --vocab-size 999 --tokenizer-type NullTokenizer"
    " --position-embedding-type rope --seq-length 256 --global-batch-size 64 --bf16";
const std::string run = model + " --micro-batch-size 2";
const std::string launch = "python pretrain_gpt.py" + run;

test::FilesRead read(const std::string& script, std::vector<std::string> variables = {}) {
    FormatOptions options;
    options.machine = "dgx-h100";
    options.variables = std::move(variables);
    return test::files_read({{"run.sh", script}}, options);
}

TEST(megatron_script, nodes_are_what_directives_of_slurm_ask_for) {
    for (const char* const directive :
         {"--nodes=4", "--nodes 4", "-N 4", "-N4", "-N=4", "--nodes=4 # all of them", "--nodes=4 --exclusive"}) {
        test::FilesRead slurm = read("#!/bin/bash\n#SBATCH " + std::string(directive) + "\nsrun " + launch);
        EXPECT_EQ(slurm.made["nodes"], 4) << directive;
        EXPECT_THAT(slurm.notes, IsEmpty()) << directive;
    }
}

TEST(megatron_script, ranks_of_a_node_are_the_gpus_that_slurm_gives_it) {
    for (const char* const directive :
         {"--gres=gpu:4", "--gres=gpu:h100:4", "--gpus-per-node=4", "--gpus-per-node=h100:4"}) {
        const std::string head = "#SBATCH " + std::string(directive) + "\n#SBATCH --nodes=";
        EXPECT_EQ(read(head + "1\nsrun " + launch).made["layout"], (json{{"data", 4}})) << directive;
        test::FilesRead two = read(head + "2\nsrun " + launch);
        EXPECT_EQ(two.made["nodes"], 1) << directive;
        EXPECT_THAT(two.notes, Contains("run.sh:2: note: --nodes: 2 nodes of 4 ranks are 1 nodes of dgx-h100"));
    }
    EXPECT_EQ(read("#SBATCH --gres=gpu\n#SBATCH --nodes=2\nsrun " + launch).made["nodes"], 2);
}

TEST(megatron_script, variables_of_slurm_are_what_its_directives_ask_for) {
    const std::string head = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n";
    for (const char* const nodes : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) {
        const std::string script =
            head + "torchrun --nnodes $" + nodes + " --nproc_per_node ${SLURM_NTASKS_PER_NODE} pretrain_gpt.py" + run;
        EXPECT_EQ(read(script).made["nodes"], 2) << nodes;
        EXPECT_EQ(read(script, {std::string(nodes) + "=4"}).made["nodes"], 4) << nodes;
    }
    const std::string without = "torchrun --nnodes $SLURM_NNODES pretrain_gpt.py" + run;
    EXPECT_EQ(read(without).refusal,
              "run.sh:1: error: --nnodes: is not set; give --variable SLURM_NNODES=VALUE, or --nodes N");
}

TEST(megatron_script, of_several_launches_the_last_is_taken_aloud) {
    test::FilesRead two = read(launch + " --hidden-size 1024\n" + launch + "\n");
    EXPECT_EQ(two.made["model"]["hidden"], 512);
    EXPECT_THAT(two.notes, Contains("run.sh:2: note: launch: of 2 launches the last is taken"));
}

TEST(megatron_script, a_launch_under_a_condition_that_nobody_knows_is_taken_aloud) {
    test::FilesRead perhaps = read("if [ -f ready ]; then\n  " + launch + "\nfi\n");
    EXPECT_EQ(perhaps.made["model"]["layers"], 8);
    EXPECT_THAT(perhaps.notes, Contains("run.sh:2: note: launch: is taken, though a condition before it is not known"));
    EXPECT_THAT(read("if [ 1 -eq 1 ]; then\n  " + launch + "\nfi\n").notes, Not(Contains(HasSubstr("launch"))));
}

TEST(megatron_script, a_file_that_only_sets_lists_of_flags_is_read) {
    test::FilesRead text = read("MODEL=\"" + model + "\"\nBATCH=\"--micro-batch-size 2\"\n");
    EXPECT_EQ(text.made["model"]["layers"], 8);
    EXPECT_EQ(text.made["batch"]["micro"], 2);
    EXPECT_EQ(read("MODEL=(" + model + ")\nBATCH=(\n  --micro-batch-size 4\n)\n").made["batch"]["micro"], 4);
}

TEST(megatron_script, files_together_know_the_variables_of_those_before) {
    FormatOptions options;
    options.machine = "dgx-h100";
    const SourceFile arguments{"conf/args.sh", "MORE=\"--swiglu\"\nWIDTH=1024\n"},
        script{"run.sh", "source conf/args.sh\n" + launch + " --hidden-size $WIDTH $MORE\n"};
    test::FilesRead both =
        test::files_read({{"conf/args.sh", arguments.text + "X=\"" + model + "\"\n"}, script}, options);
    EXPECT_EQ(both.made["model"]["hidden"], 1024);
    EXPECT_EQ(both.made["model"]["gated"], true);
    EXPECT_THAT(both.notes, Not(Contains(HasSubstr("source"))));
    test::FilesRead alone =
        test::files_read({{"run.sh", "source conf/args.sh\n" + launch + " $MORE $MORE\n"}}, options);
    EXPECT_THAT(alone.notes, Contains("run.sh: note: source conf/args.sh: is not read; give the file, too"));
    const std::string unset =
        "run.sh:2: note: $MORE: is not set; what it would add is left out (--variable MORE=VALUE)";
    EXPECT_EQ(std::ranges::count(alone.notes, unset), 1) << "told once";
}

TEST(megatron_script, a_flag_is_told_of_where_it_is_written_and_not_where_it_is_used) {
    const std::string lines = "SIZES=\"\n  --micro-batch-size two\n\"\npython pretrain_gpt.py" + model + " $SIZES\n";
    EXPECT_EQ(read(lines).refusal,
              "run.sh:2: error: micro_batch_size (--micro-batch-size): expected an integer of at least 1, got \"two\"");
    EXPECT_EQ(read("# --micro-batch-size 1\n" + lines).refusal,
              "run.sh:5: error: micro_batch_size (--micro-batch-size): expected an integer of at least 1, got \"two\"")
        << "written twice: where it is used";
}

TEST(megatron_script, a_command_in_quotes_is_words_up_to_its_pipe) {
    test::FilesRead inner = read("srun bash -c \"python pretrain_gpt.py" + run + " --swiglu\"\n");
    EXPECT_EQ(inner.made["model"]["gated"], true);
    test::FilesRead piped = read("srun bash -c \"python pretrain_gpt.py" + run + " | tee --swiglu log\"\n");
    EXPECT_EQ(piped.made["model"]["layers"], 8);
    EXPECT_EQ(piped.made["model"]["gated"], false);
}

TEST(megatron_script, options_before_the_program_are_the_launchers) {
    test::FilesRead before = read("torchrun --nnodes=1 --rdzv_backend c10d --some-flag 3 pretrain_gpt.py" + run + "\n");
    EXPECT_THAT(before.notes, IsEmpty());
    EXPECT_THAT(before.without_effect, Contains("--rdzv_backend"));
    EXPECT_THAT(before.without_effect, Contains("--some-flag"));
    EXPECT_THAT(read(launch + " --some-flag 3\n").notes,
                Contains("run.sh:1: note: --some-flag: not known to weft, and left out"));
}

TEST(megatron_script, nodes_and_ranks_are_those_of_any_launcher) {
    for (const char* const launcher : {"torchrun --nnodes 2 --nproc-per-node 8",
                                       "torchrun --nnodes=2 --nproc_per_node=8", "deepspeed --num_nodes 2 --num_gpus 8",
                                       "srun -N 2 --gpus-per-node=8 python", "srun --nodes=2 --gres=gpu:8 python"}) {
        test::FilesRead two = read(std::string(launcher) + " pretrain_gpt.py" + run + "\n");
        EXPECT_EQ(two.made["nodes"], 2) << launcher << two.refusal;
        EXPECT_THAT(two.notes, IsEmpty()) << launcher;
    }
}

TEST(megatron_script, programs_that_train_other_models_are_refused_by_name) {
    for (const char* const program : {"pretrain_bert.py", "tools/pretrain_t5.py", "pretrain_ict.py",
                                      "./pretrain_retro.py", "pretrain_vision_classify.py", "pretrain_vlm.py"})
        EXPECT_EQ(read("python " + std::string(program) + run + "\n").refusal,
                  "run.sh:1: error: " + std::string(program) + ": trains another kind of model than a decoder of text");
    EXPECT_EQ(read("python $HOME/Megatron-LM/pretrain_gpt.py" + run + "\n").refusal, "");
}

TEST(megatron_script, what_is_set_for_the_library_is_warned_of_where_it_would_decide) {
    test::FilesRead set =
        read("export NCCL_ALGO=Ring\nNCCL_PROTO=Simple\nexport NCCL_DEBUG=INFO\nexport NCCL_BUFFSIZE=$SIZE\n" + launch);
    EXPECT_THAT(set.notes, Contains("run.sh: warning: NCCL_ALGO: the library chooses as without it"));
    EXPECT_THAT(set.notes, Contains("run.sh: warning: NCCL_PROTO: the library chooses as without it"));
    EXPECT_THAT(set.notes, Not(Contains(HasSubstr("NCCL_BUFFSIZE"))));
    EXPECT_THAT(set.without_effect, Contains("NCCL_DEBUG"));
    EXPECT_FALSE(set.made.contains("blocking_launches"));
    EXPECT_EQ(read("export CUDA_LAUNCH_BLOCKING=1\n" + launch).made["blocking_launches"], true);
    EXPECT_FALSE(read("export CUDA_LAUNCH_BLOCKING=0\n" + launch).made.contains("blocking_launches"));
}

}  // namespace
}  // namespace weft
