// The MLP of a layer with experts: router, dispatch, experts, combination, shared experts. Element-wise kernels are
// those of Megatron-core's all-to-all dispatcher (transformer/moe/token_dispatcher.py); how often each row is read and
// written is assumed from what they compute.
#include <fmt/format.h>

#include <algorithm>

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"
#include "sim/base/check.hpp"

namespace weft {
namespace {

// The softmax over the experts and the choice of top_k read and write scores in fp32.
LayerPiece router(const Transformer& model, const ShardSizes& size, const ExpertSizes& expert) {
    constexpr double score_bytes = 4.0;
    const double scores = expert.routed * model.experts.count;
    LayerPiece piece = piece_of(Piece::router, "router");
    piece.input_backward.push_back(memory_kernel("routing gradient", 3.0 * scores, score_bytes));
    add_map<"router">(
        piece, model.biases.router,
        {.rows = expert.routed, .inputs = size.hidden, .outputs = static_cast<double>(model.experts.count)},
        size.element_bytes);
    // Frameworks keep it out of fp8 (Megatron-core transformer/moe/router.py: a plain linear map).
    for (std::vector<Kernel>* const kernels : {&piece.forward, &piece.input_backward, &piece.weight_backward}) {
        for (Kernel& kernel : *kernels) kernel.parameters = false;
    }
    piece.forward.push_back(memory_kernel("routing", 2.0 * scores, score_bytes));
    if (model.experts.latent > 0) {  // before tokens leave for their experts
        const MapShape shape{.rows = expert.routed, .inputs = size.hidden, .outputs = expert.hidden};
        add_map<"latent down">(piece, false, shape, size.element_bytes);
    }
    return piece;
}

// Rows are copied in the order of their experts. Backward adds the copies of a token up again. Other dispatchers than
// the all-to-all copy rows where they arrive.
LayerPiece permute(const Shard& shard, const ShardSizes& size, const ExpertSizes& expert) {
    LayerPiece piece = piece_of(Piece::permute, {});
    if (shard.dispatch != Dispatch::all_to_all) return piece;
    const double moved = 2.0 * expert.dispatched * expert.hidden;
    piece.forward = {memory_kernel("permute", moved, size.element_bytes)};
    piece.input_backward = {memory_kernel("permute gradient", moved, size.element_bytes)};
    return piece;
}

// The sum of a token's rows, weighted by their probabilities, whose gradients need the rows once more.
LayerPiece unpermute(const Transformer& model, const Shard& shard, const ShardSizes& size, const ExpertSizes& expert) {
    LayerPiece piece = piece_of(Piece::unpermute, {});
    const bool sums = shard.dispatch == Dispatch::all_to_all;
    const double rows = expert.dispatched * expert.hidden, tokens = expert.routed * expert.hidden;
    if (sums) piece.forward = {memory_kernel("unpermute", rows + tokens, size.element_bytes)};
    if (model.experts.latent > 0) {
        const MapShape shape{.rows = expert.routed, .inputs = expert.hidden, .outputs = size.hidden};
        add_map<"latent up">(piece, false, shape, size.element_bytes);
    }
    if (sums) {
        piece.input_backward.push_back(memory_kernel("unpermute gradient", 2.0 * rows + tokens, size.element_bytes));
    }
    return piece;
}

// Rows arrive in the order of the ranks that sent them, and leave so again; or once for all experts of a rank, which
// permutation then reads (of all-gathered ones those that are its own) and copies, and whose sums it writes at the end.
enum class Rows : std::uint8_t { spread, summed };
Kernel rearrange(const Shard& shard, const ShardSizes& size, const ExpertSizes& expert, Rows form) {
    const double rows = expert.received();
    if (shard.dispatch == Dispatch::all_to_all)
        return memory_kernel("expert sort", 2.0 * rows * expert.hidden, size.element_bytes);
    const bool own = shard.dispatch == Dispatch::all_gather && form == Rows::spread;
    const double moved = rows + (own ? rows : expert.arriving);
    return memory_kernel(form == Rows::spread ? "permute" : "unpermute", moved * expert.hidden, size.element_bytes);
}

// The bias of each expert times the probability of each row, added to what the expert gives, and all of them put
// together again (Megatron-core core_v0.18.0, transformer/moe/experts.py, _apply_bias): in fp32, and cast, where
// probabilities are, which all dispatchers but the all-to-all make them. Backward, casts of the gradient both ways, and
// its products with probabilities and biases, each summed.
void add_bias_apart(LayerPiece& piece, const Shard& shard, double elements) {
    const double e = shard.element_bytes, p = shard.dispatch == Dispatch::all_to_all ? e : 4.0;
    const double weighed = p, added = e + 2.0 * p, joined = 2.0 * p, cast = p == e ? 0.0 : p + e;
    piece.forward.push_back(memory_kernel("expert bias", elements, weighed + added + joined + cast));
    piece.input_backward.push_back(memory_kernel("expert bias gradient", elements, 2.0 * cast + 6.0 * p + 2.0 * e));
}

// Halves taken apart, each bounded and put together again, outside of the activation's kernel (fused_bias_geglu.py,
// weighted_bias_quick_geglu_impl); backward the comparisons' masks (1, 3 and their conjunction), a choice by them for
// each half, the two put together, and the sum of each row's gradient of its probability as a pass of its own.
// PyTorch's derivative of clamp (derivatives.yaml) is such a choice. Elements of `ffn`, which the halves are wide.
void add_clamps(Kernel& forward, Kernel& backward, double ffn, double e) {
    forward.bytes += Bytes{ffn * 8.0 * e};
    forward.launches += 4;
    backward.bytes += Bytes{ffn * 18.0 * e};
    backward.launches += 8;
}

// What the fused operation of experts keeps for backward (Transformer Engine, ops/fused/grouped_mlp.py,
// mark_grouped_tensor: the two products' inputs, cast, and the activation function's), copied without the room that
// graphs leave for rows, and back (Megatron-core core_v0.18.0, transformer/moe/paged_stash.py). The stream is another,
// but kernels that fill the device leave it no room: counted as if in turn.
void add_stash(LayerPiece& piece, const Shard& shard, const ExpertSizes& expert, double e) {
    const double operand = shard.casting == Casting::none ? e : recipe_of(shard.casting).bytes;
    const double row = (expert.hidden + expert.ffn) * operand + expert.inputs * e;
    piece.forward.push_back(memory_kernel("stash for backward", expert.received() * row, 2.0));
    piece.input_backward.insert(piece.input_backward.begin(),
                                memory_kernel("take from stash", expert.received() * row, 2.0));
}

LayerPiece experts(const Transformer& model, const Shard& shard, const ShardSizes& size, const ExpertSizes& expert) {
    const double e = size.element_bytes, rows = expert.received();
    const Kernel before = rearrange(shard, size, expert, Rows::spread),
                 after = rearrange(shard, size, expert, Rows::summed);
    const bool sorted = shard.dispatch != Dispatch::all_to_all || (shard.expert > 1 && expert.local > 1.0);
    LayerPiece piece = piece_of(Piece::experts, "experts"), up = piece;
    add_map<"experts up">(
        up, model.biases.experts,
        {.rows = expert.rows, .inputs = expert.hidden, .outputs = expert.inputs, .count = expert.local}, e);
    const auto pad = [&](std::vector<Kernel>& kernels) {
        if (shard.pads_rows) kernels.push_back(memory_kernel("row padding", 2.0 * rows * expert.hidden, e));
    };
    if (sorted) piece.forward.push_back(before);
    pad(piece.forward);
    piece.forward.push_back(up.forward.front());
    Kernel function = activation(model, rows, expert.inputs, expert.ffn, e),
           gradient = activation_gradient(model, rows, expert.inputs, expert.ffn, e);
    if (shard.expert_passes_apart && model.experts.clamped) add_clamps(function, gradient, rows * expert.ffn, e);
    if (!shard.fuses_experts) piece.forward.push_back(function);
    if (sorted) piece.input_backward.push_back(before);
    pad(piece.input_backward);
    add_map<"experts down">(
        piece, model.biases.experts,
        {.rows = expert.rows, .inputs = expert.ffn, .outputs = expert.hidden, .count = expert.local}, e);
    if (shard.expert_passes_apart && model.biases.experts) add_bias_apart(piece, shard, rows * expert.hidden);
    pad(piece.forward);
    if (sorted) piece.forward.push_back(after);
    if (!shard.fuses_experts) piece.input_backward.push_back(gradient);
    piece.input_backward.push_back(up.input_backward.front());
    pad(piece.input_backward);
    if (sorted) piece.input_backward.push_back(after);
    if (shard.stashes_experts) add_stash(piece, shard, expert, e);
    piece.weight_backward.insert(piece.weight_backward.end(), up.weight_backward.begin(), up.weight_backward.end());
    return piece;
}

LayerPiece shared_up(const Transformer& model, const ShardSizes& size, const ExpertSizes& expert) {
    const double e = size.element_bytes;
    LayerPiece piece = piece_of(Piece::shared_up, "shared experts up");
    piece.input_backward = {activation_gradient(model, size.tokens, expert.shared_inputs, expert.shared_ffn, e)};
    add_map<"shared experts up">(piece, model.biases.experts,
                                 {.rows = size.tokens, .inputs = size.hidden, .outputs = expert.shared_inputs}, e);
    piece.forward.push_back(activation(model, size.tokens, expert.shared_inputs, expert.shared_ffn, e));
    return piece;
}

LayerPiece shared_down(const Transformer& model, const ShardSizes& size, const ExpertSizes& expert) {
    LayerPiece piece = piece_of(Piece::shared_down, "shared experts down");
    add_map<"shared experts down">(piece, model.biases.experts,
                                   {.rows = size.tokens, .inputs = expert.shared_ffn, .outputs = size.hidden},
                                   size.element_bytes);
    // Their gate reads the hidden state and weighs what they give; its gradients read both again.
    if (model.experts.shared_gate) {
        const double moved = (size.hidden_state + 2.0 * size.own_state);
        piece.forward.push_back(memory_kernel("shared experts gate", moved, size.element_bytes));
        piece.input_backward.push_back(memory_kernel("shared experts gate gradient", 2.0 * moved, size.element_bytes));
    }
    // What the shared experts add to the others' sum, and the gradients that meet before the norm.
    const Kernel sum = memory_kernel("shared experts sum", 3.0 * size.own_state, size.element_bytes);
    piece.forward.push_back(sum);
    piece.input_backward.push_back(sum);
    return piece;
}

}  // namespace

std::vector<LayerPiece> expert_pieces(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const ExpertSizes expert(model, shard);
    std::vector<LayerPiece> pieces{router(model, size, expert), permute(shard, size, expert),
                                   experts(model, shard, size, expert), unpermute(model, shard, size, expert)};
    if (model.experts.shared > 0) {
        pieces.push_back(shared_up(model, size, expert));
        pieces.push_back(shared_down(model, size, expert));
    }
    return pieces;
}

namespace {

// C(all - without, chosen) / C(all, chosen): that none of `chosen` out of `all` is one of `without`.
double chance_of_none(double all, double without, std::uint32_t chosen) {
    double chance = 1.0;
    for (std::uint32_t i = 0; i < chosen; ++i) chance *= std::max(all - without - i, 0.0) / (all - i);
    return chance;
}

double units_met(double experts, double units, std::uint32_t chosen) {
    return units * (1.0 - chance_of_none(experts, experts / units, chosen));
}

// C(n, k), as far as doubles go.
double choices(std::uint32_t n, std::uint32_t k) {
    if (k > n) return 0.0;
    double product = 1.0;
    for (std::uint32_t i = 0; i < k; ++i) product *= double(n - i) / double(i + 1);
    return product;
}

// A unit has several whole groups, of which a token may have chosen any number.
double units_of_groups_met(const Experts& experts, std::uint32_t units) {
    const std::uint32_t all = experts.groups, own = all / units, chosen = experts.token_groups;
    const double of_group = double(experts.count) / all;
    double missed = 0.0;
    for (std::uint32_t own_chosen = 0; own_chosen <= std::min(own, chosen); ++own_chosen) {
        const double likely = choices(own, own_chosen) * choices(all - own, chosen - own_chosen) / choices(all, chosen);
        missed += likely * chance_of_none(of_group * chosen, of_group * own_chosen, experts.top_k);
    }
    return units * (1.0 - missed);
}

}  // namespace

double expected_units(const Experts& experts, std::uint32_t units) {
    WEFT_CHECK(experts.count > 0 && units > 0 && experts.count % units == 0, "experts that do not fill their units");
    WEFT_CHECK(units_obstacle(experts, units).empty(), "units that cut groups of experts");
    if (units % experts.groups != 0) return units_of_groups_met(experts, units);
    const double share = double(experts.token_groups) / experts.groups;  // of experts and units that are left
    return units_met(experts.count * share, units * share, experts.top_k);
}

std::string units_obstacle(const Experts& experts, std::uint32_t units) {
    if (units % experts.groups == 0 || experts.groups % units == 0) return {};
    return fmt::format("{} places for experts cut the {} groups that tokens choose from", units, experts.groups);
}

}  // namespace weft
