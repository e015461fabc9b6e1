// The kernels of a transformer layer, embedding and head as one tensor-parallel rank runs them: shapes, FLOPs, bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/base/quantity.hpp"

namespace weft {

enum class KernelKind : std::uint8_t {
    gemm,       // m x n x k, `count` of them in one launch (batched)
    attention,  // fused (flash) attention core: m queries, n keys, k the head size (of keys
                // and values the mean), `count` heads; in a window n is
                // twice the keys of a query on average, as it is without
    attention_backward,
    memory,  // element-wise, norms, softmax, dropout, ...: bound by bytes
};

// flash: FlashAttention-2 and its like; cudnn: the vendor's kernels (cuDNN, FlashAttention-3), which use what Hopper
// and later devices have for it; cudnn_9_13: cuDNN before 9.17, slower on Blackwell where sequences are short; triton:
// the first FlashAttention in Triton, as MPT's attn_impl. One algorithm at several rates.
enum class AttentionCore : std::uint8_t { unfused, flash, cudnn, triton, cudnn_9_13 };

// What a pass over memory does, which decides how much of the bandwidth it reaches (Device::pass_efficiency):
//   fused         what frameworks' fused kernels do, of one kind or another
//   element_wise  copies, casts, sums, products, activation functions of whole tensors, one after another in memory
//   strided       casts of what lies in another order; tensors packed into one buffer
//   broadcast     products with one value per row
//   norm          layer and RMS norms, and their gradients
//   reduction     sums over rows: gradients of biases
//   softmax       cross entropy in fp32
//   gathered      rows taken or added up by index
//   optimizer     updates, norms and clipping of lists of tensors
enum class PassClass : std::uint8_t {
    fused,
    element_wise,
    strided,
    broadcast,
    norm,
    reduction,
    softmax,
    gathered,
    optimizer,
};
constexpr std::size_t pass_classes = 9;

struct Kernel {
    std::string_view name;
    KernelKind kind = KernelKind::memory;
    PassClass pass = PassClass::fused;      // of memory
    double m = 0, n = 0, k = 0, count = 1;  // of a gemm or of attention
    bool parameters = false;                // a gemm with a parameter matrix of a layer, or its gradient
    Flops flops;  // of matrix products; the attention scores in full, although causal, or a window's share
    Bytes bytes;  // read and written
    // FLOPs that the device executes over `flops`: flash attention skips the masked half of the scores and computes
    // the other half twice (once more in backward).
    double executed = 1.0;
    AttentionCore core = AttentionCore::flash;  // of attention: whose kernel it is
    bool narrow = false;                        // attention of operands in 8 bits
    double launches = 1;                        // as so many kernels, one after another
};

enum class SequenceParallel : std::uint8_t { off, on };
// How tokens come to the ranks of their experts, and back (workloads/parallelism/experts.hpp):
//   all_to_all  a copy for each expert of a token, put in order before it leaves and again where it arrives
//   all_gather  every rank gets every token of its group, and takes those of its experts
//   deepep, hybridep  one copy for each rank that holds an expert of a token, and across the network one for each
//               node; copies for experts are made where they arrive
enum class Dispatch : std::uint8_t { all_to_all, all_gather, deepep, hybridep };
// How operands of products with parameters are cast to 8 or 4 bits first (recipes.hpp).
enum class Casting : std::uint8_t { none, delayed, tensorwise, blockwise, mxfp8, nvfp4 };
// After embedding, attention and MLP, and on the attention probabilities; as fused kernels have it, with masks of one
// byte per element (PyTorch, Megatron-LM's bias_dropout_add).
enum class Dropout : std::uint8_t { off, on };

// Cross entropy, and what it keeps of every logit:
//   unfused   the softmax in fp32, over which the gradient is written (Megatron-LM, tensor_parallel/cross_entropy.py)
//   fused     the logits, over which the gradient is written (Transformer Engine, common/triton/cross_entropy.py)
//   autograd  the logarithm of the softmax in fp32; its gradient and that of the logits are tensors of their own
//             (PyTorch's cross_entropy of logits.float(); over tensor ranks distributed/tensor/parallel/loss.py)
//   apart     the logits, read again for a gradient of its own in working precision (torch.compile of the same;
//             flash-attn, losses/cross_entropy.py)
enum class CrossEntropy : std::uint8_t { unfused, fused, autograd, apart };
constexpr bool keeps_logits(CrossEntropy loss) { return loss == CrossEntropy::fused || loss == CrossEntropy::apart; }

// Whether the output that attention keeps is the tensor that the projection keeps as its input, or, when heads and
// not sequences were divided between context ranks, a second one (Transformer Engine since 2.8, context_parallel.py).
enum class ContextOutput : std::uint8_t { shared, copied };

// Whether rotary embeddings and the biases of attention's and the MLP's outputs are passes of their own, as under
// GPT-NeoX in bf16 (casts.cpp), or part of their neighbours.
enum class ElementWise : std::uint8_t { fused, unfused };

// Whose modules a layer is made of, where every operator is a kernel: the framework's own, which are fused as it has
// them; plain modules of PyTorch as torchtitan writes them; or transformers' (eager_pieces.cpp).
enum class ModuleCode : std::uint8_t { framework, plain, transformers };

// torch.compile: of nothing, of each layer by itself, or of the whole model with its loss (torchtitan's
// compile.components).
enum class Compile : std::uint8_t { off, blocks, all };

// PyTorch's releases by what changed in a step: since 2.1 a checkpoint that runs again stops at the last tensor that
// backward asks for (torch/utils/checkpoint.py, early_stop); since 2.9 RMSNorm is a kernel (aten::_fused_rms_norm, pull
// request 153666), before it every operator of it is (rms_norm_composite).
enum class PyTorch : std::uint8_t { v2_0, v2_1, v2_9 };

// PyTorch's autocast: weights, what norms take and what residual additions give stay in fp32; maps run in 16 bits, each
// on a cast of its input.
enum class Autocast : std::uint8_t { off, on };

// Under sequence parallelism, who routes a token: the tensor rank that has it between maps, or all of them, each having
// gathered it (torchtitan: models/llama4/infra/parallelize.py, apply_moe_ep_tp).
enum class TokenRouting : std::uint8_t { by_owner, by_all };

// Documents that are packed into a sequence and do not attend to one another, as fused kernels see them.
struct PackedAttention {
    double share = 0;           // of the pairs of tokens of a whole sequence that meet; 0: a sequence is one document
    double windowed_share = 0;  // the same in a layer with a window
    // Pairs of the slowest rank over the mean: documents are of different lengths.
    double slowest = 1.0, windowed_slowest = 1.0;

    auto operator<=>(const PackedAttention&) const = default;
};

// What one rank sees of one micro-batch.
//
// Context ranks hold 1 / context of every sequence and meet the keys and values of all of it, one early and one late
// slice each, so that the masked half of the scores is shared evenly (Megatron-core, transformer/context_parallel).
//
// Tokens of experts, after Megatron-core's MoE documentation (transformer/moe/README.md: all-to-all dispatcher, MoE
// parallel folding) and DeepSpeed's gate (deepspeed/moe/sharded_moe.py, TopKGate). The ranks of one expert-tensor group
// dispatch together
//   d = b s / context * expert_tensor / tensor   tokens: with expert_tensor = tensor those of their whole tensor group,
// with expert_tensor = 1 each its own 1 / tensor. As many come back from the other expert ranks, so that each of the
// count / expert local experts computes
//   d top_k expert / count * imbalance           tokens without dropping, or
//   expert C,  C = max(4, ceil(capacity_factor top_k d / count))   with a fixed capacity, padded or clipped.
struct Shard {
    std::uint32_t micro_batch = 1;
    std::uint32_t sequence = 1;
    std::uint32_t tensor = 1;
    double element_bytes = 2.0;
    AttentionCore attention = AttentionCore::flash;
    SequenceParallel sequence_parallel = SequenceParallel::off;
    Dropout dropout = Dropout::off;
    Casting casting = Casting::none;
    bool narrow_output = false;        // the output layer's products are narrow, too
    bool narrow_attention = false;     // attention's products are in 8 bits, too
    bool expert_passes_apart = false;  // biases of the experts' second map, added expert by expert, and clamps
    bool pads_rows = false;            // copies rows of experts to padded places and what they give back
    // Experts are one operation of Transformer Engine, whose products make activation functions and casts as they
    // write.
    bool fuses_experts = false;
    bool stashes_experts = false;  // copies what experts keep for backward into pages, and back
    CrossEntropy cross_entropy = CrossEntropy::unfused;
    ElementWise element_wise = ElementWise::fused;
    ModuleCode modules = ModuleCode::framework;
    Compile compile = Compile::off;  // fuses passes of layers again
    PyTorch pytorch = PyTorch::v2_9;
    Autocast autocast = Autocast::off;
    std::uint32_t context = 1;        // ranks that share a sequence
    std::uint32_t expert = 1;         // ranks that share the experts of a layer
    std::uint32_t expert_tensor = 1;  // ranks that share each expert; at most `tensor`
    double imbalance = 1.0;           // tokens of the busiest expert rank over the mean, without dropping
    double capacity_factor = 0.0;     // 0: no token is dropped
    ContextOutput context_output = ContextOutput::shared;
    Dispatch dispatch = Dispatch::all_to_all;
    TokenRouting routing = TokenRouting::by_owner;
    PackedAttention packing{};
    Trained trained{};

    auto operator<=>(const Shard&) const = default;
};

enum class Piece : std::uint8_t {
    input_norm,
    qkv,
    core,
    projection,
    post_norm,
    mlp_up,
    mlp_down,
    router,
    permute,  // ends where tokens leave for their experts
    experts,
    unpermute,  // begins where they have come back
    shared_up,
    shared_down,
    residual,
    embedding,  // those of no layer
    head,       // final norm, logits and loss
};

// A part of a layer between two places where communication may be needed. Every list is in the order of execution;
// backward, pieces run in reverse. A residual addition comes with what follows it: that of attention is in post_norm.
struct LayerPiece {
    Piece piece{};
    std::string_view module;  // the Module whose parameters it uses; empty: none
    std::vector<Kernel> forward;
    std::vector<Kernel> input_backward;   // all of backward but
    std::vector<Kernel> weight_backward;  // the gradients of matrices and their biases, which nothing waits for
};

// In forward order. With experts: router, permute, experts, unpermute, then the shared experts, then residual.
// Every weight matrix is one gemm forward ("qkv", "dense", "h_to_4h", "4h_to_h", "logits") and two backward ("... input
// gradient", "... weight gradient").
std::vector<LayerPiece> layer_pieces(const Transformer& model, LayerKind kind, const Shard& shard);

std::vector<Kernel> embedding_forward(const Transformer& model, const Shard& shard);
std::vector<Kernel> embedding_backward(const Transformer& model, const Shard& shard);
std::vector<Kernel> head_forward(const Transformer& model, const Shard& shard);  // final norm, logits, cross entropy
std::vector<Kernel> head_backward(const Transformer& model, const Shard& shard);

}  // namespace weft
