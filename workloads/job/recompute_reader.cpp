#include "workloads/job/recompute_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace weft {
namespace {

constexpr std::array<std::string_view, 4> words{"none", "selective", "full", "operations"};
constexpr std::array<std::string_view, 3> methods{"uniform", "block", "every"};

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

Recomputation read_recompute(Field& root) {
    constexpr std::string_view key = "recompute";
    if (!root.is_object(key)) {
        const std::string word = root.choice(key, {"none", "selective", "full", "operations"}, "none");
        return Recompute{static_cast<std::uint8_t>(std::ranges::find(words, word) - words.begin())};
    }
    Field field = root.object(key);
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
        const std::string method = field.choice("method", {"uniform", "block", "every"}, "uniform");
        recompute.method =
            RecomputeMethod{static_cast<std::uint8_t>(std::ranges::find(methods, method) - methods.begin())};
        recompute.layers = field.count("layers");
        // Each layer by itself is what the word says.
        if (recompute.layers == 1 && recompute.method != RecomputeMethod::block) recompute = Recompute::full;
    }
    field.done();
    return recompute;
}

nlohmann::ordered_json recompute_json(const Recomputation& recompute) {
    if (recompute == recompute.granularity) return words.at(static_cast<std::size_t>(recompute.granularity));
    if (recompute.granularity == Recompute::selective) return {{"modules", recompute_names(recompute.parts)}};
    return {{"method", methods.at(static_cast<std::size_t>(recompute.method))}, {"layers", recompute.layers}};
}

std::string recompute_text(const Recomputation& recompute) {
    if (recompute == recompute.granularity)
        return std::string(words.at(static_cast<std::size_t>(recompute.granularity)));
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
