#include "workloads/framework/framework.hpp"

#include "workloads/job/job.hpp"

namespace weft {

namespace {

// Gradient read; parameter or master copy, momentum and variance read and written.
double update(const Job& job, double gradient) {
    const OptimizerSettings& own = job.optimizer;
    const double variance = own.rule == UpdateRule::muon ? 0 : bytes_of(own.variance);
    return gradient + 2 * (bytes_of(own.master) + bytes_of(own.momentum) + variance);
}

}  // namespace

// Bytes per parameter (r read, w write), after Megatron-LM's megatron/optimizer/optimizer.py and apex's multi_tensor
// kernels; g is the accumulated gradient's size:
//   zero the gradients            w g           of all that the rank holds
//   copy to fp32                  r g w 4       unless they are fp32
//   unscale, look for infinities  r 4 w 4       fp16 only: bf16 has no loss scale
//   norm                          r 4
//   clip                          r 4 w 4
//   Adam                          r 16 w 12     gradient, parameter, momentum, variance
//   copy to half precision        r 4 w 2
// Muon has no variance. A precision-aware optimizer takes gradients as they are, master copy, momentum and variance in
// their own formats, and writes the working copy itself; remainders are completed by it.
UpdateTraffic mixed_precision_update(const Job& job) {
    constexpr double norm = 4, clip = 8, unscale = 8;
    const double gradient = job.framework->gradient_bytes(job), element = element_bytes(job.precision);
    if (is_precision_aware(job.optimizer)) {
        const double completed = job.optimizer.master == StateFormat::remainders ? element : 0;
        return {.held = gradient, .updated = 3 * gradient + update(job, gradient) + completed + element};
    }
    UpdateTraffic traffic{.held = gradient, .updated = norm + clip + update(job, 4)};
    if (gradient < 4) traffic.updated += gradient + 4;
    if (job.precision == Precision::fp16) traffic.updated += unscale;
    if (element < 4) traffic.updated += 4 + element;
    return traffic;
}

// PyTorch's own: gradients are dropped, not zeroed (zero_grad, set_to_none=True).
UpdateTraffic fused_update(const Job& job) {
    constexpr double norm = 4, clip = 8;
    return {.held = 0, .updated = norm + clip + update(job, 4)};
}

Bytes separate_accumulation(const Job& job) {
    return {element_bytes(job.precision) + 2.0 * job.framework->gradient_bytes(job)};
}

Bytes repeated_accumulation(const Job& job) {
    const bool kept = job.micro_batches() == 1 && job.framework->gradient_bytes(job) == element_bytes(job.precision);
    return kept ? Bytes{} : separate_accumulation(job);
}

Bytes megatron_accumulation(const Job& job) {
    const Fusion fusion = job.megatron.fused_accumulation;
    const bool in_fp32 = job.framework->gradient_bytes(job) == 4;
    return fusion == Fusion::all || (fusion == Fusion::single && in_fp32) ? Bytes{} : separate_accumulation(job);
}

}  // namespace weft
