// The machine that a described node, or a described network, is otherwise like: what its file says of node and links.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "topologies/machine.hpp"

namespace weft {

struct LikeLink {
    std::string name;
    BytesPerSecond nominal;
    double efficiency = 1;
    std::string latency;
};

struct LikeTreeLevel {
    std::uint32_t children = 1, parents = 1, cables = 1;
    std::string link;
};

struct LikeMachine {
    std::string name;  // or absolute path, as a machine file calls it
    std::string device;
    std::vector<LikeLink> links;
    bool crossbar = false;  // else a graph
    std::string node_link;  // class of a crossbar, family of a graph
    std::uint32_t accelerators = 1;
    std::vector<std::vector<std::uint32_t>> matrix;  // of a graph
    std::vector<std::uint32_t> attached;
    bool host = false;  // of a graph
    std::string nic_link;
    bool pxn = false;
    std::string port;
    RouteChoice routing;
    std::uint32_t radix = 0, rails = 0;  // 0: the network has none
    std::vector<LikeTreeLevel> levels;   // of a fat tree

    std::uint32_t nics() const { return static_cast<std::uint32_t>(attached.size()); }
    double port_gbit() const { return find(port)->nominal.value * 8e-9; }
    const LikeLink* find(std::string_view link_class) const;
    // Of the class of `count` links of a family, or else the one with the nearest number; nullptr if there is none.
    const LikeLink* nearest(std::string_view family, std::uint32_t count) const;
};

LikeMachine read_like_machine(std::string_view name);  // shipped, or a path; throws ConfigError

}  // namespace weft
