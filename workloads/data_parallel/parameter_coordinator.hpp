// DeepSpeed 0.14.0's partitioned parameter coordinator (runtime/zero/partitioned_param_coordinator.py) as a pure
// emulator: told which modules are about to run and have run, it says which parameters are gathered together and
// knows which are resident. The first pass through the model records in what order modules run; later ones prefetch
// along that trace and keep what will soon be used again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct CoordinatedTensor {
    std::uint64_t elements = 0;
    bool persistent = false;  // not released between uses once a trace is known
    bool external = false;    // used outside its module (a bias that the module hands out): never released after use
};

// Elements.
struct CoordinatorLimits {
    double prefetch = 5e7;
    double live = 1e9;
    double reuse = 1e9;
};

class ParameterCoordinator {
  public:
    using TensorList = std::vector<std::uint32_t>;  // indices into the constructor's tensors

    // Tensors gathered by one collective each; empty: none.
    struct Gathers {
        TensorList fetch;     // needed now
        TensorList prefetch;  // for later modules
    };

    // `modules`: the tensors of each. A module outside them, `container`, owns nothing, but its hooks run too.
    ParameterCoordinator(std::vector<CoordinatedTensor> tensors, std::vector<TensorList> modules,
                         CoordinatorLimits limits);
    static constexpr std::uint32_t container = 0xffffffff;

    // The forward pass of the whole model begins: a recorded trace becomes complete, and reading starts at its head.
    void begin_trace();
    // Before and after a module runs, forward or backward.
    Gathers before(std::uint32_t module);
    void after(std::uint32_t module);
    // Around the optimizer step: everything is released, then the persistent tensors come back.
    void release_all();
    void gather_persistent();

    bool traced() const { return mode_ == Mode::complete; }
    bool left_trace() const { return mode_ == Mode::invalid; }  // a module ran out of the recorded order
    bool resident(std::uint32_t tensor) const { return resident_[tensor]; }
    std::uint64_t resident_elements() const;

  private:
    enum class Mode : std::uint8_t { record, complete, invalid };
    // A use of a tensor, in the module that runs at `step` of the trace.
    struct Use {
        std::uint32_t tensor = 0;
        std::int64_t step = 0;
    };

    std::span<const std::uint32_t> tensors_of(std::uint32_t module) const;
    void check_trace(std::uint32_t module);
    void gather(const TensorList& tensors);
    void skip_own_uses(std::uint32_t module);
    TensorList prefetch();
    bool keeps(std::uint32_t tensor) const;
    bool reused_soon(std::uint32_t tensor) const;

    std::vector<CoordinatedTensor> tensors_;
    std::vector<TensorList> modules_;
    CoordinatorLimits limits_;

    Mode mode_ = Mode::record;
    std::vector<std::uint32_t> order_;       // modules, as traced
    std::vector<Use> uses_;                  // of the whole trace
    std::size_t next_use_ = 0;               // in uses_: what has not been fetched or passed over
    std::int64_t step_ = 0;                  // modules run since begin_trace
    std::vector<std::int64_t> fetched_for_;  // of each tensor: the latest step that it was fetched for
    std::vector<bool> resident_;
    // What the coordinator believes to be live: it forgets at begin_trace, and may fall below zero where tensors stay
    // resident over micro-batches.
    std::int64_t live_ = 0;
};

}  // namespace weft
