// What stands before and after layers in a pass: embedding and head, modules of multi-token prediction around their
// layer, copies of activations to the host and back.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"
#include "models/transformer/prediction.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/stage/layer_writer.hpp"

namespace weft {

class EndWriter : protected LayerWriter {
  protected:
    using LayerWriter::LayerWriter;

    // The table of tokens, perhaps one of positions, a norm of their sum, and the ends of an encoder.
    std::size_t end_of_embedding(const At& at) const {
        std::size_t end = at.module + 1;
        while (end < stage_.modules.size() && stage_.modules[end].is_before_layers()) ++end;
        return end;
    }
    void embedding_forward(const At& at) {
        for (std::size_t m = at.module; m < end_of_embedding(at); ++m) before(at, m);
        compute(at, "forward embedding", plan_.costs.embedding_forward);
        for (std::size_t m = at.module; m < end_of_embedding(at); ++m) after(at, m);
        calls(around(at, Piece::embedding, Pass::forward).after, at);
    }
    // Only the table's gradient: token ids have none.
    void embedding_backward(const At& at, Halves halves) {
        if (halves != Halves::weight) calls(around(at, Piece::embedding, Pass::backward).before, at);
        if (halves == Halves::input) return;
        std::size_t end = end_of_embedding(at);
        if (stage_.modules[end - 1].forward_alone) --end;  // a teacher's
        for (std::size_t m = end; m-- > at.module;) before(at, m);
        compute(at, "backward embedding", plan_.costs.embedding_backward);
        for (std::size_t m = end; m-- > at.module;) after(at, m);
    }

    // The last modules of a stage, behind the final norm; 0: there is none.
    std::size_t module_after(const At& at, std::string_view name, std::string_view or_name = {}) const {
        for (std::size_t m = at.module + 1; m < stage_.modules.size() && stage_.modules[m].chunk == at.pass.chunk;
             ++m) {
            if (stage_.modules[m].name == name || stage_.modules[m].name == or_name) return m;
        }
        return 0;
    }
    std::size_t output_layer(const At& at) const { return module_after(at, "output layer", "tied embedding"); }
    // A teacher's output layer computes with the model's, for which it sums as much over its tensor ranks.
    void teacher_forward(const At& at) {
        const std::size_t module = module_after(at, "teacher head");
        if (module == 0) return;
        const Chunk& chunk = stage_.chunks[at.pass.chunk];
        before(at, module);
        calls(around(layer_at(at, chunk, chunk.layers - 1), Piece::head, Pass::forward).before, at);
        calls(job_.framework->loss(job_), at);
        after(at, module);
    }
    void head_forward(const At& at) {
        const std::size_t output = output_layer(at);
        before(at, at.module);
        compute(at, "forward final norm", plan_.costs.final_norm_forward);
        after(at, at.module);
        for (std::uint32_t loss = 0; loss <= job_.model.mtp_layers; ++loss) {
            calls(around(at, Piece::head, Pass::forward).before, at);
            if (output > 0 && loss == 0) before(at, output);
            compute(at, "forward head", plan_.costs.head_forward);
            if (output > 0 && loss == job_.model.mtp_layers) after(at, output);
            calls(job_.framework->loss(job_), at);
        }
        teacher_forward(at);
    }
    void loss_backward(const At& at, Halves halves) {
        const PartCosts& costs = plan_.costs;
        if (halves == Halves::weight) return compute(at, "backward head weights", costs.head_weight_backward);
        const Around& around = this->around(at, Piece::head, Pass::backward);
        const std::vector<ActionId> issued = issue(around.beside, at);
        compute(at, "backward head", costs.head_input_backward);
        wait(issued);
        sum_gradients(at, {.weight = costs.head_weight_backward, .label = "backward head weights"}, around, halves);
    }
    void head_backward(const At& at, Halves halves) {
        const PartCosts& costs = plan_.costs;
        const std::size_t output = output_layer(at);
        if (output > 0 && halves != Halves::weight) before(at, output);
        for (std::uint32_t loss = 0; loss <= job_.model.mtp_layers; ++loss) loss_backward(at, halves);
        if (output > 0 && halves != Halves::input) after(at, output);
        if (halves != Halves::weight) {
            before(at, at.module);
            compute(at, "backward final norm", costs.final_norm_backward);
        }
        if (halves != Halves::input) after(at, at.module);
    }

    // Modules of multi-token prediction around their layer.
    bool predicts(const At& at) const { return is_prediction(job_.model, at.pass.where.layer); }
    // Embedding and hidden state side by side.
    static Call of_both(Call call) {
        call.message = call.message * 2;
        return call;
    }

    // The map is cut by its outputs, and its output gathered whole; under sequence parallelism its input is gathered
    // before and each rank goes on with its own tokens (Megatron-core, multi_token_prediction.py _concat_embeddings).
    static std::vector<Call> before_map(const Job& job) {
        if (job.layout.tensor == 1 || !shares_tokens(job)) return {};
        return {of_both(gather_hidden(job, "all-gather prediction input"))};
    }
    static std::vector<Call> after_map(const Job& job) {
        if (job.layout.tensor == 1) return {};
        return {gather_hidden(job, "all-gather prediction")};
    }
    static std::vector<Call> before_map_gradient(const Job& job) {
        if (job.layout.tensor == 1 || !shares_tokens(job)) return {};
        return {gather_hidden(job, "all-gather prediction gradient"),
                of_both(gather_hidden(job, "all-gather prediction input"))};
    }
    static std::vector<Call> after_map_gradient(const Job& job) {
        if (job.layout.tensor == 1) return {};
        if (!shares_tokens(job)) return {of_both(reduce_hidden(job, "all-reduce prediction gradient"))};
        return {of_both(scatter_hidden(job, "reduce-scatter prediction gradient"))};
    }

    // Every module embeds; the copy's gradient is complete after the one whose backward is last, the first. A tied copy
    // is the head's.
    bool closes_embedding_copy(const At& at) const {
        const bool has_copy = stage_.chunks[at.pass.chunk].embedding_copy > 0 && !job_.model.tied_embeddings;
        return has_copy && at.pass.where.layer == job_.model.layers;
    }
    void prediction_forward(const At& at) {
        const std::size_t copy = stage_.chunks[at.pass.chunk].embedding_copy;
        const bool closes = closes_embedding_copy(at);
        if (closes) before(at, copy);
        compute(at, "forward embedding", plan_.costs.embedding_forward);
        if (closes) after(at, copy);
        calls(around(at, Piece::embedding, Pass::forward).after, at);
        before(at, at.module - 2);
        before(at, at.module - 1);
        calls(before_map(job_), at);
        compute(at, "forward prediction input", plan_.costs.prediction_forward);
        after(at, at.module - 1);
        after(at, at.module - 2);
        calls(after_map(job_), at);
    }
    void prediction_backward(const At& at, Halves halves) {
        const PartCosts& costs = plan_.costs;
        if (halves != Halves::weight) {
            before(at, at.module - 1);
            calls(before_map_gradient(job_), at);
            compute(at, "backward prediction input", costs.prediction_input_backward);
            calls(after_map_gradient(job_), at);
            before(at, at.module - 2);
            calls(around(at, Piece::embedding, Pass::backward).before, at);
        }
        if (halves == Halves::input) return;
        compute(at, "backward prediction weights", costs.prediction_weight_backward);
        after(at, at.module - 1);
        after(at, at.module - 2);
        const std::size_t copy = stage_.chunks[at.pass.chunk].embedding_copy;
        const bool closes = closes_embedding_copy(at);
        if (closes) before(at, copy);
        compute(at, "backward embedding", costs.embedding_backward);
        if (closes) after(at, copy);
    }
    std::size_t prediction_norm(const At& at) const {
        std::size_t module = at.module;
        while (stage_.modules[module].name != "prediction output norm") ++module;
        return module;
    }
    void prediction_norm_forward(const At& at) {
        before(at, prediction_norm(at));
        compute(at, "forward prediction norm", plan_.costs.final_norm_forward);
        after(at, prediction_norm(at));
    }
    void prediction_norm_backward(const At& at, Halves halves) {
        if (halves != Halves::weight) {
            before(at, prediction_norm(at));
            compute(at, "backward prediction norm", plan_.costs.final_norm_backward);
        }
        if (halves != Halves::input) after(at, prediction_norm(at));
    }

    // The layer whose window layer `i` is; none: nullopt.
    std::optional<std::uint32_t> copied_layer(const Chunk& chunk, std::uint32_t i) const {
        for (std::uint32_t j = 0; j < job_.offloaded_layers; ++j) {
            if (copy_window(chunk.layers, job_.offloaded_layers, j) == i) return j;
        }
        return std::nullopt;
    }
    Seconds copy_time(const Chunk& chunk, std::uint32_t i) const {
        return layer_activations(job_, chunk, i) / plan_.machine.host->link;
    }

    // Activations that go to the host after a layer has run, and come back before one does.
    void store_activations(const At& at, const Chunk& chunk, std::uint32_t i) {
        if (job_.offloaded_layers == 0) return;
        const auto store = [&](std::uint32_t layer) {
            copies_[layer] =
                script_.store("offload activations", copy_time(chunk, layer), at.pass.where, script_.now());
        };
        copies_.resize(job_.offloaded_layers);
        if (i == 0) store(0);
        const std::optional<std::uint32_t> stored = copied_layer(chunk, i);
        if (!stored) return;
        script_.wait(copies_[*stored]);
        if (*stored + 1 < job_.offloaded_layers) store(*stored + 1);
    }
    void load_activations(const At& at, const Chunk& chunk, std::uint32_t i) {
        if (job_.offloaded_layers == 0) return;
        if (const std::optional<std::uint32_t> loaded = copied_layer(chunk, i)) {
            if (*loaded + 1 < job_.offloaded_layers) script_.wait(copies_[*loaded + 1]);
            copies_[*loaded] =
                script_.load("fetch activations", copy_time(chunk, *loaded), at.pass.where, script_.now());
        }
        if (i == 0) script_.wait(copies_[0]);
    }

    std::vector<ActionId> copies_;  // of the layers of the pass that is written
};

}  // namespace weft
