// What updates the parameters, in which precision it remembers, and where.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

struct Job;
struct JobError;
struct MachineInfo;

// muon: momentum alone for matrices, whose updates are made orthogonal (Jordan et al. 2024; Liu et al., 2502.16982);
// what is no matrix of a layer goes by Adam.
enum class UpdateRule : std::uint8_t { adam, muon };

// remainders: the 16 bits that parameters in bf16 lack of a master copy in fp32 (Transformer Engine,
// pytorch/optimizers/fused_adam.py, store_param_remainders).
enum class StateFormat : std::uint8_t { fp32, bf16, fp16, fp8, remainders };
constexpr double bytes_of(StateFormat format) {
    return format == StateFormat::fp32 ? 4 : format == StateFormat::fp8 ? 1 : 2;
}

// nvme: on the drives of the host's node, of which the host holds what it updates.
enum class StatesOn : std::uint8_t { device, host, nvme };

struct OptimizerSettings {
    UpdateRule rule = UpdateRule::adam;
    StateFormat master = StateFormat::fp32;  // kept beside a working copy of 16 bits alone
    StateFormat momentum = StateFormat::fp32, variance = StateFormat::fp32;
    StatesOn states = StatesOn::device;
    double fraction = 1.0;  // of the parameters, whose states are there; the device updates the others

    bool leave_device() const { return states != StatesOn::device; }
    bool operator==(const OptimizerSettings&) const = default;
};

// Megatron-core's --use-precision-aware-optimizer.
constexpr bool is_precision_aware(const OptimizerSettings& optimizer) {
    constexpr StateFormat usual = StateFormat::fp32;
    return optimizer.master != usual || optimizer.momentum != usual || optimizer.variance != usual;
}

// Appends what the framework, or this version of it, cannot do.
void check_optimizer(const Job& job, const MachineInfo& machine, std::vector<JobError>& errors);

}  // namespace weft
