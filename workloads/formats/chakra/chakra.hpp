// A node of a Chakra execution trace as its message has it, and what is wrong with the message.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft {

// NodeType.
enum class ChakraType : std::uint8_t { invalid, metadata, load, store, compute, send, receive, collective };

// CollectiveCommType, in its order. A barrier, the last, is an all-reduce of next to nothing; the two that are missing
// are gather and scatter.
inline constexpr auto chakra_collectives = [] {
    using enum Collective;
    return std::array<std::optional<Collective>, 10>{
        all_reduce, reduce, all_gather, {}, {}, broadcast, all_to_all, reduce_scatter, reduce_scatter, all_reduce};
}();

// Attributes of a node, each of some kind of number or a text; what is not given stays as it is here.
struct ChakraAttributes {
    std::vector<std::pair<std::string_view, std::optional<double>>> numbers;
    std::string_view group;        // pg_name
    bool some_dimensions = false;  // involved_dim is not true everywhere

    std::optional<double> number(std::string_view name) const {  // the last of that name
        const auto found =
            std::find_if(numbers.rbegin(), numbers.rend(), [&](const auto& one) { return one.first == name; });
        return found == numbers.rend() ? std::nullopt : found->second;
    }
};

struct ChakraDependency {
    std::uint64_t id = 0;
    bool is_control = false;
};

// Views are of the message, which must outlive it.
struct ChakraNode {
    std::uint64_t id = 0;
    std::string_view name{};
    std::uint64_t type = 0;
    std::optional<double> start{}, duration{};  // in us
    std::string_view input_values{};
    std::vector<ChakraDependency> dependencies{};
    ChakraAttributes attributes{};
    std::string_view fault{};  // of the message; empty: none
};

ChakraNode read_chakra_node(std::string_view message);

}  // namespace weft
