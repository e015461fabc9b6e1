#include "workloads/metrics/metric.hpp"

namespace weft::metrics {
namespace {

using Of = StepFigures;

const MemoryUse& memory(const Of& of) { return of.plan.stages[of.plan.fullest_stage()].memory; }

}  // namespace

extern const MetricTable step{{
    {"step.time_s", "s", "one training step, from first load to last parameter",
     [](const Of& of) { return of.step.value; }},
    {"step.compute_s", "s", "a rank computes, optimizer included; mean over ranks",
     [](const Of& of) { return of.compute.value; }},
    {"step.interference_s", "s", "of it, lost to communication at the same time; mean",
     [](const Of& of) { return of.interference.value; }},
    {"step.waiting_for_host_s", "s", "of it, until the host has launched more; mean",
     [](const Of& of) { return of.waiting_for_host.value; }},
    {"step.optimizer_s", "s", "of it, the optimizer; mean over ranks", [](const Of& of) { return of.optimizer.value; }},
    {"step.exposed_communication_s", "s", "a rank communicates and computes nothing; mean",
     [](const Of& of) { return of.exposed.value; }},
    {"step.bubble_s", "s", "the busiest stage waits: what the schedule's fill and drain cost",
     [](const Of& of) { return of.bubble.value; }},
    {"step.imbalance_s", "s", "the other stages wait longer than that for it; mean",
     [](const Of& of) { return of.imbalance.value; }},
    {"throughput.tokens_per_s", "tokens/s", "of the whole job", [](const Of& of) { return of.tokens_per_second; }},
    {"throughput.model_tflops_per_gpu", "TFLOP/s",
     "matrix products of forward and backward, no recomputation, attention in full",
     [](const Of& of) { return of.model_rate / 1e12; }},
    {"throughput.hardware_tflops_per_gpu", "TFLOP/s", "matrix products executed, recomputation and padding included",
     [](const Of& of) { return of.hardware_rate / 1e12; }},
    {"throughput.mfu", "", "model FLOP/s over the device's peak", [](const Of& of) { return of.mfu; }},
    {"memory.peak_bytes", "B", "expected of the fullest stage", [](const Of& of) { return memory(of).total().value; },
     MetricKind::count},
    {"memory.allocated_bytes", "B", "of it, in tensors: what torch.cuda.max_memory_allocated() shows",
     [](const Of& of) { return memory(of).allocated().value; }, MetricKind::count},
    {"memory.reserved_bytes", "B", "for tensors: what torch.cuda.max_memory_reserved() shows",
     [](const Of& of) { return of.plan.reserved().value; }, MetricKind::count},
    {"memory.least_bytes", "B", "without fragmentation and with the smallest context",
     [](const Of& of) { return memory(of).least().value; }, MetricKind::count},
    {"memory.most_bytes", "B", "with the most of both that was measured",
     [](const Of& of) { return memory(of).most().value; }, MetricKind::count},
    {"memory.capacity_bytes", "B", "of the device", [](const Of& of) { return of.plan.device.memory.value; },
     MetricKind::count},
    {"memory.fits", "", "the least within capacity", [](const Of& of) { return of.plan.fits() ? 1.0 : 0.0; },
     MetricKind::flag},
}};

}  // namespace weft::metrics

namespace weft {

std::vector<StepMetric> known_metrics() {
    std::vector<StepMetric> rows = metrics::step.rows;
    for (const MetricTable* const table : metrics::all()) {
        if (table != &metrics::step) rows.insert(rows.end(), table->rows.begin(), table->rows.end());
    }
    return rows;
}

}  // namespace weft
