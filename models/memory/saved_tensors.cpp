// The inventory of what a layer keeps for backward.
#include <algorithm>

#include "models/memory/memory.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {
namespace {

// Dropout masks take one byte per element (Korthikanti et al., section 4.1); everything else is in working precision
// but for what softmaxes keep.
constexpr double mask_bytes = 1.0;
constexpr double softmax_bytes = 4.0;

class Tensors {
  public:
    Tensors(const Transformer& model, const Shard& shard, const Inventory& inventory)
        : model_(model), shard_(shard), inventory_(inventory), size_(model, shard) {}

    std::vector<SavedTensor> of(LayerKind kind) {
        const double residual = residual_bytes(shard_, inventory_);
        keep_bytes("layer input", size_.own_state * residual);
        if (inventory_.recompute == Recompute::full) return saved_;
        if (inventory_.recompute == Recompute::operations) return operations(kind);
        // A norm in parts keeps a second tensor in fp32; of an input in 16 bits a cast in its place, and another in 16
        // bits.
        const double norm_parts = inventory_.norm_function == NormFunction::in_parts ? 4.0 : 0.0;
        if (norm_parts > 0) keep_bytes("parts of the input norm", size_.own_state * norm_parts);
        const bool feeds = has_feed_forward(model_, kind), mixes = model_.mixer != Mixer::none;
        if (mixes) mixer();
        // Where attention and MLP share a norm, its input and output are kept once.
        const bool joins = feeds && mixes && model_.norm_placement != NormPlacement::shared;
        const double own = joins ? size_.own_state : 0.0;
        const double input = own * (residual + norm_parts);
        const bool both = model_.norm_placement == NormPlacement::sandwich;
        if (both) keep_bytes("attention output norm's input", input);
        keep_bytes("post-attention norm's input", input);
        half_ = LayerHalf::mlp;
        const double maps = model_.gated && !has_experts(kind) ? copies(2) : 1.0;
        const double mapped = feeds && !mixes ? size_.own_state : own;
        const bool taken = has_experts(kind) ? trains("router") || trains("shared experts up") : trains("h_to_4h");
        if (!again(LayerPart::mlp_norm)) {
            if (taken) keep_operand("MLP's input", mapped * kept_share() * maps);
            keep_for_adapters("h_to_4h", size_.hidden_state, size_.tokens);
        }
        if (has_experts(kind)) experts();
        if (has_mlp(model_, kind)) mlp();
        if (both) keep_bytes("output norm's input", input);
        if (shard_.dropout == Dropout::on) keep_bytes("mask after MLP", size_.own_state * mask_bytes);
        return saved_;
    }

  private:
    // Tensor ranks that share tokens keep what they made of a sum, and their share of it; expert ranks the tokens that
    // came to them and those that came back.
    std::vector<SavedTensor> operations(LayerKind kind) {
        for (const KeptProduct& product : layer_products(model_, kind, shard_)) {
            if (product.kernel == (has_experts(kind) ? "shared experts up" : "h_to_4h")) half_ = LayerHalf::mlp;
            if (product.kept) {
                keep(product.used ? "kept products" : products_of_recomputation, size_.tokens * product.outputs);
            }
        }
        half_ = LayerHalf::attention;
        if (model_.mixer == Mixer::attention) scores();
        if (model_.mixer != Mixer::none) keep("projection's input", size_.tokens * size_.context);
        const bool reduced = shard_.sequence_parallel == SequenceParallel::on && shard_.tensor > 1;
        if (reduced) keep(products_of_recomputation, size_.own_state);
        half_ = LayerHalf::mlp;
        if (reduced && !has_experts(kind)) keep(products_of_recomputation, size_.own_state);
        if (!has_experts(kind) || shard_.expert == 1) return saved_;
        const ExpertSizes expert(model_, shard_);
        keep(products_of_recomputation, (expert.received() + expert.dispatched) * expert.hidden);
        return saved_;
    }

    void keep(std::string_view name, double elements) { keep_bytes(name, elements * size_.element_bytes); }
    // What only a product with parameters takes.
    void keep_operand(std::string_view name, double elements) {
        const bool narrow = shard_.casting != Casting::none;
        keep_bytes(name, elements * (narrow ? recipe_of(shard_.casting).bytes : size_.element_bytes));
    }
    void keep_bytes(std::string_view name, double bytes) { saved_.push_back({name, {bytes}, half_}); }

    bool again(LayerPart part) const {
        return inventory_.recompute == Recompute::selective && inventory_.parts.has(part);
    }

    // Of a map's input, over the own share of its tokens.
    double kept_share() const {
        const bool shared = shard_.sequence_parallel == SequenceParallel::on;
        return shared && inventory_.map_inputs == MapInputs::kept ? shard_.tensor : 1.0;
    }

    // A product with a matrix that is frozen keeps no input, and adapters theirs, whole, with what A makes of it.
    bool trains(std::string_view module) const { return shard_.trained.trains(module); }
    void keep_for_adapters(std::string_view module, double input, double rows) {
        const double widths = double(shard_.trained.width) * adapters_beside(model_, shard_.trained, module);
        if (widths > 0) keep("adapters' input and what they make of it", input + rows * widths);
    }

    // Of an input that so many maps take.
    double copies(double maps) const { return inventory_.autocast == Autocast::on ? maps : 1.0; }

    void mixer() {
        if (!again(LayerPart::input_norm)) {
            if (trains("qkv")) {
                keep_operand("input of queries, keys and values", size_.own_state * kept_share() * copies(3));
            }
            keep_for_adapters("qkv", size_.hidden_state, size_.tokens);
        }
        if (is_recurrent(model_.mixer)) {
            for (const SavedTensor& tensor : recurrent_saved(model_, shard_)) saved_.push_back(tensor);
        } else {
            attention();
        }
        keep("projection's input", size_.tokens * size_.context);
        keep_for_adapters("dense", 0.0, size_.tokens);
        if (shard_.casting != Casting::none) {
            if (trains("dense")) keep_operand("projection's operand", size_.tokens * size_.context);
        } else if (shard_.context_output == ContextOutput::copied) {
            keep("attention output", size_.tokens * size_.context);
        }
        if (shard_.dropout == Dropout::on) keep_bytes("mask after attention", size_.own_state * mask_bytes);
    }

    // Bytes of an element that attention takes: cast, in both orders where one is not made of the other.
    double taken() const {
        const bool narrow = shard_.narrow_attention && !again(LayerPart::core);
        return narrow ? attention_recipe(shard_.casting).written() : size_.element_bytes;
    }

    void attention() {
        if (model_.has_latent_attention()) latent();
        if (!again(LayerPart::latent_up)) keep_bytes("queries, keys and values", size_.tokens * size_.qkv * taken());
        if (const auto gate = static_cast<double>(gate_width(model_)); gate > 0) {
            keep("attention gate and its operand", size_.tokens * (gate / shard_.tensor + size_.context));
        }
        if (model_.indexer.heads > 0) {
            keep("indexer's queries and keys", size_.tokens * (1.0 + model_.indexer.heads) * model_.indexer.head_size);
            constexpr double chosen_bytes = 8.0;  // an index and a score
            const double chosen =
                1.0 * std::min(model_.indexer.chosen().tokens, shard_.sequence) / model_.indexer.block;
            keep_bytes("chosen keys", size_.tokens * chosen * chosen_bytes);
        }
        if (model_.query_key_norm != QueryKeyNorm::none) {
            keep("queries and keys before their norms", size_.tokens * own_queries_and_keys(model_, shard_.tensor));
        }
        if (!again(LayerPart::core)) scores();
    }

    // Each before and after its norm; before it, and the keys' rotary part, where backward makes the rest of them.
    void latent() {
        const LatentAttention& latent = model_.latent;
        const double forms = again(LayerPart::latent_up) ? 1.0 : 2.0;
        keep("latent queries", forms * size_.tokens * latent.q_rank);
        keep("latent keys and values", forms * size_.tokens * latent.kv_rank);
        if (again(LayerPart::latent_up)) keep("rotary keys", size_.tokens * latent.rope_size);
    }

    // Unfused attention with dropout keeps 5 a s^2 b / t for 2-byte elements: softmax output, mask and dropout output.
    void scores() {
        if (shard_.attention != AttentionCore::unfused) {
            keep_bytes("softmax statistics", size_.scores / shard_.sequence * softmax_bytes);
            return;
        }
        keep("attention probabilities", size_.scores);
        if (shard_.dropout == Dropout::off) return;
        keep("dropped probabilities", size_.scores);
        keep_bytes("mask of probabilities", size_.scores * mask_bytes);
    }

    // Of a gated function's one half, where the product that follows keeps it.
    double half(double outputs) const {
        return model_.gated && inventory_.gated_function == GatedFunction::in_parts ? outputs : 0.0;
    }

    void mlp() {
        if (again(LayerPart::mlp)) return;
        keep("activation function's input", size_.tokens * (size_.ffn_inputs + half(size_.ffn)));
        if (trains("4h_to_h")) keep_operand("activation function's output", size_.tokens * size_.ffn);
        keep_for_adapters("4h_to_h", size_.tokens * size_.ffn, size_.tokens);
    }

    void experts() {
        if (again(LayerPart::experts)) return;
        const ExpertSizes expert(model_, shard_);
        const auto adapted = [&](AdapterTarget target, double width) {
            return shard_.trained.targets.has(target) ? expert.received() * width : 0.0;
        };
        keep_for_adapters(
            "experts",
            adapted(AdapterTarget::linear_fc1, expert.hidden) + adapted(AdapterTarget::linear_fc2, expert.ffn),
            expert.received());
        keep_bytes("router's probabilities", expert.routed * model_.experts.count * softmax_bytes);
        if (trains("experts")) keep_operand("experts' input", expert.received() * expert.hidden);
        keep("experts' activation function's input", expert.received() * (expert.inputs + half(expert.ffn)));
        if (trains("experts") && !again(LayerPart::expert_activation)) {
            keep_operand("experts' activation function's output", expert.received() * expert.ffn);
        }
        if (inventory_.expert_weights == ExpertWeights::on_return) {
            keep("rows to be weighted", expert.dispatched * expert.hidden);
        }
        if (again(LayerPart::shared_experts)) return;
        if (model_.experts.shared > 0) {
            keep_for_adapters("shared experts up", size_.hidden_state, size_.tokens);
            keep_for_adapters("shared experts down", size_.tokens * expert.shared_ffn, size_.tokens);
        }
        keep("shared experts' activation function's input",
             size_.tokens * (expert.shared_inputs + half(expert.shared_ffn)));
        if (trains("experts"))
            keep_operand("shared experts' activation function's output", size_.tokens * expert.shared_ffn);
    }

    const Transformer& model_;
    const Shard& shard_;
    const Inventory& inventory_;
    ShardSizes size_;
    LayerHalf half_ = LayerHalf::attention;
    std::vector<SavedTensor> saved_;
};

}  // namespace

std::vector<SavedTensor> saved_tensors(const Transformer& model, LayerKind kind, const Shard& shard,
                                       const Inventory& inventory) {
    if (runs_forward_alone(model, kind, shard.trained)) return {};
    if (!model.kinds.empty())
        return saved_tensors(of_kind(model, kind), own_kind(kind), of_kind(model, kind, shard), inventory);
    return Tensors(model, shard, inventory).of(kind);
}

}  // namespace weft
