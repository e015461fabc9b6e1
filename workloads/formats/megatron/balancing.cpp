// What keeps the experts of a run of Megatron-LM evenly loaded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "topologies/measurements/lines.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

constexpr std::string_view types_key = "moe_router_load_balancing_type", coefficients_key = "moe_aux_loss_coeff",
                           force_key = "moe_router_force_load_balancing", bias_key = "moe_router_enable_expert_bias";

// A term of the loss by its name there, ours, and the first version that has it.
struct BalancingLoss {
    std::string_view name, balancing, since;
};
constexpr std::array balancing_losses{
    BalancingLoss{"aux_loss", "auxiliary_loss", "core-0.5"},
    BalancingLoss{"seq_aux_loss", "sequence_auxiliary_loss", sequence_loss_since},
    BalancingLoss{"global_aux_loss", "global_auxiliary_loss", global_loss_since},
};

// Those with a coefficient, which is 0 where it is not given: one for all, or one for each type (transformer/moe/
// router.py, get_aux_loss_coeff).
std::vector<BalancingLoss> losses_with_coefficients(MegatronReading& in) {
    const std::string said = in.lower(types_key, "aux_loss"), numbers = in.word(coefficients_key, "0");
    const std::vector<std::string_view> types = words(said), given = words(numbers);
    std::vector<BalancingLoss> losses;
    if (given.size() != 1 && given.size() != types.size()) {
        in.error(coefficients_key, "expected one coefficient, or one for each of {} losses, got {}", types.size(),
                 given.size());
        return losses;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        const auto loss = std::ranges::find(balancing_losses, types[i], &BalancingLoss::name);
        const std::string coefficient(given[given.size() == 1 ? 0 : i]);
        if (loss != balancing_losses.end()) {
            if (std::strtod(coefficient.c_str(), nullptr) > 0) losses.push_back(*loss);
        } else if (types[i] != "none" && types[i] != "sinkhorn") {
            in.error(types_key,
                     "expected aux_loss, seq_aux_loss, global_aux_loss, sinkhorn or none, got "
                     "\"{}\"",
                     types[i]);
        }
    }
    return losses;
}

void read_loss(MegatronReading& in) {
    const std::vector<BalancingLoss> losses = losses_with_coefficients(in);
    if (losses.empty()) {
        if (in.on(bias_key)) return in.put("experts.balancing", "bias", bias_key);
        if (in.has(types_key) && in.lower(types_key) != "sinkhorn")
            in.note(types_key, "without a coefficient nothing balances experts; they are taken to be evenly loaded");
        return;
    }
    const std::string_view key = in.has(types_key) ? types_key : coefficients_key;
    for (const BalancingLoss& loss : losses) in.needs(loss.since, key);
    if (losses.size() == 1) return in.put("experts.balancing", losses.front().balancing, key);
    std::vector<std::string> names;
    for (const BalancingLoss& loss : losses) names.push_back(fmt::format("\"{}\"", loss.balancing));
    in.import.object.object("experts").set_json("balancing", fmt::format("[{}]", fmt::join(names, ", ")),
                                                in.origin(key));
    in.needs(several_losses_since, key);
}

}  // namespace

// Forced balance and Sinkhorn's assignment leave experts evenly loaded. Megatron-DeepSpeed has a loss of each rank's
// own tokens, whose weight it says elsewhere.
void read_megatron_balancing(MegatronReading& in) {
    if (in.has("num_experts") && !in.deepspeed && !in.on(force_key)) read_loss(in);
}

}  // namespace weft
