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
// its own, with its hook and its placeholder; so is each bias, whose gradient is a sum over the rows of its expert. The
// bias of the second map is weighed and added by operators of PyTorch, expert by expert (core_v0.18.0, experts.py,
// TEGroupedMLP._apply_bias), which cost about two operations each. DeepSpeed's hooks (runtime/zero/stage_1_and_2.py,
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
// What follows a bar is issued once the host has the counts (parallelism/experts.hpp), and stands with the experts.
#include "workloads/framework/framework.hpp"

#include <array>

#include "workloads/job/job.hpp"

namespace weft {
namespace {

// When the operations of a row are issued for a piece.
using When = bool (*)(const Job& job, Piece piece);

bool always(const Job&, Piece) { return true; }
// Of the map in the piece, or of the map whose output the piece adds.
bool biases(const Job& job, Piece piece) {
    const Biases& biases = job.model.biases;
    if (piece == Piece::qkv) return biases.qkv;
    return piece == Piece::projection || piece == Piece::post_norm ? biases.projection : biases.mlp;
}
bool dropout(const Job& job, Piece) { return job.dropout == Dropout::on; }
bool rotary(const Job& job, Piece) { return job.model.positions == Positions::rotary; }
bool gated(const Job& job, Piece) { return job.model.gated; }
bool query_key_norm(const Job& job, Piece) { return job.model.query_key_norm != QueryKeyNorm::none; }
bool unfused_core(const Job& job, Piece) { return job.attention == AttentionCore::unfused; }
bool fused_core(const Job& job, Piece) { return job.attention != AttentionCore::unfused; }
// Products in fp8: casts, transposes, maxima and scales.
bool eighth(const Job& job, Piece) { return is_narrow(job.precision); }
bool padded(const Job& job, Piece) { return pads_rows_of_experts(job); }
// Once for every expert of the rank.
bool each_expert(const Job& job, Piece) { return job.model.experts.count > 0; }
bool each_bias(const Job& job, Piece) { return job.model.biases.experts; }
// Rows for experts go all-to-all, by DeepEP's kernels, or by HybridEP's; or by none of them: experts are all here, or
// tokens are gathered.
bool exchanged(const Job& job, Piece) {
    return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::all_to_all;
}
bool deepep(const Job& job, Piece) { return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::deepep; }
bool hybridep(const Job& job, Piece) { return job.layout.expert > 1 && job.experts.dispatcher == Dispatch::hybridep; }
bool in_place(const Job& job, Piece) {
    return job.layout.expert == 1 || job.experts.dispatcher == Dispatch::all_gather;
}
// A gradient is added to the one kept by an operation of its own.
bool accumulated(const Job& job, Piece) { return job.framework->accumulation(job).value > 0; }
// Autograd's checkpoint of the layer: random-number states kept and set.
bool checkpointed(const Job& job, Piece) { return runs_again(job.recompute.granularity); }
bool sharded_by_unit(const Job& job, Piece) { return job.framework->modules(job) == Modules::pytorch_units; }  // FSDP
// DeepSpeed's ZeRO-1 and 2 without a pipeline: each gradient goes to a bucket by a hook.
bool reduced_by_hooks(const Job& job, Piece) { return (job.zero == 1 || job.zero == 2) && job.layout.pipeline == 1; }
// ZeRO-3: hooks before and after every module fetch and release parameters.
bool gathered_by_hooks(const Job& job, Piece) { return job.zero == 3; }

struct Row {
    Piece piece{};
    When when = always;
    HostOperations operations;
};

constexpr std::array transformer_engine = {
    Row{Piece::input_norm, always, {1, 6, 1}},    Row{Piece::qkv, always, {11, 7, 3}},
    Row{Piece::qkv, biases, {0, 0, 2}},           Row{Piece::qkv, rotary, {6, 6, 0}},
    Row{Piece::qkv, query_key_norm, {14, 10, 2}}, Row{Piece::qkv, eighth, {4, 3, 2}},
    Row{Piece::core, always, {12, 8, 0}},         Row{Piece::projection, always, {7, 4, 3}},
    Row{Piece::projection, biases, {0, 0, 2}},    Row{Piece::projection, eighth, {4, 3, 2}},
    Row{Piece::post_norm, always, {4, 8, 1}},     Row{Piece::mlp_up, always, {10, 7, 3}},
    Row{Piece::mlp_up, biases, {0, 1, 1}},        Row{Piece::mlp_up, eighth, {4, 3, 2}},
    Row{Piece::mlp_down, always, {7, 4, 3}},      Row{Piece::mlp_down, biases, {0, 0, 2}},
    Row{Piece::mlp_down, eighth, {4, 3, 2}},      Row{Piece::residual, always, {6, 2, 0}},
    Row{Piece::router, always, {16, 14, 2}},      Row{Piece::permute, in_place, {10, 6, 0}},
    Row{Piece::permute, exchanged, {18, 4, 0}},   Row{Piece::experts, exchanged, {5, 10, 0}},
    Row{Piece::permute, deepep, {14, 2, 0}},      Row{Piece::experts, deepep, {23, 18, 0}},
    Row{Piece::permute, hybridep, {7, 0, 0}},     Row{Piece::experts, hybridep, {4, 10, 0}},
    Row{Piece::experts, always, {18, 14, 2}},     Row{Piece::experts, each_expert, {0, 0, 4}},
    Row{Piece::unpermute, in_place, {8, 6, 0}},   Row{Piece::unpermute, exchanged, {6, 11, 0}},
    Row{Piece::unpermute, deepep, {10, 14, 0}},   Row{Piece::unpermute, hybridep, {8, 10, 0}},
    Row{Piece::shared_up, always, {10, 7, 3}},    Row{Piece::shared_down, always, {7, 4, 3}},
    Row{Piece::experts, each_bias, {4, 12, 4}},   Row{Piece::experts, padded, {6, 12, 0}},
};

constexpr std::array megatron = {
    Row{Piece::input_norm, always, {2, 5, 2}},
    Row{Piece::qkv, always, {5, 3, 2}},
    Row{Piece::qkv, biases, {1, 0, 2}},
    Row{Piece::qkv, rotary, {16, 20, 0}},
    Row{Piece::qkv, accumulated, {0, 0, 2}},
    Row{Piece::core, unfused_core, {9, 8, 0}},
    Row{Piece::core, fused_core, {6, 4, 0}},
    Row{Piece::core, dropout, {4, 1, 0}},
    Row{Piece::projection, always, {4, 3, 2}},
    Row{Piece::projection, biases, {0, 0, 1}},
    Row{Piece::projection, accumulated, {0, 0, 2}},
    Row{Piece::post_norm, always, {4, 7, 2}},
    Row{Piece::post_norm, biases, {0, 0, 1}},
    Row{Piece::post_norm, accumulated, {0, 0, 4}},
    Row{Piece::mlp_up, always, {5, 4, 2}},
    Row{Piece::mlp_up, biases, {0, 0, 2}},
    Row{Piece::mlp_up, accumulated, {0, 0, 2}},
    Row{Piece::mlp_down, always, {4, 3, 2}},
    Row{Piece::mlp_down, accumulated, {0, 0, 2}},
    Row{Piece::residual, always, {2, 2, 0}},
    Row{Piece::residual, biases, {0, 0, 1}},
    Row{Piece::residual, checkpointed, {6, 8, 0}},
    Row{Piece::residual, reduced_by_hooks, {0, 0, 24}},
    Row{Piece::residual, gathered_by_hooks, {48, 64, 36}},
    Row{Piece::router, always, {16, 14, 2}},
    Row{Piece::permute, always, {6, 4, 0}},
    Row{Piece::experts, always, {8, 8, 4}},
    Row{Piece::unpermute, always, {6, 6, 0}},
    Row{Piece::shared_up, always, {5, 4, 2}},
    Row{Piece::shared_down, always, {4, 3, 2}},
};

constexpr std::array pytorch = {
    Row{Piece::input_norm, always, {3, 4, 1}},
    Row{Piece::qkv, always, {5, 3, 1}},
    Row{Piece::qkv, rotary, {14, 16, 0}},
    Row{Piece::core, unfused_core, {8, 8, 0}},
    Row{Piece::core, fused_core, {6, 5, 0}},
    Row{Piece::projection, always, {2, 1, 1}},
    Row{Piece::post_norm, always, {4, 5, 1}},
    Row{Piece::mlp_up, always, {4, 2, 1}},
    Row{Piece::mlp_up, gated, {3, 3, 1}},
    Row{Piece::mlp_down, always, {2, 1, 1}},
    Row{Piece::residual, always, {1, 1, 0}},
    Row{Piece::residual, checkpointed, {6, 8, 0}},
    Row{Piece::input_norm, sharded_by_unit, {16, 20, 6}},
    Row{Piece::router, always, {16, 14, 2}},
    Row{Piece::permute, always, {6, 4, 0}},
    Row{Piece::experts, always, {8, 8, 4}},
    Row{Piece::unpermute, always, {6, 6, 0}},
    Row{Piece::shared_up, always, {4, 2, 1}},
    Row{Piece::shared_down, always, {2, 1, 1}},
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

// An operator that PyTorch's dispatcher and autograd launch, in operations of the table above: 47 to 72 us on a host
// where a bare enqueue takes 8 (28 steps of one H100 with 16 cores of a Xeon, PyTorch 2.11), 55 where one of
// Transformer Engine's operations takes 27.
constexpr double operations_of_operator = 55.0 / 27.0;
// aten::_chunk_cat lists blocks of 512 elements on the host, some 8 ns each.
constexpr double operators_of_element = 8e-3 / 55.0 / 512.0;

double launches(const std::vector<Kernel>& kernels) { return sum_of<double>(kernels, &Kernel::launches); }

double matrices_of_expert(const Transformer& model) { return model.gated ? 3 : 2; }

// Of each parameter: FSDP2 casts and copies it, twice as it is sharded again between, and packs its gradient; autocast
// casts it, and DDP its gradient, which it scales as it copies it to its bucket.
HostOperations data_parallel_operations(const Job& job, LayerKind kind) {
    double tensors = 0, elements = 0;
    for (const Module& module : layer_modules(job.model, kind, job.split())) {
        elements += static_cast<double>(module_parameters(module));
        if (module.slices > 1) tensors += matrices_of_expert(job.model);  // each is a tensor, of all experts
        for (const std::vector<std::uint64_t>& rows : module.rows) tensors += static_cast<double>(rows.size());
    }
    if (job.framework->name == "ddp") return {tensors, 2 * tensors, 0};
    constexpr double of_unit = 8;
    return {2 * tensors, 2 * tensors + of_unit + elements * operators_of_element, 0};
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
        if (further && row.piece == Piece::input_norm && row.when == always) sum += row.operations;
        if (piece == Piece::input_norm && norms == NormPlacement::post && row.when == always) continue;
        if (row.piece != piece || !row.when(job, row.piece)) continue;
        const bool of_each = row.when == each_expert || row.when == each_bias;
        const std::uint32_t times = of_each ? job.model.experts.count / job.layout.expert : 1;
        for (std::uint32_t i = 0; i < times; ++i) sum += row.operations;
    }
    return sum;
}

// Of an adapter two maps, the scaling and the sum.
HostOperations host_operations(const Job& job, const LayerPiece& piece) {
    HostOperations sum = host_operations(job, piece.piece);
    if (!job.trained.trains(piece.module) && !piece.module.empty()) sum.weight_backward = 0;
    const Modules modules = job.framework->modules(job);
    const bool torch = modules == Modules::pytorch || modules == Modules::pytorch_units;
    const HostOperations map = torch ? HostOperations{2, 1, 1} : HostOperations{5, 3, 2};
    const double adapters = adapters_beside(job.model, job.trained, piece.module);
    sum +=
        {adapters * (2 * map.forward + 2), adapters * (2 * map.input_backward + 2), adapters * 2 * map.weight_backward};
    return sum;
}

HostOperations eager_operations(const Job& job, LayerKind kind, const LayerPiece& piece) {
    HostOperations sum{launches(piece.forward), launches(piece.input_backward), launches(piece.weight_backward)};
    if (piece.piece == Piece::input_norm) sum += data_parallel_operations(job, kind);
    return {sum.forward * operations_of_operator, sum.input_backward * operations_of_operator,
            sum.weight_backward * operations_of_operator};
}

// PyTorch's clip_grad_norm_ and Optimizer.step walk lists of tensors in Python, which are DTensors under FSDP2: 55 to
// 69 us of each in either (four traces of one H100). Fused optimizers of other frameworks launch for each.
double update_operations(const Job& job, std::span<const StageModule> modules) {
    const bool is_fused = job.modules == ModuleCode::framework;
    double tensors = 0;
    for (const StageModule& module : modules) {
        const bool is_one = module.slices > 1 && !is_fused;  // a tensor has a matrix of all experts
        for (std::size_t t = 0; t < (is_one ? 1 : module.tensors.size()); ++t) {
            if (module.trains(t)) tensors += is_one ? matrices_of_expert(job.model) : 1.0;
        }
    }
    return is_fused ? tensors : 2.0 * tensors * operations_of_operator;
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
