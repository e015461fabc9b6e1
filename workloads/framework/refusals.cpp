#include "workloads/framework/refusals.hpp"

#include <fmt/format.h>

#include <array>

#include "models/transformer/flops.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/parallelism/experts.hpp"

namespace weft {
namespace {

struct Feature {
    std::string_view key, name, since;  // since: of megatron_versions; empty: in no release
    bool (*used)(const Job& job);
};

bool is_scheduled(const Job& job, std::string_view key) { return job.layout.pipeline > 1 && job.schedule->key == key; }

// Data ranks within the stages or around them (core/parallel_state.py, RankGenerator; --use-tp-pp-dp-mapping).
bool is_ordered_otherwise(const Job& job) {
    return !job.layout.is_ordered({"tensor", "context", "data", "pipeline"}) &&
           !job.layout.is_ordered({"tensor", "context", "pipeline", "data"});
}

template <class Is>
bool has_layer(const Job& job, Is is) {
    return std::ranges::any_of(kinds_of(job.model),
                               [&](LayerKind kind) { return is(layer_of(job.model, kind), kind); });
}
template <Mixer... mixers>
bool mixes_by(const Job& job) {
    return has_layer(job, [](const Layer& layer, LayerKind) { return ((layer.mixer == mixers) || ...); });
}
bool chooses_tokens(const Job& job) {
    return has_layer(job, [](const Layer& layer, LayerKind) { return layer.indexer.heads > 0; });
}
// The + of a hybrid pattern.
bool has_latent_alone(const Layer& layer, LayerKind kind) {
    return layer.mixer == Mixer::attention && layer.has_latent_attention() && layer.indexer.heads == 0 &&
           !has_feed_forward(layer, kind);
}
bool has_experts_alone(const Layer& layer, LayerKind kind) { return layer.mixer == Mixer::none && has_experts(kind); }
bool is_gated(const Layer& layer, LayerKind) { return layer.attention_gate != AttentionGate::none; }
bool is_bounded(const Layer& layer, LayerKind kind) { return layer.attention_sinks || is_windowed(kind); }

// From Megatron-core 0.4 on by its CHANGELOG.md; before, by date: interleaving with the code of Narayanan et al.
// (2104.04473), sequence parallelism with that of Korthikanti et al. (2205.05198), the distributed optimizer in 2022.
// Zero-bubble schedules are in a fork (github.com/sail-sg/zero-bubble-pipeline-parallelism), DualPipe is in none.
constexpr std::array features{
    Feature{"schedule", "interleaved stages", "2021", [](const Job& job) { return is_scheduled(job, "interleaved"); }},
    Feature{"sequence_parallel", "sequence parallelism", "2022",
            [](const Job& job) { return job.sequence_parallel == SequenceParallel::on; }},
    Feature{"zero", "the distributed optimizer", "2022", [](const Job& job) { return job.zero == 1; }},
    Feature{"layout.context", "context parallelism", "2023", [](const Job& job) { return job.layout.context > 1; }},
    Feature{"model.experts", "mixture of experts", "2023", [](const Job& job) { return job.model.experts.count > 0; }},
    Feature{"model.experts.shared", "shared experts", "core-0.9",
            [](const Job& job) { return job.model.experts.shared > 0; }},
    Feature{"cuda_graphs", "CUDA graphs", "core-0.9",
            [](const Job& job) { return job.cuda_graphs != CudaGraphs::none; }},
    Feature{"layout.split", "fewer layers on the first and last stage", first_and_last_since,
            [](const Job& job) { return job.layout.pipeline > 1 && job.layout.split == StageSplit::ends; }},
    Feature{"model.latent_attention", "multi-head latent attention", "core-0.10",
            [](const Job& job) { return job.model.has_latent_attention(); }},
    Feature{"model.experts.every", "experts in some of the layers", "core-0.10",
            [](const Job& job) {
                return job.model.experts.count > 0 && expert_layers(job.model) < job.model.own_layers();
            }},
    Feature{
        "layout.expert_tensor", "experts cut otherwise than the other maps", "core-0.10",
        [](const Job& job) { return job.model.experts.count > 0 && job.layout.expert_tensor != job.layout.tensor; }},
    Feature{
        "layout.split", "counts of layers of the first and last stage", first_and_last_since,
        [](const Job& job) { return job.layout.split == StageSplit::by_hand && job.layout.by_hand.layers.empty(); }},
    Feature{"layout.split", "stages by hand", stage_layout_since,
            [](const Job& job) {
                return (job.layout.split == StageSplit::by_hand && !job.layout.by_hand.layers.empty()) ||
                       (job.layout.split == StageSplit::cost && job.layout.pipeline > 1);
            }},
    Feature{"model.experts.balancing_bias", "balancing of experts by a bias", expert_bias_since,
            [](const Job& job) { return job.model.experts.balancing_bias; }},
    Feature{"experts.balancing", "a loss of each sequence's tokens", sequence_loss_since,
            [](const Job& job) { return balances_by(job, Balancing::sequence_auxiliary_loss); }},
    Feature{"experts.balancing", "a loss of all ranks' tokens", global_loss_since,
            [](const Job& job) { return balances_by(job, Balancing::global_auxiliary_loss); }},
    Feature{"experts.balancing", "several losses that balance experts", several_losses_since,
            [](const Job& job) { return !job.experts.other_losses.empty(); }},
    Feature{"experts.fused_indices", "a kernel that finds the rows of experts", fused_indices_since,
            [](const Job& job) { return job.experts.fused_indices == Setting::on; }},
    Feature{"experts.padded_routing", "a router that pads what it gives to experts", padded_routing_since,
            [](const Job& job) { return job.experts.padded_routing == Setting::on; }},
    Feature{"experts.paged_stash", "a stash of what experts keep for backward", paged_stash_since,
            [](const Job& job) { return job.experts.paged_stash == Setting::on; }},
    Feature{"layout.tensor", "more tensor ranks than key-value heads", copied_keys_since,
            [](const Job& job) { return copies_keys(job.model, job.layout.tensor); }},
    // By the tags of NVIDIA/Megatron-LM that have the flag or letter (arguments.py, transformer_config.py, Symbols).
    Feature{"model.layer_kinds", "layers of a mixer or a feed-forward alone", hybrid_since,
            [](const Job& job) { return is_hybrid(job.model); }},
    Feature{"model.layer_kinds", "experts in a hybrid pattern", hybrid_experts_since,
            [](const Job& job) { return has_layer(job, has_experts_alone); }},
    Feature{"model.layer_kinds", "a gated delta net in a hybrid pattern", hybrid_stages_since,
            [](const Job& job) { return is_hybrid(job.model) && mixes_by<Mixer::gated_delta>(job); }},
    Feature{"model.layer_kinds", "sparse attention in a hybrid pattern", hybrid_indexer_since,
            [](const Job& job) { return is_hybrid(job.model) && chooses_tokens(job); }},
    Feature{"model.layer_kinds", "latent attention in a hybrid pattern", hybrid_latent_since,
            [](const Job& job) { return has_layer(job, has_latent_alone); }},
    Feature{"model.mixer", "a gated delta net", variants_since,
            [](const Job& job) { return !is_hybrid(job.model) && mixes_by<Mixer::gated_delta>(job); }},
    Feature{"model.mixer", "Mamba-2 with a feed-forward in one layer", "",
            [](const Job& job) { return !is_hybrid(job.model) && mixes_by<Mixer::mamba2>(job); }},
    Feature{"model.mixer", "Kimi Delta or lightning attention", "", mixes_by<Mixer::kimi_delta, Mixer::lightning>},
    Feature{"model.indexer", "sparse attention", variants_since,
            [](const Job& job) { return !is_hybrid(job.model) && chooses_tokens(job); }},
    Feature{"model.attention_gate", "a gate of attention", variants_since,
            [](const Job& job) { return has_layer(job, is_gated); }},
    Feature{"model.attention_window", "windows and sinks of attention", window_since,
            [](const Job& job) { return has_layer(job, is_bounded); }},
    Feature{"model.experts", "experts behind a narrower map, or with a gate of shared ones", variants_since,
            [](const Job& job) { return job.model.experts.latent > 0 || job.model.experts.shared_gate; }},
    Feature{"fp8_recipe", "a choice of recipes for fp8", recipes_since,
            [](const Job& job) { return job.names_recipe == Setting::on && job.recipe != Casting::delayed; }},
    Feature{"precision", "fp4", quarter_since, [](const Job& job) { return job.precision == Precision::fp4; }},
    Feature{"model.mtp_layers", "multi-token prediction", predictions_since,
            [](const Job& job) { return job.model.mtp_layers > 0; }},
    Feature{"optimizer", "updates by the host", host_updates_since,
            [](const Job& job) { return job.optimizer.leave_device(); }},
    Feature{"optimizer", "Muon", muon_since, [](const Job& job) { return job.optimizer.rule == UpdateRule::muon; }},
    Feature{"layout.order", "this order of axes", "", is_ordered_otherwise},
    Feature{"communication_units", "compute units kept for communication", "",
            [](const Job& job) { return job.communication_units > 0; }},
};

// "2022": Megatron-LM of 2022; "core-0.8": Megatron-core 0.8.
std::string release(std::string_view version) {
    constexpr std::string_view core = "core-";
    return version.starts_with(core) ? fmt::format("Megatron-core {}", version.substr(core.size()))
                                     : fmt::format("Megatron-LM of {}", version);
}

// What DeepSpeed refuses. Sources: DeepSpeed 0.14.0 runtime/zero/{config,stage_1_and_2,stage3}.py,
// runtime/comm/coalesced_collectives.py, runtime/pipe/engine.py.

void check_reductions(const Job& job, const Refusals& refuse) {
    const bool scatters = is_on(job.deepspeed.reduce_scatter);
    refuse.when(!scatters && job.zero == 0, "deepspeed.reduce_scatter",
                "stage 0 all-reduces gradients whatever it says; needs zero 1 to 3, got zero 0");
    if (is_on(job.deepspeed.multi_rank_allreduce.value_or(Setting::on))) return;
    if (job.zero != 1 && job.zero != 2) {
        refuse("deepspeed.multi_rank_allreduce", "is read by ZeRO-1 and ZeRO-2 only; needs zero 1 or 2, got zero {}",
               job.zero);
    } else if (!scatters) {
        refuse("deepspeed.multi_rank_allreduce",
               "is not read where reduce_scatter is off: the whole bucket is all-reduced");
    }
}

void check_gathers(const Job& job, const Refusals& refuse) {
    using Elements = double DeepSpeedSettings::*;
    static constexpr std::array<std::pair<const char*, Elements>, 5> of_stage_3{
        {{"deepspeed.prefetch_elements", &DeepSpeedSettings::prefetch_elements},
         {"deepspeed.persistence_elements", &DeepSpeedSettings::persistence_elements},
         {"deepspeed.max_live_elements", &DeepSpeedSettings::max_live_elements},
         {"deepspeed.max_reuse_elements", &DeepSpeedSettings::max_reuse_elements},
         {"deepspeed.sub_group_elements", &DeepSpeedSettings::sub_group_elements}}};
    for (const auto& [key, elements] : of_stage_3) {
        refuse.when(job.zero != 3 && job.deepspeed.*elements != DeepSpeedSettings{}.*elements, key,
                    "is read by ZeRO-3 only; needs zero 3, got zero {}", job.zero);
    }
}

// qgZ's first hop is inside a node, its second one among equal places of the nodes. Inside one node nothing is
// quantised, as DeepSpeed has it.
void check_quantized_gradients(const Job& job, const Refusals& refuse) {
    const DeepSpeedSettings& own = job.deepspeed;
    if (!is_on(own.quantized_gradients) || job.zero != 3) return;
    refuse.when(!is_on(own.reduce_scatter), "deepspeed.quantized_gradients",
                "DeepSpeed quantises gradients only where reduce_scatter is on");
    const std::uint32_t of_node = data_ranks_of_node(job);
    if (job.layout.copies() <= of_node) return;
    refuse.when(own.hierarchical_ranks > 1 && own.hierarchical_ranks != of_node, "deepspeed.hierarchical_ranks",
                "{} ranks of a secondary group are not the {} data ranks of a node, inside which quantized_gradients "
                "reduces first",
                own.hierarchical_ranks, of_node);
    refuse.when(job.layout.data % of_node != 0, "deepspeed.quantized_gradients",
                "{} data ranks of a node do not divide data {}", of_node, job.layout.data);
    refuse.when(!tensor_is_innermost(job.layout), "deepspeed.quantized_gradients",
                "reduces among the data ranks of a node first; needs tensor innermost in layout.order");
}

void check_overlap(const Job& job, const Refusals& refuse) {
    if (!is_on(job.gradient_overlap)) return;
    refuse.when(job.layout.pipeline > 1, "overlap_gradients",
                "DeepSpeed's pipeline engine reduces gradients after the last backward; overlap needs pipeline 1");
    refuse.when(job.zero == 0, "overlap_gradients",
                "DeepSpeed stage 0 reduces after the backward pass; overlap needs zero 1 to 3");
    refuse.when(job.zero == 1 && !is_on(job.deepspeed.version.stage1_overlap), "overlap_gradients",
                "DeepSpeed {} ignores overlap_comm at stage 1, up to 0.12; needs zero 2 or 3, or a later version",
                job.deepspeed.version.name);
}

void check_parallelism(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    refuse.when(job.zero >= 2 && layout.pipeline > 1, "zero",
                "DeepSpeed's pipeline engine refuses ZeRO-2 and ZeRO-3; zero {} needs pipeline 1, got pipeline {}",
                job.zero, layout.pipeline);
    refuse.when(job.zero == 3 && job.schedule->needs.forwards_ahead, "schedule",
                "ZeRO-3 runs each micro-batch forward and backward in turn, not as {} orders them", job.schedule->key);
    refuse.when(job.sequence_parallel == SequenceParallel::on, "sequence_parallel",
                "GPT-NeoX on DeepSpeed has no Megatron sequence parallelism; use framework megatron");
    refuse.when(layout.context > 1 && job.context_method != ContextMethod::all_to_all, "context_method",
                "DeepSpeed shares sequences by all-to-all only (Ulysses)");
    // Megatron-DeepSpeed megatron/core/parallel_state.py, initialize_model_parallel.
    refuse.when(layout.context > 1 && layout.tensor > 1, "layout.context",
                "DeepSpeed-Ulysses does not run with tensor parallelism; context {} needs tensor 1, got tensor {}",
                layout.context, layout.tensor);
    refuse.when(
        layout.context > 1 && layout.pipeline > 1, "layout.context",
        "DeepSpeed-Ulysses does not run under the pipeline engine; context {} needs pipeline 1, got pipeline {}",
        layout.context, layout.pipeline);
    if (job.model.experts.count == 0) return;
    refuse.when(job.zero == 3, "zero", "DeepSpeed refuses mixture of experts under ZeRO-3");
    refuse.when(layout.pipeline > 1, "layout.pipeline",
                "DeepSpeed's pipeline engine does not run mixture-of-experts layers");
    refuse.when(layout.expert_tensor != layout.tensor, "layout.expert_tensor",
                "DeepSpeed cuts experts as it cuts the other maps: expert_tensor {} must equal tensor {}",
                layout.expert_tensor, layout.tensor);
}

}  // namespace

void lacking_megatron_features(const Job& job, const Refusals& lacks) {
    // A job that names no release can be run if the latest does.
    const MegatronVersion& version =
        job.megatron.names_version == Setting::on ? job.megatron.version : megatron_versions.front();
    const std::array<std::string_view, 2> schedules{"1f1b", "interleaved"};
    const bool known = std::ranges::find(schedules, job.schedule->key) != schedules.end();
    lacks.when(job.layout.pipeline > 1 && !known, "schedule", "{} is in no release of Megatron-LM", job.schedule->key);
    for (const Feature& feature : features) {
        if (!feature.used(job) || (!feature.since.empty() && has_since(version, feature.since))) continue;
        if (feature.since.empty()) {
            lacks(feature.key, "{} is in no release of Megatron-LM", feature.name);
        } else {
            lacks(feature.key, "{} came with {}, after {} (megatron.version)", feature.name, release(feature.since),
                  release(version.name));
        }
    }
}

void check_deepspeed(const Job& job, const Refusals& refuse) {
    check_reductions(job, refuse);
    check_gathers(job, refuse);
    check_quantized_gradients(job, refuse);
    check_overlap(job, refuse);
    check_parallelism(job, refuse);
    const DeepSpeedSettings& own = job.deepspeed;
    const bool quantised = is_on(own.quantized_weights) || is_on(own.quantized_gradients) || own.hierarchical_ranks > 1;
    refuse.when(quantised && job.zero != 3, "deepspeed",
                "ZeRO++ (quantized_weights, hierarchical_ranks, quantized_gradients) needs zero 3, got zero {}",
                job.zero);
    refuse.when(own.hierarchical_ranks > 1 && job.layout.data % own.hierarchical_ranks != 0,
                "deepspeed.hierarchical_ranks", "{} ranks of a secondary group do not divide data {}",
                own.hierarchical_ranks, job.layout.data);
    refuse.when(quantised && job.layout.context > 1, "deepspeed",
                "ZeRO++ is not combined with context parallelism here");
    refuse.when(is_on(own.partition_activations) && job.recompute.granularity != Recompute::full,
                "deepspeed.partition_activations", "partitions checkpoints, so it needs \"recompute\": \"full\"");
}

}  // namespace weft
