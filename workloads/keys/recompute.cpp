#include "workloads/keys/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/keys/bind.hpp"

namespace weft {
namespace {

std::vector<std::string> module_names() {
    std::vector<std::string> names;
    for (const RecomputeModule& module : recompute_modules()) names.emplace_back(module.name);
    return names;
}

LayerParts read_modules(Field& field) {
    LayerParts parts;
    for (Field& element : field.list("modules")) {
        const std::string word = element.as_text();
        const auto module = std::ranges::find(recompute_modules(), word, &RecomputeModule::name);
        if (module != recompute_modules().end()) {
            for (const LayerPart part : module->parts) parts.add(part);
        } else if (!word.empty()) {
            field.error("modules",
                        fmt::format("expected names out of {}, got \"{}\"", fmt::join(module_names(), ", "), word));
        }
    }
    return parts;
}

// Which modules of every layer, or which layers in full.
Recomputation read_modules_or_layers(Field field) {
    Recomputation recompute;
    if (field.has("modules")) {
        recompute.parts = read_modules(field);
        recompute.granularity = recompute.parts.empty() ? Recompute::none : Recompute::selective;
        if (recompute.parts.empty()) recompute.parts = Recomputation().parts;
        for (const std::string_view other : {"method", "layers"}) {
            if (field.has(other)) field.error(other, "speaks of whole layers; give either this or modules");
        }
    } else {
        recompute.granularity = Recompute::full;
        recompute.method =
            RecomputeMethod{static_cast<std::uint8_t>(read_word(field, "method", key_of("recompute.method")))};
        recompute.layers = field.count("layers");
        // Each layer by itself is what the word says.
        if (recompute.layers == 1 && recompute.method != RecomputeMethod::block) recompute = Recompute::full;
    }
    field.done();
    return recompute;
}

std::string as_json(const Job& job) {
    const Recomputation& own = job.recompute;
    if (own == own.granularity) return fmt::format("\"{}\"", enumerator_name(own.granularity));
    if (own.granularity == Recompute::selective)
        return fmt::format("{{\"modules\":[\"{}\"]}}", fmt::join(recompute_names(own.parts), "\",\""));
    return fmt::format("{{\"method\":\"{}\",\"layers\":{}}}", enumerator_name(own.method), own.layers);
}

}  // namespace

std::span<const RecomputeModule> recompute_modules() {
    static const std::array modules{
        RecomputeModule{"core_attn", {LayerPart::core}},
        RecomputeModule{"layernorm", {LayerPart::input_norm, LayerPart::mlp_norm}},
        RecomputeModule{"mla_up_proj", {LayerPart::latent_up}},
        RecomputeModule{"mlp", {LayerPart::mlp}},
        RecomputeModule{"moe", {LayerPart::experts}},
        RecomputeModule{"moe_act", {LayerPart::expert_activation}},
        RecomputeModule{"shared_experts", {LayerPart::shared_experts}},
    };
    return modules;
}

std::vector<std::string> recompute_names(const LayerParts& parts) {
    std::vector<std::string> names;
    for (const RecomputeModule& module : recompute_modules()) {
        if (std::ranges::all_of(module.parts, [&](LayerPart part) { return parts.has(part); }))
            names.emplace_back(module.name);
    }
    return names;
}

void bind_recompute(JobKey& key) {
    key.json = as_json;
    key.get = [](const Job& job) { return double(job.recompute.granularity); };
    key.set = [](Job& job, double word) { job.recompute = Recompute{static_cast<std::uint8_t>(word)}; };
    key.read = [](Field& root, std::string_view name, Job& job) {
        if (root.is_object(name)) {
            job.recompute = read_modules_or_layers(root.object(name));
        } else {
            key_of(name).set(job, read_word(root, name, key_of(name)));
        }
    };
}

std::string recompute_text(const Recomputation& recompute) {
    if (recompute == recompute.granularity) return std::string(enumerator_name(recompute.granularity));
    if (recompute.granularity == Recompute::selective)
        return fmt::format("{}", fmt::join(recompute_names(recompute.parts), "+"));
    switch (recompute.method) {
        case RecomputeMethod::uniform:
            return fmt::format("full by {} layers", recompute.layers);
        case RecomputeMethod::block:
            return fmt::format("full of the first {} layers", recompute.layers);
        case RecomputeMethod::every:
            break;
    }
    return fmt::format("full of every {}. layer", recompute.layers);
}

}  // namespace weft
