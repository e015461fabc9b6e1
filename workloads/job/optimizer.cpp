#include "workloads/job/job.hpp"

#include <fmt/format.h>

#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

// --use-precision-aware-optimizer: megatron/core/optimizer/optimizer_config.py and distrib_optimizer.py.
void check_precisions(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "optimizer";
    if (job.framework->name != "megatron") {
        return refuse(key,
                      "{} keeps master copy, momentum and variance in fp32; other precisions are those of "
                      "Megatron-core's precision-aware optimizer",
                      job.framework->name);
    }
    const MegatronVersion& version = job.megatron.version;
    refuse.when(!has_since(version, "core-0.11"), key,
                "precisions of states came with core-0.11; megatron.version is {}", version.name);
    const bool brain = job.optimizer.momentum == StateFormat::bf16 || job.optimizer.variance == StateFormat::bf16;
    refuse.when(brain && !has_since(version, "core-0.13"), key, "states in bf16 came with core-0.13");
    refuse.when(job.zero != 1, key, "precisions of states are the distributed optimizer's; they need zero 1");
    refuse.when(job.optimizer.rule == UpdateRule::muon, key,
                "Megatron-core keeps Muon's momentum and master copy in fp32");
    const StateFormat master = job.optimizer.master;
    refuse.when(job.precision == Precision::fp32 && master != StateFormat::fp32, key,
                "parameters in fp32 are their own master copy");
    refuse.when(master == StateFormat::remainders && job.precision != Precision::bf16 && !is_narrow(job.precision), key,
                "remainders complete parameters in bf16");
}

// Megatron-core 0.16 (core/optimizer/muon.py, layer_wise_optimizer.py; training/arguments.py): `muon`, and with zero 1
// here `dist_muon`, which deals whole matrices to the data ranks. torch.optim.Muon (2.9) updates whole matrices.
void check_muon(const Job& job, const Refusals& refuse) {
    if (job.framework->name == "ddp") return;
    if (job.framework->name != "megatron") {
        return refuse("optimizer", "weft knows Muon of whole matrices, under megatron and ddp; {} cuts them",
                      job.framework->name);
    }
    refuse.when(job.gradient_overlap == Setting::on, "overlap_gradients",
                "Megatron-core's Muon does not overlap the reduction of gradients");
    refuse.when(job.precision == Precision::fp16, "precision", "Megatron-core has no Muon with fp16");
}

std::string nothing_of_host(const MachineInfo& machine) {
    return fmt::format("the file of {} says nothing of its host; add \"host\": its link, memory and memory_bandwidth",
                       machine.name);
}

// Megatron-core's --cpu-offloading-num-layers (transformer/transformer_config.py).
void check_activations(const Job& job, const MachineInfo& machine, const Refusals& refuse) {
    constexpr std::string_view key = "offloaded_layers";
    if (job.framework->name != "megatron" || job.megatron.transformer_engine == Setting::off) {
        return refuse(
            key, "activations go to the host by Megatron-core's --cpu-offloading-num-layers under Transformer Engine");
    }
    refuse.when(job.layout.pipeline > 1, key, "Megatron-core offloads no activations under pipeline parallelism");
    refuse.when(job.recompute != Recompute::none, key, "Megatron-core offloads no activations where it recomputes");
    refuse.when(job.cuda_graphs != CudaGraphs::none, key, "Megatron-core offloads no activations with CUDA graphs");
    refuse.when(job.offloaded_layers >= job.model.layers, key, "{} must be fewer than the {} layers",
                job.offloaded_layers, job.model.layers);
    refuse.when(!machine.host, key, "{}", nothing_of_host(machine));
}

std::string nothing_of_drives(const MachineInfo& machine) {
    return fmt::format("the file of {} says nothing of its drives; add \"host.drives\": their read and write rates",
                       machine.name);
}

// DeepSpeed's offload_optimizer (runtime/zero/offload_config.py) and Megatron-core's --optimizer-cpu-offload
// (training/arguments.py: with the precision-aware optimizer, hence the distributed one).
void check_offload(const Job& job, const MachineInfo& machine, const Refusals& refuse) {
    constexpr std::string_view key = "optimizer.states";
    const bool megatron = job.framework->name == "megatron", deepspeed = job.framework->name == "deepspeed";
    refuse.when(megatron ? job.zero != 1 : !deepspeed || job.zero == 0, key,
                "states on the host are those of ZeRO (offload_optimizer), framework deepspeed with zero 1 to 3, or of "
                "Megatron-core (--optimizer-cpu-offload), framework megatron with zero 1");
    refuse.when(job.optimizer.fraction < 1.0 && !megatron, key,
                "a fraction is Megatron-core's (--optimizer-offload-fraction)");
    const bool drives = job.optimizer.states == StatesOn::nvme;
    refuse.when(drives && (!deepspeed || job.zero != 3), key,
                "states on drives are ZeRO-Infinity's: deepspeed with zero 3");
    refuse.when(job.optimizer.rule != UpdateRule::adam, key, "the host updates by Adam");
    refuse.when(deepspeed && job.layout.pipeline > 1, key,
                "weft knows ZeRO-Offload without a pipeline; set layout.pipeline to 1");
    refuse.when(job.deepspeed.quantized_gradients == Setting::on, key,
                "ZeRO++ is not combined with states on the host here");
    if (!machine.host) return refuse(key, "{}", nothing_of_host(machine));
    if (drives && machine.host->drives_read <= BytesPerSecond{}) return refuse(key, "{}", nothing_of_drives(machine));
    if (drives || !can_share(job.model, job.split())) return;
    // Master copy, momentum, variance and gradient in fp32 of all parameters that the ranks of a node update.
    constexpr double bytes = 16;
    const double parameters = static_cast<double>(weft::parameters(job.model, job.split()));
    const double held =
        bytes * parameters / job.framework->shares(job).optimizer * job.ranks_per_node * job.optimizer.fraction;
    refuse.when(held > machine.host->memory.value, key,
                "16 bytes of each of {:.3g} parameters that a node updates are {:.0f} GB; its host has {:.0f} GB",
                held / bytes, held / 1e9, machine.host->memory.value / 1e9);
}

// DeepSpeed's offload_param.
void check_parameters(const Job& job, const MachineInfo& machine, const Refusals& refuse) {
    constexpr std::string_view key = "deepspeed.offload_parameters";
    if (job.framework->name != "deepspeed" || job.zero != 3)
        return refuse(key, "parameters leave the device under ZeRO-3 (offload_param): framework deepspeed with zero 3");
    refuse.when(job.deepspeed.quantized_weights == Setting::on || job.deepspeed.hierarchical_ranks > 1, key,
                "ZeRO++ is not combined with parameters on the host here");
    if (!machine.host) return refuse(key, "{}", nothing_of_host(machine));
    const bool drives = job.deepspeed.parameters == ParametersOn::nvme;
    refuse.when(drives && machine.host->drives_read <= BytesPerSecond{}, key, "{}", nothing_of_drives(machine));
}

}  // namespace

void check_optimizer(const Job& job, const MachineInfo& machine, const Refusals& refuse) {
    if (job.optimizer.leave_device()) check_offload(job, machine, refuse);
    if (job.deepspeed.parameters != ParametersOn::device) check_parameters(job, machine, refuse);
    if (job.offloaded_layers > 0) check_activations(job, machine, refuse);
    if (is_precision_aware(job.optimizer)) check_precisions(job, refuse);
    if (job.optimizer.rule == UpdateRule::muon) check_muon(job, refuse);
}

}  // namespace weft
