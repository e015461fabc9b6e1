#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "models/transformer/prediction.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

// Whole picoseconds, whose sums are exact in any order: ways that take equally long are told to be so.
using Picoseconds = std::int64_t;

// Forward, backward, and what backward runs again.
Seconds time_of(const LayerCosts& layer, bool runs_again) {
    Seconds time = layer.forward_time() + layer.backward_time();
    if (runs_again) {
        for (std::size_t i = 0; i < layer.checkpointed; ++i) time += layer.pieces[i].forward;
    }
    for (const PieceRepeat& repeat : layer.repeats) {
        for (std::size_t i = repeat.first; i <= repeat.last; ++i) {
            const PieceCost& piece = layer.pieces[i];
            time += repeat.of == PieceRepeat::Of::pieces ? piece.forward : piece.discarded;
        }
    }
    return time;
}

// Of the model's own layers: the first with the embedding and an encoder, the last with norm, output layer and
// prediction modules.
std::vector<Picoseconds> times_of_layers(const Job& job, const PartCosts& costs) {
    const bool runs_again = job.recompute.granularity == Recompute::full;
    const auto whole = [](Seconds time) { return Picoseconds{std::llround(time.value * 1e12)}; };
    std::vector<Picoseconds> times;
    for (std::uint32_t layer = 0; layer < all_layers(job.model); ++layer) {
        times.push_back(whole(time_of(costs.layers[job.layer_place(layer)], runs_again)));
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
    times.front() += whole(costs.embedding_forward + costs.embedding_backward);
    times.back() +=
        whole(costs.final_norm_forward + costs.final_norm_backward + head * (1.0 + predictions) + joins * predictions);
    return times;
}

// The least time that the part which takes the longest can take.
Picoseconds least_heaviest(const std::vector<Picoseconds>& times, std::size_t parts) {
    const auto enough = [&](Picoseconds most) {  // parts that are filled one after the other
        std::size_t used = 1;
        Picoseconds filled = 0;
        for (const Picoseconds time : times) {
            filled += time;
            if (filled <= most) continue;
            filled = time;
            ++used;
        }
        return used <= parts;
    };
    Picoseconds least = std::ranges::max(times), most = std::reduce(times.begin(), times.end());
    while (least < most) {
        const Picoseconds middle = std::midpoint(least, most);
        if (enough(middle)) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    return least;
}

}  // namespace

std::vector<std::uint32_t> layers_by_cost(const Job& job, const PartCosts& costs) {
    const std::vector<Picoseconds> times = times_of_layers(job, costs);
    const std::size_t layers = times.size(), parts = job.model_parts();
    const Picoseconds heaviest = least_heaviest(times, parts);
    struct Best {
        double squares = std::numeric_limits<double>::infinity();
        std::size_t cut = 0;
    };
    std::vector<std::vector<Best>> best(parts + 1, std::vector<Best>(layers + 1));  // of the first layers
    best[0][0].squares = 0;
    for (std::size_t part = 1; part <= parts; ++part) {
        for (std::size_t end = part; end <= layers; ++end) {
            Best& here = best[part][end];
            Picoseconds time = 0;
            for (std::size_t cut = end; cut-- > part - 1 && (time += times[cut]) <= heaviest;) {
                const auto own = static_cast<double>(time);
                const Best with{best[part - 1][cut].squares + own * own, cut};
                if (with.squares < here.squares) here = with;
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
