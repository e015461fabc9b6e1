// Kinds of accelerator, as topology tools name them, and what of weft stands for each: the rows of accelerators.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {

enum class LinkFamily : std::uint8_t { nvlink, infinity_fabric };
// As machine files call it.
inline std::string_view to_text(LinkFamily family) { return enumerator_name(family); }

struct AcceleratorKind {
    std::string name;           // "A100 80 GB"
    std::string device;         // of weft; another kind's where weft has no file of this one
    std::string machine;        // shipped, with that device or the nearest to it
    bool stands_in = false;     // weft has no file of this device
    std::string vendor;         // "0x10de"
    double link_gigabytes = 0;  // per second, of one link and direction
    std::uint32_t dies_per_package = 1;
    // Words by which tools know it, with blanks between them: PCI numbers, the most common first; compute capabilities
    // and numbers of NVLinks of one accelerator that stand for it, which several kinds may share; of AMD architectures
    // and parts of product names.
    std::string pci, capability, nvlinks, architectures, products;

    LinkFamily family() const { return vendor == "0x10de" ? LinkFamily::nvlink : LinkFamily::infinity_fabric; }
};

// nullptr where nothing is known of it. All texts as the tools print them.
const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device);  // "0x10de", "0x20b2"
// "908", "gfx942", with the number of compute units, which tells MI300A and MI300X apart.
const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units);
const AcceleratorKind* kind_of_capability(std::uint32_t sm);     // 80
const AcceleratorKind* kind_of_nvlinks(std::uint32_t links);     // of one accelerator
const AcceleratorKind* kind_of_product(std::string_view text);   // in which AMD's name of it stands: "MI300X"
const AcceleratorKind* kind_of_device(std::string_view device);  // "h100", of weft

// A node as topology tools describe it: accelerators, the links between them, NICs. What all their formats come to.
using LinkCounts = std::vector<std::vector<std::uint32_t>>;

struct DescribedAccelerator {
    std::string name;  // as the file calls it
    Origin origin;
    std::uint32_t switch_links = 0;  // to NVSwitches
    double pcie_gigabytes = 0;       // per second, of the narrowest PCIe link towards its host; 0: not said
};

struct DescribedNic {
    std::string name;
    Origin origin;
    double gigabits = 0;        // per second, of its port; 0: not said
    double pcie_gigabytes = 0;  // per second, of its own PCIe link; 0: not said
    // How far each accelerator is, the least being nearest; equal where the file does not tell them apart.
    std::vector<std::uint32_t> distance;
    // Breaks ties between accelerators, after the number of NICs that each has. Empty: nothing does.
    std::vector<std::uint32_t> apart;
    bool near_accelerator = true;  // within one PCIe switch of one
};

struct NodeDescription {
    NodeDescription(std::string_view tool, const SourceFile& source)
        : tool(tool), path(source.path), file(source.name()) {}

    std::string tool;        // "NCCL topology"
    std::string path, file;  // file: without folders
    std::vector<DescribedAccelerator> accelerators;
    std::vector<DescribedNic> nics;
    std::uint32_t numa_nodes = 0;  // 0: not said
    bool links_known = true;       // whether the file says which accelerators links join
    bool counts_known = true;      // whether it says by how many; without, a pair has 1
    LinkCounts links;  // as the file says: links of an accelerator to itself, and in one direction alone, too
    Origin links_origin;
    LinkFamily family = LinkFamily::nvlink;
    const AcceleratorKind* kind = nullptr;
    Origin kind_origin;
    std::string kind_guess;  // what it was guessed by, where the file does not say it

    void set_no_links() { links.assign(accelerators.size(), std::vector<std::uint32_t>(accelerators.size())); }
    std::uint32_t links_of(std::size_t accelerator) const;  // to other accelerators
    bool joins_any() const;                                 // whether any link joins accelerators, or one and a switch
};

// A machine of more than these is no node. Throws ConfigError.
void check_node_size(const std::string& path, std::size_t accelerators, std::size_t nics);

// The machine that repeats the node on the network of another one, which the options or the accelerators name; facts:
// accelerators_per_node, nics_per_node, numa_nodes, links, switch_links, nic_gbit_per_s, each where the file says it.
void make_machine(Import& import, NodeDescription node, const FormatOptions& options);

}  // namespace weft
