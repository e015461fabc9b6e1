// Arguments of Megatron-LM: what becomes of them, in each kind of file that they come in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

using nlohmann::json;

const std::string small_model =
    "--num-layers 8\n--hidden-size 512\n--num-attention-heads 8\n--vocab-size 999\n--tokenizer-type NullTokenizer\n";
const std::string small_run = small_model +
                              "--position-embedding-type rope\n--seq-length 256\n--micro-batch-size 2\n"
                              "--global-batch-size 64\n--bf16\n--nnodes 1\n--nproc_per_node 8\n";

FormatOptions said(std::string machine, std::uint32_t nodes = 0, std::uint32_t vocabulary = 0) {
    FormatOptions options;
    options.machine = std::move(machine);
    options.nodes = nodes;
    options.vocabulary = vocabulary;
    return options;
}

const FormatOptions on_dgx = said("dgx-h100");

Import imported(const std::string& text, const FormatOptions& options = on_dgx, std::string path = "run.sh") {
    const std::vector<SourceFile> files{{std::move(path), text}};
    return import_files(format_of(files, ""), files, options);
}

json object_of(const std::string& text, const FormatOptions& options = on_dgx) {
    return json::parse(imported(text, options).object.json());
}

std::string refusal(const std::string& text, const FormatOptions& options = on_dgx, std::string path = "run.sh") {
    try {
        imported(text, options, std::move(path));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "made";
}

bool notes(const std::string& text, std::string_view key) {
    const Import import = imported(text);
    return std::ranges::any_of(import.notes,
                               [&](const FormatNote& note) { return note.origin.key.find(key) != std::string::npos; });
}

bool mentions(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(megatron_format, a_refusal_names_what_a_line_says_besides) {
    const std::string text = refusal(small_run + "--spec plugin layer\n--tensor-model-parallel-size 16\n");
    EXPECT_TRUE(mentions(text, "--spec: weft knows the layers of")) << text;
    EXPECT_TRUE(mentions(text, "8 attention heads cannot be shared by 16 tensor ranks")) << text;
    EXPECT_FALSE(mentions(refusal(small_run + "--spec plugin layer\n", {}), "machine"));
}

TEST(megatron_format, levels_of_context_ranks_are_refused_by_their_flag) {
    const std::string text = refusal(small_run +
                                     "--context-parallel-size 4\n--cp-comm-type a2a+p2p\n"
                                     "--hierarchical-context-parallel-sizes 2 2\n");
    EXPECT_TRUE(mentions(text, "--hierarchical-context-parallel-sizes: weft has one level of context ranks, not 2 2"));
    EXPECT_TRUE(mentions(text, "--cp-comm-type")) << text;
}

TEST(megatron_format, a_configuration_of_deepspeed_beside_the_script_is_read_with_it) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "ds.json")
        << R"({"train_batch_size": 64, "zero_optimization": {"stage": 3, "reduce_bucket_size": 777}})";
    const std::string script = small_run + "--deepspeed\n--no-pipeline-parallel\n--deepspeed_config conf/ds.json\n",
                      path = folder.path() / "run.sh";
    const auto job_of = [&](bool alone) {
        FormatOptions options = on_dgx;
        options.alone = alone;
        return json::parse(imported(script, options, path).object.json());
    };
    EXPECT_EQ(job_of(false)["zero"], 3);
    EXPECT_EQ(job_of(false)["bucket_elements"], 777);
    EXPECT_EQ(job_of(false)["batch"]["global"], 64);
    EXPECT_FALSE(job_of(true).contains("bucket_elements"));
    EXPECT_TRUE(notes(script, "deepspeed_config")) << "not beside it";
}

TEST(megatron_format, a_model_on_a_machine_is_a_job_of_a_common_run) {
    const Import import = imported(small_model + "--position-embedding-type rope\n", said("dgx-h100", 1));
    EXPECT_EQ(import.kind, FormatKind::job);
    EXPECT_EQ(json::parse(import.object.json())["batch"]["global"], 1024);
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return to_text(note) == "note: batch.global: 1024 is assumed; --set batch.global=1024 says another";
    }));
    EXPECT_EQ(imported(small_model + "--position-embedding-type rope\n", {}).kind, FormatKind::model);
}

TEST(megatron_format, what_is_not_said_is_as_megatron_has_it) {
    const json job = object_of(small_run);
    EXPECT_EQ(job["framework"], "megatron");
    EXPECT_EQ(job["model"]["ffn_hidden"], 2048);
    EXPECT_EQ(job["model"]["vocabulary"], 1000);  // with the null tokenizer's end of a document
    EXPECT_EQ(job["model"]["tied_embeddings"], true);
    EXPECT_FALSE(job["model"].contains("biases"));
    EXPECT_EQ(job["dropout"], true);
    EXPECT_EQ(job["nodes"], 1);
    EXPECT_FALSE(job.contains("zero"));
    EXPECT_FALSE(job.contains("attention"));
    EXPECT_EQ(object_of(small_run + "--swiglu")["model"]["ffn_hidden"], 1344);
    EXPECT_EQ(object_of(small_model + "--seq-length 64\n--max-position-embeddings 64\n--micro-batch-size 2",
                        said("dgx-h100", 2))["batch"]["global"],
              32);
    EXPECT_EQ(object_of(small_model + "--seq-length 64\n--max-position-embeddings 96\n--micro-batch-size 2",
                        said("dgx-h100", 2))["model"]["positions_length"],
              96);
}

TEST(megatron_format, models_come_out_as_their_flags_say) {
    const json model = object_of(small_run +
                                 "--group-query-attention\n--num-query-groups 2\n--kv-channels 128\n--qk-layernorm\n"
                                 "--normalization RMSNorm\n--disable-bias-linear --swiglu --ffn-hidden-size 768\n"
                                 "--untie-embeddings-and-output-weights\n--make-vocab-size-divisible-by 64")["model"];
    EXPECT_EQ(model["kv_heads"], 2);
    EXPECT_EQ(model["head_size"], 128);
    EXPECT_EQ(model["query_key_norm"], true);
    EXPECT_EQ(model["norm"], "rms_norm");
    EXPECT_EQ(model["biases"], false);
    EXPECT_EQ(model["gated"], true);
    EXPECT_EQ(model["ffn_hidden"], 768);
    EXPECT_EQ(model["vocabulary_multiple"], 64);
    EXPECT_FALSE(model.contains("tied_embeddings"));
    const json latent =
        object_of(small_run + "--multi-latent-attention --qk-layernorm --q-lora-rank 96 --v-head-dim 64")["model"];
    EXPECT_EQ(latent["latent_attention"], json::parse(R"({"kv_rank": 32, "q_rank": 96, "nope_size": 128,
                                                         "rope_size": 64, "value_size": 64})"));
}

TEST(megatron_format, the_dispatcher_is_the_one_that_the_flags_name) {
    const std::string moe = small_run + "--num-experts 4 --expert-model-parallel-size 2 ";
    const auto dispatcher = [&](const std::string& flags) {
        const json experts = object_of(moe + flags)["experts"];
        return experts.is_null() ? "all_to_all" : experts["dispatcher"].get<std::string>();
    };
    EXPECT_EQ(dispatcher(""), "all_gather");  // Megatron-LM's default
    EXPECT_EQ(dispatcher("--moe-token-dispatcher-type alltoall"), "all_to_all");
    EXPECT_EQ(dispatcher("--moe-token-dispatcher-type flex --moe-enable-deepep"), "deepep");
    EXPECT_EQ(dispatcher("--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep"), "hybridep");
    EXPECT_TRUE(mentions(refusal(moe + "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend nccl"),
                         "weft has deepep and hybridep"));
    const json limited = object_of(moe + "--moe-router-num-groups 2 --moe-router-group-topk 1")["model"]["experts"];
    EXPECT_EQ(limited["groups"], 2);
    EXPECT_EQ(limited["token_groups"], 1);
}

TEST(megatron_format, experts_stand_in_the_layers_that_the_frequency_says) {
    const std::string moe =
        small_run + "--num-experts 4 --moe-ffn-hidden-size 128 --moe-token-dispatcher-type alltoall\n";
    EXPECT_EQ(object_of(moe)["model"]["experts"], json::parse(R"({"count": 4, "top_k": 2, "ffn_hidden": 128})"));
    EXPECT_EQ(object_of(moe + "--moe-layer-freq 2")["model"]["experts"]["every"], 2);
    const json listed = object_of(moe + "--moe-layer-freq ([0]*2+[1,0]*3)\n--moe-router-topk 1")["model"]["experts"];
    EXPECT_EQ(listed["first_dense"], 2);
    EXPECT_EQ(listed["every"], 2);
    EXPECT_EQ(listed["top_k"], 1);
    EXPECT_EQ(object_of(moe + "--moe-shared-expert-intermediate-size 256")["model"]["experts"]["shared_ffn_hidden"],
              256);
    EXPECT_TRUE(mentions(refusal(moe + "--moe-layer-freq ([1]*3)"), "for each of 8 layers, got 3"));
    EXPECT_EQ(python_list("([0]*1+[1,0])*2"), (std::vector<std::uint32_t>{0, 1, 0, 0, 1, 0}));
    EXPECT_TRUE(python_list("[1]*99999999").empty());
    EXPECT_TRUE(python_list(std::string(200'000, '(')).empty());
}

TEST(megatron_format, layouts_and_settings_come_out_as_their_flags_say) {
    const json job = object_of(
        small_run +
        "--tensor-model-parallel-size 2 --pipeline-model-parallel-size=2 --num-layers-per-virtual-pipeline-stage 2\n"
        "--sequence-parallel --use-tp-pp-dp-mapping --use-distributed-optimizer --overlap-grad-reduce\n"
        "--overlap-param-gather --tp-comm-overlap --ddp-bucket-size 1000000 --grad-reduce-in-bf16\n"
        "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1\n"
        "--hidden-dropout 0.0 --attention-dropout 0 --attention-backend fused --cross-entropy-loss-fusion\n"
        "--no-gradient-accumulation-fusion --transformer-impl local --fp8-format hybrid\n");
    EXPECT_EQ(job["layout"], json::parse(R"({"tensor": 2, "pipeline": 2, "virtual_stages": 2,
                                             "order": "tensor,context,pipeline,data"})"));
    EXPECT_EQ(job["schedule"], "interleaved");
    EXPECT_EQ(job["zero"], 1);
    EXPECT_EQ(job["bucket_elements"], 1e6);
    EXPECT_EQ(job["recompute"], "full");
    EXPECT_EQ(job["precision"], "fp8");
    EXPECT_EQ(job["attention"], "cudnn");
    EXPECT_FALSE(job.contains("dropout"));
    EXPECT_EQ(job["megatron"], json::parse(R"({"gradients": "bf16", "overlap_parameters": true, "overlap_tensor": true,
        "fused_accumulation": false, "transformer_engine": false, "fused_cross_entropy": true})"));
    EXPECT_EQ(object_of(small_run + "--no-check-for-nan-in-loss-and-grad")["megatron"]["check_for_nan"], false);
    EXPECT_EQ(object_of(small_run + "--context-parallel-size 4 --cp-comm-type a2a")["context_method"], "all_to_all");
    EXPECT_EQ(object_of(small_run + "--recompute-activations")["recompute"], "selective");
    EXPECT_EQ(object_of(small_run + "--transformer-impl local")["attention"], "unfused");
}

TEST(megatron_format, what_runs_beside_the_exchange_of_tokens_comes_with_a_version_that_has_it) {
    const std::string moe = small_run + "--num-experts 8 --moe-token-dispatcher-type alltoall ";
    const std::string shared = moe + "--expert-model-parallel-size 4 --moe-shared-expert-intermediate-size 512 ";
    const json passes = object_of(shared + "--overlap-moe-expert-parallel-comm --delay-wgrad-compute");
    EXPECT_EQ(passes["experts"], json::parse(R"({"overlap": "passes", "delay_weight_gradients": true})"));
    EXPECT_EQ(passes["megatron"]["version"], "core-0.14");
    const json beside = object_of(shared + "--moe-shared-expert-overlap");
    EXPECT_EQ(beside["experts"], json::parse(R"({"overlap": "shared_experts"})"));
    EXPECT_EQ(beside["megatron"]["version"], "core-0.9");
    EXPECT_FALSE(object_of(moe + "--overlap-moe-expert-parallel-comm").contains("experts"));
    EXPECT_TRUE(mentions(refusal(shared + "--overlap-moe-expert-parallel-comm --moe-shared-expert-overlap"),
                         "moe-shared-expert-overlap: Megatron-core has it without"));
}

// A loss counts where it has a coefficient (router.py, get_aux_loss_coeff); the latest version that a flag needs stays.
TEST(megatron_format, what_balances_experts_is_a_loss_with_a_coefficient_or_a_bias) {
    const std::string moe = small_run + "--num-experts 8 --moe-token-dispatcher-type alltoall ";
    const auto balancing = [&](const std::string& flags) {
        const json job = object_of(moe + flags);
        return job.contains("experts") ? job["experts"]["balancing"].get<std::string>() : "";
    };
    const std::string type = "--moe-router-load-balancing-type ", coefficient = " --moe-aux-loss-coeff ";
    EXPECT_EQ(balancing(""), "");
    EXPECT_EQ(balancing(coefficient + "1e-2"), "auxiliary_loss");
    EXPECT_EQ(balancing(type + "aux_loss"), "");
    EXPECT_EQ(balancing(type + "aux_loss" + coefficient + "0.0"), "");
    EXPECT_EQ(balancing(type + "seq_aux_loss" + coefficient + "1e-4"), "sequence_auxiliary_loss");
    EXPECT_EQ(balancing(type + "global_aux_loss" + coefficient + "1e-4"), "global_auxiliary_loss");
    EXPECT_EQ(balancing(type + "aux_loss global_aux_loss" + coefficient + "0 1e-3"), "global_auxiliary_loss");
    EXPECT_EQ(balancing(type + "sinkhorn"), "");
    EXPECT_EQ(balancing(type + "none" + coefficient + "1e-2"), "");
    EXPECT_EQ(balancing(coefficient + "1e-2 --moe-router-force-load-balancing"), "");
    EXPECT_EQ(balancing("--moe-router-enable-expert-bias"), "bias");
    EXPECT_EQ(balancing(coefficient + "1e-4 --moe-router-enable-expert-bias"), "auxiliary_loss");

    const std::string seq = moe + type + "seq_aux_loss" + coefficient + "1e-4";
    EXPECT_EQ(object_of(seq)["megatron"]["version"], "core-0.10");
    EXPECT_EQ(object_of(seq + " --mtp-num-layers 1")["megatron"]["version"], "core-0.12");
    EXPECT_EQ(object_of(moe + type + "global_aux_loss" + coefficient + "1 --mtp-num-layers 1")["megatron"]["version"],
              "core-0.15");
    EXPECT_TRUE(mentions(refusal(moe + type + "other"), "expected aux_loss, seq_aux_loss"));
    EXPECT_TRUE(mentions(refusal(moe + type + "none aux_loss none" + coefficient + "1 2"), "for each of 3 losses"));
}

TEST(megatron_format, stages_that_weft_has_a_word_for_are_called_by_it) {
    const std::string staged = small_run + "--pipeline-model-parallel-size 2 ";
    EXPECT_EQ(
        object_of(staged +
                  "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split")["layout"]["split"],
        "ends");
    EXPECT_EQ(object_of(staged + "--pipeline-model-parallel-layout \"Ett|(tt|)*2,ttL\"")["schedule"], "interleaved");
    EXPECT_FALSE(object_of(staged + "--pipeline-model-parallel-layout 'Et*4|t*4L'")["layout"].contains("split"));
    EXPECT_TRUE(mentions(refusal(staged + "--pipeline-model-parallel-layout 'Et*5|t*3'"), "ends with the one L"));
    EXPECT_TRUE(mentions(refusal(staged + "--account-for-loss-in-pipeline-split"), "both or not at all"));
}

TEST(megatron_format, stages_by_hand_are_taken_with_the_version_that_has_them) {
    const std::string staged = small_run + "--pipeline-model-parallel-size 2 ";
    const json listed = object_of(staged + "--pipeline-model-parallel-layout 'Et*5|t*3L'");
    EXPECT_EQ(listed["layout"]["split"], "Et*5|t*3L");
    EXPECT_EQ(listed["megatron"]["version"], "core-0.13");
    const json counted = object_of(staged + "--decoder-first-pipeline-num-layers 3");
    EXPECT_EQ(counted["layout"]["split"], json::parse(R"({"first": 3})"));
    EXPECT_EQ(counted["megatron"]["version"], "core-0.9");
    const json predicting = object_of(small_run + "--mtp-num-layers 1");
    EXPECT_EQ(predicting["model"]["mtp_layers"], 1);
    EXPECT_EQ(predicting["megatron"]["version"], "core-0.12");
    EXPECT_EQ(
        object_of(staged + "--pipeline-model-parallel-layout 'Et*8|mL' --mtp-num-layers 1")["megatron"]["version"],
        "core-0.13");
}

TEST(megatron_format, recomputation_and_states_are_those_of_the_flags) {
    const auto recompute = [](const std::string& flags) { return object_of(small_run + flags)["recompute"]; };
    EXPECT_EQ(recompute("--recompute-granularity full --recompute-method block --recompute-num-layers 3"),
              json::parse(R"({"method": "block", "layers": 3})"));
    EXPECT_EQ(recompute("--recompute-granularity full --recompute-method uniform --recompute-num-layers 2"),
              json::parse(R"({"method": "uniform", "layers": 2})"));
    EXPECT_EQ(recompute("--recompute-granularity selective --recompute-modules core_attn mlp"),
              json::parse(R"({"modules": ["core_attn", "mlp"]})"));
    EXPECT_TRUE(mentions(refusal(small_run + "--moe-layer-recompute"), "no layer of inline has a moe to recompute"));
    EXPECT_EQ(recompute("--recompute-granularity selective --recompute-modules core_attn"), "selective");
    const json careful = object_of(small_run +
                                   "--bf16 --use-distributed-optimizer --use-precision-aware-optimizer\n"
                                   "--exp-avg-dtype bf16 --main-grads-dtype bf16\n");
    EXPECT_EQ(careful["optimizer"], json::parse(R"({"master": "remainders", "momentum": "bf16"})"));
    EXPECT_EQ(careful["megatron"]["version"], "core-0.13");
    EXPECT_EQ(careful["megatron"]["gradients"], "bf16");
    const json narrow =
        object_of(small_run + "--bf16 --fp8-format hybrid --use-distributed-optimizer --fp8-param-gather");
    EXPECT_EQ(narrow["megatron"]["fp8_parameters"], true);
    const json hybrid = object_of(small_run +
                                  "--bf16 --use-distributed-optimizer --use-precision-aware-optimizer\n"
                                  "--optimizer-cpu-offload --optimizer-offload-fraction 0.5\n");
    EXPECT_EQ(hybrid["optimizer"]["states"], "host");
    EXPECT_EQ(hybrid["optimizer"]["fraction"], 0.5);
    EXPECT_EQ(object_of(small_run + "--cpu-offloading-num-layers 2")["offloaded_layers"], 2);
}

TEST(megatron_format, what_weft_cannot_represent_is_refused_all_at_once) {
    const std::string text = refusal(small_run +
                                     "--use-torch-fsdp2 --cpu-torch-adam --window-size 128,1\n"
                                     "--checkpoint-in-cpu\n"
                                     "--position-embedding-type relative --is-hybrid-model\n");
    for (const char* const flag :
         {"run.sh:13: error: --use-torch-fsdp2", "run.sh:13: error: --cpu-torch-adam", "--window-size",
          "run.sh:14: error: --checkpoint-in-cpu", "run.sh:15: error: --is-hybrid-model"})
        EXPECT_TRUE(mentions(text, flag)) << flag << " is not in " << text;
    EXPECT_TRUE(mentions(refusal("python pretrain_mamba.py --num-layers 2 --hidden-size 4"),
                         "pretrain_mamba.py: needs --hybrid-layer-pattern"));
    EXPECT_TRUE(
        mentions(refusal("python pretrain_t5.py " + std::string("--num-layers 2 --hidden-size 4")), "another kind"));
}

TEST(megatron_format, states_are_shared_as_the_strategy_says) {
    const auto shared = [](const std::string& strategy) {
        return object_of(std::string(small_run) +
                         "--use-megatron-fsdp\n--use-distributed-optimizer\n--overlap-grad-reduce\n"
                         "--data-parallel-sharding-strategy " +
                         strategy + "\n");
    };
    EXPECT_EQ(shared("optim_grads_params")["megatron"]["sharding"], "optim_grads_params");
    EXPECT_EQ(shared("optim_grads")["megatron"]["version"], "core-0.13");
    EXPECT_FALSE(shared("optim").contains("megatron")) << "no more than the distributed optimizer";
    EXPECT_TRUE(
        mentions(refusal(std::string(small_run) + "--use-megatron-fsdp\n--data-parallel-sharding-strategy all\n"),
                 "optim_grads"));
}

TEST(megatron_format, flags_are_used_without_effect_noted_or_unknown) {
    EXPECT_TRUE(notes(small_run + "--no-such-flag 3", "--no-such-flag"));
    EXPECT_TRUE(notes(small_run + "--rampup-batch-size 16 8 3000", "--rampup-batch-size"));
    EXPECT_FALSE(notes(small_run + "--lr 1e-4 --data-path a b 3 --eval-iters 10", "--"));
    EXPECT_FALSE(imported(small_run + "--lr 1e-4").without_effect.empty());
    EXPECT_TRUE(is_megatron_flag("--no-rope-fusion"));
    EXPECT_FALSE(is_megatron_flag("--no-such-flag"));
}

TEST(megatron_format, a_variable_that_matters_is_asked_for_by_name) {
    const std::string script =
        "torchrun --nnodes $NODES pretrain_gpt.py --num-layers 8 --hidden-size ${WIDTH} "
        "--num-attention-heads 8 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 1 "
        "--vocab-size 999 --tokenizer-type NullTokenizer --bf16 --lr $LR $MORE";
    EXPECT_EQ(refusal(script),
              "run.sh:1: error: --hidden-size: depends on $WIDTH, which is not set; give --variable WIDTH=VALUE");
    FormatOptions options = on_dgx;
    options.variables = {"WIDTH=256"};
    EXPECT_TRUE(mentions(refusal(script, options), "--nnodes: is not set; give --variable NODES=VALUE, or --nodes N"));
    options.variables.emplace_back("NODES=2");
    EXPECT_EQ(object_of(script, options)["batch"]["global"], 16);
    EXPECT_TRUE(
        mentions(refusal(small_run.substr(0, small_run.find("--vocab")) + small_run.substr(small_run.find("--pos"))),
                 "give --vocabulary N"));
}

TEST(megatron_format, nodes_of_fewer_ranks_leave_ranks_of_the_machine_idle) {
    const json job = object_of(small_run + "--nproc_per_node 4\n--tensor-model-parallel-size 2");
    EXPECT_EQ(job["nodes"], 1);
    EXPECT_EQ(job["layout"]["data"], 2);
}

TEST(megatron_format, directives_of_slurm_may_say_nothing) {
    std::string arguments = small_run;
    std::ranges::replace(arguments, '\n', ' ');
    const std::string script = "python pretrain_gpt.py " + arguments + "\n";
    EXPECT_EQ(object_of("#!/bin/bash\n#SBATCH --nodes=\n" + script)["nodes"], 1);
    EXPECT_EQ(object_of("#!/bin/bash\n#SBATCH --exclusive \n" + script)["nodes"], 1);
}

TEST(megatron_format, deepspeed_runs_megatron_too) {
    const json job = object_of(small_run + "--deepspeed\n--zero-stage=2\n--checkpoint-activations\n--lr 1\n");
    EXPECT_EQ(job["framework"], "deepspeed");
    EXPECT_EQ(job["zero"], 2);
    EXPECT_EQ(job["recompute"], "full");
    EXPECT_EQ(job["attention"], "unfused");
}

TEST(megatron_format, a_functional_test_has_its_flags_as_keys) {
    const Import import = imported(
        "ENV_VARS:\n  CUDA_LAUNCH_BLOCKING: 1\n  NCCL_ALGO: Ring\nMODEL_ARGS:\n  --num-layers: 2\n  --hidden-size: 64\n"
        "  --num-attention-heads: 2\n  --max-position-embeddings: 32\n  --seq-length: 32\n  --micro-batch-size: 1\n"
        "  --global-batch-size: 8\n  --disable-bias-linear: true\n  --swiglu: false\n  --bf16: true\n",
        said("dgx-h100", 1, 100), "model_config.yaml");
    const json job = json::parse(import.object.json());
    EXPECT_EQ(job["model"]["biases"], false);
    EXPECT_EQ(job["model"]["gated"], false);
    EXPECT_EQ(job["blocking_launches"], true);
    EXPECT_TRUE(
        std::ranges::any_of(import.notes, [](const FormatNote& note) { return note.origin.key == "NCCL_ALGO"; }));
}

class PrimusFiles : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    Import read(const std::string& path, const FormatOptions& options) const {
        const std::vector<SourceFile> files = read_sources(std::span(&path, 1));
        return import_files(format_of(files, ""), files, options);
    }
    std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "weft_primus";
};

TEST_F(PrimusFiles, extend_one_another) {
    write("base.yaml",
          "num_layers: 2\nhidden_size: 64\nswiglu: true\nadd_bias_linear: false\nnum_experts: null\n"
          "position_embedding_type: rope\nsequence_parallel: true\n");
    const std::string model = write("model.yaml", "extends: [base.yaml]\nnum_layers: 3\nnum_attention_heads: 4\n");
    const Import import = read(model, said("", 0, 100));
    EXPECT_EQ(import.kind, FormatKind::model);
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["layers"], 3);
    EXPECT_EQ(object["ffn_hidden"], 128);
    EXPECT_EQ(object["biases"], false);
    const std::string run = write("run.yaml",
                                  "modules:\n  pre_trainer:\n    framework: megatron\n    model: model.yaml\n"
                                  "    overrides:\n      seq_length: ${LENGTH:128}\n      micro_batch_size: 1\n"
                                  "      global_batch_size: ${GLOBAL}\n      bf16: true\n");
    FormatOptions options = said("dgx-h100", 1, 100);
    options.variables = {"GLOBAL=16"};
    const json job = json::parse(read(run, options).object.json());
    EXPECT_EQ(job["batch"], json::parse(R"({"sequence": 128, "micro": 1, "global": 16})"));
}

TEST_F(PrimusFiles, that_extend_themselves_or_are_missing_are_refused_at_the_place) {
    write("a.yaml", "extends:\n  - b.yaml\n");
    const std::string b = write("b.yaml", "# b\nextends:\n  - a.yaml\n");
    const auto refusal = [&](const std::string& path) {
        try {
            read(path, {});
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("made");
    };
    EXPECT_TRUE(mentions(refusal(b), "a.yaml:1: error: extends: \"b.yaml\" extends itself"));
    EXPECT_TRUE(
        mentions(refusal(write("c.yaml", "extends: none.yaml\n")), "c.yaml:1: error: extends: \"none.yaml\" is"));
}

TEST(megatron_format, bad_sizes_are_refused_where_they_stand) {
    const std::string text = refusal("--num-layers -3\n--hidden-size 1e30\n--num-attention-heads x\n--swiglu\n");
    EXPECT_TRUE(mentions(text, "run.sh:1: error: num_layers (--num-layers): expected")) << text;
    EXPECT_TRUE(mentions(text, "run.sh:2: error: hidden_size (--hidden-size): expected")) << text;
    EXPECT_TRUE(mentions(text, "run.sh:3: error: num_attention_heads (--num-attention-heads): expected")) << text;
}

// A run of Primus with a line more.
Import primus_import(const std::string& line) {
    const std::string run =
        "num_layers: 4\nhidden_size: 64\nnum_attention_heads: 4\nffn_hidden_size: 256\nseq_length: 128\n"
        "max_position_embeddings: 128\nmicro_batch_size: 1\nglobal_batch_size: 32\ntensor_model_parallel_size: 1\n"
        "bf16: true\nvocab_size: 1000\n";
    const std::vector<SourceFile> files{{"pretrain.yaml", run + line + "\n"}};
    return import_files(format_of(files, ""), files, {.machine = "dgx-h100", .nodes = 1});
}

// What each key changes of the job, as a merge patch, and the note on it.
struct PrimusChange {
    std::string said, patch, note{};
};
std::ostream& operator<<(std::ostream& out, const PrimusChange& each) { return out << each.said; }

class primus_key : public ::testing::TestWithParam<PrimusChange> {};
TEST_P(primus_key, changes_the_job_so_and_no_more) {
    const Import import = primus_import(GetParam().said);
    json expected = json::parse(primus_import("").object.json());
    expected.merge_patch(json::parse(GetParam().patch));
    EXPECT_EQ(json::parse(import.object.json()), expected);
    EXPECT_TRUE(GetParam().note.empty() ||
                std::ranges::any_of(
                    import.notes,
                    [](const FormatNote& note) { return note.origin.key + ": " + note.message == GetParam().note; }))
        << GetParam().note;
}
INSTANTIATE_TEST_SUITE_P(primus, primus_key,
                         ::testing::ValuesIn(std::vector<PrimusChange>{
                             {"swiglu: true", R"({"model": {"gated": true}})"},
                             {"swiglu: false", "{}"},
                             {"add_bias_linear: false", R"({"model": {"biases": false}})"},
                             {"disable_bias_linear: true", R"({"model": {"biases": false}})"},
                             {"untie_embeddings_and_output_weights: true", R"({"model": {"tied_embeddings": null}})"},
                             {"group_query_attention: true", R"({"model": {"kv_heads": 1}})"},
                             {"normalization: RMSNorm", R"({"model": {"norm": "rms_norm"}})"},
                             {"num_experts: 8", R"({"model": {"experts": {"count": 8, "top_k": 2}}})"},
                             {"num_experts: null", "{}"},
                             {"use_distributed_optimizer: true", R"({"zero": 1})"},
                             {"overlap_grad_reduce: true", R"({"overlap_gradients": true})"},
                             {"recompute_granularity: full", R"({"recompute": "full"})"},
                             {"recompute_granularity: null", "{}"},
                             {"recompute_activations: true", R"({"recompute": "selective"})"},
                             {"fp8: hybrid", R"({"precision": "fp8"})"},
                             {"fp8: null", "{}"},
                             {"activation_func: swiglu", R"({"model": {"gated": true}})"},
                             {"activation_func: gelu", "{}"},
                             {"language_model: {ffn_hidden_size: 512}", R"({"model": {"ffn_hidden": 512}})"},
                             {"model_parallel: {pipeline_model_parallel_size: 2}", R"({"layout": {"pipeline": 2}})"},
                             {"moe_router_force_load_balancing: true", "{}"},
                             {"gradient_accumulation_fusion: false", R"({"megatron": {"fused_accumulation": false}})"},
                             {"no_rope_fusion: true", "{}", "no_rope_fusion: element-wise kernels are simulated fused"},
                             {"cross_entropy_loss_fusion: true", R"({"megatron": {"fused_cross_entropy": true}})"},
                             {"hidden_dropout: 0.0", "{}",
                              "hidden_dropout: dropout is simulated on hidden states and scores"},
                             {"use_flash_attn: true", R"({"attention": "flash"})"},
                             {"attention_backend: fused", R"({"attention": "cudnn"})"},
                             {"enable_cuda_graph: true", R"({"cuda_graphs": "layer"})"},
                             {"stage: pretrain", "{}", "stage: not known to weft, and left out"},
                             {"odd_key: 1", "{}", "odd_key: not known to weft, and left out"},
                             {"pipeline_model_parallel_size: ${PP:2}", R"({"layout": {"pipeline": 2}})"},
                             {"pipeline_model_parallel_size: ${PP:-4}", R"({"layout": {"pipeline": 4}})"},
                         }));

class primus_refused : public ::testing::TestWithParam<PrimusChange> {};
TEST_P(primus_refused, is_told_by_the_key) {
    const std::string refusal = test::refusal_of([] { primus_import(GetParam().said); });
    EXPECT_NE(refusal.find("error: " + GetParam().patch), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(
    primus, primus_refused,
    ::testing::ValuesIn(std::vector<PrimusChange>{
        {"overlap_param_gather: true",
         "megatron.overlap_parameters (overlap_param_gather): Megatron-core gathers under the forward pass only with "
         "overlap_gradients"},
        {"attention_backend: some", R"(attention_backend: expected flash, fused, unfused or auto, got "some")"},
        {"pipeline_model_parallel_size: ${PP}",
         "pipeline_model_parallel_size: depends on $PP, which is not set; give --variable PP=VALUE"},
        {"extends: missing.yaml", R"(extends: "missing.yaml" is neither beside "pretrain.yaml" nor given)"},
    }));

}  // namespace
}  // namespace weft
