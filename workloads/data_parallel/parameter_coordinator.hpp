// DeepSpeed 0.14.0's partitioned parameter coordinator (runtime/zero/partitioned_param_coordinator.py) as a pure
// emulator: told which modules are about to run and have run, it says which parameters are gathered together and
// knows which are resident. The first pass through the model records in what order modules run; later ones prefetch
// along that trace and keep what will soon be used again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weft {

struct CoordinatedTensor {
    std::uint64_t elements = 0;
    bool persistent = false;  // not released between uses once a trace is known
    bool external = false;    // used outside its module (a bias that the module hands out): never released after use
};

// What a module needs while it runs; indices of tensors, ascending.
struct CoordinatedModule {
    std::vector<std::uint32_t> own;
    std::vector<std::uint32_t> borrowed;  // external tensors of modules inside it, known once these have run
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

    ParameterCoordinator(std::vector<CoordinatedTensor> tensors, std::vector<CoordinatedModule> modules,
                         CoordinatorLimits limits);

    // Before and after a module runs, forward or backward; `after` does nothing for one that owns no tensors.
    Gathers before(std::uint32_t module);
    void after(std::uint32_t module);
    // A micro-batch has gone forward and backward through the whole model: a recorded trace becomes complete, and
    // reading starts at its head.
    void end_trace();
    // Around the optimizer step, outside traces: everything is released, then the persistent tensors come back.
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

    TensorList tensors_of(std::uint32_t module) const;
    void check_trace(std::uint32_t module);
    void gather(const TensorList& tensors);
    void skip_own_uses(const TensorList& needed);
    TensorList prefetch();
    void release(std::uint32_t tensor);
    const TensorList& releasable(std::uint32_t module);
    bool reused_soon(std::uint32_t tensor) const;

    std::vector<CoordinatedTensor> tensors_;
    std::vector<CoordinatedModule> modules_;
    CoordinatorLimits limits_;

    Mode mode_ = Mode::record;
    std::vector<std::uint32_t> order_;       // modules, as traced
    std::vector<Use> uses_;                  // of the whole trace
    std::size_t next_use_ = 0;               // in uses_: what has not been fetched or passed over
    std::int64_t step_ = 0;                  // modules run in this trace
    std::vector<std::int64_t> fetched_for_;  // of each tensor: the latest step that it was fetched for
    std::vector<bool> resident_;
    std::vector<bool> handed_out_;  // of each external tensor: whether its module has run
    // What the coordinator believes to be live: it forgets at the end of a trace, and what is released after that
    // counts below zero.
    std::int64_t live_ = 0;
    // What to release after a module at a step. Decided once in a run: the coordinator caches its decisions.
    std::map<std::pair<std::uint32_t, std::int64_t>, TensorList> releasable_;
};

}  // namespace weft
