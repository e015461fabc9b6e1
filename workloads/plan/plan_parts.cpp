#include "models/transformer/prediction.hpp"
#include "workloads/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "models/memory/memory.hpp"
#include "models/transformer/kernels.hpp"
#include "sim/base/check.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {
namespace {

std::vector<Kernel> products(std::vector<Kernel> kernels) {
    std::erase_if(kernels, [](const Kernel& kernel) { return !kernel.parameters; });
    return kernels;
}

// Adds the pass over each weight's gradient that a framework makes after every micro-batch.
void accumulate(const Job& job, std::vector<Kernel>& weight_backward) {
    const Bytes moved = job.framework->accumulation(job);
    if (moved.value == 0) return;
    for (std::size_t i = 0; i < weight_backward.size(); ++i) {
        const Kernel& gemm = weight_backward[i];
        if (gemm.kind != KernelKind::gemm) continue;
        weight_backward.insert(
            weight_backward.begin() + static_cast<std::ptrdiff_t>(++i),
            {.name = "gradient accumulation", .flops = {}, .bytes = moved * (gemm.m * gemm.n * gemm.count)});
    }
}

// A host that waits for all that it issues: what is no kernel of the piece takes its time as well.
void wait_for(PieceCost& piece, const HostOperations& operations, const HostOperations& kernels, const Device& device) {
    const auto add = [&](Seconds& time, double issued, double counted) {
        time += device.host_launch * std::max(issued - counted, 0.0);
    };
    add(piece.forward, operations.forward, kernels.forward);
    add(piece.input_backward, operations.input_backward, kernels.input_backward);
    add(piece.weight_backward, operations.weight_backward, kernels.weight_backward);
}

// What backward repeats, and what the host issues for it: the pieces once more, and for each run of them as a
// checkpoint the keeping and setting of random-number states (host_operations.cpp, `checkpointed`).
void add_repeats(const Job& job, LayerKind kind, const std::vector<LayerPiece>& pieces, LayerCosts& costs) {
    constexpr double checkpoint_forward = 6, checkpoint_backward = 8;
    const LayerParts parts = recomputed_parts(job, kind);
    costs.repeats = piece_repeats(parts, costs.pieces);
    for (const PieceRepeat& repeat : costs.repeats) {
        const Piece first = pieces[repeat.first].piece;
        const bool norm = first == Piece::post_norm || first == Piece::input_norm;
        const bool within_mlp = parts.has(LayerPart::mlp) && norm;
        if (!within_mlp) costs.checkpoints += {checkpoint_forward, checkpoint_backward, 0};
        for (std::size_t i = repeat.first; i <= repeat.last; ++i) {
            const bool whole = repeat.of == PieceRepeat::Of::pieces;
            const std::vector<Kernel> again = whole ? pieces[i].forward : discarded_kernels(pieces[i]);
            costs.repeated += total_flops(again);
            if (whole) costs.host.input_backward += costs.pieces[i].host.forward;
            if (!whole) costs.checkpoints.input_backward += static_cast<double>(again.size());
        }
    }
}

// Of a piece, what may run again where not all of it does.
std::vector<Kernel> repeated_kernels(const Job& job, LayerKind kind, const LayerPiece& piece) {
    return job.recompute == Recompute::operations ? kernels_again(job.model, kind, job.shard(), piece)
                                                  : discarded_kernels(piece);
}

LayerCosts layer_costs(const Plan& plan, const Job& job, LayerKind kind, const KernelSum& time) {
    LayerCosts costs;
    costs.forward_alone = runs_forward_alone(job.model, kind, job.trained);
    std::vector<LayerPiece> pieces;
    bool replays = false;  // some piece before
    for (LayerPiece& piece : layer_pieces(job.model, kind, job.shard())) {
        if (costs.forward_alone) piece.input_backward.clear();
        accumulate(job, piece.weight_backward);
        costs.pieces.push_back({piece.piece,
                                piece.module,
                                time(piece.forward),
                                time(piece.input_backward),
                                time(piece.weight_backward),
                                time(products(piece.forward)),
                                time(products(piece.input_backward)),
                                time(repeated_kernels(job, kind, piece)),
                                {}});
        const HostOperations kernels{double(piece.forward.size()), double(piece.input_backward.size()),
                                     double(piece.weight_backward.size())};
        const HostOperations operations = job.modules != ModuleCode::framework ? eager_operations(job, kind, piece)
                                          : job.compile != Compile::off        ? kernels
                                                                               : host_operations(job, piece);
        if (job.blocking_launches == Setting::on) wait_for(costs.pieces.back(), operations, kernels, plan.device);
        HostOperations& issued = costs.pieces.back().host;
        if (!is_replayed(job, piece.piece)) {
            issued = operations;
        } else if (!std::exchange(replays, true)) {
            issued = replay(job);
        }
        if (costs.forward_alone) issued = {issued.forward, 0, 0};
        costs.host += issued;
        const Flops forward = total_flops(piece.forward);
        costs.forward += forward;
        if (job.recompute == Recompute::operations) costs.repeated += total_flops(repeated_kernels(job, kind, piece));
        costs.backward += total_flops(piece.input_backward) + total_flops(piece.weight_backward);
        pieces.push_back(std::move(piece));
    }
    costs.checkpointed = checkpointed_pieces(job, kind, pieces);
    for (std::size_t i = 0; i < costs.checkpointed; ++i) costs.forward_again += total_flops(pieces[i].forward);
    if (job.recompute.granularity == Recompute::selective && !costs.forward_alone)
        add_repeats(job, kind, pieces, costs);
    if (replays_all(job)) costs.checkpoints = {};
    costs.host += costs.checkpoints;
    return costs;
}

// Whose gradients are reduced before the optimizer may run, and what is held of them: modules in forward order.
class StageModules {
  public:
    StageModules(const Job& job, Stage& stage) : job_(job), stage_(stage) {}

    void add(Chunk& chunk, std::uint32_t index) {
        chunk.first_module = stage_.modules.size();
        if (chunk.has_embedding()) add(embedding_modules(job_.model, job_.split()), chunk.first_layer, index);
        for (std::uint32_t i = 0; i < chunk.layers; ++i) {
            const std::uint32_t layer = chunk.first_layer + i;
            const std::size_t first = stage_.modules.size();
            const bool predicts = is_prediction(job_.model, layer);
            if (predicts) add(prediction_modules(job_.model, job_.split()), layer, index);
            chunk.layer_module.push_back(stage_.modules.size());
            add(of_kind(layer_kind(job_.model, layer)), layer, index);
            if (predicts) add({prediction_output_norm(job_.model)}, layer, index);
            const bool alone = runs_forward_alone(job_.model, layer_kind(job_.model, layer), job_.trained);
            const bool recomputed = !alone && runs_again(job_.recompute.of_layer(i));
            for (std::size_t m = first; m < stage_.modules.size(); ++m) {
                stage_.modules[m].recomputed = recomputed;
                stage_.modules[m].forward_alone = alone;
            }
        }
        chunk.head_module = stage_.modules.size();
        const std::uint32_t end = chunk.first_layer + chunk.layers;
        if (chunk.has_head()) add(head_modules(job_.model, job_.split()), end, index);
        const bool copies = chunk.predictions > 0 || (job_.model.tied_embeddings && chunk.has_head());
        if (!copies || !job_.copies_embedding()) return;
        chunk.embedding_copy = stage_.modules.size();
        stage_.modules.push_back({{.name = "tied embedding",
                                   .tensors = {job_.embedding_matrix()},
                                   .vector = {false},
                                   .frozen = {!job_.trained.trains("embedding")}},
                                  end,
                                  index});
    }

  private:
    const std::vector<Module>& of_kind(LayerKind kind) {
        std::vector<Module>& modules = by_kind_[kind];
        if (modules.empty()) modules = layer_modules(job_.model, kind, job_.split());
        return modules;
    }

    void add(const std::vector<Module>& modules, std::uint32_t layer, std::uint32_t chunk) {
        for (const Module& module : modules) {
            stage_.modules.push_back({module, layer, chunk});
            stage_.modules.back().expert = module.expert && job_.reduces_experts_apart();
            stage_.modules.back().forward_alone = module.name.starts_with("teacher");
        }
    }

    const Job& job_;
    Stage& stage_;
    std::map<LayerKind, std::vector<Module>> by_kind_;
};

void count_parameters(Stage& stage) {
    std::set<std::pair<std::uint64_t, std::string_view>> shapes;
    for (const StageModule& module : stage.modules) {
        const bool of_layers =
            module.name != "embedding" && module.name != "positions" && module.name != "output layer";
        for (std::size_t t = 0; t < module.tensors.size(); ++t) {
            const auto elements = static_cast<double>(module.tensors[t]);
            (module.expert ? stage.expert : stage.dense) += elements;
            if (!module.trains(t)) continue;
            (module.expert ? stage.trained_expert : stage.trained_dense) += elements;
            const bool is_new =
                of_layers && !module.vector[t] && shapes.insert({module.tensors[t], module.name}).second;
            if (is_new) stage.matrix_shapes += elements;
        }
    }
}

template <class Time>
void count_prediction(const Job& job, const Time& time, PartCosts& costs) {
    PredictionKernels kernels = prediction_kernels(job.model, job.shard());
    costs.prediction_flops = total_flops(kernels.forward);
    accumulate(job, kernels.weight_backward);
    costs.prediction_forward = time(kernels.forward);
    costs.prediction_input_backward = time(kernels.input_backward);
    costs.prediction_weight_backward = time(kernels.weight_backward);
}

}  // namespace

PartCosts part_costs(const Plan& plan) {
    return part_costs(
        plan, [&](std::span<const Kernel> kernels) { return kernel_time(plan.device, plan.job.precision, kernels); });
}

PartCosts part_costs(const Plan& plan, const KernelSum& time) {
    const Job& job = plan.job;
    const Shard shard = job.shard();
    PartCosts costs;
    costs.layers.resize(job.layer_places());
    for (std::uint32_t layer = 0; layer < all_layers(job.model); ++layer) {
        LayerCosts& own = costs.layers[job.layer_place(layer)];
        if (!own.pieces.empty()) continue;
        const bool differs = !job.model.kinds.empty() || !job.experts.by_layer.empty();
        const LayerKind kind = own_kind(layer_kind(job.model, layer));
        own = layer_costs(plan, differs ? job.of_layer(layer) : job, kind, time);
    }
    const std::vector<Kernel> embeds = embedding_forward(job.model, shard);
    std::vector<Kernel> gradients = embedding_backward(job.model, shard);
    costs.embedding_flops = total_flops(embeds) + total_flops(gradients);
    accumulate(job, gradients);
    costs.embedding_forward = time(embeds);
    costs.embedding_backward = time(gradients);
    if (job.model.mtp_layers > 0) count_prediction(job, time, costs);
    for (const Kernel& kernel : head_forward(job.model, shard)) {
        (kernel.name == "final norm" ? costs.final_norm_forward : costs.head_forward) += time({&kernel, 1});
        costs.head_forward_flops += kernel.flops;
    }
    std::vector<Kernel> head = head_backward(job.model, shard);
    for (auto it = head.begin(); it != head.end(); ++it) {
        if (it->name != "logits weight gradient") continue;
        std::vector<Kernel> product{*it};
        accumulate(job, product);
        head.insert(it + 1, product.begin() + 1, product.end());
        break;
    }
    for (const Kernel& kernel : head) {
        (kernel.name == "final norm gradient" ? costs.final_norm_backward
         : kernel.name == "logits weight gradient" || kernel.name == "gradient accumulation" ||
                 kernel.name == "logits bias gradient"
             ? costs.head_weight_backward
             : costs.head_input_backward) += time({&kernel, 1});
        costs.head_backward_flops += kernel.flops;
    }
    return costs;
}

std::vector<std::vector<Chunk>> stage_chunks(const Job& job) {
    std::string why;
    const std::vector<std::uint32_t> layers = job.part_layers(why);
    WEFT_CHECK(!layers.empty(), why);
    const PipelineShape shape = job.pipeline_shape();
    std::vector<std::vector<Chunk>> stages(shape.stages, std::vector<Chunk>(shape.chunks));
    // Every micro-batch that visits the stage on some chunk finds the same part there.
    for (const std::uint32_t micro_batch : {0U, shape.micro_batches - 1}) {
        const std::vector<Place> path = job.schedule->path(shape, micro_batch);
        std::uint32_t layer = 0;
        for (std::uint32_t part = 0; part < path.size(); ++part) {
            Chunk& chunk = stages[path[part].stage][path[part].chunk];
            chunk.part = part;
            chunk.layers = layers[part];
            chunk.predictions = part == job.prediction_part() ? job.model.mtp_layers : 0;
            chunk.first_layer = std::exchange(layer, layer + layers[part]);
            chunk.ends = Chunk::Ends((part == 0 ? 1U : 0U) | (part + 1 == layers.size() ? 2U : 0U));
        }
    }
    return stages;
}

Stage make_stage(const Plan& plan, std::vector<Chunk> chunks) {
    Stage made;
    made.chunks = std::move(chunks);
    StageModules modules(plan.job, made);
    HeldByLayers held;
    for (std::uint32_t c = 0; c < made.chunks.size(); ++c) {
        modules.add(made.chunks[c], c);
        count_activations(plan.job, made.chunks[c], held);
    }
    count_parameters(made);
    made.optimizer = update_time(plan, made);
    return made;
}

// Passes are compared without their calls, hence the margin; where the host does not bind, its stream changes nothing.
bool host_bound(const Plan& plan) {
    constexpr double margin = 2.0;
    if (plan.job.blocking_launches == Setting::on) return false;  // it is never ahead; every kernel has its share
    for (const LayerCosts& layer : plan.costs.layers) {
        const Seconds host = plan.device.host_launch * margin;
        if (host * layer.host.forward > layer.forward_time()) return true;
        if (host * (layer.host.input_backward + layer.host.weight_backward) > layer.backward_time()) return true;
    }
    return false;
}

}  // namespace weft
