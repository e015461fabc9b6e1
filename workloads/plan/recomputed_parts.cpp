#include "workloads/plan/stage_memory.hpp"

#include <fmt/format.h>

#include <string>

#include "models/transformer/kernel_parts.hpp"
#include "sim/base/check.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

bool fuses_norms(const Job& job) { return job.megatron.transformer_engine == Setting::on; }

// Megatron-core 0.13 models/gpt/gpt_layer_specs.py: the inputs of latent attention and of experts are normalised by
// modules of their own, and so is everything under --transformer-impl local.
bool norm_stands_alone(const Job& job, LayerPart norm, LayerKind kind) {
    const Layer& layer = layer_of(job.model, kind);
    const bool input = norm == LayerPart::input_norm;
    if (input ? layer.mixer != Mixer::attention : !has_feed_forward(layer, kind)) return false;
    if (!fuses_norms(job)) return true;
    return input ? layer.has_latent_attention() : has_experts(kind);
}

bool has(const Job& job, LayerPart part, LayerKind kind) {
    const Layer& layer = layer_of(job.model, kind);
    switch (part) {
        case LayerPart::core:
            return layer.mixer == Mixer::attention;
        case LayerPart::input_norm:
        case LayerPart::mlp_norm:
            return norm_stands_alone(job, part, kind);
        case LayerPart::latent_up:
            return layer.mixer == Mixer::attention && layer.has_latent_attention();
        case LayerPart::mlp:
            return has_mlp(layer, kind);
        case LayerPart::experts:
        case LayerPart::expert_activation:
            return has_experts(kind);
        case LayerPart::shared_experts:
            return has_experts(kind) && job.model.experts.shared > 0;
    }
    throw LogicError("a LayerPart outside its enumerators");
}

bool any_layer_has(const Job& job, LayerPart part) {
    for (std::uint32_t layer = 0; layer < job.model.layers; ++layer) {
        if (has(job, part, layer_kind(job.model, layer))) return true;
    }
    return false;
}

// --recompute-modules came with core 0.12, its shared_experts with 0.14; before, --moe-layer-recompute said "moe".
std::string version_obstacle(const Job& job) {
    const LayerParts parts = job.recompute.parts;
    const std::string_view version = job.megatron.version.name;
    if (parts == LayerParts{LayerPart::core}) return {};
    if (parts.has(LayerPart::shared_experts) && !has_since(job.megatron.version, "core-0.14")) {
        return fmt::format("shared_experts is recomputed by itself since core-0.14, not in {}", version);
    }
    const bool experts_alone = parts == LayerParts{LayerPart::experts} && has_since(job.megatron.version, "core-0.7");
    if (has_since(job.megatron.version, "core-0.12") || experts_alone) return {};
    return fmt::format("{} recomputes core_attn alone, or moe; set megatron.version to core-0.12 or later", version);
}

void check_parts(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "recompute";
    const LayerParts parts = job.recompute.parts;
    if (parts == LayerParts{LayerPart::core}) return;
    if (job.framework->name != "megatron") {
        return refuse(key, "{} recomputes core_attn or whole layers; modules are Megatron-core's", job.framework->name);
    }
    if (const std::string obstacle = version_obstacle(job); !obstacle.empty()) return refuse(key, "{}", obstacle);
    for (const auto& [name, own] : recompute_modules()) {
        const bool asked = std::ranges::all_of(own, [&](LayerPart part) { return parts.has(part); });
        const bool there = std::ranges::any_of(own, [&](LayerPart part) { return any_layer_has(job, part); });
        refuse.when(asked && !there, key, "no layer of {} has a {} to recompute{}", job.model.name, name,
                    name == "layernorm" ? ": Transformer Engine computes norms within the maps after them; "
                                          "megatron.transformer_engine = false keeps them apart"
                                        : "");
    }
    const bool norms = parts.has(LayerPart::mlp_norm);
    refuse.when(norms && job.model.norm_placement != NormPlacement::pre, key,
                "layernorm means norms of the inputs of attention and MLP; the model has others");
    // transformer_config.py: "moe_act and layernorm recompute cannot work with fp8"; since 0.14 under delayed scaling
    // alone.
    const bool discards = norms || parts.has(LayerPart::expert_activation);
    if (job.precision == Precision::fp8 && discards && !has_since(job.megatron.version, "core-0.14")) {
        refuse(key, "Megatron-core recomputes moe_act and layernorm with fp8 since core-0.14");
    } else if (discards && job.names_recipe == Setting::on && job.recipe == Casting::delayed) {
        refuse(key, "Megatron-core recomputes neither moe_act nor layernorm under delayed scaling (fp8_recipe)");
    }
}

// FSDP's units are wrapped one by one; DeepSpeed's and Megatron's checkpoints take runs of layers.
void check_layers(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "recompute";
    const Recomputation& own = job.recompute;
    if (own == Recompute::full) return;
    const bool megatron = job.framework->name == "megatron", deepspeed = job.framework->name == "deepspeed";
    refuse.when(
        own.method == RecomputeMethod::block && !megatron, key,
        "the first layers of a model part alone are recomputed by Megatron (block); uniform or every are others");
    refuse.when(
        own.method == RecomputeMethod::every && (megatron || deepspeed), key,
        "every n-th layer is recomputed by torchtitan (fsdp); Megatron has uniform and block, DeepSpeed uniform");
    refuse.when(own.method == RecomputeMethod::uniform && !megatron && !deepspeed, key,
                "groups of {} layers are recomputed by Megatron and DeepSpeed; {} wraps every layer by itself",
                own.layers, job.framework->name);
    refuse.when(own.method == RecomputeMethod::uniform && job.zero == 3, key,
                "weft knows the order in which ZeRO-3 gathers for single layers, not for groups of {}", own.layers);
    refuse.when(own.layers > job.model.layers, key, "{} layers are more than the {} of {}", own.layers,
                job.model.layers, job.model.name);
}

// Biased maps (addmm) are not in the list of what is kept, which would be another order of products then. Products in 8
// bits are: the policy sees torchao's tensors before they are unwrapped (torchtitan prints as much memory with Float8
// as without, benchmarks/llama3_h100_202412_torchtitan.md, table 1).
void check_operations(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "recompute";
    const Biases& biases = job.model.biases;
    refuse.when(job.framework->name != "fsdp" || job.fsdp.version != 2, key,
                "by operations recomputes torchtitan, which is fsdp with fsdp.version = 2");
    refuse.when(biases.qkv || biases.projection || biases.mlp, key,
                "operations are known of maps without biases alone");
    refuse.when(job.attention == AttentionCore::unfused, key, "the operation that is kept is fused attention");
    refuse.when(job.layout.context > 1, key, "what context ranks recompute of their rounds is not known to weft");
}

}  // namespace

LayerParts recomputed_parts(const Job& job, LayerKind kind) {
    LayerParts parts;
    const LayerParts asked = job.recompute.parts;
    for (const auto& [name, own] : recompute_modules()) {
        for (const LayerPart part : own) {
            if (asked.has(part) && has(job, part, kind)) parts.add(part);
        }
    }
    if (parts.has(LayerPart::mlp) && fuses_norms(job)) parts.add(LayerPart::mlp_norm);
    if (parts.has(LayerPart::experts)) {
        parts.remove(LayerPart::expert_activation);
        parts.remove(LayerPart::shared_experts);
    }
    return parts;
}

void check_recompute(const Job& job, const Refusals& refuse) {
    if (job.recompute.granularity == Recompute::selective) check_parts(job, refuse);
    if (job.recompute.granularity == Recompute::full) check_layers(job, refuse);
    if (job.recompute.granularity == Recompute::operations) check_operations(job, refuse);
}

std::size_t checkpointed_pieces(const Job& job, LayerKind kind, const std::vector<LayerPiece>& pieces) {
    const bool stops = is_plain(job.framework->modules(job)) && job.pytorch >= PyTorch::v2_1;
    const bool asks_for_all = job.dropout == Dropout::on || norms_outputs(job.model) || !has_mlp(job.model, kind);
    if (!stops || asks_for_all) return pieces.size();
    const auto last = std::ranges::find(pieces, Piece::mlp_down, &LayerPiece::piece);
    return static_cast<std::size_t>(last - pieces.begin());
}

std::vector<Kernel> discarded_kernels(const LayerPiece& piece) {
    std::vector<Kernel> kernels;
    const auto is_down = [](const Kernel& kernel) {
        return kernel.name == "query down" || kernel.name == "key-value down";
    };
    for (std::size_t i = 0; i < piece.forward.size(); ++i) {
        const Kernel& kernel = piece.forward[i];
        const bool cast_for_down =
            kernel.name == "cast input" && i + 1 < piece.forward.size() && is_down(piece.forward[i + 1]);
        const bool made = piece.piece == Piece::input_norm  ? kernel.name == "input norm"
                          : piece.piece == Piece::post_norm ? kernel.name == "post-attention norm"
                          : piece.piece == Piece::qkv       ? !is_down(kernel) && !cast_for_down
                          : piece.piece == Piece::experts   ? (kernel.name == "swiglu" || kernel.name == "gelu")
                                                            : false;
        if (made) kernels.push_back(kernel);
    }
    return kernels;
}

std::vector<PieceRepeat> piece_repeats(LayerParts parts, const std::vector<PieceCost>& pieces) {
    const auto place = [&](Piece piece) {
        return static_cast<std::size_t>(std::ranges::find(pieces, piece, &PieceCost::piece) - pieces.begin());
    };
    const bool joins = place(Piece::post_norm) < pieces.size();  // a mixer stands before the feed-forward
    const std::size_t post_norm = place(joins ? Piece::post_norm : Piece::input_norm);
    const std::size_t mlp_end = place(Piece::residual) - 1;
    std::vector<PieceRepeat> repeats;
    const auto add = [&](bool is_repeated, std::size_t before, std::size_t first, std::size_t last,
                         PieceRepeat::Of of = PieceRepeat::Of::pieces) {
        if (is_repeated) repeats.push_back({.before = before, .first = first, .last = last, .of = of});
    };
    const auto discard = [&](LayerPart part, Piece before, Piece of) {
        add(parts.has(part), place(before), place(of), place(of), PieceRepeat::Of::discarded);
    };
    add(parts.has(LayerPart::mlp_norm), mlp_end, post_norm, post_norm, PieceRepeat::Of::discarded);
    add(parts.has(LayerPart::mlp) || parts.has(LayerPart::experts), mlp_end, post_norm + 1, mlp_end);
    add(parts.has(LayerPart::shared_experts), place(Piece::shared_down), place(Piece::shared_up),
        place(Piece::shared_down));
    discard(LayerPart::expert_activation, Piece::experts, Piece::experts);
    discard(LayerPart::input_norm, Piece::projection, Piece::input_norm);
    discard(LayerPart::latent_up, Piece::core, Piece::qkv);
    add(parts.has(LayerPart::core), place(Piece::core), place(Piece::core), place(Piece::core));
    return repeats;
}

}  // namespace weft
