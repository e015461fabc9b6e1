// Keys of the objects "layout" (axes of the rank grid, what cuts them, their order, and layers of stages) and
// "experts".
#include "workloads/keys/bind.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "sim/base/texts.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

bool may_be_left_out(const std::string& axis) { return axis != "tensor" && axis != "data" && axis != "pipeline"; }

std::vector<std::string> parse_order(const std::string& text) {
    const std::vector<std::string> usual = usual_order();
    std::vector<std::string> order;
    for (const std::string_view axis : parts_of(text, ',')) std::erase(order.emplace_back(axis), ' ');
    // An axis that an order may leave out follows the one that it usually follows.
    for (std::size_t i = 1; i < usual.size(); ++i) {
        const auto inner = std::ranges::find(order, usual[i - 1]);
        const bool left_out = std::ranges::find(order, usual[i]) == order.end();
        if (may_be_left_out(usual[i]) && left_out && inner != order.end()) order.insert(inner + 1, usual[i]);
    }
    return order;
}

void read_order(Field& field, std::string_view name, Job& job) {
    if (!field.has(name)) return;
    const std::string text = field.text(name);
    std::vector<std::string> order = parse_order(text), usual = usual_order();
    if (std::ranges::is_permutation(order, usual)) {
        job.layout.order = std::move(order);
        return;
    }
    std::erase_if(usual, std::not_fn(may_be_left_out));
    field.error(name, "expected tensor, data, pipeline and perhaps {} in some order, innermost first, got \"{}\"",
                fmt::join(usual, " and "), text);
}

void read_split_text(Field& field, std::string_view name, const std::vector<std::string>& words, Layout& layout) {
    const std::string text = field.text(name);
    if (const auto word = std::ranges::find(words, text); word != words.end()) {
        layout.split = StageSplit{static_cast<std::uint8_t>(word - words.begin())};
        return;
    }
    std::string why;
    layout.by_hand = parse_stage_layout(text, why);
    if (why.empty()) return;
    field.error(name, text.starts_with('E')
                          ? why
                          : fmt::format("expected one of {}, a layout as \"Et*3|t*4|L\", layers of each part in a "
                                        "list, or {{\"first\": n, \"last\": n}}, got \"{}\"",
                                        fmt::join(words, ", "), text));
}

void read_split_ends(Field counts, StageLayout& layout) {
    layout.first = counts.has("first") ? counts.count("first") : 0;
    layout.last = counts.has("last") ? counts.count("last") : 0;
    if (!counts.has("first") && !counts.has("last")) counts.error("first", "give first, last or both");
    counts.done();
}

// By a rule, or by hand: as a text, a list, or an object with the ends.
void read_split(Field& field, std::string_view name, Job& job) {
    if (!field.has(name)) return;
    Layout& layout = job.layout;
    layout.split = StageSplit::by_hand;
    if (field.is_text(name)) return read_split_text(field, name, key_of("layout.split").words, layout);
    if (field.is_object(name)) return read_split_ends(field.object(name), layout.by_hand);
    for (Field& part : field.list(name)) layout.by_hand.layers.push_back(part.as_whole());
    if (layout.by_hand.layers.empty()) field.error(name, "expected the layers of each model part");
}

std::string split_json(const Job& job) {
    const StageLayout& given = job.layout.by_hand;
    nlohmann::json json = nlohmann::json::object();
    if (job.layout.split != StageSplit::by_hand) {
        json = enumerator_name(job.layout.split);
    } else if (!given.text.empty()) {
        json = given.text;
    } else if (!given.layers.empty()) {
        json = given.layers;
    } else {
        if (given.first > 0) json["first"] = given.first;
        if (given.last > 0) json["last"] = given.last;
    }
    return json.dump();
}

// An axis that is too long is told of and no more, so that no product of sizes that are read overflows.
void limit(JobKey& key) {
    key.set = [set = key.set, most = key.ranges.front().most](Job& job, double ranks) {
        set(job, ranks > most ? 1 : ranks);
    };
}

// Losses that a list may name, each once.
void read_losses(Field& field, std::string_view name, const std::vector<std::string>& words, ExpertSettings& settings) {
    const auto losses = std::span(words).subspan(1, 3);
    std::vector<Balancing> given;
    for (Field& element : field.list(name)) {
        const std::string word = element.as_text();
        if (word.empty()) continue;
        const auto place = std::ranges::find(losses, word) - losses.begin();
        const Balancing loss{static_cast<std::uint8_t>(place + 1)};
        if (place == std::ssize(losses)) {
            field.error(name, "expected losses out of {}, got \"{}\"", fmt::join(losses, ", "), word);
        } else if (std::ranges::find(given, loss) != given.end()) {
            field.error(name, "\"{}\" is there twice", word);
        } else {
            given.push_back(loss);
        }
    }
    if (given.empty()) return;
    settings.balancing = given.front();
    settings.other_losses.assign(given.begin() + 1, given.end());
}

// One word, or a list of losses. Without "imbalance" that follows from it.
void read_balancing(Field& field, std::string_view name, Job& job) {
    const JobKey& key = key_of("experts.balancing");
    if (!field.has(name) || field.is_text(name)) {
        key.set(job, read_word(field, name, key));
    } else {
        read_losses(field, name, key.words, job.experts);
    }
    const bool assumed = field.has(name) && !field.has("imbalance");
    job.experts.imbalance_assumed = assumed ? Setting::on : Setting::off;
}

// Of all layers, of each, or of each the tokens of its experts.
void read_imbalance(Field& field, std::string_view name, Job& job) {
    ExpertSettings& settings = job.experts;
    const auto check = [&](double imbalance) {
        if (!(imbalance >= 1)) field.error(name, "expected the busiest expert rank's tokens over the mean, at least 1");
    };
    if (!field.has(name) || field.is_number(name)) {
        settings.imbalance = field.number(name, settings.imbalance);
        return check(settings.imbalance);
    }
    std::vector<Field> layers = field.list(name);
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
            field.error(name, "expected tokens of each expert, not all of them 0");
    }
    if (layers.empty()) field.error(name, "expected a number, or one for each layer with experts");
}

std::vector<std::string> module_names() { return list_of<std::string>(recompute_modules(), &RecomputeModule::name); }

LayerParts read_modules(Field& field) {
    LayerParts parts;
    for (Field& element : field.list("modules")) {
        const std::string word = element.as_text();
        const auto module = std::ranges::find(recompute_modules(), word, &RecomputeModule::name);
        if (module != recompute_modules().end()) {
            for (const LayerPart part : module->parts) parts.add(part);
        } else if (!word.empty()) {
            field.error("modules", "expected names out of {}, got \"{}\"", fmt::join(module_names(), ", "), word);
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

void bind_layout(KeyRows& rows) {
    Section own(rows, "layout", &Job::layout);
    const std::vector<KeyRange> ranges = rows.row("layout.tensor").ranges;
    for (const Scheme* const scheme : parallelism::all()) {
        JobKey& key = own(std::string(scheme->axis), {});
        key.kind = KeyKind::count;
        key.ranges = ranges;
        key.get = [axis = scheme->axis](const Job& job) { return double(job.layout.size(axis)); };
        key.set = [axis = scheme->axis](Job& job, double ranks) {
            job.layout.size(axis) = static_cast<std::uint32_t>(ranks);
        };
        limit(key);
    }
    limit(own("virtual_stages", &Layout::virtual_stages));
    JobKey& expert_tensor = own("expert_tensor", &Layout::expert_tensor);
    expert_tensor.before = [](Job& job) { job.layout.expert_tensor = job.layout.tensor; };
    limit(expert_tensor);
    own("order", read_order).json = [](const Job& job) {
        return fmt::format("\"{}\"", fmt::join(job.layout.order, ","));
    };
    JobKey& split = own("split", read_split);
    split.get = [](const Job& job) { return double(job.layout.split); };  // of by_hand the number behind the words
    split.set = [](Job& job, double split) { job.layout.split = StageSplit{static_cast<std::uint8_t>(split)}; };
    split.json = split_json;
}

void bind_experts(KeyRows& rows) {
    using Own = ExpertSettings;
    Section own(rows, "experts", &Job::experts);
    own("dispatcher", &Own::dispatcher);
    own("fp8_dispatch", &Own::eighth_dispatch);
    own("fused_indices", &Own::fused_indices);
    own("padded_routing", &Own::padded_routing);
    own("paged_stash", &Own::paged_stash);
    own("balancing", &Own::balancing).read = read_balancing;
    own("imbalance", read_imbalance);
    own("capacity_factor", &Own::capacity_factor);
    own("overlap", &Own::overlap);
    own("delay_weight_gradients", &Own::delay_weight_gradients);
}

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
    const auto is_named = [&](const RecomputeModule& module) {
        return std::ranges::all_of(module.parts, [&](LayerPart part) { return parts.has(part); });
    };
    return list_of_those<std::string>(recompute_modules(), is_named, &RecomputeModule::name);
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
    if (recompute.method == RecomputeMethod::every) return fmt::format("full of every {}. layer", recompute.layers);
    const bool block = recompute.method == RecomputeMethod::block;
    return fmt::format("full {} {} layers", block ? "of the first" : "by", recompute.layers);
}

}  // namespace weft
