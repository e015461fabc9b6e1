#include "workloads/data_parallel/parameter_coordinator.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

}  // namespace

ParameterCoordinator::ParameterCoordinator(std::vector<CoordinatedTensor> tensors,
                                           std::vector<CoordinatedModule> modules, CoordinatorLimits limits)
    : tensors_(std::move(tensors)),
      modules_(std::move(modules)),
      limits_(limits),
      fetched_for_(tensors_.size(), never),
      resident_(tensors_.size(), false),
      handed_out_(tensors_.size(), false) {}

// reset_step
void ParameterCoordinator::end_trace() {
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

// trace_prologue, record_module, fetch_sub_module
ParameterCoordinator::Gathers ParameterCoordinator::before(std::uint32_t module) {
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

// release_sub_module
void ParameterCoordinator::after(std::uint32_t module) {
    const TensorList& own = modules_.at(module).own;
    for (const std::uint32_t tensor : own) handed_out_[tensor] = tensors_[tensor].external;
    for (const std::uint32_t tensor : mode_ == Mode::complete ? releasable(module) : own) {
        if (!tensors_[tensor].external) release(tensor);
    }
}

// release_and_reset_all
void ParameterCoordinator::release_all() {
    for (std::uint32_t t = 0; t < tensors_.size(); ++t) release(t);
}

void ParameterCoordinator::gather_persistent() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) resident_[t] = resident_[t] || tensors_[t].persistent;
}

std::uint64_t ParameterCoordinator::resident_elements() const {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < tensors_.size(); ++t) sum += resident_[t] ? tensors_[t].elements : 0;
    return sum;
}

ParameterCoordinator::TensorList ParameterCoordinator::tensors_of(std::uint32_t module) const {
    TensorList tensors = modules_.at(module).own;
    for (const std::uint32_t tensor : modules_[module].borrowed) {
        if (handed_out_[tensor]) tensors.push_back(tensor);
    }
    return tensors;
}

// A module that runs out of the recorded order makes the trace useless; the next pass records anew.
void ParameterCoordinator::check_trace(std::uint32_t module) {
    if (mode_ != Mode::complete) return;
    const auto step = static_cast<std::size_t>(step_);
    if (step < order_.size() && order_[step] == module) return;
    mode_ = Mode::invalid;
    order_.clear();
    uses_.clear();
    next_use_ = 0;
}

void ParameterCoordinator::gather(const TensorList& tensors) {
    for (const std::uint32_t tensor : tensors) {
        resident_[tensor] = true;
        live_ += static_cast<std::int64_t>(tensors_[tensor].elements);
    }
}

// The uses of the module that runs now are passed over, unless an earlier prefetch has passed over them already.
void ParameterCoordinator::skip_own_uses(const TensorList& needed) {
    std::size_t left = 0;
    for (const std::uint32_t tensor : needed) left += fetched_for_[tensor] < step_ ? 1 : 0;
    for (; left > 0 && next_use_ < uses_.size(); --left, ++next_use_) {
        fetched_for_[uses_[next_use_].tensor] = uses_[next_use_].step;
    }
}

ParameterCoordinator::TensorList ParameterCoordinator::prefetch() {
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
void ParameterCoordinator::release(std::uint32_t tensor) {
    if (!resident_[tensor]) return;
    resident_[tensor] = false;
    live_ -= static_cast<std::int64_t>(tensors_[tensor].elements);
}

// __params_to_release, which is memoized over the whole run
const ParameterCoordinator::TensorList& ParameterCoordinator::releasable(std::uint32_t module) {
    const auto [found, added] = releasable_.try_emplace({module, step_});
    if (!added) return found->second;
    for (const std::uint32_t tensor : modules_[module].own) {
        const bool kept = tensors_[tensor].persistent || fetched_for_[tensor] > step_ || reused_soon(tensor);
        if (!kept) found->second.push_back(tensor);
    }
    return found->second;
}

// Whether the tensor is used again before `limits_.reuse` elements of parameters have been passed.
bool ParameterCoordinator::reused_soon(std::uint32_t tensor) const {
    double passed = 0;
    for (auto step = static_cast<std::size_t>(step_); step < order_.size() && passed < limits_.reuse; ++step) {
        for (const std::uint32_t used : tensors_of(order_[step])) {
            if (used == tensor) return true;
            passed += static_cast<double>(tensors_[used].elements);
        }
    }
    return false;
}

}  // namespace weft
