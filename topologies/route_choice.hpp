// How files and options name the routing of a fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct RouteChoice {
    // NOLINTNEXTLINE(google-explicit-constructor): a routing says all where nothing is hashed
    constexpr RouteChoice(Routing how = Routing::minimal, std::uint64_t hash_seed = 0)
        : routing(how), seed(hash_seed) {}
    Routing routing;
    std::uint64_t seed;  // of Routing::ecmp
    bool operator==(const RouteChoice&) const = default;
};

// "minimal", "ecmp", "ecmp:SEED" with a number of 64 bits, "valiant" or "adaptive".
std::optional<RouteChoice> find_routing(std::string_view text);
std::string to_text(const RouteChoice& choice);      // what find_routing() reads
std::string unknown_routing(std::string_view text);  // what was expected in its place
// `text` of the key "routing", where anything else is an error.
RouteChoice read_routing(Field& section, std::string_view text);

}  // namespace weft
