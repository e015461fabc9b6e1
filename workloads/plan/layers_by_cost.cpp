#include <algorithm>
#include <limits>
#include <tuple>

#include "models/transformer/prediction.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

// Forward, backward, and what backward runs again.
Seconds time_of(const LayerCosts& layer, bool runs_again) {
    Seconds time;
    for (std::size_t i = 0; i < layer.pieces.size(); ++i) {
        const PieceCost& piece = layer.pieces[i];
        time += piece.forward + piece.input_backward + piece.weight_backward;
        if (runs_again && i < layer.checkpointed) time += piece.forward;
    }
    for (const PieceRepeat& repeat : layer.repeats) {
        for (std::size_t i = repeat.first; i <= repeat.last; ++i) {
            const PieceCost& piece = layer.pieces[i];
            time += repeat.of == PieceRepeat::Of::pieces ? piece.forward : piece.discarded;
        }
    }
    return time;
}

// In seconds, of the model's own layers: the first with the embedding and an encoder, the last with norm, output layer
// and prediction modules.
std::vector<double> times_of_layers(const Job& job, const PartCosts& costs) {
    const bool runs_again = job.recompute.granularity == Recompute::full;
    std::vector<double> times;
    for (std::uint32_t layer = 0; layer < all_layers(job.model); ++layer) {
        times.push_back(time_of(costs.layers[job.layer_place(layer)], runs_again).value);
    }
    const auto join = [&](std::size_t into, std::size_t from) {
        times[into] += times[from];
        times.erase(times.begin() + static_cast<std::ptrdiff_t>(from));
    };
    for (std::uint32_t i = 0; i < job.model.encoder.layers; ++i) join(1, 0);
    for (std::uint32_t i = 0; i < job.model.mtp_layers; ++i) join(times.size() - 2, times.size() - 1);
    const double predictions = job.model.mtp_layers;
    const Seconds head = costs.head_forward + costs.head_input_backward + costs.head_weight_backward;
    const Seconds joins = costs.prediction_forward + costs.prediction_input_backward + costs.prediction_weight_backward;
    times.front() += (costs.embedding_forward + costs.embedding_backward).value;
    times.back() += (costs.final_norm_forward + costs.final_norm_backward + head * (1.0 + predictions)).value +
                    joins.value * predictions;
    return times;
}

}  // namespace

std::vector<std::uint32_t> layers_by_cost(const Job& job, const PartCosts& costs) {
    const std::vector<double> times = times_of_layers(job, costs);
    struct Best {
        double heaviest = std::numeric_limits<double>::infinity(), squares = 0;
        std::size_t cut = 0;
    };
    const std::size_t layers = times.size(), parts = job.model_parts();
    std::vector<std::vector<Best>> best(parts + 1, std::vector<Best>(layers + 1));  // of the first layers
    best[0][0].heaviest = 0;
    for (std::size_t part = 1; part <= parts; ++part) {
        for (std::size_t end = part; end <= layers; ++end) {
            Best& here = best[part][end];
            double time = 0;
            for (std::size_t cut = end; cut-- > part - 1;) {
                time += times[cut];
                const Best& before = best[part - 1][cut];
                const Best with{std::max(before.heaviest, time), before.squares + time * time, cut};
                if (std::tie(with.heaviest, with.squares) < std::tie(here.heaviest, here.squares)) here = with;
            }
        }
    }
    std::vector<std::uint32_t> dealt(parts);
    for (std::size_t part = parts, end = layers; part > 0; end = best[part--][end].cut) {
        dealt[part - 1] = static_cast<std::uint32_t>(end - best[part][end].cut);
    }
    return dealt;
}

void deal_by_cost(Job& job, const PartCosts& costs) {
    job.layout.by_hand.layers = layers_by_cost(job, costs);
    job.layout.split = StageSplit::by_hand;
}

}  // namespace weft
