// What a rank holds of parameters and gradients at the moments of a step, beside its share of parameters and of
// optimizer states: PassingStates of its stage's units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/memory/memory.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {

class StatesInTime {
  public:
    // `gradients`: all that the rank keeps. Gradients of earlier micro-batches are there when the last one comes, and a
    // pipeline's stages are taken to have some.
    StatesInTime(const Job& job, const Stage& stage, Bytes gradients)
        : job_(job), passing_(job.framework->passing(job)), layers_(stage.chunks.size()), all_gradients_(gradients) {
        passing_.anew = passing_.anew && job.micro_batches() == 1 && job.layout.pipeline == 1;
        for (std::size_t c = 0; c < stage.chunks.size(); ++c) layers_[c].resize(stage.chunks[c].layers);
        if (passing_.stay()) return;
        for (const StageModule& module : stage.modules) {
            const Chunk& chunk = stage.chunks[module.chunk];
            const bool after = module.layer >= chunk.first_layer + chunk.layers;
            if (!after && !module.is_before_layers()) {
                add(layers_[module.chunk][module.layer - chunk.first_layer], module);
                continue;
            }
            add(root_, module);
            const bool tied = module.name == "embedding" && job.model.tied_embeddings && chunk.has_head();
            if (after || tied) add(head_, module);
        }
        for (const Layers& layers : layers_) {
            for (const Unit& layer : layers) all_layers_ += layer.all;
        }
    }

    // At every moment.
    HeldStates throughout() const {
        return {passing_.anew ? Bytes{} : all_gradients_, {passing_.resident * all_layers_}};
    }
    // As the loss of a chunk runs backward, or before, and as its layer `i` does, but for the gradients that this layer
    // makes meanwhile; those of it.
    HeldStates at_loss(std::uint32_t chunk) const {
        const Layers& layers = layers_[chunk];
        return {kept(layers, layers.size()), {copies(layers, layers.size()) + passing_.saved * head_.matrices}};
    }
    HeldStates in_layer(std::uint32_t chunk, std::uint32_t i) const {
        const Layers& layers = layers_[chunk];
        double held = copies(layers, i + 1) + passing_.gathered * layers[i].all;
        if (layers[i].runs_again) held += passing_.saved * layers[i].matrices;
        if (i > 0) held += passing_.gathered * layers[i - 1].all;  // asked for ahead
        if (i + 1 < layers.size()) held += passing_.reduced * layers[i + 1].trained;
        if (!by_tensor()) held += made_by(head_);
        return {kept(layers, i + 1), {held}};
    }
    MadeGradients made(std::uint32_t chunk, std::uint32_t i) const {
        const Unit& layer = layers_[chunk][i];
        const Bytes all{made_by(layer)};
        return {by_tensor() ? all : Bytes{passing_.made * layer.mlp}, all};
    }
    // As the root is reduced, last of all: the fuller of two moments: the gradients have been copied to their buffer,
    // or reduced from there.
    HeldStates at_end() const {
        const Bytes own = passing_.anew ? root_.gradients : Bytes{}, made{made_by(root_)};
        const Bytes buffer = throughout().copies + Bytes{passing_.reduced * root_.trained};
        return own > made ? HeldStates{all_gradients_, buffer} : HeldStates{all_gradients_ - own, buffer + made};
    }

  private:
    struct Unit {
        double all = 0;               // elements on this rank, whole
        double trained = 0, mlp = 0;  // of them, and of these the MLP's
        double matrices = 0;          // that products take, trained
        double largest = 0;           // tensor that is trained
        Bytes gradients;              // of the share that is kept
        bool runs_again = false;
    };
    using Layers = std::vector<Unit>;

    static bool is_embedding(const StageModule& module) {
        return module.name == "embedding" || module.name == "positions";
    }

    // The MLP's modules come after attention's projection ("dense") and the norm after it.
    void add(Unit& unit, const StageModule& module) const {
        const bool attention =
            unit.mlp == 0 && (module.name.ends_with("norm") || module.name == "qkv" || module.name == "dense");
        for (std::size_t t = 0; t < module.tensors.size(); ++t) {
            const auto elements = static_cast<double>(module.tensors[t]);
            unit.all += elements;
            if (!module.trains(t)) continue;
            unit.trained += elements;
            if (!attention) unit.mlp += elements;
            if (!module.vector[t] && !is_embedding(module)) unit.matrices += elements;
            unit.largest = std::max(unit.largest, elements);
            if (!passing_.anew) continue;
            const double ranks = job_.framework->shares(job_).gradients;
            unit.gradients +=
                Bytes{elements * passing_.gradients / (module.expert ? expert_ranks(job_, ranks) : ranks)};
        }
        unit.runs_again = unit.runs_again || module.recomputed;
    }
    bool by_tensor() const { return passing_.units == PassingStates::Units::tensors; }
    double made_by(const Unit& unit) const { return passing_.made * (by_tensor() ? unit.largest : unit.trained); }
    // Gradients when layers from `first` on have been reduced; copies of parameters when they have run backward.
    Bytes kept(const Layers& layers, std::size_t first) const {
        if (!passing_.anew) return all_gradients_;
        Bytes sum;
        for (std::size_t i = first; i < layers.size(); ++i) sum += layers[i].gradients;
        return sum;
    }
    double copies(const Layers& layers, std::size_t first) const {
        double saved = 0;
        if (passing_.saved != 0) {
            for (std::size_t i = 0; i < first; ++i) saved += layers[i].runs_again ? 0.0 : layers[i].matrices;
        }
        return passing_.resident * all_layers_ + passing_.root * root_.all + passing_.saved * saved;
    }

    const Job& job_;
    PassingStates passing_;
    std::vector<Layers> layers_;  // by chunk
    Unit root_, head_;            // what of the root makes gradients before the layers do
    double all_layers_ = 0;
    Bytes all_gradients_;
};

}  // namespace weft
