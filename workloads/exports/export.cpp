#include "workloads/exports/export.hpp"

#include <fmt/format.h>

#include <utility>

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

}  // namespace weft
