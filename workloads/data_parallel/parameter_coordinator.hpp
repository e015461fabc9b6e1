// DeepSpeed 0.14.0's partitioned parameter coordinator (runtime/zero/partitioned_param_coordinator.py) as a pure
// emulator: told which modules are about to run and have run, it says which parameters are gathered together and
// knows which are resident. The first pass through the model records in what order modules run; later ones prefetch
// along that trace and keep what will soon be used again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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
                         CoordinatorLimits limits)
        : tensors_(std::move(tensors)),
          modules_(std::move(modules)),
          limits_(limits),
          fetched_for_(tensors_.size(), never),
          resident_(tensors_.size(), false),
          handed_out_(tensors_.size(), false) {}

    // Before and after a module runs, forward or backward; `after` does nothing for one that owns no tensors
    // (trace_prologue, record_module, fetch_sub_module; release_sub_module).
    Gathers before(std::uint32_t module) {
        check_trace(module);
        if (mode_ == Mode::record) order_.push_back(module);
        const TensorList needed = tensors_of(module);
        Gathers gathers;
        for (const std::uint32_t tensor : needed) {
            if (!resident_[tensor]) gathers.fetch.push_back(tensor);
        }
        gather(gathers.fetch);
        if (mode_ == Mode::complete) {
            skip_own_uses(needed);
            gathers.prefetch = prefetch();
            gather(gathers.prefetch);
        }
        ++step_;
        return gathers;
    }
    void after(std::uint32_t module) {
        const TensorList& own = modules_.at(module).own;
        for (const std::uint32_t tensor : own) handed_out_[tensor] = tensors_[tensor].external;
        for (const std::uint32_t tensor : mode_ == Mode::complete ? releasable(module) : own) {
            if (!tensors_[tensor].external) release(tensor);
        }
    }
    // A micro-batch has gone forward and backward through the whole model: a recorded trace becomes complete, and
    // reading starts at its head (reset_step).
    void end_trace() {
        if (mode_ == Mode::record) {
            for (std::size_t step = 0; step < order_.size(); ++step) {
                for (const std::uint32_t tensor : tensors_of(order_[step])) {
                    uses_.push_back({tensor, static_cast<std::int64_t>(step)});
                }
            }
            mode_ = Mode::complete;
        } else if (mode_ == Mode::invalid) {
            mode_ = Mode::record;
        }
        next_use_ = 0;
        std::fill(fetched_for_.begin(), fetched_for_.end(), never);
        step_ = 0;
        live_ = 0;
    }
    // Around the optimizer step, outside traces: everything is released (release_and_reset_all), then the persistent
    // tensors come back.
    void release_all() {
        for (std::uint32_t t = 0; t < tensors_.size(); ++t) release(t);
    }
    void gather_persistent() {
        for (std::size_t t = 0; t < tensors_.size(); ++t) resident_[t] = resident_[t] || tensors_[t].persistent;
    }

    bool traced() const { return mode_ == Mode::complete; }
    bool left_trace() const { return mode_ == Mode::invalid; }  // a module ran out of the recorded order
    bool resident(std::uint32_t tensor) const { return resident_[tensor]; }
    std::uint64_t resident_elements() const {
        std::uint64_t sum = 0;
        for (std::size_t t = 0; t < tensors_.size(); ++t) sum += resident_[t] ? tensors_[t].elements : 0;
        return sum;
    }

  private:
    enum class Mode : std::uint8_t { record, complete, invalid };
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
    // A use of a tensor, in the module that runs at `step` of the trace.
    struct Use {
        std::uint32_t tensor = 0;
        std::int64_t step = 0;
    };

    TensorList tensors_of(std::uint32_t module) const {
        TensorList tensors = modules_.at(module).own;
        for (const std::uint32_t tensor : modules_[module].borrowed) {
            if (handed_out_[tensor]) tensors.push_back(tensor);
        }
        return tensors;
    }
    // A module that runs out of the recorded order makes the trace useless; the next pass records anew.
    void check_trace(std::uint32_t module) {
        if (mode_ != Mode::complete) return;
        const auto step = static_cast<std::size_t>(step_);
        if (step < order_.size() && order_[step] == module) return;
        mode_ = Mode::invalid;
        order_.clear();
        uses_.clear();
        next_use_ = 0;
    }
    void gather(const TensorList& tensors) {
        for (const std::uint32_t tensor : tensors) {
            resident_[tensor] = true;
            live_ += static_cast<std::int64_t>(tensors_[tensor].elements);
        }
    }
    // The uses of the module that runs now are passed over, unless an earlier prefetch has passed over them already.
    void skip_own_uses(const TensorList& needed) {
        auto left = std::ranges::count_if(needed, [&](std::uint32_t tensor) { return fetched_for_[tensor] < step_; });
        for (; left > 0 && next_use_ < uses_.size(); --left, ++next_use_) {
            fetched_for_[uses_[next_use_].tensor] = uses_[next_use_].step;
        }
    }
    TensorList prefetch() {
        TensorList chosen;
        const double most = std::min(limits_.live - static_cast<double>(live_), limits_.prefetch);
        double elements = 0;
        for (; next_use_ < uses_.size() && elements < most; ++next_use_) {
            const auto& [tensor, step] = uses_[next_use_];
            fetched_for_[tensor] = std::max(fetched_for_[tensor], step);
            if (resident_[tensor] || std::find(chosen.begin(), chosen.end(), tensor) != chosen.end()) continue;
            chosen.push_back(tensor);
            elements += static_cast<double>(tensors_[tensor].elements);
        }
        return chosen;
    }
    // __release_param
    void release(std::uint32_t tensor) {
        if (!resident_[tensor]) return;
        resident_[tensor] = false;
        live_ -= static_cast<std::int64_t>(tensors_[tensor].elements);
    }
    // __params_to_release, which is memoized over the whole run
    const TensorList& releasable(std::uint32_t module) {
        const auto [found, added] = releasable_.try_emplace({module, step_});
        if (!added) return found->second;
        for (const std::uint32_t tensor : modules_[module].own) {
            const bool kept = tensors_[tensor].persistent || fetched_for_[tensor] > step_ || reused_soon(tensor);
            if (!kept) found->second.push_back(tensor);
        }
        return found->second;
    }
    // Whether the tensor is used again before `limits_.reuse` elements of parameters have been passed.
    bool reused_soon(std::uint32_t tensor) const {
        double passed = 0;
        for (auto step = static_cast<std::size_t>(step_); step < order_.size() && passed < limits_.reuse; ++step) {
            for (const std::uint32_t used : tensors_of(order_[step])) {
                if (used == tensor) return true;
                passed += static_cast<double>(tensors_[used].elements);
            }
        }
        return false;
    }

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
