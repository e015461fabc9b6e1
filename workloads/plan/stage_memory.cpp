#include "workloads/plan/stage_memory.hpp"
#include "models/transformer/prediction.hpp"

#include <map>
#include <string_view>

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/kernels.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/states_in_time.hpp"

namespace weft {
namespace {

// Of every checkpoint a tensor rank keeps.
double checkpoint_share(const Job& job) {
    const bool cut = job.recompute.granularity == Recompute::full && shares_checkpoints(job);
    return cut ? 1.0 / job.layout.tensor : 1.0;
}

Inventory inventory_of(const Job& job, LayerKind kind, Recompute recompute) {
    const bool eager = job.modules != ModuleCode::framework && job.compile == Compile::off;
    const bool in_parts = eager && norms_in_parts(job.model, job.modules, job.pytorch);
    return {.recompute = recompute,
            .parts = recomputed_parts(job, kind),
            .expert_weights = job.framework->expert_weights,
            .map_inputs = job.framework->map_inputs,
            .autocast = job.autocast(),
            .gated_function = eager ? GatedFunction::in_parts : GatedFunction::whole,
            .norm_function = in_parts ? NormFunction::in_parts : NormFunction::whole};
}

// What the layers of a model part hold of one micro-batch, asked once for each kind of layer and of recomputation.
class LayersMemory {
  public:
    LayersMemory(const Job& job, const Chunk& chunk, HeldByLayers& held) : job_(job), chunk_(chunk), held_(held) {
        held_.resize(job.layer_places());
    }

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
    FullestPass fullest(const StatesInTime& states, std::uint32_t chunk, LayersMemory* ahead = nullptr) {
        FullestPass fullest;
        Bytes freed;
        const auto consider = [&](Bytes beside, Bytes workspace, const HeldStates& held) {
            const FullestPass moment{beside - freed, workspace, held, {}, FullestAt::backward};
            if (moment.total() > fullest.total()) fullest = moment;
        };
        const std::uint32_t group = job_.recompute.group();
        for (std::uint32_t end = chunk_.layers; end > 0;) {
            const std::uint32_t first = (end - 1) / group * group;
            Bytes before, kept_by_group;
            for (std::uint32_t i = first; i < end; ++i) {
                const std::uint32_t pair = chunk_.layers - 1 - i;
                const Bytes own = workspace(i, states.made(chunk, i)) + fetched(i);
                const Bytes beside = ahead == nullptr ? Bytes{} : ahead->grown(pair) + ahead->beside(pair, mlp(i));
                consider(beside, before + own, states.in_layer(chunk, i));
                if (group > 1) before += of(i, Recompute::none).kept;
                kept_by_group += kept(i);
            }
            freed += kept_by_group;
            end = first;
        }
        if (ahead != nullptr) consider(ahead->grown(ahead->chunk_.layers), {}, states.throughout());
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
    // Of layers alike within a chunk, what the one asked for first makes counts.
    Bytes workspace(std::uint32_t i, MadeGradients made) {
        const std::uint32_t layer = chunk_.first_layer + i;
        const LayerKind kind = layer_kind(job_.model, layer);
        const Recompute recompute = job_.recompute.of_layer(i);
        made = made_.try_emplace({job_.layer_place(layer), recompute}, made).first->second;
        auto& known = of(i, recompute).workspace;
        if (!known || known->first.mlp != made.mlp || known->first.all != made.all) {
            known = {made,
                     layer_workspace(job_.model, kind, shard_of(layer), inventory_of(job_, kind, recompute), made)};
        }
        return known->second;
    }
    Shard shard_of(std::uint32_t layer) const {
        Shard shard = job_.shard();
        shard.imbalance = job_.imbalance_of(layer);
        return shard;
    }

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

    HeldByLayer& of(std::uint32_t i, Recompute recompute) {
        const std::uint32_t layer = chunk_.first_layer + i;
        const LayerKind kind = layer_kind(job_.model, layer);
        std::optional<HeldByLayer>& known = held_[job_.layer_place(layer)][static_cast<std::size_t>(recompute)];
        if (known) return *known;
        HeldByLayer sizes;
        for (const SavedTensor& tensor :
             saved_tensors(job_.model, kind, shard_of(layer), inventory_of(job_, kind, recompute))) {
            sizes.kept += tensor.bytes;
            if (tensor.half == LayerHalf::mlp) sizes.mlp += tensor.bytes;
        }
        known = sizes;
        return *known;
    }

    const Job& job_;
    const Chunk& chunk_;
    HeldByLayers& held_;
    std::map<std::pair<std::size_t, Recompute>, MadeGradients> made_;  // by place of a layer
};

// The fullest moment of forward and backward. Activations live from a forward slot until the weights' gradient is done;
// backward starts with the head, whose activations are gone when the layers run, and ends with the reduction of what is
// outside of layers. A forward that runs beside a backward comes to its own head when that backward is done.
FullestPass fullest_moment(const Job& job, const Stage& stage, std::span<const Moment> moments,
                           const StatesInTime& states, HeldByLayers& held) {
    const Bytes head = head_workspace(job.model, job.shard());
    std::vector<LayersMemory> layers;
    std::vector<FullestPass> alone;
    for (std::uint32_t c = 0; c < stage.chunks.size(); ++c) {
        layers.emplace_back(job, stage.chunks[c], held);
        alone.push_back(layers.back().fullest(states, c));
    }
    FullestPass fullest;
    const auto consider = [&](const FullestPass& moment) {
        if (moment.total() > fullest.total()) fullest = moment;
    };
    for (const Moment& moment : moments) {
        Bytes alive;
        for (std::size_t c = 0; c < stage.chunks.size(); ++c) alive += stage.chunks[c].activations * moment.alive[c];
        const std::uint32_t c = moment.chunk;
        if (moment.kind == SlotKind::forward) {
            consider({alive, {}, states.at_loss(c), {}, FullestAt::forward});
            continue;
        }
        const Chunk& chunk = stage.chunks[c];
        if (chunk.has_head()) consider({alive, head, states.at_loss(c), {}, FullestAt::loss});
        FullestPass run = moment.ahead ? layers[c].fullest(states, c, &layers[*moment.ahead]) : alone[c];
        run.activations += alive - chunk.head_activations;
        consider(run);
        consider({alive - chunk.activations, {}, states.at_end(), {}, FullestAt::end_of_backward});
    }
    return fullest;
}

// One tensor for each shape of matrix in the stage's layers.
Bytes placeholders(const Job& job, const Stage& stage) {
    if (job.framework->weight_gradients == WeightGradients::own) return {};
    if (job.megatron.sharding != MegatronSharding::none) return {};  // gradients have tensors of their own
    return {stage.matrix_shapes * element_bytes(job.precision)};
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
MemoryOverhead overhead(const Job& job, Bytes allocated, Bytes cut, Bytes copies) {
    constexpr Bytes least_context = 512_MiB, most_context = 1573_MiB;
    const Bytes library = communicators(job);
    return {.least = least_context + library,
            .expected = (least_context + most_context + cut) * 0.5 + library + allocated * usual_fragmentation + copies,
            .most = most_context + library + allocated * most_fragmentation + cut + copies};
}

// Momentum, variance (under Muon not of matrices), and a master copy where the parameters themselves are in 16 bits.
Bytes states_of(const Job& job, const Stage& stage, double updated) {
    const OptimizerSettings& own = job.optimizer;
    const bool has_master = job.precision != Precision::fp32 && !job.framework->passing(job).in_place;
    const double master = has_master ? bytes_of(own.master) : 0.0;
    const double with_variance =
        own.rule == UpdateRule::muon ? 1.0 - orthogonal_parameters(stage) / std::max(stage.trained(), 1.0) : 1.0;
    return {updated * (master + bytes_of(own.momentum) + bytes_of(own.variance) * with_variance)};
}

// Of parameters that `ranks` share, what one has.
double held_by(const Job& job, double ranks, double dense, double expert) {
    return dense / ranks + expert / expert_ranks(job, ranks);
}

// Reduced gradients of ZeRO-2 and 3 go from their bucket to a host that updates (clear_grad_attribute).
double kept_gradients(const Job& job, const Stage& stage) {
    const bool leave = job.framework->name == "deepspeed" && job.optimizer.leave_device() && job.zero >= 2;
    if (leave) return 0.0;
    return held_by(job, job.framework->shares(job).gradients, stage.trained_dense, stage.trained_expert);
}

Bytes gradients_of(const Job& job, const Stage& stage) {
    return {kept_gradients(job, stage) * job.framework->passing(job).gradients};
}

}  // namespace

double expert_ranks(const Job& job, double ranks) {
    return ranks == 1 ? 1.0 : job.layout.expert_data() / job.framework->shares(job).replicas;
}

double updated_parameters(const Job& job, const Stage& stage) {
    return held_by(job, job.framework->shares(job).optimizer, stage.trained_dense, stage.trained_expert);
}

Bytes optimizer_states(const Job& job, const Stage& stage) {
    return states_of(job, stage, updated_parameters(job, stage));
}

Bytes layer_activations(const Job& job, const Chunk& chunk, std::uint32_t i) {
    HeldByLayers held;
    return LayersMemory(job, chunk, held).whole(i);
}

Bytes kept_activations(const Job& job, const Chunk& chunk, std::uint32_t i) {
    HeldByLayers held;
    return LayersMemory(job, chunk, held).kept(i);
}

void count_activations(const Job& job, Chunk& chunk, HeldByLayers& held) {
    const Shard shard = job.shard();
    LayersMemory layers(job, chunk, held);
    chunk.activations = {};
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
    HeldByLayers held;
    return memory_use(job, stage, fullest_pass(job, stage, fullest_moments(stage.slots, stage.chunks.size()), held));
}

FullestPass fullest_pass(const Job& job, const Stage& stage, std::span<const Moment> moments, HeldByLayers& held) {
    const bool stay = job.framework->passing(job).stay();
    const StatesInTime states(job, stage, stay ? Bytes{} : gradients_of(job, stage));
    FullestPass pass = fullest_moment(job, stage, moments, states, held);
    pass.throughout = states.throughout();
    return pass;
}

MemoryUse memory_use(const Job& job, const Stage& stage, FullestPass pass) {
    const StateShares shares = job.framework->shares(job);
    const PassingStates passing = job.framework->passing(job);
    const Bytes gradients = gradients_of(job, stage);
    if (passing.stay()) pass.states.gradients = pass.throughout.gradients = gradients;
    const double updated = updated_parameters(job, stage);
    const Bytes freed{kept_gradients(job, stage) * shares.freed_bytes}, copies{updated * shares.update_bytes};
    // The update comes after the activations, and in place of the gradients that autograd made.
    const FullestPass update{{}, copies - freed, {gradients, pass.throughout.copies}, {}, FullestAt::optimizer};
    const FullestPass fullest = update.total() > pass.total() ? update : pass;
    MemoryUse use;
    use.at = fullest.at;
    use.passing = fullest.states.total() - pass.throughout.total();
    const bool shards = job.deepspeed.parameters == ParametersOn::device;  // else only what is gathered, in buffers
    const double sharing = passing.in_place ? shares.optimizer : shares.parameters;
    const double trained = held_by(job, sharing, stage.trained_dense, stage.trained_expert);
    const double frozen = held_by(job, sharing, stage.dense, stage.expert) - trained;  // in working precision
    use.parameters = {shards ? trained * passing.parameters + frozen * element_bytes(job.precision) : 0.0};
    use.gradients = fullest.states.gradients;
    const double stay = job.optimizer.leave_device() ? 1.0 - job.optimizer.fraction : 1.0;
    use.optimizer = stay == 0.0 ? Bytes{} : states_of(job, stage, updated) * stay;
    use.activations = fullest.activations;
    use.buffers = job.framework->buffers(job, stage.parameters()) + placeholders(job, stage) + fullest.states.copies;
    use.workspace = fullest.workspace + matrix_library_workspace(job.model);
    use.overhead =
        overhead(job, use.allocated(), std::min(freed, pass.activations), pass.total() + copies - fullest.total());
    return use;
}

}  // namespace weft
