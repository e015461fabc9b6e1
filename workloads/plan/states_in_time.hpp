// What a rank holds of parameters and gradients at the moments of a step, beside its share of parameters and of
// optimizer states: PassingStates of its stage's units.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/memory.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

struct HeldStates {
    Bytes gradients;  // of the share
    Bytes copies;     // of parameters, and gradients that are not yet reduced
    Bytes total() const { return gradients + copies; }
};

class StatesInTime {
  public:
    // `gradients`: all that the rank keeps.
    StatesInTime(const Job& job, const Stage& stage, Bytes gradients);

    HeldStates throughout() const;  // at every moment
    // As the loss of a chunk runs backward, or before, and as its layer `i` does, but for the gradients that this layer
    // makes meanwhile; those of it.
    HeldStates at_loss(std::uint32_t chunk) const;
    HeldStates in_layer(std::uint32_t chunk, std::uint32_t i) const;
    MadeGradients made(std::uint32_t chunk, std::uint32_t i) const;
    HeldStates at_end() const;  // as the root is reduced, last of all

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

    void add(Unit& unit, const StageModule& module) const;
    bool by_tensor() const { return passing_.units == PassingStates::Units::tensors; }
    double made_by(const Unit& unit) const { return passing_.made * (by_tensor() ? unit.largest : unit.trained); }
    // Gradients when layers from `first` on have been reduced; copies of parameters when they have run backward.
    Bytes kept(const Layers& layers, std::size_t first) const;
    double copies(const Layers& layers, std::size_t first) const;

    const Job& job_;
    PassingStates passing_;
    std::vector<Layers> layers_;  // by chunk
    Unit root_, head_;            // what of the root makes gradients before the layers do
    double all_layers_ = 0;
    Bytes all_gradients_;
};

}  // namespace weft
