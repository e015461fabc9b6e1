#include "workloads/stage_memory.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

Inventory inventory(const Job& job) {
    return {.recompute = job.recompute,
            .expert_weights = job.framework->expert_weights,
            .map_inputs = job.framework->map_inputs};
}

// Under DeepSpeed's partition_activations each tensor rank keeps a share of every checkpoint.
double checkpoint_share(const Job& job) {
    const bool cut = job.recompute == Recompute::full && job.deepspeed.partition_activations == Setting::on;
    return cut ? 1.0 / job.layout.tensor : 1.0;
}

// What layers of each kind make of something that depends on the kind alone, asked once for each.
class ByKind {
  public:
    template <class Value>
    Bytes of(LayerKind kind, const Value& value) {
        std::optional<Bytes>& known = known_[static_cast<std::size_t>(kind)];
        if (!known) known = value(kind);
        return *known;
    }

  private:
    std::array<std::optional<Bytes>, layer_kinds> known_;
};

// The most that any layer of the chunk needs while it runs backward.
Bytes layers_workspace(const Job& job, const Chunk& chunk) {
    Bytes most;
    ByKind workspace;
    const Shard shard = job.shard();
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        most = std::max(most, workspace.of(layer_kind(job.model, chunk.first_layer + i), [&](LayerKind kind) {
            return layer_workspace(job.model, kind, shard, inventory(job));
        }));
    }
    return most;
}

struct Fullness {
    Bytes activations, workspace;
    Bytes total() const { return activations + workspace; }
};

// The fullest moment of forward and backward. Activations live from a forward slot until the weights' gradient is done;
// backward starts with the head, whose activations are gone when the layers run.
Fullness fullest_moment(const Job& job, const Stage& stage, std::span<const Moment> moments) {
    const Bytes head = head_workspace(job.model, job.shard());
    std::vector<Bytes> layers;
    for (const Chunk& chunk : stage.chunks) layers.push_back(layers_workspace(job, chunk));
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
        consider(alive - chunk.head_activations, layers[moment.chunk]);
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

}  // namespace

double updated_parameters(const Job& job, const Stage& stage) {
    const double ranks = job.framework->shares(job).optimizer;
    const double expert_ranks = ranks == 1 ? 1 : job.layout.expert_data();
    return stage.dense / ranks + stage.expert / expert_ranks;
}

void count_activations(const Job& job, Chunk& chunk) {
    const Shard shard = job.shard();
    const Inventory kept = inventory(job);
    ByKind activations;
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        chunk.activations += activations.of(layer_kind(job.model, chunk.first_layer + i), [&](LayerKind kind) {
            return layer_activations(job.model, kind, shard, kept) * checkpoint_share(job);
        });
    }
    if (chunk.has_embedding()) chunk.activations += embedding_activations(job.model, shard);
    if (!chunk.has_head()) return;
    chunk.head_activations = head_activations(job.model, shard);
    chunk.activations += chunk.head_activations;
}

MemoryUse memory_use(const Job& job, const Stage& stage) {
    return memory_use(job, stage, fullest_moments(stage.slots, stage.chunks.size()));
}

MemoryUse memory_use(const Job& job, const Stage& stage, std::span<const Moment> moments) {
    const StateShares shares = job.framework->shares(job);
    const auto held = [&](double ranks) {
        return stage.dense / ranks + stage.expert / (ranks == 1 ? 1.0 : job.layout.expert_data());
    };
    const double gradients = held(shares.gradients), updated = held(shares.optimizer);
    const Bytes freed{gradients * shares.freed_bytes}, copies{updated * shares.update_bytes};
    const Fullness passes = fullest_moment(job, stage, moments);
    // The update comes after the activations, and in place of the gradients that autograd made.
    const Fullness update{{}, copies - freed};
    const Fullness fullest = update.total() > passes.total() ? update : passes;
    MemoryUse use;
    use.parameters = {held(shares.parameters) * element_bytes(job.precision)};
    use.gradients = {gradients * (job.framework->gradient_bytes(job) + shares.passing_bytes)};
    // Adam: fp32 momentum and variance, and an fp32 master copy where the working copy is half precision.
    use.optimizer = {updated * (job.precision == Precision::fp32 ? 8.0 : 12.0)};
    use.activations = fullest.activations;
    use.buffers = job.framework->buffers(job, stage.parameters()) + placeholders(job, stage);
    use.workspace = fullest.workspace + matrix_library_workspace(job.model);
    use.overhead =
        overhead(job, use.allocated(), std::min(freed, passes.activations), passes.total() + copies - fullest.total());
    return use;
}

}  // namespace weft
