// Keys of the object "experts" of a job.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "workloads/keys/bind.hpp"

namespace weft {
namespace {

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
            field.error(name, fmt::format("expected losses out of {}, got \"{}\"", fmt::join(losses, ", "), word));
        } else if (std::ranges::find(given, loss) != given.end()) {
            field.error(name, fmt::format("\"{}\" is there twice", word));
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

}  // namespace

void bind_experts(KeyRows& rows) {
    using Own = ExpertSettings;
    Section own(rows, "experts", &Job::experts);
    own("dispatcher", &Own::dispatcher);
    own("fp8_dispatch", &Own::eighth_dispatch);
    own("fused_indices", &Own::fused_indices);
    own("balancing", &Own::balancing).read = read_balancing;
    own("imbalance", read_imbalance);
    own("capacity_factor", &Own::capacity_factor);
    own("overlap", &Own::overlap);
    own("delay_weight_gradients", &Own::delay_weight_gradients);
}

}  // namespace weft
