#include "workloads/plan/stage_memory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "models/transformer/prediction.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/recomputed_parts.hpp"
#include "workloads/plan/update.hpp"

namespace weft {
namespace {

// Under DeepSpeed's partition_activations each tensor rank keeps a share of every checkpoint.
double checkpoint_share(const Job& job) {
    const bool cut = job.recompute.granularity == Recompute::full && job.deepspeed.partition_activations == Setting::on;
    return cut ? 1.0 / job.layout.tensor : 1.0;
}

struct Fullness {
    Bytes activations, workspace;
    Bytes total() const { return activations + workspace; }
};

// What the layers of a model part hold of one micro-batch, asked once for each kind of layer and of recomputation.
class LayersMemory {
  public:
    LayersMemory(const Job& job, const Chunk& chunk)
        : job_(job), chunk_(chunk), shard_(job.shard()), known_(job.layer_places()) {}

    // From forward to backward.
    Bytes kept(std::uint32_t i) {
        const Recompute recompute = job_.recompute.of_layer(i);
        if (recompute == Recompute::full && i % job_.recompute.group() != 0) return {};
        if (i < job_.offloaded_layers) return {};
        return of(i, recompute).kept * checkpoint_share(job_);
    }

    // The most while they run backward, beyond what all of them keep: last layer first, groups that are recomputed
    // together whole. `ahead`: layers of another micro-batch that run forward meanwhile, one beside each, and are not
    // among what is kept. Of a pair the MLP runs backward before it runs forward, and attention forward before it runs
    // backward (Megatron-core's TransformerLayerSchedulePlan.run, whose nodes free what they kept as they end).
    Fullness fullest(LayersMemory* ahead = nullptr) {
        Fullness fullest;
        Bytes freed;
        const auto consider = [&](Bytes beside, Bytes workspace) {
            const Fullness moment =
                ahead == nullptr ? Fullness{{}, workspace - freed} : Fullness{beside - freed, workspace};
            if (moment.total() > fullest.total()) fullest = moment;
        };
        const std::uint32_t group = job_.recompute.group();
        for (std::uint32_t end = chunk_.layers; end > 0;) {
            const std::uint32_t first = (end - 1) / group * group;
            Bytes before, kept_by_group;
            for (std::uint32_t i = first; i < end; ++i) {
                const std::uint32_t pair = chunk_.layers - 1 - i;
                const Bytes own = of(i, job_.recompute.of_layer(i)).workspace + fetched(i);
                const Bytes beside = ahead == nullptr ? Bytes{} : ahead->grown(pair) + ahead->beside(pair, mlp(i));
                consider(beside, before + own);
                if (group > 1) before += of(i, Recompute::none).kept;
                kept_by_group += kept(i);
            }
            freed += kept_by_group;
            end = first;
        }
        if (ahead != nullptr) consider(ahead->grown(ahead->chunk_.layers), {});
        return fullest;
    }

    // Of layers whose activations come back from the host, what is there when layer `i` runs backward.
    Bytes fetched(std::uint32_t i) {
        Bytes sum;
        for (std::uint32_t j = 0; j <= i && j < job_.offloaded_layers; ++j) {
            if (copy_window(chunk_.layers, job_.offloaded_layers, j) >= i) sum += of(j, Recompute::none).kept;
        }
        return sum;
    }

    Bytes whole(std::uint32_t i) { return of(i, job_.recompute.of_layer(i)).kept; }

  private:
    struct Sizes {
        Bytes kept, workspace, mlp;  // mlp: what is kept of that half
    };

    // Of a chunk under way: what its first `layers` keep, and what is there before them.
    Bytes grown(std::uint32_t layers) {
        Bytes sum = chunk_.activations - chunk_.head_activations;
        for (std::uint32_t i = std::min(layers, chunk_.layers); i < chunk_.layers; ++i) sum -= kept(i);
        return sum;
    }
    Bytes mlp(std::uint32_t i) {
        const Recompute recompute = job_.recompute.of_layer(i);
        return recompute == Recompute::full ? Bytes{} : of(i, recompute).mlp;
    }
    // The most that a layer has while another one, of whose `mlp` it takes the place, runs backward.
    Bytes beside(std::uint32_t i, Bytes mlp) {
        if (i >= chunk_.layers) return {};
        const Bytes own = this->mlp(i);
        return kept(i) - std::min(own, mlp);
    }

    const Sizes& of(std::uint32_t i, Recompute recompute) {
        const std::uint32_t layer = chunk_.first_layer + i;
        const LayerKind kind = layer_kind(job_.model, layer);
        std::optional<Sizes>& known = known_[job_.layer_place(layer)][static_cast<std::size_t>(recompute)];
        if (known) return *known;
        const Inventory inventory{.recompute = recompute,
                                  .parts = recomputed_parts(job_, kind),
                                  .expert_weights = job_.framework->expert_weights,
                                  .map_inputs = job_.framework->map_inputs};
        Sizes sizes;
        Shard shard = shard_;
        shard.imbalance = job_.imbalance_of(layer);
        sizes.workspace = layer_workspace(job_.model, kind, shard, inventory);
        for (const SavedTensor& tensor : saved_tensors(job_.model, kind, shard, inventory)) {
            sizes.kept += tensor.bytes;
            if (tensor.half == LayerHalf::mlp) sizes.mlp += tensor.bytes;
        }
        known = sizes;
        return *known;
    }

    const Job& job_;
    const Chunk& chunk_;
    Shard shard_;
    std::vector<std::array<std::optional<Sizes>, 4>> known_;  // by place of a layer and Recompute
};

// The fullest moment of forward and backward. Activations live from a forward slot until the weights' gradient is done;
// backward starts with the head, whose activations are gone when the layers run. A forward that runs beside a backward
// comes to its own head when that backward is done.
Fullness fullest_moment(const Job& job, const Stage& stage, std::span<const Moment> moments) {
    const Bytes head = head_workspace(job.model, job.shard());
    std::vector<LayersMemory> layers;
    std::vector<Fullness> alone;
    for (const Chunk& chunk : stage.chunks) {
        layers.emplace_back(job, chunk);
        alone.push_back(layers.back().fullest());
    }
    std::vector<LayersMemory> ahead = layers;
    Fullness fullest;
    const auto consider = [&](Bytes activations, Bytes workspace) {
        const Fullness moment{activations, workspace};
        if (moment.total() > fullest.total()) fullest = moment;
    };
    for (const Moment& moment : moments) {
        Bytes alive;
        for (std::size_t c = 0; c < stage.chunks.size(); ++c) alive += stage.chunks[c].activations * moment.alive[c];
        if (moment.kind == SlotKind::forward) {
            consider(alive, {});
            continue;
        }
        const Chunk& chunk = stage.chunks[moment.chunk];
        if (chunk.has_head()) consider(alive, head);
        const Fullness run = moment.ahead ? layers[moment.chunk].fullest(&ahead[*moment.ahead]) : alone[moment.chunk];
        consider(alive - chunk.head_activations + run.activations, run.workspace);
    }
    return fullest;
}

// One tensor for each shape of matrix in the stage's layers.
Bytes placeholders(const Job& job, const Stage& stage) {
    if (job.framework->weight_gradients == WeightGradients::own) return {};
    if (job.megatron.sharding != MegatronSharding::none) return {};  // gradients have tensors of their own
    std::set<std::pair<std::string_view, std::uint64_t>> shapes;
    for (const StageModule& module : stage.modules) {
        if (module.name == "embedding" || module.name == "positions" || module.name == "output layer") continue;
        for (std::size_t i = 0; i < module.tensors.size(); ++i) {
            if (!module.vector[i]) shapes.insert({module.name, module.tensors[i]});
        }
    }
    double elements = 0;
    for (const auto& [module, size] : shapes) elements += static_cast<double>(size);
    return {elements * element_bytes(job.precision)};
}

// Per communicator 16 channels of NCCL's default buffers, 4 MiB Simple, 4.7 MiB LL128 and 0.5 MiB LL: an assumption.
Bytes communicators(const Job& job) {
    constexpr Bytes communicator = 147_MiB;
    double count = 0;
    for (const Scheme* scheme : parallelism::all()) count += job.layout.size(scheme->axis) > 1 ? 1 : 0;
    return communicator * count;
}

// `cut`: of the gradients that a step gives back, what the activations of the next one may have taken pieces of, so
// that its gradients need new blocks; `copies`: the update's tensors beyond what is counted, too large for cached
// blocks. An allocator that runs out gives its cache back first, so neither is needed.
// A process holds half a GiB before its first tensor (assumption, with CUDA's lazy loading) to 1573 MiB (measured on
// A100 in 2022: bigscience, train/tr11-176B-ml/chronicles-prequel.md); half way is expected.
// PyTorch's allocator had reserved 1.028 to 1.093 times what was allocated, mean 1.048, over the 43 runs of SimuMax's
// table on B200 (docs/b200/b200_release_v1.2_summary.json, real_reserved_gib over real_alloc_gib).
MemoryOverhead overhead(const Job& job, Bytes allocated, Bytes cut, Bytes copies) {
    constexpr Bytes least_context = 512_MiB, most_context = 1573_MiB;
    constexpr double fragmentation = 0.048, most_fragmentation = 0.093;
    const Bytes library = communicators(job);
    return {.least = least_context + library,
            .expected = (least_context + most_context + cut) * 0.5 + library + allocated * fragmentation + copies,
            .most = most_context + library + allocated * most_fragmentation + cut + copies};
}

// Momentum, variance (under Muon not of matrices), and a master copy where the working copy is half precision.
Bytes states_of(const Job& job, const Stage& stage, double updated) {
    const OptimizerSettings& own = job.optimizer;
    const double master = job.precision == Precision::fp32 ? 0.0 : bytes_of(own.master);
    const double with_variance =
        own.rule == UpdateRule::muon ? 1.0 - orthogonal_parameters(stage) / stage.parameters() : 1.0;
    return {updated * (master + bytes_of(own.momentum) + bytes_of(own.variance) * with_variance)};
}

}  // namespace

double expert_ranks(const Job& job, double ranks) {
    return ranks == 1 ? 1.0 : job.layout.expert_data() / job.framework->shares(job).replicas;
}

double updated_parameters(const Job& job, const Stage& stage) {
    const double ranks = job.framework->shares(job).optimizer;
    return stage.dense / ranks + stage.expert / expert_ranks(job, ranks);
}

Bytes optimizer_states(const Job& job, const Stage& stage) {
    return states_of(job, stage, updated_parameters(job, stage));
}

Bytes layer_activations(const Job& job, const Chunk& chunk, std::uint32_t i) {
    return LayersMemory(job, chunk).whole(i);
}

Bytes kept_activations(const Job& job, const Chunk& chunk, std::uint32_t i) { return LayersMemory(job, chunk).kept(i); }

void count_activations(const Job& job, Chunk& chunk) {
    const Shard shard = job.shard();
    LayersMemory layers(job, chunk);
    for (std::uint32_t i = 0; i < chunk.layers; ++i) chunk.activations += layers.kept(i);
    if (chunk.has_embedding()) chunk.activations += embedding_activations(job.model, shard);
    if (chunk.predictions > 0) {
        const Bytes each = embedding_activations(job.model, shard) + prediction_activations(job.model, shard);
        chunk.activations += each * static_cast<double>(chunk.predictions);
    }
    if (!chunk.has_head()) return;
    chunk.head_activations = head_activations(job.model, shard) * (1.0 + job.model.mtp_layers);
    chunk.activations += chunk.head_activations;
}

MemoryUse memory_use(const Job& job, const Stage& stage) {
    return memory_use(job, stage, fullest_moments(stage.slots, stage.chunks.size()));
}

MemoryUse memory_use(const Job& job, const Stage& stage, std::span<const Moment> moments) {
    const StateShares shares = job.framework->shares(job);
    const auto held = [&](double ranks) { return stage.dense / ranks + stage.expert / expert_ranks(job, ranks); };
    // Reduced gradients of ZeRO-2 and 3 go from their bucket to a host that updates (clear_grad_attribute).
    const bool leave = job.framework->name == "deepspeed" && job.optimizer.leave_device() && job.zero >= 2;
    const double gradients = leave ? 0.0 : held(shares.gradients), updated = held(shares.optimizer);
    const Bytes freed{gradients * shares.freed_bytes}, copies{updated * shares.update_bytes};
    const Fullness passes = fullest_moment(job, stage, moments);
    // The update comes after the activations, and in place of the gradients that autograd made.
    const Fullness update{{}, copies - freed};
    const Fullness fullest = update.total() > passes.total() ? update : passes;
    MemoryUse use;
    const bool shards = job.deepspeed.parameters == ParametersOn::device;  // else only what is gathered, in buffers
    use.parameters = {shards ? held(shares.parameters) * element_bytes(job.precision) : 0.0};
    use.gradients = {gradients * (job.framework->gradient_bytes(job) + shares.passing_bytes)};
    const double stay = job.optimizer.leave_device() ? 1.0 - job.optimizer.fraction : 1.0;
    use.optimizer = stay == 0.0 ? Bytes{} : states_of(job, stage, updated) * stay;
    use.activations = fullest.activations;
    use.buffers = job.framework->buffers(job, stage.parameters()) + placeholders(job, stage);
    use.workspace = fullest.workspace + matrix_library_workspace(job.model);
    use.overhead =
        overhead(job, use.allocated(), std::min(freed, passes.activations), passes.total() + copies - fullest.total());
    return use;
}

}  // namespace weft
