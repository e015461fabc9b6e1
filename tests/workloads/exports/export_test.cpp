// What each format writes of a job, what it leaves to weft's own keys, and what it refuses by the job's key.
#include "workloads/exports/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Overrides = std::vector<std::string>;

// A job that the format can say, with more.
Study job_for(std::string_view format, const Overrides& more) {
    const bool of_deepspeed = format == "neox" || format == "deepspeed";
    Overrides all{"model=" + std::string(of_deepspeed ? "pythia-1.4b" : "llama3-8b"),
                  "nodes=4",
                  "batch.sequence=2048",
                  "batch.global=64",
                  "precision=bf16",
                  "attention=flash",
                  "machine=" + std::string(of_deepspeed ? "frontier" : "dgx-h100")};
    if (of_deepspeed) all.insert(all.end(), {"framework=deepspeed", "zero=1"});
    if (format == "torchtitan")
        all.insert(all.end(), {"framework=fsdp", R"(fsdp={"version": 2, "reduce_precision": "fp32"})"});
    if (format == "megatron" || format == "slurm") all.emplace_back("framework=megatron");
    all.insert(all.end(), more.begin(), more.end());
    return load_study("", all);
}

std::string written(std::string_view format, const Overrides& more) {
    return find_export(format).job(job_for(format, more));
}

struct ExportCase {
    std::string_view format;
    Overrides overrides;
    std::string_view words;
};
std::ostream& operator<<(std::ostream& out, const ExportCase& each) { return out << each.format << ": " << each.words; }

class written_job : public ::testing::TestWithParam<ExportCase> {};
TEST_P(written_job, has_the_words_of_its_program) {
    EXPECT_THAT(written(GetParam().format, GetParam().overrides), HasSubstr(std::string(GetParam().words)));
}
const ExportCase sayable[] = {
    {"megatron", {}, "#!/bin/bash\n# llama3-8b on 4 nodes of dgx-h100: "},
    {"megatron", {}, "GPUS_PER_NODE=8\n"},
    {"megatron", {}, "    --group-query-attention\n    --num-query-groups 8\n"},
    {"megatron", {}, "    --vocab-size 128255\n"},
    {"megatron", {"layout.tensor=2"}, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"},
    {"megatron", {"layout.context=2", "context_method=all_gather"}, "--cp-comm-type all_gather\n"},
    {"megatron", {"layout.context=2"}, "    --context-parallel-size 2\n    --cp-comm-type p2p\n"},
    {"megatron", {"precision=fp8"}, "    --bf16\n    --fp8-format hybrid\n"},
    {"megatron", {"zero=1", "overlap_gradients=true"}, "--use-distributed-optimizer\n    --overlap-grad-reduce\n"},
    {"megatron", {"recompute=selective"}, "    --recompute-granularity selective\n    --"},
    {"megatron",
     {R"(recompute={"method": "block", "layers": 3})"},
     "--recompute-method block\n    --recompute-num-layers 3"},
    {"megatron",
     {"model=mixtral-8x7b"},
     "    --num-experts 8\n    --moe-router-topk 2\n    --moe-ffn-hidden-size 14336\n"},
    {"megatron", {"model=mixtral-8x7b", "experts.dispatcher=all_gather"}, "--moe-token-dispatcher-type allgather\n"},
    {"megatron",
     {"model=mixtral-8x7b", "experts.dispatcher=deepep", "megatron.version=core-0.13"},
     "--moe-token-dispatcher-type flex\n    --moe-enable-deepep\n"},
    {"megatron",
     {"layout.pipeline=4", "schedule=interleaved", "layout.virtual_stages=2"},
     "--num-layers-per-virtual-pipeline-stage 4\n"},
    {"megatron", {"layout.context=2", "context_method=all_to_all"}, "--cp-comm-type a2a"},
    {"megatron", {"precision=fp16"}, "    --fp16\n"},
    {"megatron", {"precision=fp4", "machine=dgx-b200"}, "--fp4-format e2m1"},
    {"megatron", {"precision=fp8", "fp8_recipe=mxfp8", "machine=dgx-b200"}, "--fp8-recipe mxfp8"},
    {"megatron",
     {"precision=fp8", "zero=1", "megatron.fp8_parameters=true", "megatron.version=core-0.13"},
     "--fp8-param-gather"},
    {"megatron",
     {"precision=fp8", "fp8_recipe=mxfp8", "machine=dgx-b200", "megatron.fp8_output=true",
      "megatron.version=core-0.18"},
     "--fp8-output-proj"},
    {"megatron", {"zero=1", "overlap_gradients=true", "megatron.overlap_parameters=true"}, "--overlap-param-gather"},
    {"megatron", {"layout.tensor=2", "sequence_parallel=true", "megatron.overlap_tensor=true"}, "--tp-comm-overlap"},
    {"megatron", {"megatron.transformer_engine=false"}, "--transformer-impl local"},
    {"megatron", {"attention=cudnn"}, "--attention-backend fused"},
    {"megatron", {"attention=unfused"}, "--attention-backend unfused"},
    {"megatron", {"megatron.fused_cross_entropy=true"}, "--cross-entropy-loss-fusion"},
    {"megatron", {"layout.pipeline=2", "megatron.variable_sequence=true"}, "--variable-seq-lengths"},
    {"megatron", {"megatron.fused_accumulation=false"}, "--no-gradient-accumulation-fusion"},
    {"megatron",
     {"layout.tensor=2", "megatron.overlap_input_reduction=false"},
     "--no-async-tensor-model-parallel-allreduce"},
    {"megatron",
     {"layout.pipeline=2", "schedule=interleaved", "layout.virtual_stages=2", "megatron.overlap_pipeline=false"},
     "--no-overlap-p2p-communication"},
    {"megatron", {"megatron.version=core-0.13", "megatron.check_for_nan=false"}, "--no-check-for-nan-in-loss-and-grad"},
    {"megatron", {"cuda_graphs=layer"}, "    --enable-cuda-graph\n"},
    {"megatron", {"cuda_graphs=full"}, "--cuda-graph-scope full_iteration"},
    {"megatron", {"model=mixtral-8x7b", "cuda_graphs=router"}, "--cuda-graph-scope moe_router moe_preprocess"},
    {"megatron",
     {"model=mixtral-8x7b", "cuda_graphs=around_experts"},
     "--cuda-graph-scope attn moe_router moe_preprocess"},
    {"megatron", {"dropout=false"}, "    --attention-dropout 0\n    --hidden-dropout 0\n"},
    {"megatron",
     {"model=mixtral-8x7b", "experts.dispatcher=hybridep", "megatron.version=core-0.15"},
     "--moe-flex-dispatcher-backend hybridep"},
    {"megatron",
     {"model=mixtral-8x7b", "experts.dispatcher=hybridep", "megatron.version=core-0.18", "experts.paged_stash=true",
      "machine=dgx-b200", "precision=fp8", "fp8_recipe=mxfp8", "cuda_graphs=full"},
     "--moe-paged-stash"},
    {"megatron",
     {"model=mixtral-8x7b", "experts.dispatcher=deepep", "experts.fused_indices=true", "experts.padded_routing=true",
      "megatron.version=core-0.13"},
     "--moe-permute-fusion\n    --enable-experimental"},
    {"megatron", {"model=mixtral-8x7b", "layout.expert=4"}, "--moe-token-dispatcher-type alltoall"},
    {"megatron", {"model=mixtral-8x7b", "experts.capacity_factor=1.5"}, "--moe-expert-capacity-factor 1.5"},
    {"megatron",
     {"model=mixtral-8x7b", "experts.balancing=auxiliary_loss"},
     "--moe-router-load-balancing-type aux_loss"},
    {"megatron",
     {"layout.pipeline=2", R"(layout.split={"last": 14})", "megatron.version=core-0.13"},
     "--decoder-last-pipeline-num-layers 14"},
    {"megatron", {"offloaded_layers=4"}, "--cpu-offloading-num-layers 4"},
    {"megatron", {"bucket_elements=4e7", "overlap_gradients=true"}, "--ddp-bucket-size 40000000"},
    {"megatron",
     {"zero=1", "optimizer.states=host", "optimizer.fraction=0.5", "megatron.version=core-0.13"},
     "--optimizer-offload-fraction 0.5"},
    {"megatron",
     {"zero=1", "optimizer.master=remainders", "optimizer.momentum=bf16", "megatron.version=core-0.13"},
     "--exp-avg-dtype bf16"},
    {"megatron",
     {"zero=1", "megatron.version=core-0.13", "megatron.sharding=optim_grads", "overlap_gradients=true"},
     "--data-parallel-sharding-strategy optim_grads"},
    {"megatron",
     {R"(recompute={"modules": ["core_attn", "mlp"]})", "megatron.version=core-0.13"},
     "--recompute-modules core_attn mlp"},
    {"megatron", {"megatron.gradients=bf16"}, "--grad-reduce-in-bf16"},
    {"megatron", {"model=qwen3-8b"}, "--qk-layernorm"},
    {"megatron", {"blocking_launches=true"}, "export CUDA_LAUNCH_BLOCKING=1"},
    {"megatron",
     {"model=deepseek-v3", "nodes=16", "layout.tensor=8", "sequence_parallel=true"},
     "--moe-layer-freq \"([0]*3+[1]*58)\""},
    {"megatron", {"dropout=true"}, "    --attention-dropout 0.1\n    --hidden-dropout 0.1\n"},
    {"slurm", {}, "#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\n#SBATCH --gpus-per-node=8\n"},
    {"slurm",
     {"layout.tensor=2"},
     "export WORLD_SIZE=$SLURM_NTASKS\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\nMODEL_ARGS=(\n"},
    {"neox", {}, "\"pipe_parallel_size\": 0"},
    {"neox", {"layout.pipeline=2"}, "\"pipe_parallel_size\": 2"},
    {"neox", {}, "\"gpt_j_residual\": true"},
    {"neox", {}, R"("attention_config": [[["flash"], 24]])"},
    {"neox", {"attention=unfused"}, R"("attention_config": [[["global"], 24]])"},
    {"neox", {"recompute=full"}, "\"checkpoint_activations\": true"},
    {"neox", {"element_wise=unfused"}, "\"bias_dropout_fusion\": false"},
    {"deepspeed", {"zero=3"}, "\"stage3_prefetch_bucket_size\":"},
    {"deepspeed",
     {"zero=3", "deepspeed.hierarchical_ranks=8", "deepspeed.quantized_weights=true"},
     "\"zero_hpz_partition_size\": 8"},
    {"deepspeed", {"zero=2", "overlap_gradients=true"}, "\"overlap_comm\": true"},
    {"deepspeed", {"batch.micro=2"}, "\"train_micro_batch_size_per_gpu\": 2"},
    {"deepspeed", {}, "\"batch.sequence\": \"2048\""},
    {"torchtitan", {}, "[model]\nname = \"llama3\"\nflavor = \"8B\"\n"},
    {"torchtitan", {"model=qwen3-8b"}, "name = \"qwen3\"\nflavor = \"8B\"\n"},
    {"torchtitan", {"precision=fp8"}, "converters = [\"float8\"]\n"},
    {"torchtitan", {"layout.tensor=2", "sequence_parallel=true"}, "tensor_parallel_degree = 2\n"},
    {"torchtitan", {"fsdp.strategy=shard_grad_op"}, "fsdp_reshard_after_forward = \"never\"\n"},
    {"torchtitan", {"fsdp.reshard_after_forward=true"}, "fsdp_reshard_after_forward = \"always\"\n"},
    {"torchtitan", {"recompute=full"}, "[activation_checkpoint]\nmode = \"full\"\n"},
    {"torchtitan", {R"(recompute={"method": "every", "layers": 2})"}, "selective_ac_option = \"2\"\n"},
    {"torchtitan", {"layout.context=2", "context_method=ring"}, "context_parallel_rotate_method = \"alltoall\"\n"},
    {"torchtitan", {"compile=true"}, "[compile]\nenable = true\n"},
};
INSTANTIATE_TEST_SUITE_P(exports, written_job, ::testing::ValuesIn(sayable));

class refused_job : public ::testing::TestWithParam<ExportCase> {};
TEST_P(refused_job, is_told_by_the_key_that_the_format_has_no_word_for) {
    const Study study = job_for(GetParam().format, GetParam().overrides);
    EXPECT_THAT(test::refusal_of([&] { find_export(GetParam().format).job(study); }),
                HasSubstr("error: " + std::string(GetParam().words)));
}
const ExportCase unsayable[] = {
    {"megatron", {"framework=ddp"}, "framework: expected megatron, the job's is ddp"},
    {"megatron", {"model.positions=alibi"}, "model.positions: Megatron-LM has no ALiBi"},
    {"megatron", {"model=pythia-1.4b"}, "model.parallel_residual: "},
    {"megatron", {"model.norm_placement=post"}, "model.norm_placement: the format has no word for it"},
    {"megatron", {"model=gpt-oss-20b"}, "model.biases: the format has no word for it"},
    {"megatron", {"layout.pipeline=2", "schedule=gpipe"}, "schedule: Megatron-LM runs 1f1b and interleaved, not gpipe"},
    {"megatron", {"attention=triton"}, "attention: Megatron-LM has no Triton attention"},
    {"megatron", {"element_wise=unfused"}, "element_wise: "},
    {"megatron", {"layout.order=data,tensor,pipeline"}, "layout.order: Megatron-LM has two orders of axes"},
    {"neox", {"model=mixtral-8x7b"}, "model.experts: weft writes GPT-NeoX's dense models"},
    {"neox", {"model=qwen3-8b"}, "model.query_key_norm: "},
    {"neox", {"model=deepseek-v2"}, "model.latent_attention: GPT-NeoX has none"},
    {"neox", {"layout.pipeline=2", "schedule=gpipe"}, "schedule: DeepSpeed runs 1f1b"},
    {"neox", {"recompute=selective"}, "recompute: GPT-NeoX recomputes whole layers or nothing"},
    {"neox", {"precision=fp16", "element_wise=unfused"}, "element_wise: GPT-NeoX's rotary embedding is one kernel"},
    {"neox", {"attention=triton"}, "attention: GPT-NeoX has flash and unfused attention"},
    {"deepspeed", {"layout.tensor=2"}, "layout: DeepSpeed's configuration says nothing of"},
    {"deepspeed", {"framework=megatron", "zero=0"}, "framework: expected deepspeed, the job's is megatron"},
    {"torchtitan", {"model=pythia-1.4b"}, "model: torchtitan has no model of this shape (known: llama2 7B"},
    {"torchtitan", {"framework=ddp", "fsdp=null"}, "framework: expected fsdp, the job's is ddp"},
    {"torchtitan", {"fsdp.version=1"}, "fsdp.version: torchtitan shards by fully_shard, which is version 2"},
    {"torchtitan", {"fsdp.reduce_precision=bf16"}, "fsdp.reduce_precision: torchtitan reduces gradients in fp32"},
    {"torchtitan", {"precision=fp16"}, "precision: torchtitan trains in bfloat16 or float32"},
    {"torchtitan", {"dropout=true"}, "dropout: torchtitan's models have none"},
    {"torchtitan", {"attention=unfused"}, "attention: torchtitan's attention is PyTorch's own"},
    {"torchtitan", {"recompute=selective"}, "recompute: torchtitan's \"selective\" recomputes other operations"},
};
INSTANTIATE_TEST_SUITE_P(exports, refused_job, ::testing::ValuesIn(unsayable));

// Keys of a job that no launcher has come back from comments as they were.
class own_key : public ::testing::TestWithParam<std::string> {};
TEST_P(own_key, is_a_comment_that_is_read_again) {
    const std::string line = "# weft: " + GetParam() + "\n";
    const std::string text = written("megatron", {GetParam()});
    EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(written("megatron", {}), Not(HasSubstr(line)));
    const std::vector<SourceFile> files{{"train.sh", text}};
    const Study again = read_study(import_files(format_of(files, ""), files, {}).object.document("train.sh"));
    EXPECT_THAT(find_export("megatron").job(again), HasSubstr(line));
}
INSTANTIATE_TEST_SUITE_P(exports, own_key,
                         ::testing::Values("nodes=2", "sustained_clock=0.9", "step=first", "blocking_launches=true",
                                           "batch.document=512", R"(faults.slow_gpus=[{"rank":3,"factor":1.5}])",
                                           R"(faults.slow_gpus=[{"node":1,"factor":1.25}])",
                                           R"(faults.links=[{"node":1,"nic":2,"bandwidth":0.5}])",
                                           R"(faults.jitter={"spread":0.02,"seed":7})", "megatron.version=core-0.13"));

TEST(exports, a_machine_of_ones_own_is_to_be_given_again) {
    Overrides own{"machine.nodes=64"};
    EXPECT_THAT(written("megatron", own), HasSubstr("is a machine of your own: to read this back give --machine FILE"));
}

TEST(exports, deepspeeds_file_is_json_with_an_object_of_wefts) {
    const json config = json::parse(written("deepspeed", {"zero=2", "recompute=full"}), nullptr, true, true);
    EXPECT_EQ(config["train_batch_size"], 64);
    EXPECT_EQ(config["bf16"]["enabled"], true);
    EXPECT_EQ(config["zero_optimization"]["stage"], 2);
    EXPECT_EQ(config["weft"]["model"], "pythia-1.4b");
    EXPECT_EQ(config["weft"]["recompute"], "full");
    EXPECT_FALSE(config["weft"].contains("model.vocabulary"));  // the catalog says it
}

// Rows of megatron_arguments.json: a flag, a key of jobs, and words that the key has.
TEST(exports, arguments_of_megatron_follow_from_keys_that_there_are) {
    Document table = format_table("megatron_arguments");
    Field root = table.root();
    for (const std::string& group : root.keys()) {
        for (Field& row : root.list(group)) {
            std::vector<Field> parts = row.elements();
            ASSERT_TRUE(parts.size() == 2 || parts.size() == 3) << group;
            const std::string flag = parts[0].as_text();
            const JobKey& key = weft::key_of(parts[1].as_text());
            EXPECT_FALSE(flag.starts_with('-')) << flag;
            for (const std::string& word : parts.size() == 2 ? std::vector<std::string>() : parts[2].keys()) {
                const bool of_flag = key.kind == KeyKind::flag && (word == "true" || word == "false");
                EXPECT_TRUE(of_flag || key.kind == KeyKind::whole ||
                            std::ranges::find(key.words, word) != key.words.end())
                    << flag << ": " << word;
            }
        }
    }
    EXPECT_NO_THROW(table.check());
}

TEST(exports, an_unknown_format_is_answered_with_the_known) {
    const std::string text = test::refusal_of([] { find_export("megatorn"); });
    EXPECT_THAT(text, HasSubstr("did you mean \"megatron\""));
    for (const ExportFormat* const known : exports::all()) {
        EXPECT_THAT(text, HasSubstr(std::string(known->name) + " ("));
        EXPECT_EQ((known->job != nullptr) + (known->step != nullptr), 1) << known->name;
    }
}

}  // namespace
}  // namespace weft
