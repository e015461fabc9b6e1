// A node as topology tools describe it: accelerators, the links between them, NICs. What all their formats come to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/node/accelerator_kind.hpp"

namespace weft {

using LinkCounts = std::vector<std::vector<std::uint32_t>>;

struct DescribedAccelerator {
    std::string name;  // as the file calls it
    Origin origin;
    std::uint32_t switch_links = 0;  // to NVSwitches
    double pcie_gigabytes = 0;       // per second, of the narrowest PCIe link towards its host; 0: not said
    std::vector<std::size_t> above;  // what is around it in the tree of the file, outermost first
};

struct DescribedNic {
    std::string name;
    std::string busid;  // empty: not known
    Origin origin;
    double gigabits = 0;        // per second, of its port; 0: not said
    double pcie_gigabytes = 0;  // per second, of its own PCIe link; 0: not said
    // How far each accelerator is, the least being nearest; equal where the file does not tell them apart.
    std::vector<std::uint32_t> distance;
    // Breaks ties between accelerators, after the number of NICs that each has. Empty: all alike.
    std::vector<std::uint32_t> apart;
    std::vector<std::size_t> above;  // as of accelerators
    bool near_accelerator = true;    // within one PCIe switch of one
};

struct NodeDescription {
    std::string tool;        // "NCCL topology"
    std::string path, file;  // file: without folders
    std::vector<DescribedAccelerator> accelerators;
    std::vector<DescribedNic> nics;
    std::uint32_t numa_nodes = 0;  // 0: not said
    bool links_known = true;       // whether the file says which accelerators links join
    bool counts_known = true;      // whether it says by how many; without, a pair has 1
    LinkCounts links;              // as the file says: links of an accelerator to itself, and one way alone, too
    Origin links_origin;
    LinkFamily family = LinkFamily::nvlink;
    const AcceleratorKind* kind = nullptr;
    Origin kind_origin;
    std::string kind_guess;  // what it was guessed by, where the file does not say it

    LinkCounts no_links() const;
    std::uint32_t links_of(std::size_t accelerator) const;  // to other accelerators
};

// GT/s of one lane as tools print it ("16.0 GT/s PCIe"), times lanes, in GB/s; 0 where either is not said.
double pcie_gigabytes(std::string_view speed, std::string_view lanes);

// A machine of more than these is no node. Throws ConfigError.
void check_node_size(const std::string& path, std::size_t accelerators, std::size_t nics);

// Sets the distances of NICs by what is around them and accelerators, and breaks ties by the numbers of their buses,
// which are dealt out side by side below one root ("0000:c1:00.0", their names).
void place_nics_by_tree(NodeDescription& node);

// The accelerator that each NIC is attached to: the nearest; among equals the one with the fewest NICs, then by
// `apart`, then the first.
std::vector<std::uint32_t> attached_to(std::span<const DescribedNic> nics, std::size_t accelerators);

// accelerators_per_node, nics_per_node, numa_nodes, links, switch_links, nic_gbit_per_s; each where the file says it.
void add_node_facts(Import& import, const NodeDescription& node);

// Makes the machine that repeats the node on the network of another one, which the options or the accelerators name.
void make_machine(Import& import, NodeDescription node, const FormatOptions& options);

}  // namespace weft
