// A machine file (topologies/machines/<name>.json) and the topology it describes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct MachineInfo {
    std::string name;         // "frontier"
    std::string title;        // "OLCF Frontier: HPE Cray EX235a, ..."
    std::string device;       // name of a file in models/devices
    std::string library;      // "rccl", "nccl": the communication library its constants describe
    std::uint32_t nodes = 1;  // of the whole machine
    std::uint32_t accelerators_per_node = 1;
    std::uint32_t accelerators_per_package = 1;
    std::uint32_t nics_per_node = 1;
    std::vector<std::uint32_t> neighbourhoods;  // nodes that sit together at each level of the network, ascending
    BytesPerSecond bisection;                   // specified, one way, between two halves of the whole machine
    LibraryCost library_cost;
};

// A machine file that was read and checked, and can build the topology of its first n nodes.
class Machine {
  public:
    // `name`: a shipped machine, or the path of a machine file (contains '/' or ends in .json).
    // Throws ConfigError.
    static Machine load(std::string_view name);
    static Machine read(Document document);

    const MachineInfo& info() const { return info_; }
    Topology topology(std::uint32_t nodes) const;  // throws RangeError if nodes is 0 or more than the machine has

  private:
    explicit Machine(MachineInfo info) : info_(std::move(info)) {}
    struct Blocks;
    MachineInfo info_;
    std::shared_ptr<const Blocks> blocks_;  // immutable description of the node block and the network block
};

std::vector<std::string> machine_names();  // shipped, sorted

// The rings that a library lays through `members` (any ranks of the machine, in the caller's order): one order of all
// members per channel. Inside a node, orders are searched on the real link graph so that the channels share links and
// NICs as evenly as possible; across nodes each channel leaves and enters through its own NIC where there are several.
// Deterministic. Groups with the same local members reuse the search (see ChannelCache in the .cpp).
class ChannelPlanner {
  public:
    explicit ChannelPlanner(const Topology& topology);
    ~ChannelPlanner();
    Communicator ring(const std::vector<RankId>& members);
    Communicator single(const std::vector<RankId>& members);  // one channel in the given order (point-to-point, trees)

  private:
    struct Cache;
    const Topology& topology_;
    std::unique_ptr<Cache> cache_;
};

}  // namespace weft
