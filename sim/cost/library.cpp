#include "sim/cost/library.hpp"

#include <algorithm>

namespace weft {

bool ProtocolCost::serves(Collective op) const { return weft::serves(ops, op); }

const ProtocolCost* Library::find(Collective op, std::string_view algorithm, std::string_view protocol) const {
    for (const ProtocolCost& cost : costs) {
        if (cost.algorithm == algorithm && cost.protocol == protocol && cost.serves(op)) return &cost;
    }
    return nullptr;
}

bool Library::runs(Collective op) const {
    return std::any_of(costs.begin(), costs.end(), [op](const ProtocolCost& cost) {
        return cost.serves(op) && find_algorithm(op, cost.algorithm) != nullptr;
    });
}

std::vector<std::string> algorithms_of(Collective op) {
    std::vector<std::string> names;
    for (const Algorithm* algorithm : collective::all()) {
        if (algorithm->op == op) names.emplace_back(algorithm->name);
    }
    return names;
}

}  // namespace weft
