// A machine whose network is cabled as a file of another tool says, and whose nodes are those of a machine of weft.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// What the nodes of the machine `FormatOptions::like` bring to their ports.
struct LikeNode {
    std::string extends;                  // what a machine file calls that machine
    std::vector<std::uint32_t> attached;  // the accelerator of each NIC
    LinkClass port;                       // of its NICs
    RouteChoice routing;

    std::uint32_t nics() const { return static_cast<std::uint32_t>(attached.size()); }
    double port_gbit() const { return port.nominal.value * 8e-9; }
};

// Nothing, and an error among the notes, where the user says none. Throws ConfigError for an unknown machine.
std::optional<LikeNode> like_node(Import& import, const FormatOptions& options);

struct CabledNode {
    std::string name;
    std::vector<std::uint32_t> switches;  // of each NIC, or one of all
};

struct CabledFabric {
    struct Cables {
        double gbit = 0;                                                           // per second and direction
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> between;  // two switches: how many
    };

    std::string title{};
    std::vector<std::string> switches{};
    std::map<std::string, Cables> cables{};  // by name of their link class
    double port_gbit = 0;
    std::uint32_t nics = 0;  // of a node
    std::vector<CabledNode> nodes{};
};

// Makes the machine in `import`. Efficiencies and latencies of cables are those of the ports of `like`.
void write_cabled_machine(Import& import, const CabledFabric& fabric, const LikeNode& like, const SourceFile& file);

}  // namespace weft
