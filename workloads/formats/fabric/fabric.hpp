// Networks as other tools describe them. A machine whose network is cabled as a file says, and whose nodes are those of
// a machine of weft.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/node/node.hpp"

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

// What ibnetdiscover prints of an InfiniBand fabric, as a whole or as a list of ports (-p). Formats:
// linux-rdma/rdma-core infiniband-diags/ibnetdiscover.c; widths and speeds: libibmad's dump functions, which give names
// to the rates of the InfiniBand Architecture Specification.
enum class DeviceKind : std::uint8_t { switch_, adapter, router, aggregation };

struct IbDevice {
    DeviceKind kind = DeviceKind::adapter;
    std::string description;
    bool has_part = false;  // of its own in the file, not only as somebody's peer
    int line = 0;
};

struct IbPort {
    std::string guid;
    std::uint32_t number = 0;
    auto operator<=>(const IbPort&) const = default;
};

struct IbFabric {
    std::map<std::string, IbDevice> devices;                  // by GUID
    std::map<std::pair<IbPort, IbPort>, std::string> cables;  // with their speed, "4xNDR"; the lower end first
    std::map<IbPort, std::pair<IbPort, int>> plugged;         // what is at the other end, and the line that says it
    std::vector<std::string> order;                           // GUIDs as they come
    int unknown_line = 0;                                     // the first
    std::size_t unknown_lines = 0;
};

bool looks_like_ibnetdiscover(const SourceFile& file);
// Throws ConfigError with every line that is cut or otherwise wrong.
IbFabric read_ibnetdiscover(const SourceFile& file);
// Gbit/s of data in one direction of a cable of "4xNDR"; 0 for a speed that is not known.
double infiniband_gbit(std::string_view speed);

// The switches that Slurm's topology files list: topology.conf (SwitchName=, BlockName=) and topology.yaml (tree,
// block, flat). Keys: topology.conf(5) and topology.yaml(5) of SchedMD/slurm;
// src/plugins/topology/tree/switch_record.c.
constexpr std::size_t most_slurm_hosts = std::size_t{1} << 18;

struct SlurmSwitch {
    std::string name;
    std::vector<std::string> nodes{}, switches{};  // below it, by name
    Origin origin{};
    std::vector<std::uint32_t> children{}, parents{};  // by number
    std::uint32_t level = 1;                           // of one with no switch below it: 1
};

struct SlurmTree {
    std::vector<SlurmSwitch> switches;
    std::vector<Origin> blocks, flat;  // where these are
    std::vector<Diagnostic> mistakes;
    std::size_t expanded = 0;  // names in all

    void mistake(const Origin& origin, std::string message);
    std::vector<std::string> expand(std::string_view list, const Origin& origin);
};

bool is_slurm_topology(const SourceFile& file);
SlurmTree read_slurm_tree(Import& import, const SourceFile& file);  // throws ConfigError for bad YAML

}  // namespace weft
