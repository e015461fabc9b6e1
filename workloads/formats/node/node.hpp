// Nodes as topology tools describe them, as machines of weft. Kinds of accelerator, as the tools name them, and what of
// weft stands for each: the rows of accelerators.json.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/quantity.hpp"
#include "topologies/machine.hpp"
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
    // and numbers of NVLinks of one accelerator that stand for it, which several kinds may share; of AMD architectures.
    std::string pci, capability, nvlinks, architectures;

    LinkFamily family() const { return vendor == "0x10de" ? LinkFamily::nvlink : LinkFamily::infinity_fabric; }
};

// nullptr where nothing is known of it. All texts as the tools print them.
const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device);  // "0x10de", "0x20b2"
// "908", "gfx942", with the number of compute units, which tells MI300A and MI300X apart.
const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units);
const AcceleratorKind* kind_of_capability(std::uint32_t sm);     // 80
const AcceleratorKind* kind_of_nvlinks(std::uint32_t links);     // of one accelerator
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
Import make_machine(NodeDescription node, const FormatOptions& options, Import import = {});

// The machine that a described node, or a described network, is otherwise like: what its file says of node and links.
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

// How a described node becomes a machine.
class NodeMachine {
  public:
    NodeMachine(Import& import, NodeDescription node, const FormatOptions& options)
        : import_(import), node_(std::move(node)), options_(options) {}

    void make();

  private:
    Origin of_file(std::string key) const { return in_file(node_.path, std::move(key)); }
    Origin of_links(std::string_view more) const {
        return {.file = node_.links_origin.file,
                .line = node_.links_origin.line,
                .key = fmt::format("{} {}", node_.links_origin.key, more)};
    }
    Origin of_like(std::string_view what) const {
        return {.file = {}, .line = 0, .key = fmt::format("{}, as {}", what, like_.name)};
    }

    void add_facts();
    bool find_kind();
    void write_head();
    void write_joined();
    void write_crossbar(std::string_view link_class, const Origin& origin);
    void write_switched();
    void write_through_host();
    void write_as_like();
    void write_graph();
    void write_graph_classes();
    void write_packages();
    void write_class(std::string_view name, double nominal, const LikeLink* measured, const Origin& origin);
    void write_host_class(const Origin& origin);
    void write_nics();
    void spread_nics_of_like();
    void leave_out_slow_nics();
    void write_nic_bandwidths();
    void write_network();

    Draft& links() { return import_.object.object("links"); }
    Draft& block() { return import_.object.object("node"); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(node_.accelerators.size()); }
    void make_symmetric();
    bool same_family() const { return like_.node_link.starts_with(to_text(node_.family)); }
    std::string family() const {
        return same_family() && !like_.crossbar ? like_.node_link : std::string(to_text(node_.family));
    }

    Import& import_;
    NodeDescription node_;
    const FormatOptions& options_;
    LikeMachine like_;
    std::size_t nics_ = 0;
    bool through_host_ = false;  // some accelerators reach each other through the host
};

// The least that is said of the links of some devices; 0: nothing is.
template <class Devices>
double narrowest_pcie(const Devices& devices) {
    double narrowest = 0;
    for (const auto& each : devices) {
        if (each.pcie_gigabytes > 0 && (narrowest == 0 || each.pcie_gigabytes < narrowest))
            narrowest = each.pcie_gigabytes;
    }
    return narrowest;
}

}  // namespace weft
