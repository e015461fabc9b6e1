#include "sim/cost/library.hpp"

#include <algorithm>

namespace weft {

bool ProtocolCost::serves(Collective op) const {
    return ops.empty() || std::find(ops.begin(), ops.end(), op) != ops.end();
}

const ProtocolCost* Library::find(Collective op, std::string_view algorithm, std::string_view protocol) const {
    for (const ProtocolCost& cost : costs) {
        if (cost.algorithm == algorithm && cost.protocol == protocol && cost.serves(op)) return &cost;
    }
    return nullptr;
}

}  // namespace weft
