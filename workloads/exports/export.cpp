#include "workloads/exports/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/exports/run_keys.hpp"

namespace weft {

const ExportFormat& find_export(std::string_view name) {
    std::vector<std::string> names;
    std::string known;
    for (const ExportFormat* const format : exports::all()) {
        if (format->name == name) return *format;
        names.emplace_back(format->name);
        known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", format->name, format->title);
    }
    throw ConfigError({Diagnostic{
        .file = {},
        .key = {},
        .message = fmt::format("unknown format \"{}\"{}; expected one of {}", name, suggestion(name, names), known)}});
}

void Unsayable::unless(bool sayable, std::string_view key, std::string message) {
    if (sayable) return;
    found_.push_back({.file = job_, .line = 0, .column = 0, .key = std::string(key), .message = std::move(message)});
}

void Unsayable::check() const {
    if (!found_.empty()) throw ConfigError(found_);
}

void refuse_rare_terms(const Transformer& model, Unsayable& unsayable) {
    const std::string why = "the format has no word for it";
    unsayable.unless(model.query_key_norm == QueryKeyNorm::none || model.query_key_norm == QueryKeyNorm::per_head,
                     "model.query_key_norm", why);
    unsayable.unless(!model.biases.router && !model.biases.head && model.biases.experts == model.biases.mlp,
                     "model.biases", why);
    unsayable.unless(!model.attention_sinks, "model.attention_sinks", why);
    unsayable.unless(model.window.tokens == 0, "model.attention_window", why);
    unsayable.unless(!model.embedding_norm, "model.embedding_norm", why);
    unsayable.unless(model.norm_weight, "model.norm_weight", why);
    unsayable.unless(model.norm_bias || model.norm == Norm::rms_norm, "model.norm_bias", why);
    unsayable.unless(model.norm_placement <= NormPlacement::shared, "model.norm_placement", why);
    unsayable.unless(!model.experts.shared_gate, "model.experts.shared_gate", why);
}

std::string own_keys(const Study& study, std::string_view framework) {
    const Job& job = study.job;
    std::string text;
    const auto add = [&](std::string_view key, const auto& value) {
        text += fmt::format("# weft: {}={}\n", key, value);
    };
    // A machine of the user's own is one by its file, which a name does not tell.
    const std::string& machine = study.machine.info().name;
    const std::vector<std::string> shipped = machine_names();
    if (std::ranges::binary_search(shipped, machine)) {
        add("machine", machine);
    } else {
        text += fmt::format("# {} is a machine of your own: to read this back give --machine FILE\n", machine);
    }
    add("nodes", job.nodes);
    if (job.model.name.find_first_of("\"\\\n") == std::string::npos)
        add("model.name", fmt::format("\"{}\"", job.model.name));
    add("model.vocabulary", job.model.vocabulary);
    if (framework == "megatron") add("megatron.version", job.megatron.version.name);
    if (framework == "deepspeed") add("deepspeed.version", fmt::format("\"{}\"", job.deepspeed.version.name));
    if (job.sustained_clock < 1.0) add("sustained_clock", job.sustained_clock);
    if (job.communication_units > 0) add("communication_units", job.communication_units);
    const bool balanced = job.experts.balancing != Balancing::even || job.model.experts.balancing_bias;
    if (!job.experts.by_layer.empty()) {
        std::vector<double> given;
        for (std::uint32_t layer = 0; layer < job.experts.by_layer.size(); ++layer) {
            if (job.layer_place(layer) >= layer_kinds) given.push_back(job.experts.by_layer[layer]);
        }
        add("experts.imbalance", fmt::format("[{}]", fmt::join(given, ",")));
    } else if (job.experts.imbalance > 1.0 || balanced) {
        add("experts.imbalance", job.experts.imbalance);
    }
    if (!job.library.empty()) add("library", job.library);
    return text + run_keys(study);
}

}  // namespace weft
