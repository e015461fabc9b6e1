// Flags of Megatron-LM: what each makes of a job, and how the table of them (formats/megatron/megatron_keys.json) is
// kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/workloads/formats/key_change.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

using nlohmann::json;

const std::string run_flags =
    "--num-layers 8\n--hidden-size 512\n--num-attention-heads 8\n--vocab-size 999\n--tokenizer-type NullTokenizer\n"
    "--position-embedding-type rope\n--seq-length 256\n--micro-batch-size 2\n--global-batch-size 64\n--bf16\n"
    "--nnodes 1\n--nproc_per_node 8\n";

Import import_of(const std::string& flags) {
    const std::vector<SourceFile> files{{"run.sh", run_flags + flags}};
    FormatOptions options;
    options.machine = "dgx-h100";
    return import_files(format_of(files, ""), files, options);
}

std::string refusal_of(const std::string& flags) {
    try {
        import_of(flags);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "made";
}

bool has_note(const Import& import, std::string_view text) {
    return std::ranges::any_of(import.notes, [&](const FormatNote& note) {
        return fmt::format("{}: {}", note.origin.key, note.message) == text;
    });
}

class MegatronFlags : public testing::TestWithParam<test::KeyChange> {};

TEST_P(MegatronFlags, change_these_keys_of_the_job_alone) {
    test::expect_change(import_of(GetParam().said), json::parse(import_of("").object.json()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    of_jobs, MegatronFlags,
    testing::ValuesIn(std::vector<test::KeyChange>{
        {"--swiglu", R"({"model": {"ffn_hidden": 1344, "gated": true}})"},
        {"--quick-geglu", R"({"model": {"gated": true}})"},
        {"--gated-linear-unit", R"({"model": {"gated": true}})"},
        {"--ffn-hidden-size 1024", R"({"model": {"ffn_hidden": 1024}})"},
        {"--kv-channels 32", R"({"model": {"head_size": 32}})"},
        {"--num-key-value-heads 2", R"({"model": {"kv_heads": 2}})"},
        {"--group-query-attention", R"({"model": {"kv_heads": 1}})"},
        {"--group-query-attention --num-query-groups 4", R"({"model": {"kv_heads": 4}})"},
        {"--num-query-groups 4", "{}", "--num-query-groups: has no effect without --group-query-attention"},
        {"--qk-layernorm --normalization RMSNorm", R"({"model": {"query_key_norm": true, "norm": "rms_norm"}})"},
        {"--qk-layernorm", R"({"model": {"query_key_norm": true}})",
         "--qk-layernorm: norms of queries and keys are simulated as RMS norms"},
        {"--multi-latent-attention --qk-layernorm",
         R"({"model": {"latent_attention": {"kv_rank": 32, "nope_size": 128, "rope_size": 64, "value_size": 128}}})"},
        {"--multi-latent-attention --kv-lora-rank 64 --qk-head-dim 96 --qk-pos-emb-head-dim 32",
         R"({"model": {"latent_attention": {"kv_rank": 64, "nope_size": 96, "rope_size": 32, "value_size": 128}}})",
         "--multi-latent-attention: its latent vectors are normalised, as with --qk-layernorm"},
        {"--use-alibi-position-embeddings", R"({"model": {"positions": "alibi"}})"},
        {"--position-embedding-type alibi", R"({"model": {"positions": "alibi"}})"},
        {"--position-embedding-type mrope", "{}"},
        {"--position-embedding-type none", R"({"model": {"positions": "none"}})"},
        {"--position-embedding-type learned_absolute --max-position-embeddings 512",
         R"({"model": {"positions": "learned", "positions_length": 512}})"},
        {"--position-embedding-type learned_absolute --no-position-embedding", R"({"model": {"positions": "none"}})"},
        {"--normalization LayerNorm --apply-layernorm-1p", "{}"},
        {"--normalization RMSNorm", R"({"model": {"norm": "rms_norm"}})"},
        {"--disable-bias-linear", R"({"model": {"biases": false}})"},
        {"--disable-bias-linear --add-qkv-bias", R"({"model": {"biases": ["qkv"]}})"},
        {"--add-qkv-bias", "{}"},
        {"--untie-embeddings-and-output-weights", R"({"model": {"tied_embeddings": null}})"},
        {"--make-vocab-size-divisible-by 64", R"({"model": {"vocabulary_multiple": 64}})"},
        {"--padded-vocab-size 2048", R"({"model": {"vocabulary": 2048, "vocabulary_multiple": 1}})"},
        {"--vocab-extra-ids 24", R"({"model": {"vocabulary": 1024}})"},
        {"--tokenizer-type GPT2BPETokenizer", R"({"model": {"vocabulary": 999}})",
         "--vocab-size: is taken for the tokenizer's size, which Megatron-LM counts itself; --vocabulary N says "
         "another"},
        {"--mtp-num-layers 1", R"({"model": {"mtp_layers": 1}, "megatron": {"version": "core-0.12"}})"},
        {"--num-experts 8 --moe-router-topk 4 --moe-token-dispatcher-type alltoall",
         R"({"model": {"experts": {"count": 8, "top_k": 4}}})"},
        {"--num-experts 8 --moe-layer-freq 2", R"({"model": {"experts": {"count": 8, "top_k": 2, "every": 2}}})"},
        {"--num-experts 8 --moe-ffn-hidden-size 64 --moe-shared-expert-intermediate-size 96",
         R"({"model": {"experts": {"count": 8, "top_k": 2, "ffn_hidden": 64, "shared": 1, "shared_ffn_hidden": 96}}})"},
        {"--num-experts 8 --expert-model-parallel-size 4",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "layout": {"expert": 4}, "experts": {"dispatcher": "all_gather"}})"},
        {"--num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall_seq",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "layout": {"expert": 4}})"},
        {"--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type flex --moe-permute-fusion "
         "--enable-experimental",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "layout": {"expert": 2}, "experts": {"dispatcher": "deepep", "fused_indices": true}, "megatron": {"version": "core-0.13"}})"},
        {"--num-experts 8 --moe-router-padding-for-quantization",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "experts": {"padded_routing": true}, "megatron": {"version": "core-0.13"}})"},
        {"--num-experts 8 --moe-expert-capacity-factor 1.25",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "experts": {"capacity_factor": 1.25}})"},
        {"--num-experts 0 --moe-router-topk 4", "{}"},
        {"--tensor-model-parallel-size 2", R"({"layout": {"tensor": 2}})"},
        {"--tensor-model-parallel-size 2 --sequence-parallel",
         R"({"layout": {"tensor": 2}, "sequence_parallel": true})"},
        {"--tensor-model-parallel-size 2 --sequence-parallel --tp-comm-overlap",
         R"({"layout": {"tensor": 2}, "sequence_parallel": true, "megatron": {"overlap_tensor": true}})"},
        {"--sequence-parallel", "{}", "--sequence-parallel: is off where tensor-model-parallel-size is 1"},
        {"--tp-comm-overlap", "{}", "--tp-comm-overlap: has no effect without tensor ranks under sequence parallelism"},
        {"--pipeline-model-parallel-size 4", R"({"layout": {"pipeline": 4}})"},
        {"--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1",
         R"({"layout": {"pipeline": 2, "virtual_stages": 4}, "schedule": "interleaved"})"},
        {"--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2",
         R"({"layout": {"pipeline": 2, "virtual_stages": 2}, "schedule": "interleaved"})"},
        {"--pipeline-model-parallel-size 2 --virtual-pipeline-model-parallel-size 4",
         R"({"layout": {"pipeline": 2, "virtual_stages": 4}, "schedule": "interleaved"})"},
        {"--pipeline-model-parallel-size 2 --decoder-last-pipeline-num-layers 3",
         R"({"layout": {"pipeline": 2, "split": {"last": 3}}, "megatron": {"version": "core-0.9"}})"},
        {"--pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 4", R"({"layout": {"pipeline": 2}})"},
        {"--pipeline-model-parallel-size 4 --no-pipeline-parallel", R"({"layout": {"pipeline": 1}})"},
        {"--context-parallel-size 2", R"({"layout": {"context": 2}})"},
        {"--context-parallel-size 2 --cp-comm-type p2p", R"({"layout": {"context": 2}})"},
        {"--context-parallel-size 2 --cp-comm-type all_gather",
         R"({"layout": {"context": 2}, "context_method": "all_gather"})"},
        {"--context-parallel-size 2 --cp-comm-type a2a a2a",
         R"({"layout": {"context": 2}, "context_method": "all_to_all"})"},
        {"--cp-comm-type a2a", "{}"},
        {"--use-tp-pp-dp-mapping", R"({"layout": {"order": "tensor,context,pipeline,data"}})"},
        {"--fp8-format hybrid", R"({"precision": "fp8"})"},
        {"--fp8-format hybrid --fp8-recipe tensorwise", R"({"precision": "fp8", "fp8_recipe": "tensorwise"})"},
        {"--fp8-recipe mxfp8", "{}"},
        {"--fp8-format none", "{}"},
        {"--grad-reduce-in-bf16", R"({"megatron": {"gradients": "bf16"}})"},
        {"--accumulate-allreduce-grads-in-fp32", R"({"megatron": {"gradients": "fp32"}})"},
        {"--use-distributed-optimizer", R"({"zero": 1})"},
        {"--use-distributed-optimizer --fp8-format hybrid --fp8-param-gather",
         R"({"precision": "fp8", "megatron": {"version": "core-0.13", "fp8_parameters": true}, "zero": 1})"},
        {"--fp8-param-gather", "{}"},
        {"--fp8-output-proj", "{}"},
        {"--use-distributed-optimizer --use-precision-aware-optimizer --exp-avg-dtype fp8 --exp-avg-sq-dtype bf16",
         R"({"megatron": {"version": "core-0.13"}, "optimizer": {"master": "remainders", "momentum": "fp8", "variance": "bf16"}, "zero": 1})"},
        {"--use-distributed-optimizer --use-precision-aware-optimizer --main-params-dtype fp16",
         R"({"megatron": {"version": "core-0.13"}, "optimizer": {"master": "fp16"}, "zero": 1})"},
        {"--use-distributed-optimizer --use-precision-aware-optimizer --main-grads-dtype bf16",
         R"({"megatron": {"gradients": "bf16", "version": "core-0.13"}, "optimizer": {"master": "remainders"}, "zero": 1})"},
        {"--main-grads-dtype bf16", "{}"},
        {"--use-distributed-optimizer --optimizer-cpu-offload", R"({"optimizer": {"states": "host"}, "zero": 1})"},
        {"--use-distributed-optimizer --overlap-grad-reduce --ddp-bucket-size 4000000",
         R"({"zero": 1, "overlap_gradients": true, "bucket_elements": 4000000})"},
        {"--ddp-bucket-size 4000000", "{}"},
        {"--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
         R"({"megatron": {"overlap_parameters": true}, "zero": 1, "overlap_gradients": true})"},
        {"--use-megatron-fsdp --use-distributed-optimizer --overlap-grad-reduce --data-parallel-sharding-strategy "
         "optim_grads",
         R"({"megatron": {"version": "core-0.13", "sharding": "optim_grads"}, "zero": 1, "overlap_gradients": true})"},
        {"--data-parallel-sharding-strategy optim_grads", "{}"},
        {"--use-megatron-fsdp --data-parallel-sharding-strategy no_shard", "{}",
         "--use-megatron-fsdp: shares no more than the distributed optimizer does, and is simulated as that"},
        {"--recompute-activations", R"({"recompute": "selective"})"},
        {"--recompute-granularity selective", R"({"recompute": "selective"})"},
        {"--recompute-granularity selective --recompute-modules mlp core_attn",
         R"({"megatron": {"version": "core-0.13"}, "recompute": {"modules": ["mlp", "core_attn"]}})"},
        {"--recompute-granularity full --recompute-method uniform", R"({"recompute": "full"})"},
        {"--recompute-granularity full --recompute-method uniform --recompute-num-layers 4",
         R"({"recompute": {"method": "uniform", "layers": 4}})"},
        {"--recompute-granularity full --recompute-method block --recompute-num-layers 2",
         R"({"recompute": {"method": "block", "layers": 2}})"},
        {"--recompute-granularity full --recompute-method block --recompute-num-layers 8", R"({"recompute": "full"})"},
        {"--recompute-granularity full --recompute-method block --recompute-num-layers 0", "{}"},
        {"--recompute-method uniform", "{}"},
        {"--checkpoint-activations --checkpoint-num-layers 2", R"({"recompute": {"method": "uniform", "layers": 2}})"},
        {"--activations-checkpoint-method uniform --activations-checkpoint-num-layers 1", R"({"recompute": "full"})"},
        {"--cpu-offloading --cpu-offloading-num-layers 2", R"({"offloaded_layers": 2})"},
        {"--hidden-dropout 0 --attention-dropout 0", R"({"dropout": null})"},
        {"--hidden-dropout 0 --attention-dropout 0.1", "{}",
         "--hidden-dropout: dropout is simulated on hidden states and scores"},
        {"--use-flash-attn", R"({"attention": "flash"})"},
        {"--use-flash-attn-triton", R"({"attention": "triton"})"},
        {"--attention-backend flash", R"({"attention": "flash"})"},
        {"--attention-backend AttnBackend.fused", R"({"attention": "cudnn"})"},
        {"--attention-backend local", R"({"attention": "unfused"})"},
        {"--attention-backend auto", "{}",
         "--attention-backend: FlashAttention-2 is simulated; --set attention=cudnn says another"},
        {"--transformer-impl local", R"({"megatron": {"transformer_engine": false}, "attention": "unfused"})"},
        {"--transformer-impl transformer_engine", R"({"megatron": {"transformer_engine": true}})"},
        {"--cross-entropy-loss-fusion", R"({"megatron": {"fused_cross_entropy": true}})"},
        {"--variable-seq-lengths", R"({"megatron": {"variable_sequence": true}})"},
        {"--no-gradient-accumulation-fusion", R"({"megatron": {"fused_accumulation": false}})"},
        {"--no-async-tensor-model-parallel-allreduce", R"({"megatron": {"overlap_input_reduction": false}})"},
        {"--no-overlap-p2p-communication", R"({"megatron": {"overlap_pipeline": false}})"},
        {"--no-check-for-nan-in-loss-and-grad", R"({"megatron": {"check_for_nan": false}})"},
        {"--enable-cuda-graph", R"({"cuda_graphs": "layer"})"},
        {"--external-cuda-graph", R"({"cuda_graphs": "layer"})"},
        {"--cuda-graph-impl local --cuda-graph-scope full_iteration", R"({"cuda_graphs": "full"})"},
        {"--cuda-graph-scope attn", "{}"},
        {"--num-experts 8 --cuda-graph-impl transformer_engine --cuda-graph-scope moe_router moe_preprocess",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "cuda_graphs": "router"})"},
        {"--num-experts 8 --cuda-graph-impl transformer_engine --cuda-graph-scope attn moe_router moe_preprocess",
         R"({"model": {"experts": {"count": 8, "top_k": 2}}, "cuda_graphs": "around_experts"})"},
        {"--rampup-batch-size 16 16 3000", "{}", "--rampup-batch-size: the batch at the end of the ramp is simulated"},
        {"--step-batch-size-schedule 0:32,2B:128", "{}",
         "--step-batch-size-schedule: the last batch of the schedule is simulated, or the one given"},
        {"--global-batch-size 128", R"({"batch": {"global": 128}})"},
        {"--seq-length 128 --max-position-embeddings 4096", R"({"batch": {"sequence": 128}})"},
        {"--deepspeed", R"({"framework": "deepspeed", "layout": {"split": "even"}, "attention": "unfused"})"},
        {"--deepspeed --zero-stage 1",
         R"({"framework": "deepspeed", "layout": {"split": "even"}, "attention": "unfused", "zero": 1})"},
        {"--deepspeed --zero-stage 3 --partition-activations --checkpoint-activations",
         R"({"framework": "deepspeed", "layout": {"split": "even"}, "recompute": "full", "attention": "unfused", "zero": 3, "deepspeed": {"partition_activations": true}})"},
        {"--deepspeed --use-flash-attn",
         R"({"framework": "deepspeed", "layout": {"split": "even"}, "attention": "flash"})"},
        {"--deepspeed --ds-sequence-parallel-size 2",
         R"({"framework": "deepspeed", "layout": {"context": 2, "split": "even"}, "context_method": "all_to_all", "attention": "unfused"})"},
        {"--deepspeed --num-experts 4 --topk 2 --moe-expert-parallel-size 2",
         R"({"framework": "deepspeed", "model": {"experts": {"count": 4, "top_k": 2}}, "layout": {"expert": 2, "split": "even"}, "attention": "unfused", "experts": {"capacity_factor": 1}})"},
        {"--deepspeed --num-experts 4 --disable-moe-token-dropping",
         R"({"framework": "deepspeed", "model": {"experts": {"count": 4, "top_k": 1}}, "layout": {"split": "even"}, "attention": "unfused"})"},
        {"--deepspeed --num-experts 1",
         R"({"framework": "deepspeed", "layout": {"split": "even"}, "attention": "unfused"})"},
        {"--deepspeed --use-distributed-optimizer --overlap-grad-reduce",
         R"({"framework": "deepspeed", "layout": {"split": "even"}, "attention": "unfused"})"},
        {"--deepspeed --no-pipeline-parallel --pipeline-model-parallel-size 2",
         R"({"framework": "deepspeed", "layout": {"pipeline": 1, "split": "even"}, "attention": "unfused"})"},
        {"--nproc_per_node 4", R"({"layout": {"data": 4}})"},
        {"--nnodes 2 --nproc_per_node 4", "{}", "--nnodes: 2 nodes of 4 ranks are 1 nodes of dgx-h100"},
        {"--gpus-per-node 8 --num-nodes 4", R"({"nodes": 4})"},
        {"--no-masked-softmax-fusion --lr 1 --data-path a b c", "{}"},
        {"--disable-bias-linear true", R"({"model": {"biases": false}})"},
        {"--swiglu maybe", R"({"model": {"ffn_hidden": 1344, "gated": true}})"},
    }));

INSTANTIATE_TEST_SUITE_P(
    of_layers, MegatronFlags,
    testing::
        ValuesIn(
            std::vector<test::KeyChange>{
                {"--num-experts 8 --moe-layer-freq ([1]*3+[0])*2",
                 R"({"model": {"experts": {"count": 8, "top_k": 2}, "layer_kinds": {"attention": {}, "attention_dense": {"feed_forward": "mlp"}}, "layer_pattern": ["attention", "attention", "attention", "attention_dense"]}})"},
                {"--num-experts 8 --moe-latent-size 64 --moe-shared-expert-intermediate-size 96 "
                 "--moe-shared-expert-gate",
                 R"({"model": {"experts": {"count": 8, "top_k": 2, "latent": 64, "shared": 1, "shared_ffn_hidden": 96, "shared_gate": true}}, "megatron": {"version": "core-0.16"}})"},
                {"--attention-output-gate",
                 R"({"model": {"attention_gate": "elements"}, "megatron": {"version": "core-0.16"}})"},
                {"--softmax-type learnable --window-size '(127, 0)' --window-attn-skip-freq 2",
                 R"({"model": {"attention_sinks": true, "attention_window": {"tokens": 128, "full_every": 2}}, "megatron": {"version": "core-0.15"}})"},
                {"--window-size 127,0 --window-attn-skip-freq [1]*7+[0] --no-rope-freq 8",
                 R"({"model": {"layer_kinds": {"windowed": {"attention_window": {"tokens": 128}}, "attention_without_positions": {"positions": "none"}}, "layer_pattern": ["windowed", "windowed", "windowed", "windowed", "windowed", "windowed", "windowed", "attention_without_positions"]}, "megatron": {"version": "core-0.15"}})"},
                {"--window-size (-1,0)", R"({"megatron": {"version": "core-0.15"}})"},
                {"--experimental-attention-variant gated_delta_net --linear-attention-freq 4 --linear-num-key-heads 8",
                 R"({"model": {"layer_kinds": {"gated_delta": {"mixer": "gated_delta", "recurrence": {"heads": 32, "key_heads": 8, "key_size": 128, "value_size": 128, "convolution": 4}}, "attention": {}}, "layer_pattern": ["gated_delta", "gated_delta", "gated_delta", "attention"]}, "megatron": {"version": "core-0.16"}})"},
                {"--multi-latent-attention --qk-layernorm --experimental-attention-variant dsa --dsa-indexer-n-heads 4 "
                 "--dsa-indexer-head-dim 32 --dsa-indexer-topk 64",
                 R"({"model": {"latent_attention": {"kv_rank": 32, "nope_size": 128, "rope_size": 64, "value_size": 128}, "indexer": {"heads": 4, "head_size": 32, "top_k": 64}}, "megatron": {"version": "core-0.16"}})",
                 "--experimental-attention-variant: what trains the indexer is simulated over chosen tokens, as "
                 "--dsa-indexer-use-sparse-loss does"},
                {"--is-hybrid-model --hybrid-override-pattern 'M-M*' --spec "
                 "megatron.core.models.mamba.mamba_layer_specs "
                 "mamba_stack_spec --num-layers 4",
                 R"({"model": {"layers": 4, "layer_kinds": {"M": {"feed_forward": "none", "mixer": "mamba2", "recurrence": {"heads": 16, "key_heads": 8, "key_size": 128, "value_size": 64, "chunk": 128}}, "-": {"feed_forward": "mlp", "mixer": "none"}, "*": {"feed_forward": "none"}}, "layer_pattern": "M-M*"}})"},
                {"--hybrid-layer-pattern 'M|-M-' --pipeline-model-parallel-size 2 --mamba-num-heads 8 "
                 "--mamba-num-groups 2 "
                 "--mamba-state-dim 16 --mamba-head-dim 32",
                 R"({"model": {"layers": 4, "layer_kinds": {"M": {"feed_forward": "none", "mixer": "mamba2", "recurrence": {"heads": 8, "key_heads": 2, "key_size": 16, "value_size": 32, "chunk": 128}}, "-": {"feed_forward": "mlp", "mixer": "none"}}, "layer_pattern": "M-M-"}, "layout": {"pipeline": 2, "split": "Et|t*3L"}, "megatron": {"version": "core-0.17"}})"},
                {"--hybrid-layer-pattern 'G-|*-|G-|*E/E' --pipeline-model-parallel-size 2 --num-experts 8", R"({"model": {"layers": 8, "mtp_layers": 1, "experts": {"count": 8, "top_k": 2}, "layer_kinds": {"G": {"feed_forward": "none", "mixer": "gated_delta", "recurrence": {"heads": 32, "key_heads": 16, "key_size": 128, "value_size": 128, "convolution": 4}}, "*": {"feed_forward": "none"}, "-": {"feed_forward": "mlp", "mixer": "none"}, "E": {"feed_forward": "experts", "mixer": "none"}}, "layer_pattern": "G-*-G-*E"}, "layout": {"pipeline": 2, "virtual_stages": 2}, "schedule": "interleaved", "megatron": {"version": "core-0.17"}})"},
                {"--recompute-granularity full --recompute-method uniform --distribute-saved-activations "
                 "--tensor-model-parallel-size 2",
                 R"({"layout": {"tensor": 2}, "recompute": "full", "megatron": {"distribute_saved_activations": true}})"},
            }));

TEST(megatron_flags, what_weft_cannot_represent_is_refused_with_its_line) {
    for (
        const auto& [flags, refusal] : std::vector<std::pair<std::string, std::string>>{
            {"--num-experts 8 --expert-model-parallel-size 2 --expert-tensor-parallel-size 1 "
             "--tensor-model-parallel-size 2",
             "run.sh: error: sequence_parallel: Megatron-core routes tokens to experts only under sequence parallelism "
             "when tensor is 2; set sequence_parallel"},
            {"--fp4-format e2m1", "run.sh:13: error: precision (--fp4-format): h100 (dgx-h100) has no fp4"},
            {"--bf16 --fp16", "run.sh:13: error: --bf16: fp16 is given, too"},
            {"--position-embedding-type relative",
             R"(run.sh:13: error: --position-embedding-type: weft has rotary, learned and ALiBi positions, not "relative")"},
            {"--normalization Other",
             R"(run.sh:13: error: --normalization: expected LayerNorm or RMSNorm, got "other")"},
            {"--position-embedding-type learned_absolute",
             "run.sh: error: max_position_embeddings: missing: how many positions the table has"},
            {"--num-experts 4 8", "run.sh:13: error: --num-experts: weft has as many experts in each layer"},
            {"--num-experts 8 --moe-layer-freq [1]*3",
             "run.sh:13: error: --moe-layer-freq: expected a number or a list of 0 and 1 for each of 8 layers, got 3 "
             "of them"},
            {"--spec plugin.layers spec --is-hybrid-model --attention-output-gate",
             "run.sh:13: error: --is-hybrid-model: needs --hybrid-layer-pattern (before core 0.17 "
             "--hybrid-override-pattern)\n"
             "run.sh:13: error: --spec: weft knows the layers of mamba_stack_spec and hybrid_stack_spec, not those of "
             "plugin.layers spec"},
            {"--hybrid-override-pattern MX --hybrid-attention-ratio 0.1",
             "run.sh:13: error: --hybrid-attention-ratio: give the layers, with --hybrid-override-pattern\n"
             "run.sh:13: error: --hybrid-override-pattern: expected layers M, G, *, D, +, - and E, stages between | "
             "and "
             "predictions behind /, got X"},
            {"--hybrid-layer-pattern 'M*|M-|M-' --pipeline-model-parallel-size 2 "
             "--num-virtual-stages-per-pipeline-rank 2",
             "run.sh:13: error: --hybrid-layer-pattern: has 3 parts for 2 pipeline ranks\n"
             "run.sh:13: error: --num-virtual-stages-per-pipeline-rank: parts of a hybrid pattern stand between | in "
             "it\nrun.sh:13: error: layout.pipeline (--pipeline-model-parallel-size): megatron: 4 pipeline stages do "
             "not "
             "divide 6 layers; --set layout.split=[1,2,2,1] deals them"},
            {"--hybrid-layer-pattern 'M*M-/M*'",
             "run.sh:13: error: --hybrid-layer-pattern: weft's prediction modules are one layer each, like the last; "
             "not "
             "M*"},
            {"--hybrid-layer-pattern 'M*M-' --window-attn-skip-freq 2",
             "run.sh:13: error: --window-attn-skip-freq: weft reads it of layers without a hybrid pattern"},
            {"--experimental-attention-variant gdn2",
             "run.sh:13: error: --experimental-attention-variant: weft has gdn (gated_delta_net) and dsa, not gdn2"},
            {"--experimental-attention-variant gdn",
             "run.sh:13: error: --experimental-attention-variant: needs --linear-attention-freq"},
            {"--experimental-attention-variant dsa --multi-latent-attention --qk-layernorm --dsa-indexer-topk-freq 4",
             "run.sh:13: error: --dsa-indexer-topk-freq: weft's layers each choose the tokens that they attend to\n"
             "run.sh:13: error: --experimental-attention-variant: needs --dsa-indexer-n-heads, --dsa-indexer-head-dim "
             "and "
             "--dsa-indexer-topk"},
            {"--window-size 128",
             "run.sh:13: error: --window-size: expected tokens before and 0 behind, as \"(127,0)\", "
             "got 128"},
            {"--softmax-type off-by-one",
             "run.sh:13: error: --softmax-type: weft has vanilla and learnable, not off-by-one"},
            {"--distribute-saved-activations --recompute-granularity full",
             "run.sh:13: error: megatron.distribute_saved_activations (--distribute-saved-activations): shares among "
             "tensor ranks what full recomputation keeps whole: needs tensor 2 or more, recompute full and no "
             "sequence_parallel"},
            {"--fp8-format hybrid --fp4-format e2m1", "run.sh:13: error: --fp4-format: fp8 is given, too"},
            {"--fp8-format hybrid --fp8-recipe custom",
             "run.sh:13: error: --fp8-recipe: weft knows no recipe of one's own; delayed, tensorwise, blockwise and "
             "mxfp8"},
            {"--context-parallel-size 2 --cp-comm-type p2p a2a",
             "run.sh:13: error: --cp-comm-type: weft exchanges keys and values the same way in every layer"},
            {"--context-parallel-size 2 --cp-comm-type ulysses",
             R"(run.sh:13: error: --cp-comm-type: weft has p2p, all_gather and a2a, not "ulysses")"},
            {"--num-experts 8 --expert-model-parallel-size 2 --moe-token-dispatcher-type ring",
             R"(run.sh:13: error: --moe-token-dispatcher-type: expected allgather, alltoall or flex, got "ring")"},
            {"--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 3",
             "run.sh:13: error: --num-layers-per-virtual-pipeline-stage: 8 layers on 2 stages cannot be cut into parts "
             "of 3"},
            {"--pipeline-model-parallel-size 2 --account-for-embedding-in-pipeline-split",
             "run.sh:13: error: --account-for-embedding-in-pipeline-split: weft counts embedding and output layer as "
             "layers both or not at all"},
            {"--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*8L",
             "run.sh:13: error: --pipeline-model-parallel-layout: has 1 stages for 2 pipeline ranks"},
            {"--pipeline-model-parallel-size 3 --decoder-first-pipeline-num-layers 1",
             "run.sh:13: error: --decoder-first-pipeline-num-layers: 3 stages do not share 8 layers so\n"
             "run.sh:13: error: layout.pipeline (--pipeline-model-parallel-size): megatron: 3 pipeline stages do not "
             "divide 8 layers; --set layout.split=[2,3,3] --set megatron.version=core-0.13 deals them"},
            {"--pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 9",
             "run.sh:13: error: --decoder-first-pipeline-num-layers: 2 stages do not share 8 layers so"},
            {"--use-megatron-fsdp --data-parallel-sharding-strategy all",
             "run.sh:13: error: --data-parallel-sharding-strategy: expected no_shard, optim, optim_grads or "
             "optim_grads_params"},
            {"--recompute-granularity half",
             R"(run.sh:13: error: --recompute-granularity: expected full or selective, got "half")"},
            {"--attention-backend sdpa",
             R"(run.sh:13: error: --attention-backend: expected flash, fused, unfused or auto, got "sdpa")"},
            {"--cuda-graph-impl local --cuda-graph-scope mlp",
             "run.sh:13: error: --cuda-graph-scope: weft replays whole layers, whole passes, moe_router with "
             "moe_preprocess, or these and attn"},
            {"--micro-batch-size x",
             R"(run.sh:13: error: micro_batch_size (--micro-batch-size): expected an integer of at least 1, got "x")"},
            {"--num-layers 0", "run.sh:13: error: num_layers (--num-layers): expected an integer of at least 1, got 0"},
        }) {
        EXPECT_EQ(refusal_of(flags), refusal) << flags;
    }
}

TEST(megatron_flags, each_refused_flag_is_refused_by_name_where_it_changes_something) {
    const auto& harmless = known_keys("megatron", "harmless").by_name;
    for (const auto& [key, why] : known_keys("megatron", "refused").in_order) {
        const std::string flag = "--" + key;
        EXPECT_EQ(refusal_of(flag + " 7"), fmt::format("run.sh:13: error: {}: {}", flag, why));
        const auto value = harmless.find(key);
        for (const std::string nothing : {"0", "none", "false"}) EXPECT_EQ(refusal_of(flag + " " + nothing), "made");
        if (value != harmless.end()) EXPECT_EQ(refusal_of(flag + " " + value->second), "made") << flag;
    }
}

TEST(megatron_flags, each_flag_with_a_warning_tells_it_and_changes_nothing) {
    const json plain = json::parse(import_of("").object.json());
    for (const auto& [key, message] : known_keys("megatron", "warned").in_order) {
        if (key == "moe_enable_deepep") continue;  // of a dispatcher
        const Import import = import_of("--" + key + " 7");
        EXPECT_TRUE(has_note(import, fmt::format("--{}: {}", key, message))) << key;
        EXPECT_EQ(json::parse(import.object.json()), plain) << key;
    }
    for (const auto& [key, message] : known_keys("megatron", "on_by_default").in_order) {
        EXPECT_TRUE(import_of("--" + key).notes.empty()) << key;
    }
}

TEST(megatron_flags, a_flag_that_switches_off_is_kept_under_the_name_of_what_it_is_about) {
    for (const auto& [flag, kept] : known_keys("megatron", "other_names").in_order) {
        const bool off = kept.starts_with("no ");
        const MegatronName name = megatron_name("--" + flag);
        EXPECT_EQ(name.key, off ? kept.substr(3) : kept);
        EXPECT_EQ(name.json, off ? "false" : "true");
        EXPECT_TRUE(is_megatron_flag("--" + flag)) << flag;
    }
    EXPECT_EQ(megatron_name("--Use-Flash_attn").key, "use_flash_attn");
}

TEST(megatron_flags, flags_without_effect_are_listed_and_not_noted) {
    const json plain = json::parse(import_of("").object.json());
    std::string flags;
    for (const auto& [key, nothing] : known_keys("megatron", "without_effect").in_order) {
        const bool of_launcher = key == "nnodes" || key == "num_nodes" || key == "nodes" || key == "nproc_per_node" ||
                                 key == "num_gpus" || key == "gpus_per_node" || key == "gres";
        if (!of_launcher) flags += "--" + key + " 1\n";
    }
    const Import import = import_of(flags);
    EXPECT_TRUE(import.notes.empty());
    EXPECT_EQ(json::parse(import.object.json()), plain);
    EXPECT_GT(import.without_effect.size(), 500U);
}

TEST(megatron_flags, a_flag_has_one_fate) {
    std::vector<std::string> all;
    for (const char* const section : {"read", "without_effect", "refused", "warned", "on_by_default"}) {
        for (const auto& [key, what] : known_keys("megatron", section).in_order) {
            if (key != "moe_enable_deepep" || std::string_view(section) == "read") all.push_back(key);
        }
    }
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    for (const char* const section : {"switches", "lists", "harmless"}) {
        for (const auto& [key, what] : known_keys("megatron", section).in_order)
            EXPECT_TRUE(std::ranges::binary_search(all, key)) << key;
    }
}

// That the reader asks for no other is checked whenever it asks (MegatronReading::has). Here: it asks for each, in a
// run that gives all others a meaning.
TEST(megatron_flags, the_reader_asks_for_each_flag_that_the_table_calls_read) {
    const std::string experts = "--num-experts 8\n--expert-model-parallel-size 2\n";
    const std::vector<std::string> runs{"",
                                        experts,
                                        experts + "--moe-token-dispatcher-type flex\n--moe-permute-fusion\n",
                                        experts + "--overlap-moe-expert-parallel-comm\n",
                                        "--multi-latent-attention\n",
                                        "--group-query-attention\n",
                                        "--disable-bias-linear\n",
                                        "--pipeline-model-parallel-size 2\n",
                                        "--context-parallel-size 2\n",
                                        "--fp8-format hybrid\n--use-distributed-optimizer\n",
                                        "--use-precision-aware-optimizer\n",
                                        "--optimizer-cpu-offload\n",
                                        "--use-megatron-fsdp\n",
                                        "--overlap-grad-reduce\n",
                                        "--recompute-granularity full\n",
                                        "--recompute-granularity selective\n",
                                        "--checkpoint-activations\n",
                                        "--activations-checkpoint-method uniform\n",
                                        "--position-embedding-type learned_absolute\n",
                                        "--hybrid-layer-pattern 'MG*D'\n",
                                        "--window-size 7,0\n",
                                        "--deepspeed\n--num-experts 4\n"};
    for (const auto& [key, nothing] : known_keys("megatron", "read").in_order) {
        if (key == "apply_layernorm_1p" || key == "cpu_offloading") continue;  // said by others, too
        const bool asked = std::ranges::any_of(runs, [&key = key](const std::string& flags) {
            try {
                const Import import = import_of(flags + "--" + key + "\n");
                return std::ranges::none_of(import.without_effect, [&](const Origin& origin) {
                    return origin.key == "--" + key && origin.line > 12;
                });
            } catch (const ConfigError&) {
                return true;  // it was read, and refused
            }
        });
        EXPECT_TRUE(asked) << key;
    }
}

}  // namespace
}  // namespace weft
