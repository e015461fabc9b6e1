// Writes the passes of micro-batches through the model parts of one stage: computation, and the calls of parallelism
// schemes inside it.
//
// Joint passes: the forward of one micro-batch and the backward of another, layer against layer, so that the tokens of
// one travel while the other computes. A layer is cut where its tokens leave and where they have come back:
//
//   exchanges   combine gradient | dispatch, then dispatch gradient   | combine
//   computes    attention, ...   | experts backward, then forward     | attention backward
//
// as Megatron-core 0.14 has it (core/models/common/model_chunk_schedule_plan.py, TransformerLayerSchedulePlan.run) and
// DeepSeek-V3 (arXiv 2412.19437, figure 4), which puts the weights' gradients off as in `delayed_backward`. A call
// begins once what it sends is there, in the order above with the others of its group, and is waited for where what it
// brings is needed: what then is not hidden is exposed. Of exchanges C, D, d, c and computations a, e, f, b in that
// order, equal pairs of layers expose (C - a)+ + (D - e)+ + (d - f)+ + (c - b)+ each.
//
// The element-wise passes over rows that have come back are computed with the rest; Megatron runs them on the stream of
// the exchange. Ranks agree on counts of tokens in the same group as the exchange, so that this small gather waits for
// an exchange under way.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/stage/end_writer.hpp"

namespace weft {

class PassWriter : EndWriter {
  public:
    PassWriter(const Plan& plan, std::uint32_t stage, DataParallel& data_parallel, Script& script)
        : EndWriter(plan, stage, data_parallel, script), narrow_products_(stage_.chunks.size()) {
        for (const StageModule& module : stage_.modules) {
            if (!has_narrow_products(module)) continue;
            narrow_products_[module.chunk] += static_cast<std::size_t>(std::ranges::count(module.vector, false));
        }
    }

    void forward(const Slot& slot) {
        const At here = at(slot, Pass::forward);
        write_once(here.pass, Halves::both, slot.chunk, [&] { write_forward(here); });
    }
    void backward(const Slot& slot, Halves halves, Accumulation accumulation) {
        At here = at(slot, Pass::backward);
        here.pass.accumulation = accumulation;
        write_once(here.pass, halves, slot.chunk, [&] { write_backward(here, halves); });
    }
    // Both as one: each one's tokens travel while the other one computes. When the forward's output is there, and the
    // gradient that the backward hands on.
    struct JointEnds {
        ActionId output = Action::none, gradient = Action::none;
    };

    // Layers that have no counterpart come last, the backward's first (TransformerModelChunkSchedulePlan.run).
    JointEnds joint(const Slot& forward, const Slot& backward, Accumulation accumulation) {
        const At ahead = at(forward, Pass::forward);
        At behind = at(backward, Pass::backward);
        behind.pass.accumulation = accumulation;
        const Chunk &upward = stage_.chunks[forward.chunk], &downward = stage_.chunks[backward.chunk];
        const std::uint32_t both = std::min(upward.layers, downward.layers);
        const auto next_ahead = [&](std::uint32_t i) { return layer_at(ahead, upward, i); };
        const auto next_behind = [&](std::uint32_t i) {
            const std::uint32_t layer = downward.layers - 1 - i;
            repeat_layers_before(behind, layer, Halves::both);
            return backward_at(behind, downward, layer);
        };
        Joined joined;
        begin_forward(ahead);
        begin_backward(behind, Halves::both);
        for (std::uint32_t i = 0; i < both; ++i) layer_pair(next_ahead(i), next_behind(i), joined);
        for (std::uint32_t i = both; i < downward.layers; ++i) layer_pair(std::nullopt, next_behind(i), joined);
        for (std::uint32_t i = both; i < upward.layers; ++i) layer_pair(next_ahead(i), std::nullopt, joined);
        JointEnds ends{.gradient = script_.now()};
        host_.begin();
        settle_weights(joined);
        finish_coming(joined);
        host_.end(ahead.pass.where);
        ends.output = script_.now();
        end_forward(ahead);
        end_backward(behind, Halves::both);
        return ends;
    }
    HostStream& host() { return host_; }

  private:
    void reduce_maxima(const At& at) {
        calls(reductions_of_maxima(job_, narrow_products_[at.pass.chunk], at.pass.pass), at);
    }
    void write_forward(const At& here) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        begin_forward(here);
        for (std::uint32_t i = 0; i < chunk.layers; ++i) {
            const At own = layer_at(here, chunk, i);
            if (predicts(own)) prediction_forward(own);
            layer(own, Halves::both);
            if (predicts(own)) prediction_norm_forward(own);
            store_activations(own, chunk, i);
        }
        end_forward(here);
    }

    // What comes before and after the layers of a pass.
    void begin_forward(const At& here) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        data_parallel_.begin_pass(script_, here.pass);
        if (chunk.part > 0) calls(job_.framework->gather_received_activation(job_), here);
        if (chunk.has_embedding() || chunk.has_head()) {
            const std::uint32_t end = chunk.has_embedding() ? 0 : job_.layout.pipeline - 1;
            calls(job_.framework->load_batch(job_, end), here);
        }
        if (chunk.predictions > 0 && !chunk.has_embedding()) {
            calls(job_.framework->load_batch(job_, 0), here);
            if (!chunk.has_head()) calls(job_.framework->load_batch(job_, job_.layout.pipeline - 1), here);
        }
        if (chunk.has_embedding()) embedding_forward(here);
    }
    void end_forward(At here) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        here.pass.where.layer = chunk.first_layer + chunk.layers;
        here.module = chunk.head_module;
        reduce_maxima(here);
        if (chunk.has_head()) head_forward(here);
        data_parallel_.end_pass(script_, here.pass);
    }
    void write_backward(const At& here, Halves halves) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        begin_backward(here, halves);
        if (halves == Halves::both && delays_weight_gradients(job_) == Setting::on) {
            delayed_backward(here);
        } else {
            for (std::uint32_t i = chunk.layers; i-- > 0;) {
                const At own = layer_at(here, chunk, i);
                repeat_layers_before(here, i, halves);
                if (predicts(own)) prediction_norm_backward(own, halves);
                layer(own, halves);
                if (predicts(own)) prediction_backward(own, halves);
            }
        }
        end_backward(here, halves);
    }
    void begin_backward(const At& here, Halves halves) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        At end = here;
        end.pass.where.layer = chunk.first_layer + chunk.layers;
        end.module = chunk.head_module;
        if (halves != Halves::weight) data_parallel_.begin_pass(script_, here.pass);
        if (halves != Halves::weight && !chunk.has_head()) calls(job_.framework->gather_before_backward(job_), end);
        if (chunk.has_head()) head_backward(end, halves);
    }
    void end_backward(const At& here, Halves halves) {
        if (halves != Halves::weight) reduce_maxima(here);
        if (stage_.chunks[here.pass.chunk].has_embedding()) embedding_backward(here, halves);
        if (halves != Halves::input) data_parallel_.end_pass(script_, here.pass);
    }
    // What backward of a layer needs that was not kept on the device.
    void repeat_layers_before(const At& here, std::uint32_t i, Halves halves) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        const std::uint32_t group = job_.recompute.group();
        const bool ends_group = (i + 1) % group == 0 || i + 1 == chunk.layers;
        if (ends_group && halves != Halves::weight) recompute_group(here, i / group * group, i + 1);
        load_activations(layer_at(here, chunk, i), chunk, i);
    }

    // Layers of a chunk that forward kept the first one's input of.
    void recompute_group(const At& here, std::uint32_t first, std::uint32_t end) {
        if (!runs_again(job_.recompute.of_layer(first))) return;
        At again = here;
        again.pass.pass = Pass::recompute;
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        if (costs(layer_at(again, chunk, end - 1)).forward_alone) return;
        calls(job_.framework->checkpoint_gather(job_), layer_at(again, chunk, first));
        for (std::uint32_t i = first; i < end; ++i) layer(layer_at(again, chunk, i), Halves::both);
    }

    // Joint passes.
    struct Joined {
        std::optional<At> coming;    // layer of the forward whose tokens are coming back
        std::vector<ActionId> back;  // in these calls
        std::optional<At> owing;     // layer of the backward that is yet to compute gradients of weights
    };
    std::optional<At> backward_at(const At& behind, const Chunk& chunk, std::uint32_t i) const {
        const At own = layer_at(behind, chunk, i);
        return costs(own).forward_alone ? std::nullopt : std::optional(own);
    }
    void layer_pair(const std::optional<At>& ahead, const std::optional<At>& behind, Joined& joined) {
        if (!ahead && !behind) return;
        host_.begin();
        if (ahead) host_.issue(costs(*ahead).checkpoints.forward);
        if (behind) host_.issue(costs(*behind).checkpoints.input_backward);
        std::vector<ActionId> behind_sent, ahead_sent;
        if (behind) behind_sent = behind_begins(*behind, joined);
        if (ahead) ahead_sent = ahead_begins(*ahead, joined);
        if (behind) {
            wait(behind_sent);
            behind_sent = behind_meets_experts(*behind);
        }
        // The host calls for the forward's exchange once it has launched the backward of the experts.
        if (ahead) wait_for_counts(*ahead);
        const bool delays = delays_weight_gradients(job_) == Setting::on;
        if (behind && delays) {
            weights_of(*behind, cut(*behind).experts);
            weights_of(*behind, cut(*behind).shared);
        }
        if (ahead) {
            wait(ahead_sent);
            counts_known(*ahead, Piece::experts, Known::called);
            ahead_meets_experts(*ahead, joined);
        }
        if (behind) {
            wait(behind_sent);
            backward_pieces(*behind, cut(*behind).ahead, delays ? Halves::input : Halves::both);
            if (predicts(*behind)) prediction_backward(*behind, Halves::both);
            if (delays) joined.owing = behind;
        }
        host_.end(ahead ? ahead->pass.where : behind->pass.where);
    }
    std::vector<ActionId> behind_begins(const At& behind, Joined& joined) {
        if (predicts(behind)) prediction_norm_backward(behind, Halves::both);
        backward_pieces(behind, cut(behind).rest, Halves::both);
        std::vector<ActionId> sent = send(exchange(behind, Pass::backward).there, behind);
        settle_weights(joined);
        return sent;
    }
    std::vector<ActionId> ahead_begins(const At& ahead, Joined& joined) {
        finish_coming(joined);
        if (predicts(ahead)) prediction_forward(ahead);
        for (const PieceCost* piece : cut(ahead).ahead) {
            piece_forward(ahead, *piece, around(ahead, piece->piece, Pass::forward));
        }
        return send(exchange(ahead, Pass::forward).there, ahead);
    }
    std::vector<ActionId> behind_meets_experts(const At& behind) {
        const LayerCut& cut = this->cut(behind);
        const Halves halves = delays_weight_gradients(job_) == Setting::on ? Halves::input : Halves::both;
        backward_pieces(behind, cut.experts, halves);
        backward_pieces(behind, cut.shared, halves);
        return send(exchange(behind, Pass::backward).back, behind);
    }
    void ahead_meets_experts(const At& ahead, Joined& joined) {
        forward_pieces(ahead, cut(ahead).shared);
        forward_pieces(ahead, cut(ahead).experts);
        joined.back = send(exchange(ahead, Pass::forward).back, ahead);
        joined.coming = ahead;
    }
    void finish_coming(Joined& joined) {
        if (!joined.coming) return;
        wait(joined.back);
        forward_pieces(*joined.coming, cut(*joined.coming).rest);
        if (predicts(*joined.coming)) prediction_norm_forward(*joined.coming);
        joined.coming.reset();
    }
    // Of what comes before the experts, once the next layer's gradient of tokens travels.
    void settle_weights(Joined& joined) {
        if (!joined.owing) return;
        weights_of(*joined.owing, cut(*joined.owing).ahead);
        joined.owing.reset();
    }

    // The layers of a backward pass alone.
    void delayed_backward(const At& here) {
        const Chunk& chunk = stage_.chunks[here.pass.chunk];
        Joined joined;
        for (std::uint32_t i = chunk.layers; i-- > 0;) {
            repeat_layers_before(here, i, Halves::both);
            layer_pair(std::nullopt, backward_at(here, chunk, i), joined);
        }
        host_.begin();
        settle_weights(joined);
        host_.end(here.pass.where);
    }

    std::vector<std::size_t> narrow_products_;  // of each chunk
};

}  // namespace weft
