// The table, counted in the modules' sources.
//
// Transformer Engine 1.x to 2.x (pytorch/module/layernorm_linear.py, linear.py, rmsnorm.py, attention) under
// Megatron-core (transformer/transformer_layer.py, attention.py, mlp.py, fusions/): five operations for entering a
// module (arguments, device and range, weights, quantizers, workspaces), ten for choosing attention's backend, one for
// each function of autograd forward and three backward (its saved tensors), one for each kernel and copy; backward, one
// for each parameter's hook of DistributedDataParallel, and one for the placeholder of each weight's gradient.
// Megatron-LM of 2021 to 2023 (megatron/model/transformer.py, core/tensor_parallel/layers.py and mappings.py,
// model/fused_*.py): scripted functions and apex's norms; views cost as much as kernels and are counted where a
// function makes them. GPT-NeoX and Megatron-DeepSpeed have the same layer.
// Experts of a rank run in one call (pytorch/module/grouped_linear.py), which launches their casts and products from
// C++ (common/gemm/cublaslt_gemm.cu, multi_stream_cublas_gemm: not counted one by one); each weight is a parameter of
// its own, with its hook and its placeholder. DeepSpeed's hooks (runtime/zero/stage_1_and_2.py,
// reduce_ready_partitions_and_remove_grads: two operations for each of twelve parameters; parameter_offload.py and
// partitioned_parameter_coordinator.py: about six for each of eight modules before and after it runs). PyTorch: a
// module call and a kernel for each map; FSDP's hooks before and after each unit, a view for each of its parameters
// (torch/distributed/fsdp/_runtime_utils.py, _flat_param.py).
//
// What brings rows to experts and back under Megatron-core (transformer/moe/token_dispatcher.py and fused_a2a.py of
// core 0.13 and 0.15) with Transformer Engine's permutations (pytorch/permutation.py), besides the calls that weft
// issues; in brackets what backward takes:
//   exchanged  to: counts of tokens 7, their copies to the host 6; permutation, of a function, its map's three kernels
//              and one, 5 (4) | functions of the exchanges of rows and probabilities 2 (6); sort by expert 3 (4).
//              Back: sort 3 (4), exchange 1 (3), weighted sum 2 (4)
//   deepep     to: top-k 1 (2); function, DeepEP's buffer entered for layout and dispatch, two kernels 13 | the third,
//              list of counts 2 (combination 11); one-hot matrices by indexing 16 (3); permutation 5 (4).  Back: sum
//              2 (4), combination 8 (dispatch 10)
//   hybridep   to: function, buffer entered, preprocessing 7 | dispatch, permutation, sum of counts 4 (10).  Back: 8
//              (10)
// What follows a bar is issued once the host has the counts (parallelism/dispatch.hpp), and stands with the experts.
#include "workloads/framework/framework.hpp"

#include <array>
#include <span>

#include "sim/base/check.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

enum class When : std::uint8_t {
    always,
    biases,
    dropout,
    rotary,
    gated,
    query_key_norm,
    unfused_core,
    fused_core,
    eighth,            // products in fp8: casts, transposes, maxima and scales
    each_expert,       // once for every expert of the rank
    exchanged,         // rows for experts go all-to-all
    deepep,            // or by DeepEP's kernels
    hybridep,          // or by HybridEP's
    in_place,          // or by none of them: experts are all here, or tokens are gathered
    accumulated,       // a gradient is added to the one kept by an operation of its own
    checkpointed,      // autograd's checkpoint of the layer: random-number states kept and set
    sharded_by_unit,   // FSDP
    reduced_by_hooks,  // DeepSpeed's ZeRO-1 and 2 without a pipeline: each gradient goes to a bucket by a hook
    gathered_by_hooks  // ZeRO-3: hooks before and after every module fetch and release parameters
};

struct Row {
    Piece piece{};
    When when{};
    HostOperations operations;
};

constexpr std::array transformer_engine = {
    Row{Piece::input_norm, When::always, {1, 6, 1}},    Row{Piece::qkv, When::always, {11, 7, 3}},
    Row{Piece::qkv, When::biases, {0, 0, 2}},           Row{Piece::qkv, When::rotary, {6, 6, 0}},
    Row{Piece::qkv, When::query_key_norm, {14, 10, 2}}, Row{Piece::qkv, When::eighth, {4, 3, 2}},
    Row{Piece::core, When::always, {12, 8, 0}},         Row{Piece::projection, When::always, {7, 4, 3}},
    Row{Piece::projection, When::biases, {0, 0, 2}},    Row{Piece::projection, When::eighth, {4, 3, 2}},
    Row{Piece::post_norm, When::always, {4, 8, 1}},     Row{Piece::mlp_up, When::always, {10, 7, 3}},
    Row{Piece::mlp_up, When::biases, {0, 1, 1}},        Row{Piece::mlp_up, When::eighth, {4, 3, 2}},
    Row{Piece::mlp_down, When::always, {7, 4, 3}},      Row{Piece::mlp_down, When::biases, {0, 0, 2}},
    Row{Piece::mlp_down, When::eighth, {4, 3, 2}},      Row{Piece::residual, When::always, {6, 2, 0}},
    Row{Piece::router, When::always, {16, 14, 2}},      Row{Piece::permute, When::in_place, {10, 6, 0}},
    Row{Piece::permute, When::exchanged, {18, 4, 0}},   Row{Piece::experts, When::exchanged, {5, 10, 0}},
    Row{Piece::permute, When::deepep, {14, 2, 0}},      Row{Piece::experts, When::deepep, {23, 18, 0}},
    Row{Piece::permute, When::hybridep, {7, 0, 0}},     Row{Piece::experts, When::hybridep, {4, 10, 0}},
    Row{Piece::experts, When::always, {18, 14, 2}},     Row{Piece::experts, When::each_expert, {0, 0, 4}},
    Row{Piece::unpermute, When::in_place, {8, 6, 0}},   Row{Piece::unpermute, When::exchanged, {6, 11, 0}},
    Row{Piece::unpermute, When::deepep, {10, 14, 0}},   Row{Piece::unpermute, When::hybridep, {8, 10, 0}},
    Row{Piece::shared_up, When::always, {10, 7, 3}},    Row{Piece::shared_down, When::always, {7, 4, 3}},
};

constexpr std::array megatron = {
    Row{Piece::input_norm, When::always, {2, 5, 2}},
    Row{Piece::qkv, When::always, {5, 3, 2}},
    Row{Piece::qkv, When::biases, {1, 0, 2}},
    Row{Piece::qkv, When::rotary, {16, 20, 0}},
    Row{Piece::qkv, When::accumulated, {0, 0, 2}},
    Row{Piece::core, When::unfused_core, {9, 8, 0}},
    Row{Piece::core, When::fused_core, {6, 4, 0}},
    Row{Piece::core, When::dropout, {4, 1, 0}},
    Row{Piece::projection, When::always, {4, 3, 2}},
    Row{Piece::projection, When::biases, {0, 0, 1}},
    Row{Piece::projection, When::accumulated, {0, 0, 2}},
    Row{Piece::post_norm, When::always, {4, 7, 2}},
    Row{Piece::post_norm, When::biases, {0, 0, 1}},
    Row{Piece::post_norm, When::accumulated, {0, 0, 4}},
    Row{Piece::mlp_up, When::always, {5, 4, 2}},
    Row{Piece::mlp_up, When::biases, {0, 0, 2}},
    Row{Piece::mlp_up, When::accumulated, {0, 0, 2}},
    Row{Piece::mlp_down, When::always, {4, 3, 2}},
    Row{Piece::mlp_down, When::accumulated, {0, 0, 2}},
    Row{Piece::residual, When::always, {2, 2, 0}},
    Row{Piece::residual, When::biases, {0, 0, 1}},
    Row{Piece::residual, When::checkpointed, {6, 8, 0}},
    Row{Piece::residual, When::reduced_by_hooks, {0, 0, 24}},
    Row{Piece::residual, When::gathered_by_hooks, {48, 64, 36}},
    Row{Piece::router, When::always, {16, 14, 2}},
    Row{Piece::permute, When::always, {6, 4, 0}},
    Row{Piece::experts, When::always, {8, 8, 4}},
    Row{Piece::unpermute, When::always, {6, 6, 0}},
    Row{Piece::shared_up, When::always, {5, 4, 2}},
    Row{Piece::shared_down, When::always, {4, 3, 2}},
};

constexpr std::array pytorch = {
    Row{Piece::input_norm, When::always, {3, 4, 1}},
    Row{Piece::qkv, When::always, {5, 3, 1}},
    Row{Piece::qkv, When::rotary, {14, 16, 0}},
    Row{Piece::core, When::unfused_core, {8, 8, 0}},
    Row{Piece::core, When::fused_core, {6, 5, 0}},
    Row{Piece::projection, When::always, {2, 1, 1}},
    Row{Piece::post_norm, When::always, {4, 5, 1}},
    Row{Piece::mlp_up, When::always, {4, 2, 1}},
    Row{Piece::mlp_up, When::gated, {3, 3, 1}},
    Row{Piece::mlp_down, When::always, {2, 1, 1}},
    Row{Piece::residual, When::always, {1, 1, 0}},
    Row{Piece::residual, When::checkpointed, {6, 8, 0}},
    Row{Piece::input_norm, When::sharded_by_unit, {16, 20, 6}},
    Row{Piece::router, When::always, {16, 14, 2}},
    Row{Piece::permute, When::always, {6, 4, 0}},
    Row{Piece::experts, When::always, {8, 8, 4}},
    Row{Piece::unpermute, When::always, {6, 6, 0}},
    Row{Piece::shared_up, When::always, {4, 2, 1}},
    Row{Piece::shared_down, When::always, {2, 1, 1}},
};

std::span<const Row> table(const Job& job) {
    switch (job.framework->modules(job)) {
        case Modules::transformer_engine:
            return transformer_engine;
        case Modules::megatron:
            return megatron;
        case Modules::pytorch:
        case Modules::pytorch_units:
            break;
    }
    return pytorch;
}

// Of the map in the piece, or of the map whose output the piece adds.
bool is_biased(const Transformer& model, Piece piece) {
    if (piece == Piece::qkv) return model.biases.qkv;
    if (piece == Piece::projection || piece == Piece::post_norm) return model.biases.projection;
    return model.biases.mlp;
}

bool holds(const Job& job, Piece piece, When when) {
    switch (when) {
        case When::always:
            return true;
        case When::biases:
            return is_biased(job.model, piece);
        case When::dropout:
            return job.dropout == Dropout::on;
        case When::rotary:
            return job.model.positions == Positions::rotary;
        case When::gated:
            return job.model.gated;
        case When::query_key_norm:
            return job.model.query_key_norm != QueryKeyNorm::none;
        case When::unfused_core:
            return job.attention == AttentionCore::unfused;
        case When::fused_core:
            return job.attention != AttentionCore::unfused;
        case When::eighth:
            return is_narrow(job.precision);
        case When::each_expert:
            return job.model.experts.count > 0;
        case When::exchanged:
            return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::all_to_all;
        case When::deepep:
            return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::deepep;
        case When::hybridep:
            return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::hybridep;
        case When::in_place:
            return job.layout.expert == 1 || job.experts.dispatcher == Dispatch::all_gather;
        case When::accumulated:
            return job.framework->accumulation(job).value > 0;
        case When::checkpointed:
            return runs_again(job.recompute.granularity);
        case When::reduced_by_hooks:
            return (job.zero == 1 || job.zero == 2) && job.layout.pipeline == 1;
        case When::gathered_by_hooks:
            return job.zero == 3;
        case When::sharded_by_unit:
            return job.framework->modules(job) == Modules::pytorch_units;
    }
    throw LogicError("a When outside its enumerators");
}

}  // namespace

HostOperations& HostOperations::operator+=(const HostOperations& other) {
    forward += other.forward;
    input_backward += other.input_backward;
    weight_backward += other.weight_backward;
    return *this;
}

HostOperations host_operations(const Job& job, Piece piece) {
    const NormPlacement norms = job.model.norm_placement;
    HostOperations sum;
    if (piece == Piece::post_norm && norms == NormPlacement::shared) return sum;
    for (const Row& row : table(job)) {
        // Norms of outputs: the MLP's in its residual; attention's where the MLP's input has one, too.
        const bool further = (piece == Piece::post_norm && norms == NormPlacement::sandwich) ||
                             (piece == Piece::residual && norms >= NormPlacement::post);
        if (further && row.piece == Piece::input_norm && row.when == When::always) sum += row.operations;
        if (piece == Piece::input_norm && norms == NormPlacement::post && row.when == When::always) continue;
        if (row.piece != piece || !holds(job, row.piece, row.when)) continue;
        const std::uint32_t times = row.when == When::each_expert ? job.model.experts.count / job.layout.expert : 1;
        for (std::uint32_t i = 0; i < times; ++i) sum += row.operations;
    }
    return sum;
}

bool is_replayed(const Job& job, Piece piece) {
    if (replays_all(job)) return true;
    if (job.cuda_graphs == CudaGraphs::router) return piece == Piece::post_norm || piece == Piece::router;
    const bool eager = piece == Piece::permute || piece == Piece::experts || piece == Piece::unpermute ||
                       piece == Piece::shared_up || piece == Piece::shared_down || piece == Piece::residual;
    return job.cuda_graphs == CudaGraphs::around_experts && !eager;
}

bool replays_all(const Job& job) { return job.cuda_graphs == CudaGraphs::layer || job.cuda_graphs == CudaGraphs::full; }

// All layers of a stage are one graph, which is not counted.
HostOperations replay(const Job& job) {
    if (job.cuda_graphs == CudaGraphs::full) return {};
    return {1, 1, 1};
}

}  // namespace weft
