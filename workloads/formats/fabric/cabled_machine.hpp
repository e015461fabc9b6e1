// A machine whose network is cabled as a file of another tool says, and whose nodes are those of a machine of weft.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/node/like_machine.hpp"

namespace weft {

// The machine `FormatOptions::like`. Nothing, and an error among the notes, where the user says none, or one whose own
// network is a list of cables. Throws ConfigError for an unknown machine.
std::optional<LikeMachine> like_node(Import& import, const FormatOptions& options);

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
void write_cabled_machine(Import& import, const CabledFabric& fabric, const LikeMachine& like, const SourceFile& file);

}  // namespace weft
