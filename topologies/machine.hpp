// A machine file (topologies/machines/<name>.json) and the topology it describes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/communicator.hpp"
#include "sim/cost/library.hpp"
#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/fabric.hpp"

namespace weft {

// The "libraries" of a machine file: the communication libraries of the machine. The first is the default. What a
// library costs on a fabric stands in one file of topologies/fabrics, for all machines that have it; a machine says
// what its own nodes change, by the names of rows.

// Libraries that extend a file of topologies/fabrics (shipped, or a path) become whole. Mistakes are recorded.
void extend_libraries(Field machine);

// Records every error at its place.
std::vector<Library> read_libraries(Field& machine);

// A file of topologies/tuners (shipped, or a path): the tables "in_node" and "across" of times that the library
// predicts, or "decisions", or both. Throws ConfigError.
//
//   { "decisions": [ { "operations": ["all_gather"], "algorithm": "ring", "where": "across",   // absent: anywhere
//                      "power_of_two": true,                      // absent: any number of members,
//                      "least_members": 2, "most_members": 32,    //   these included
//                      "over": "0 B", "most": "32 MiB" } ] }      // of the full message; absent: any
Tuner load_tuner(std::string_view name);

inline constexpr std::array every_collective{
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce,     Collective::all_to_all, Collective::send_receive,   Collective::point_to_point};
std::optional<Collective> find_collective(std::string_view name);  // "all_reduce"; also "allreduce", "all-reduce"

// How a machine is run: what fails how often, where checkpoints go, what its nodes draw. All of it is optional:
// a figure that is not known is absent.
struct FailureFigures {
    // Mean times between failures of one accelerator, node, NIC with its cable, and process.
    std::optional<Seconds> accelerator, node, nic, process;
    std::optional<Seconds> planned;    // between planned stops of a run
    std::optional<Seconds> detection;  // from a failure until the job is stopped
    std::optional<Seconds> launch;     // of processes and communicators, until a checkpoint can be loaded
    std::optional<Seconds> repair;     // until a node is back
};

// Of the file system, by all nodes together.
struct StorageFigures {
    BytesPerSecond write, read;
};

struct NodePower {
    Watts node;             // all but its accelerators, at work or not
    double overhead = 1.0;  // what the site draws for each watt of it: power usage effectiveness
};

struct Operation {
    std::optional<FailureFigures> failures;
    std::optional<StorageFigures> storage;
    std::optional<NodePower> power;
};

// Records every error at its place.
Operation read_operation(Field& machine);

// Host names are the prefix and a number, which for node 0 is `first` and has at least `digits` of them; or they are
// listed, node by node.
struct NodeNames {
    std::string prefix;
    std::uint32_t first = 0;
    std::uint32_t digits = 1;
    std::vector<std::string> listed{};

    std::string name(std::uint32_t node) const {
        if (!listed.empty()) return listed[node];
        const std::string number = std::to_string(first + node);
        return prefix + std::string(digits - std::min<std::size_t>(digits, number.size()), '0') + number;
    }
};

// What accelerators reach of their node's host. Each has a link of its own, whose other traffic is left out.
struct HostInfo {
    BytesPerSecond link;                       // in one direction
    Bytes memory;                              // of a node
    BytesPerSecond memory_bandwidth;           // of a node
    BytesPerSecond drives_read, drives_write;  // of a node's NVMe drives together; 0: not known
};

struct MachineInfo {
    std::string name;                         // "frontier"
    std::string title;                        // "OLCF Frontier: HPE Cray EX235a, ..."
    std::string device;                       // name of a file in models/devices, or a path
    std::uint32_t nodes = 1;                  // of the whole machine
    std::uint32_t most_nodes = 1;             // that jobs may ask for: more than `nodes` where the network grows
    std::uint32_t accelerators_per_node = 1;  // that jobs take
    std::uint32_t idle_per_node = 0;          // others that a node has
    std::uint32_t accelerators_per_package = 1;
    std::uint32_t nics_per_node = 1;
    BytesPerSecond nic;                         // achievable, of one NIC, in one direction
    std::vector<std::uint32_t> neighbourhoods;  // nodes that sit together at each level of the network, ascending
    BytesPerSecond bisection;                   // specified, in one direction, between two halves of the whole machine
    RouteChoice routing;                        // of the fabric, unless a job asks for another
    std::vector<Library> libraries;             // the first is the default
    std::vector<std::string> link_classes;
    std::vector<std::string> switch_classes;  // of these, those of links between switches
    std::optional<HostInfo> host;             // absent: the machine file does not say it
    Seconds host_operation;  // that the host issues, in place of what the device's file says; 0: not known
    Operation operation;
    std::optional<NodeNames> node_names;  // absent: nodes are known by their numbers only

    const Library& library() const { return libraries.front(); }
    // What it means that a job takes so many nodes, where these are more than the machine has; else empty.
    std::string growth(std::uint32_t asked) const;
    void prefer(std::string_view library);                        // makes it the default; nothing for an unknown name
    const Library* find_library(std::string_view library) const;  // null if the machine file has none of that name
};

// A machine file that was read and checked, and can build the topology of its first n nodes.
class Machine {
  public:
    // `name`: a shipped machine, or the path of a machine file (contains '/' or ends in .json).
    // Throws ConfigError.
    static Machine load(std::string_view name);
    static Machine read(Document document);
    // A machine within another document. Mistakes are recorded there; nothing if it has any.
    static std::optional<Machine> read(Field root, std::string name);

    const MachineInfo& info() const { return info_; }
    // Whether both come from one reading of one file, so that they build the same topologies.
    bool is_copy_of(const Machine& other) const { return blocks_ == other.blocks_; }
    // As built for jobs of `nodes` nodes that take the first `accelerators` of each: with as many nodes as it has or,
    // if these are more and its network grows, as many. Asked again it is a copy of what it was. Throws RangeError with
    // what it has.
    Machine sized(std::uint32_t nodes, std::uint32_t accelerators) const;
    // The topology that a job of `nodes` nodes finds. Throws RangeError: 0 nodes or more than most_nodes, a
    // placement of another length, with a node twice or none of the machine, a background class that is unknown, or a
    // share of it that is not from 0 to below 1, and for link faults as add_link_faults() does.
    Topology topology(std::uint32_t nodes, const Fabric& fabric = {}) const;

  private:
    struct Blocks;
    Machine(MachineInfo info, std::shared_ptr<const Blocks> blocks);
    MachineInfo info_;
    std::shared_ptr<const Blocks> blocks_;  // immutable description of the node block and the network block
};

// The file of a machine by name or path, as it is written. Throws ConfigError.
Document open_machine(std::string_view name);
std::vector<std::string> machine_names();  // shipped, sorted

}  // namespace weft
