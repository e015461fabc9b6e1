#include "workloads/parallelism/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

double busiest_expert(const Job& job) {
    const Balancing balancing = job.experts.balancing;
    const bool biased = job.model.experts.balancing_bias && balancing != Balancing::even;
    switch (biased ? Balancing::bias : balancing) {
        case Balancing::even:
            return 0.0;
        case Balancing::auxiliary_loss:
        case Balancing::sequence_auxiliary_loss:
        case Balancing::global_auxiliary_loss:
            return 0.52;
        case Balancing::bias:
            return 0.04;
    }
    throw LogicError("a Balancing outside its enumerators");
}

double busiest_rank(const std::vector<double>& tokens, std::uint32_t ranks) {
    const std::size_t own = tokens.size() / ranks;
    if (own == 0) return 1.0;
    double busiest = 0;
    for (auto first = tokens.begin(); tokens.end() - first >= static_cast<std::ptrdiff_t>(own);) {
        const auto end = first + static_cast<std::ptrdiff_t>(own);
        busiest = std::max(busiest, std::accumulate(first, end, 0.0));
        first = end;
    }
    return busiest * ranks / std::accumulate(tokens.begin(), tokens.end(), 0.0);
}

}  // namespace

// Ranks that hold all experts have all tokens that there are.
double usual_imbalance(const Job& job) {
    if (job.layout.expert == 1 || job.model.experts.count == 0 || job.experts.capacity_factor > 0) return 1.0;
    const double own = double(job.model.experts.count) / job.layout.expert;
    return 1.0 + busiest_expert(job) / std::sqrt(own);
}

void settle_imbalance(Job& job) {
    ExpertSettings& experts = job.experts;
    if (experts.imbalance_assumed == Setting::on) experts.imbalance = usual_imbalance(job);
    std::vector<double> given = experts.given_by_layer;
    for (const std::vector<double>& tokens : experts.tokens) given.push_back(busiest_rank(tokens, job.layout.expert));
    experts.by_layer.clear();
    if (given.empty()) return;
    experts.imbalance = std::accumulate(given.begin(), given.end(), 0.0) / static_cast<double>(given.size());
    auto next = given.begin();
    for (std::uint32_t layer = 0; layer < job.model.layers + job.model.mtp_layers; ++layer) {
        const bool routes = has_experts(layer_kind(job.model, layer));
        const bool known = routes && next != given.end();
        experts.by_layer.push_back(known ? *next++ : routes ? experts.imbalance : 1.0);
    }
}

void check_imbalance(const Job& job, std::vector<JobError>& errors) {
    constexpr std::string_view key = "experts.imbalance";
    const Refusals refuse(errors);
    const ExpertSettings& experts = job.experts;
    const Transformer& model = job.model;
    double most = experts.imbalance;
    for (const double own : experts.given_by_layer) most = std::max(most, own);
    refuse.when(experts.imbalance_assumed == Setting::off && most > model.experts.count, key,
                "the busiest of {} experts has at most {} times the mean, not {}", model.experts.count,
                model.experts.count, most);
    const std::size_t given = experts.given_by_layer.size() + experts.tokens.size();
    if (given == 0) return;
    std::size_t layers = 0, all = 0;
    for (std::uint32_t layer = 0; layer < model.layers + model.mtp_layers; ++layer) {
        if (!has_experts(layer_kind(model, layer))) continue;
        ++all;
        layers += layer < model.layers ? 1 : 0;
    }
    refuse.when(given != layers && given != all, key,
                "expected one for each of the {} layers with experts of {}, got {}", layers, model.name, given);
    const auto odd = std::ranges::find_if(
        experts.tokens, [&](const std::vector<double>& tokens) { return tokens.size() != model.experts.count; });
    if (odd == experts.tokens.end()) return;
    refuse(key, "expected the tokens of {} experts in each layer, got {}", model.experts.count, odd->size());
}

std::string imbalance_assumption(const Job& job) {
    if (job.experts.imbalance_assumed == Setting::off || job.experts.imbalance == 1.0) return {};
    return fmt::format(
        "imbalance of expert ranks {:.3g} (assumption: 1 + {:g} / sqrt(experts of a rank), the busiest expert as "
        "measured in arXiv 2408.15664)",
        job.experts.imbalance, busiest_expert(job));
}

}  // namespace weft
