// What a run of Megatron-LM keeps of activations, and where: recomputation by layer and by module, copies on the host.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

std::uint32_t layers_of_part(MegatronReading& in) {
    const auto size = [&](std::string_view key) { return std::max(in.number(key), 1.0); };
    const double stages = size("pipeline_model_parallel_size");
    double layers = size("num_layers") / stages;
    if (in.number("num_layers_per_virtual_pipeline_stage") > 0) layers = size("num_layers_per_virtual_pipeline_stage");
    for (const std::string_view key : {"num_virtual_stages_per_pipeline_rank", "virtual_pipeline_model_parallel_size"})
        layers = std::max(layers / size(key), 1.0);
    return static_cast<std::uint32_t>(std::clamp(layers, 1.0, 1e6));
}

void read_whole_layers(MegatronReading& in, std::string_view how, std::string_view method_key,
                       std::string_view layers_key) {
    const std::string method = in.lower(method_key, "uniform");
    const double layers = in.keys.has(layers_key) ? in.number(layers_key) : 1;
    if (method == "block" && layers == 0 && in.keys.has(layers_key)) return in.without_effect(how);
    const bool some = method == "block" && layers < layers_of_part(in), groups = method != "block" && layers > 1;
    if (!some && !groups) return in.import.object.set("recompute", "full", in.origin(how));
    Draft& recompute = in.import.object.object("recompute");
    recompute.set("method", some ? "block" : "uniform", in.origin(method_key));
    recompute.set("layers", layers, in.origin(layers_key));
}

// As a list on a command line or in a file: whatever stands between the names.
std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words(1);
    for (const char c : list) {
        if ((c >= 'a' && c <= 'z') || c == '_') {
            words.back() += c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

void read_selective(MegatronReading& in, std::string_view how) {
    std::vector<std::string> modules = words_of(in.lower("recompute_modules", "core_attn"));
    if (in.on("moe_layer_recompute") && std::ranges::find(modules, "moe") == modules.end()) modules.emplace_back("moe");
    if (modules == std::vector<std::string>{"core_attn"})
        return in.import.object.set("recompute", "selective", in.origin(how));
    in.import.object.object("recompute")
        .set_json("modules", fmt::format("[\"{}\"]", fmt::join(modules, "\", \"")),
                  in.origin(in.keys.has("recompute_modules") ? "recompute_modules" : how));
    in.needs("core-0.13", how);
}

}  // namespace

void read_megatron_recompute(MegatronReading& in) {
    if (in.number("cpu_offloading_num_layers") > 0)
        take_count(in.keys, "cpu_offloading_num_layers", in.import.object, "offloaded_layers");
    in.without_effect("cpu_offloading");
    const std::string granularity = in.lower("recompute_granularity", "none");
    if (granularity == "full") {
        read_whole_layers(in, "recompute_granularity", "recompute_method", "recompute_num_layers");
    } else if (granularity == "selective" || in.on("recompute_activations")) {
        read_selective(in, in.keys.has("recompute_granularity") ? "recompute_granularity" : "recompute_activations");
    } else if (in.on("moe_layer_recompute")) {  // a switch of its own until core 0.12
        in.import.object.object("recompute").set_json("modules", "[\"moe\"]", in.origin("moe_layer_recompute"));
    } else if (granularity != "none" && granularity != "null") {
        in.error("recompute_granularity", fmt::format("expected full or selective, got \"{}\"", granularity));
    } else if (in.on("checkpoint_activations")) {
        read_whole_layers(in, "checkpoint_activations", "checkpoint_method", "checkpoint_num_layers");
    } else if (in.keys.has("activations_checkpoint_method")) {
        read_whole_layers(in, "activations_checkpoint_method", "activations_checkpoint_method",
                          "activations_checkpoint_num_layers");
    }
    for (const std::string_view key :
         {"recompute_method", "recompute_num_layers", "recompute_modules", "moe_layer_recompute",
          "checkpoint_num_layers", "activations_checkpoint_num_layers"})
        in.without_effect(key);
}

}  // namespace weft
