// What a run of Megatron-LM keeps of activations, and where: recomputation by layer and by module, copies on the host.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

std::uint32_t layers_of_part(MegatronReading& in) {
    const auto size = [&](std::string_view key) { return std::max(in.number(key), 1.0); };
    const double stages = size("pipeline_model_parallel_size");
    double layers = megatron_layers(in) / stages;
    if (in.number("num_layers_per_virtual_pipeline_stage") > 0) layers = size("num_layers_per_virtual_pipeline_stage");
    for (const std::string_view key : {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"})
        layers = std::max(layers / size(key), 1.0);
    return static_cast<std::uint32_t>(std::clamp(layers, 1.0, 1e6));
}

void read_whole_layers(MegatronReading& in, std::string_view how, std::string_view method_key,
                       std::string_view layers_key) {
    const std::string method = in.lower(method_key, "uniform");
    const double layers = in.has(layers_key) ? in.number(layers_key) : 1;
    if (method == "block" && layers == 0) return;
    const bool some = method == "block" && layers < layers_of_part(in), groups = method != "block" && layers > 1;
    if (!some && !groups) return in.put("recompute", "full", how);
    in.put("recompute.method", some ? "block" : "uniform", method_key);
    in.put("recompute.layers", layers, layers_key);
}

void read_selective(MegatronReading& in, std::string_view how) {
    // Whatever stands between the names of the list.
    std::vector<std::string> modules;
    const std::string said = in.lower("recompute_modules", "core_attn");
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    for (auto begin = std::ranges::find_if(said, is_letter); begin != said.end();) {
        const auto end = std::find_if_not(begin, said.end(), is_letter);
        modules.emplace_back(begin, end);
        begin = std::find_if(end, said.end(), is_letter);
    }
    if (in.on("moe_layer_recompute") && std::ranges::find(modules, "moe") == modules.end()) modules.emplace_back("moe");
    if (modules == std::vector<std::string>{"core_attn"}) return in.put("recompute", "selective", how);
    in.import.object.object("recompute")
        .set_json("modules", fmt::format("[\"{}\"]", fmt::join(modules, "\", \"")),
                  in.origin(in.has("recompute_modules") ? "recompute_modules" : how));
    in.needs("core-0.13", how);
}

}  // namespace

void read_megatron_recompute(MegatronReading& in) {
    if (in.number("cpu_offloading_num_layers") > 0)
        in.take("cpu_offloading_num_layers", in.import.object, "offloaded_layers");
    constexpr std::string_view shared = "distribute_saved_activations";
    if (in.on(shared) && !in.deepspeed) in.put("megatron.distribute_saved_activations", true, shared);
    const std::string granularity = in.lower("recompute_granularity", "none");
    if (granularity == "full") {
        read_whole_layers(in, "recompute_granularity", "recompute_method", "recompute_num_layers");
    } else if (granularity == "selective" || in.on("recompute_activations")) {
        read_selective(in, in.first_of({"recompute_granularity", "recompute_activations"}));
    } else if (in.on("moe_layer_recompute")) {  // a switch of its own until core 0.12
        in.import.object.object("recompute").set_json("modules", "[\"moe\"]", in.origin("moe_layer_recompute"));
    } else if (granularity != "none" && granularity != "null") {
        in.error("recompute_granularity", "expected full or selective, got \"{}\"", granularity);
    } else if (in.on("checkpoint_activations")) {
        read_whole_layers(in, "checkpoint_activations", "checkpoint_method", "checkpoint_num_layers");
    } else if (in.has("activations_checkpoint_method")) {
        read_whole_layers(in, "activations_checkpoint_method", "activations_checkpoint_method",
                          "activations_checkpoint_num_layers");
    }
}

}  // namespace weft
