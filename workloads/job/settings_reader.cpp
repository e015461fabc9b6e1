#include "workloads/job/settings_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {
namespace {

void read_flag(Field& field, std::string_view key, Setting& setting) {
    setting = field.flag(key, setting == Setting::on) ? Setting::on : Setting::off;
}

// The row of a framework's version that the object names, as text or, where that is the same, as a number.
template <class Versions>
void read_version(Field& field, const Versions& versions, typename Versions::value_type& version) {
    std::vector<std::string> names;
    for (const auto& each : versions) names.emplace_back(each.name);
    if (!field.is_number("version")) {
        version = version_of(versions, field.choice("version", names, version.name));
        return;
    }
    const std::string name = fmt::format("{:g}", field.number("version"));
    version = version_of(versions, name);
    if (version.name == name) return;
    field.error("version", fmt::format("expected one of {}, got {}", fmt::join(names, ", "), name));
}

void read_elements(Field& field, std::string_view key, double& elements) {
    elements = field.number(key, elements);
    if (elements < 0) field.error(key, "expected a number of elements of at least 0");
}

Accumulate read_accumulation(Field& field, Accumulate otherwise) {
    if (!field.has("accumulate_locally")) return otherwise;
    if (!field.is_text("accumulate_locally")) {
        return field.flag("accumulate_locally") ? Accumulate::step : Accumulate::never;
    }
    field.choice("accumulate_locally", {"round"}, "round");
    return Accumulate::round;
}

// As fully_shard takes it: a flag, or ranks that share a layer between forward and backward.
void read_reshard(Field& field, FsdpSettings& settings) {
    if (!field.has("reshard_after_forward")) return;
    if (!field.is_number("reshard_after_forward")) {
        settings.reshard = field.flag("reshard_after_forward") ? Reshard::always : Reshard::never;
        return;
    }
    settings.reshard = Reshard::over_few;
    settings.reshard_ranks = field.count("reshard_after_forward");
}

}  // namespace

void read_settings(Field& root, DeepSpeedSettings& settings) {
    if (!root.has("deepspeed")) return;
    Field field = root.object("deepspeed");
    read_version(field, deepspeed_versions, settings.version);
    const std::string parameters = field.choice("offload_parameters", {"none", "host", "nvme"}, "none");
    settings.parameters = parameters == "host"   ? ParametersOn::host
                          : parameters == "nvme" ? ParametersOn::nvme
                                                 : ParametersOn::device;
    read_flag(field, "reduce_scatter", settings.reduce_scatter);
    if (field.has("multi_rank_allreduce"))
        read_flag(field, "multi_rank_allreduce", settings.multi_rank_allreduce.emplace());
    read_elements(field, "prefetch_elements", settings.prefetch_elements);
    read_elements(field, "persistence_elements", settings.persistence_elements);
    read_elements(field, "max_live_elements", settings.max_live_elements);
    read_elements(field, "max_reuse_elements", settings.max_reuse_elements);
    read_elements(field, "sub_group_elements", settings.sub_group_elements);
    if (settings.sub_group_elements == 0) field.error("sub_group_elements", "expected at least 1 element");
    read_flag(field, "quantized_weights", settings.quantized_weights);
    settings.hierarchical_ranks = field.count("hierarchical_ranks", settings.hierarchical_ranks);
    read_flag(field, "quantized_gradients", settings.quantized_gradients);
    read_flag(field, "pipe_partitioned", settings.pipe_partitioned);
    read_flag(field, "grad_partitioned", settings.grad_partitioned);
    read_flag(field, "partition_activations", settings.partition_activations);
    read_flag(field, "attention_mask", settings.attention_mask);
    read_flag(field, "log_calls", settings.log_calls);
    read_flag(field, "synchronize_each_layer", settings.synchronize_each_layer);
    read_flag(field, "wall_clock_breakdown", settings.wall_clock_breakdown);
    field.done();
}

void read_settings(Field& root, MegatronSettings& settings) {
    if (!root.has("megatron")) return;
    Field field = root.object("megatron");
    const Setting names_version = field.has("version") ? Setting::on : Setting::off;
    read_version(field, megatron_versions, settings.version);
    settings = {.version = settings.version, .names_version = names_version};
    read_flag(field, "overlap_parameters", settings.overlap_parameters);
    read_flag(field, "overlap_tensor", settings.overlap_tensor);
    const std::string gradients = field.choice("gradients", {"framework", "fp32", "bf16", "fp16"}, "framework");
    settings.gradient_bytes = gradients == "framework" ? 0 : gradients == "fp32" ? 4 : 2;
    read_flag(field, "fp8_parameters", settings.eighth_parameters);
    read_flag(field, "fused_cross_entropy", settings.fused_cross_entropy);
    read_flag(field, "variable_sequence", settings.variable_sequence);
    read_flag(field, "overlap_input_reduction", settings.overlap_input_reduction);
    const std::string sharding = field.choice("sharding", {"none", "optim_grads", "optim_grads_params"}, "none");
    settings.sharding = sharding == "none"          ? MegatronSharding::none
                        : sharding == "optim_grads" ? MegatronSharding::gradients
                                                    : MegatronSharding::parameters;
    // Which Megatron-FSDP asks for.
    if (settings.sharding != MegatronSharding::none) settings.fused_accumulation = Fusion::none;
    if (field.has("fused_accumulation")) {
        settings.fused_accumulation = field.flag("fused_accumulation") ? Fusion::all : Fusion::none;
    }
    read_flag(field, "overlap_pipeline", settings.overlap_pipeline);
    read_flag(field, "transformer_engine", settings.transformer_engine);
    read_flag(field, "check_for_nan", settings.check_for_nan);
    settings.accumulate = read_accumulation(field, Accumulate::never);
    field.done();
}

void read_settings(Field& root, FsdpSettings& settings) {
    if (!root.has("fsdp")) return;
    Field field = root.object("fsdp");
    settings.version = field.count("version", settings.version);
    if (settings.version > 2) field.error("version", fmt::format("expected 1 or 2, got {}", settings.version));
    const std::string strategy =
        field.choice("strategy", {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}, "full_shard");
    settings.strategy = strategy == "shard_grad_op"        ? Sharding::gradients
                        : strategy == "hybrid_shard"       ? Sharding::hybrid
                        : strategy == "hybrid_shard_zero2" ? Sharding::hybrid_gradients
                                                           : Sharding::full;
    if (field.has("shard_ranks")) settings.shard_ranks = field.count("shard_ranks");
    const std::string prefetch = field.choice("backward_prefetch", {"pre", "post", "none"}, "pre");
    settings.backward_prefetch = prefetch == "pre"    ? BackwardPrefetch::before
                                 : prefetch == "post" ? BackwardPrefetch::after
                                                      : BackwardPrefetch::none;
    read_flag(field, "forward_prefetch", settings.forward_prefetch);
    read_flag(field, "limit_all_gathers", settings.limit_all_gathers);
    read_flag(field, "fused_cross_entropy", settings.fused_cross_entropy);
    const std::string reduce = field.choice("reduce_precision", {"parameters", "fp32", "bf16", "fp16"}, "parameters");
    settings.reduce_bytes = reduce == "parameters" ? 0 : reduce == "fp32" ? 4 : 2;
    settings.accumulate = read_accumulation(field, Accumulate::by_version);
    read_reshard(field, settings);
    field.done();
}

void read_settings(Field& root, DdpSettings& settings) {
    if (!root.has("ddp")) return;
    Field field = root.object("ddp");
    settings.first_bucket_mib = field.number("first_bucket_mib", settings.first_bucket_mib);
    settings.bucket_mib = field.number("bucket_mib", settings.bucket_mib);
    if (settings.first_bucket_mib <= 0) field.error("first_bucket_mib", "expected a positive number of MiB");
    if (settings.bucket_mib <= 0) field.error("bucket_mib", "expected a positive number of MiB");
    field.done();
}

namespace {

// In the order of Balancing.
constexpr std::array<std::string_view, 5> balancing_names{"even", "auxiliary_loss", "sequence_auxiliary_loss",
                                                          "global_auxiliary_loss", "bias"};

Balancing balancing_of(std::string_view name) {
    return Balancing{static_cast<std::uint8_t>(std::ranges::find(balancing_names, name) - balancing_names.begin())};
}

// One word, or a list of losses, each once.
void read_balancing(Field& field, ExpertSettings& settings) {
    constexpr std::string_view key = "balancing";
    if (!field.has(key) || field.is_text(key)) {
        const std::vector<std::string> names(balancing_names.begin(), balancing_names.end());
        settings.balancing = balancing_of(field.choice(key, names, "even"));
        return;
    }
    const auto losses = std::span(balancing_names).subspan(1, 3);
    std::vector<Balancing> given;
    for (Field& element : field.list(key)) {
        const std::string name = element.as_text();
        if (name.empty()) continue;
        if (std::ranges::find(losses, name) == losses.end()) {
            field.error(key, fmt::format("expected losses out of {}, got \"{}\"", fmt::join(losses, ", "), name));
        } else if (std::ranges::find(given, balancing_of(name)) != given.end()) {
            field.error(key, fmt::format("\"{}\" is there twice", name));
        } else {
            given.push_back(balancing_of(name));
        }
    }
    if (given.empty()) return;
    settings.balancing = given.front();
    settings.other_losses.assign(given.begin() + 1, given.end());
}

// Of all layers, of each, or of each the tokens of its experts.
void read_imbalance(Field& field, ExpertSettings& settings) {
    constexpr std::string_view key = "imbalance";
    const auto check = [&](double imbalance) {
        if (!(imbalance >= 1)) field.error(key, "expected the busiest expert rank's tokens over the mean, at least 1");
    };
    if (!field.has(key) || field.is_number(key)) {
        settings.imbalance = field.number(key, settings.imbalance);
        return check(settings.imbalance);
    }
    std::vector<Field> layers = field.list(key);
    const bool counts = !layers.empty() && layers.front().as_json().starts_with('[');
    for (Field& layer : layers) {
        if (!counts) {
            check(settings.given_by_layer.emplace_back(layer.as_number()));
            continue;
        }
        std::vector<double>& tokens = settings.tokens.emplace_back();
        for (Field& expert : layer.elements()) tokens.push_back(expert.as_number());
        const bool negative = std::ranges::any_of(tokens, [](double own) { return own < 0; });
        if (negative || std::accumulate(tokens.begin(), tokens.end(), 0.0) <= 0)
            field.error(key, "expected tokens of each expert, not all of them 0");
    }
    if (layers.empty()) field.error(key, "expected a number, or one for each layer with experts");
}

}  // namespace

void read_settings(Field& root, ExpertSettings& settings) {
    if (!root.has("experts")) return;
    Field field = root.object("experts");
    const std::string dispatcher =
        field.choice("dispatcher", {"all_to_all", "all_gather", "deepep", "hybridep"}, "all_to_all");
    settings.dispatcher = dispatcher == "all_gather" ? Dispatch::all_gather
                          : dispatcher == "deepep"   ? Dispatch::deepep
                          : dispatcher == "hybridep" ? Dispatch::hybridep
                                                     : Dispatch::all_to_all;
    read_flag(field, "fp8_dispatch", settings.eighth_dispatch);
    read_flag(field, "fused_indices", settings.fused_indices);
    read_balancing(field, settings);
    const bool assumed = field.has("balancing") && !field.has("imbalance");
    settings.imbalance_assumed = assumed ? Setting::on : Setting::off;
    read_imbalance(field, settings);
    settings.capacity_factor = field.number("capacity_factor", settings.capacity_factor);
    if (settings.capacity_factor < 0) field.error("capacity_factor", "expected 0 (drop-less) or a positive factor");
    if (field.has("overlap")) {
        const std::string overlap = field.choice("overlap", {"none", "shared_experts", "passes"}, "none");
        settings.overlap = overlap == "passes"           ? ExpertOverlap::passes
                           : overlap == "shared_experts" ? ExpertOverlap::shared_experts
                                                         : ExpertOverlap::none;
    }
    if (field.has("delay_weight_gradients")) {
        read_flag(field, "delay_weight_gradients", settings.delay_weight_gradients.emplace());
    }
    field.done();
}

}  // namespace weft
