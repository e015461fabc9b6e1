// The run that arguments of Megatron-LM describe: layout, schedule, batch, nodes. Defaults and what excludes what:
// megatron/training/arguments.py (validate_args), megatron/core/parallel_state.py.
#include "workloads/formats/megatron/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {
namespace {

void take_axis(MegatronReading& in, std::string_view key, std::string_view axis) {
    if (in.has(key)) in.import.object.object("layout").set(axis, in.size(key), in.origin(key));
}

// --- layout ---

void read_context(MegatronReading& in) {
    const std::string_view key = in.first_of({"ds_sequence_parallel_size", "context_parallel_size"});
    if (in.size(key) == 1) return;
    take_axis(in, key, "context");
    constexpr std::string_view levels = "hierarchical_context_parallel_sizes";
    if (in.has(levels)) in.error(levels, "weft has one level of context ranks, not {}", in.word(levels));
    const std::string said = in.lower("cp_comm_type", "p2p");
    const std::vector<std::string_view> methods = words(said);
    const std::string_view first = methods.empty() ? "" : methods.front();
    if (std::ranges::count(methods, first) < std::ssize(methods))
        return in.error("cp_comm_type", "weft exchanges keys and values the same way in every layer");
    if (key == "ds_sequence_parallel_size" || first == "a2a") {
        in.put("context_method", "all_to_all", key == "context_parallel_size" ? "cp_comm_type" : key);
    } else if (first == "all_gather" || first == "allgather") {
        in.put("context_method", "all_gather", "cp_comm_type");
    } else if (first != "p2p") {
        in.error("cp_comm_type", "weft has p2p, all_gather and a2a, not \"{}\"", first);
    }
}

// Megatron-LM's own default gathers; Megatron-DeepSpeed has the all-to-all alone. "flex" is the kernels of a backend,
// DeepEP's unless another is named.
void read_dispatcher(MegatronReading& in) {
    constexpr std::string_view type_key = "moe_token_dispatcher_type", backend_key = "moe_flex_dispatcher_backend";
    const std::string type = in.lower(type_key, in.deepspeed ? "alltoall" : "allgather");
    const std::string backend = in.lower(backend_key, "deepep");
    if (type.starts_with("alltoall")) return;
    if (type == "allgather") return in.put("experts.dispatcher", "all_gather", type_key);
    if (type != "flex") return in.error(type_key, "expected allgather, alltoall or flex, got \"{}\"", type);
    if (backend != "deepep" && backend != "hybridep")
        return in.error(backend_key, "weft has deepep and hybridep, not \"{}\"", backend);
    in.put("experts.dispatcher", backend, in.first_of({backend_key, type_key}));
    in.needs(backend == "deepep" ? "core-0.13" : "core-0.15", type_key);
    if (backend == "deepep" && in.on("moe_permute_fusion") && in.on("enable_experimental")) {
        in.put("experts.fused_indices", true, "moe_permute_fusion");
        in.needs(fused_indices_since, "moe_permute_fusion");
    }
}

void read_expert_ranks(MegatronReading& in) {
    const std::string_view key = in.first_of({"moe_expert_parallel_size", "expert_model_parallel_size"});
    if (in.size(key) > 1) {
        take_axis(in, key, "expert");
        read_dispatcher(in);
    }
    const std::string_view padding = in.first_of({"moe_router_padding_for_quantization", "moe_router_padding_for_fp8"});
    if (in.on(padding) && in.size("num_experts") > 0) {
        in.put("experts.padded_routing", true, padding);
        in.needs(padded_routing_since, padding);
    }
    if (in.on("moe_paged_stash") && in.size("num_experts") > 0) {
        in.put("experts.paged_stash", true, "moe_paged_stash");
        in.needs(paged_stash_since, "moe_paged_stash");
    }
    if (in.has("num_experts")) take_axis(in, "expert_tensor_parallel_size", "expert_tensor");
}

// A flag that changes what a step does shows that the version has it; weft's own default has none of these.
void read_version(MegatronReading& in, std::string_view of_layout) {
    if (in.deepspeed) return;
    if (!of_layout.empty()) {
        in.needs(of_layout, of_layout == first_and_last_since ? "decoder_first_pipeline_num_layers"
                                                              : "pipeline_model_parallel_layout");
    }
    if (in.number("mtp_num_layers") > 0) in.needs(predictions_since, "mtp_num_layers");
    if (in.on("moe_router_enable_expert_bias")) in.needs(expert_bias_since, "moe_router_enable_expert_bias");
}

void read_layout(MegatronReading& in) {
    take_axis(in, "tensor_model_parallel_size", "tensor");
    read_context(in);
    read_version(in, read_megatron_stages(in));
    read_expert_ranks(in);
    if (in.on("use_tp_pp_dp_mapping")) {
        std::vector<std::string> order = usual_order();
        std::erase(order, "pipeline");
        order.insert(std::ranges::find(order, "data"), "pipeline");
        in.put("layout.order", fmt::format("{}", fmt::join(order, ",")), "use_tp_pp_dp_mapping");
    }
    if (in.on("sequence_parallel")) {
        if (in.size("tensor_model_parallel_size") > 1) {
            in.put("sequence_parallel", true, "sequence_parallel");
        } else {
            in.note("sequence_parallel", "is off where tensor-model-parallel-size is 1");
        }
    }
    if (in.deepspeed) in.put("layout.split", "even", "deepspeed");
}

// --- nodes ---

// Ranks of the run; 0: not known.
std::uint64_t read_nodes(MegatronReading& in, std::uint64_t replica) {
    MegatronInput input = in.input;
    const std::string& machine = in.options.machine;
    const std::uint32_t per_node = machine.empty() ? 0 : Machine::load(machine).info().accelerators_per_node;
    const std::uint32_t asked = in.options.nodes;
    if (in.options.gpus > 0) return ranks_of(in.options);
    if (asked > 0 && asked != input.nodes) {
        if (input.nodes > 0)
            in.import.note(input.nodes_origin, "{} nodes are taken in place of {}", asked, input.nodes);
        return std::uint64_t{asked} * per_node;
    }
    if (input.nodes == 0) {
        if (!input.unknown_nodes.empty()) {
            in.import.error(input.nodes_origin, "is not set; give --variable {}=VALUE, or --nodes N",
                            input.unknown_nodes.front());
            return 0;
        }
        const Origin origin = in.derived("", "nodes");
        if (input.ranks_per_node == 0) {
            in.import.note(origin, "are not said; as many are taken as one replica of the model needs (--nodes N)");
            return 0;
        }
        in.import.note(origin, "are not said; one is taken, as launchers do (--nodes N)");
        input.nodes = 1;
        input.nodes_origin = origin;
    }
    const std::uint32_t own = input.ranks_per_node > 0 ? input.ranks_per_node : per_node;
    const std::uint64_t ranks = std::uint64_t{input.nodes} * own;
    const std::uint64_t nodes = per_node > 0 ? (ranks + per_node - 1) / per_node : input.nodes;
    if (nodes != input.nodes)
        in.import.note(input.nodes_origin, "{} nodes of {} ranks are {} nodes of {}", input.nodes, own, nodes, machine);
    in.import.object.set("nodes", nodes, input.nodes_origin);
    // Ranks that do not fill their nodes have to be said.
    if (per_node > 0 && ranks < nodes * per_node && ranks % replica == 0)
        in.import.object.object("layout").set("data", ranks / replica, input.nodes_origin);
    return ranks;
}

// --- batch ---

// The last entry of "0:384 200B:768 400B:1152".
double last_batch(const std::string& schedule) {
    const std::size_t colon = schedule.rfind(':');
    double value = 0;
    if (colon == std::string::npos) return 0;
    std::from_chars(schedule.data() + colon + 1, schedule.data() + schedule.size(), value);
    return value >= 1 && value <= 1e9 ? value : 0;
}

void ask(MegatronReading& in, std::string_view key, const char* what) {
    in.error(key, "the input does not say it; give --set {}", what);
}

void read_global_batch(MegatronReading& in, Draft& batch, std::uint64_t ranks, std::uint64_t replica) {
    constexpr std::string_view schedule = "step_batch_size_schedule";
    if (in.has("rampup_batch_size")) in.note("rampup_batch_size", "the batch at the end of the ramp is simulated");
    if (in.has(schedule)) in.note(schedule, "the last batch of the schedule is simulated, or the one given");
    if (in.take("global_batch_size", batch, "global") || overridden_by_user(in.options, "batch.global")) return;
    const double last = last_batch(in.word(schedule));
    if (last > 0) return batch.set("global", static_cast<std::uint64_t>(last), in.origin(schedule));
    if (!in.has("micro_batch_size") || ranks < replica)
        return ask(in, "global_batch_size", "batch.global=N (sequences per step)");
    const Origin origin = in.derived("micro_batch_size", "micro-batch-size x data ranks");
    const std::uint64_t all = std::uint64_t{in.keys.count("micro_batch_size")} * (ranks / replica);
    batch.set("global", all, origin);
    in.import.note(origin, "batch.global is {}, its default", all);
}

void read_batch(MegatronReading& in, std::uint64_t ranks, std::uint64_t replica) {
    Draft& batch = in.import.object.object("batch");
    const auto take = [&](std::string_view key, std::string_view name, std::string_view path) {
        return in.take(key, batch, name) || overridden_by_user(in.options, path);
    };
    if (!take(in.first_of({"seq_length", "encoder_seq_length"}), "sequence", "batch.sequence"))
        ask(in, "seq_length", "batch.sequence=N (tokens)");
    if (!take("micro_batch_size", "micro", "batch.micro"))
        ask(in, "micro_batch_size", "batch.micro=N (sequences per micro-batch)");
    read_global_batch(in, batch, ranks, replica);
}

// What keeps the experts of a run of Megatron-LM evenly loaded.

constexpr std::string_view types_key = "moe_router_load_balancing_type", coefficients_key = "moe_aux_loss_coeff",
                           force_key = "moe_router_force_load_balancing", bias_key = "moe_router_enable_expert_bias";

// A term of the loss by its name there, ours, and the first version that has it.
struct BalancingLoss {
    std::string_view name, balancing, since;
};
constexpr std::array balancing_losses{
    BalancingLoss{"aux_loss", "auxiliary_loss", "core-0.5"},
    BalancingLoss{"seq_aux_loss", "sequence_auxiliary_loss", sequence_loss_since},
    BalancingLoss{"global_aux_loss", "global_auxiliary_loss", global_loss_since},
};

// Those with a coefficient, which is 0 where it is not given: one for all, or one for each type (transformer/moe/
// router.py, get_aux_loss_coeff).
std::vector<BalancingLoss> losses_with_coefficients(MegatronReading& in) {
    const std::string said = in.lower(types_key, "aux_loss"), numbers = in.word(coefficients_key, "0");
    const std::vector<std::string_view> types = words(said), given = words(numbers);
    std::vector<BalancingLoss> losses;
    if (given.size() != 1 && given.size() != types.size()) {
        in.error(coefficients_key, "expected one coefficient, or one for each of {} losses, got {}", types.size(),
                 given.size());
        return losses;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        const auto loss = std::ranges::find(balancing_losses, types[i], &BalancingLoss::name);
        const std::string coefficient(given[given.size() == 1 ? 0 : i]);
        if (loss != balancing_losses.end()) {
            if (std::strtod(coefficient.c_str(), nullptr) > 0) losses.push_back(*loss);
        } else if (types[i] != "none" && types[i] != "sinkhorn") {
            in.error(types_key,
                     "expected aux_loss, seq_aux_loss, global_aux_loss, sinkhorn or none, got "
                     "\"{}\"",
                     types[i]);
        }
    }
    return losses;
}

void read_loss(MegatronReading& in) {
    const std::vector<BalancingLoss> losses = losses_with_coefficients(in);
    if (losses.empty()) {
        if (in.on(bias_key)) return in.put("experts.balancing", "bias", bias_key);
        if (in.has(types_key) && in.lower(types_key) != "sinkhorn")
            in.note(types_key, "without a coefficient nothing balances experts; they are taken to be evenly loaded");
        return;
    }
    const std::string_view key = in.has(types_key) ? types_key : coefficients_key;
    for (const BalancingLoss& loss : losses) in.needs(loss.since, key);
    if (losses.size() == 1) return in.put("experts.balancing", losses.front().balancing, key);
    std::vector<std::string> names;
    for (const BalancingLoss& loss : losses) names.push_back(fmt::format("\"{}\"", loss.balancing));
    in.import.object.object("experts").set_json("balancing", fmt::format("[{}]", fmt::join(names, ", ")),
                                                in.origin(key));
    in.needs(several_losses_since, key);
}

}  // namespace

void read_megatron_job(MegatronReading& in) {
    in.import.object.set("framework", in.deepspeed ? "deepspeed" : "megatron", in.input.file);
    read_megatron_model(in, in.import.object.object("model"));
    read_layout(in);
    const std::uint64_t context = in.size(in.first_of({"ds_sequence_parallel_size", "context_parallel_size"}));
    const std::uint64_t pipeline = in.on("no_pipeline_parallel") ? 1 : in.size("pipeline_model_parallel_size");
    const std::uint64_t replica = std::min<std::uint64_t>(
        std::min<std::uint64_t>(in.size("tensor_model_parallel_size") * context, 1U << 31) * pipeline,
        std::uint64_t{1} << 62);
    const std::uint64_t ranks = read_nodes(in, replica);
    read_batch(in, ranks, replica);
    read_megatron_settings(in);
    if (in.import.object.object("layout").empty()) in.import.object.erase("layout");
}

// Forced balance and Sinkhorn's assignment leave experts evenly loaded. Megatron-DeepSpeed has a loss of each rank's
// own tokens, whose weight it says elsewhere.
void read_megatron_balancing(MegatronReading& in) {
    if (in.has("num_experts") && !in.deepspeed && !in.on(force_key)) read_loss(in);
}

}  // namespace weft
