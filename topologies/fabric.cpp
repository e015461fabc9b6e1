#include "topologies/fabric.hpp"

namespace weft {

std::optional<Routing> find_routing(std::string_view name) {
    if (name == "minimal") return Routing::minimal;
    if (name == "valiant") return Routing::valiant;
    if (name == "adaptive") return Routing::adaptive;
    return std::nullopt;
}

}  // namespace weft
