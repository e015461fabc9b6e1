// The topology file of NCCL and RCCL (NCCL_TOPO_FILE) for a node of a machine. Elements and attributes: NVIDIA/nccl
// src/graph/xml.cc. Bus numbers are dealt out: a library on a real node looks for its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "topologies/machine.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/node/accelerator_kind.hpp"

namespace weft::exports {
namespace {

constexpr std::string_view nvswitch_busid = "ffff:00:00.0";

struct ExportedNic {
    double pcie_bytes = 0, port_bytes = 0;  // per second
};

struct ExportedAccelerator {
    std::map<std::uint32_t, double> links;  // to accelerators by number, bytes per second
    double switch_bytes = 0, host_bytes = 0;
    std::vector<ExportedNic> nics;
};

bool is_pcie(const LinkClass& link) { return link.name.starts_with("pcie"); }

// What the links of one node come to, each direction being as the other.
class NodeLinks {
  public:
    explicit NodeLinks(const Machine& machine)
        : topology_(machine.topology(1)), accelerators_(machine.info().accelerators_per_node) {
        for (std::uint32_t i = 0; i < accelerators_.size(); ++i) number_[topology_.endpoint(RankId(i))] = i;
        for (LinkId id{}; static_cast<std::uint32_t>(id) < topology_.links(); id = next(id)) add_link(id);
        for (const auto& [nic, place] : attached_) accelerators_[place.first].nics.push_back(place.second);
    }

    const std::vector<ExportedAccelerator>& accelerators() const { return accelerators_; }

  private:
    void add_link(LinkId id) {
        const auto [tail, head] = topology_.ends(id);
        const double bytes = topology_.link(id).nominal.value;
        if (topology_.node_kind(tail) == NodeKind::nic && topology_.node_kind(head) == NodeKind::network_switch)
            attached_[tail].second.port_bytes = bytes;
        if (topology_.node_kind(tail) != NodeKind::accelerator) return;
        ExportedAccelerator& accelerator = accelerators_[number_.at(tail)];
        switch (topology_.node_kind(head)) {
            case NodeKind::accelerator:
                accelerator.links[number_.at(head)] += bytes;
                return;
            case NodeKind::node_switch:
                (is_pcie(topology_.link(id)) ? accelerator.host_bytes : accelerator.switch_bytes) += bytes;
                return;
            case NodeKind::nic:
                attached_[head].first = number_.at(tail);
                attached_[head].second.pcie_bytes = bytes;
                return;
            case NodeKind::network_switch:
                return;
        }
    }

    Topology topology_;
    std::vector<ExportedAccelerator> accelerators_;
    std::map<NodeId, std::uint32_t> number_;
    std::map<NodeId, std::pair<std::uint32_t, ExportedNic>> attached_;
};

// Sixteen lanes.
std::string pci_link(double bytes) {
    return fmt::format(R"(link_speed="{:.6g} GT/s PCIe" link_width="16")", bytes / 1e9 / 2);
}

class TopologyXml {
  public:
    explicit TopologyXml(const Machine& machine)
        : machine_(machine.info()), kind_(kind_of_device(machine_.device)), node_(machine) {
        if (kind_ == nullptr) {
            refuse("device", fmt::format("neither NCCL nor RCCL runs on {}", machine_.device));
            throw ConfigError(std::move(errors_));
        }
    }

    std::string text() {
        const bool amd = kind_->family() == LinkFamily::infinity_fabric;
        std::string all =
            fmt::format("<!-- A node of {}. Bus numbers stand for those of a real node. -->\n", machine_.name);
        all += fmt::format("<system version=\"{}\">\n  <cpu numaid=\"0\">\n", amd ? 2 : 1);
        for (std::uint32_t i = 0; i < node_.accelerators().size(); ++i) all += accelerator(i);
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        return all + "  </cpu>\n</system>\n";
    }

  private:
    void refuse(std::string key, std::string message) {
        errors_.push_back({.file = machine_.name, .line = 0, .key = std::move(key), .message = std::move(message)});
    }
    std::string_view device_class() const { return kind_->family() == LinkFamily::nvlink ? "0x030200" : "0x038000"; }
    static std::string busid(std::uint32_t accelerator) { return fmt::format("{:04x}:02:00.0", accelerator); }

    // An accelerator and its NICs are below one switch.
    std::string accelerator(std::uint32_t number) {
        const ExportedAccelerator& here = node_.accelerators()[number];
        double bytes = here.host_bytes;
        if (bytes == 0)
            bytes = here.nics.empty() ? node_.accelerators().front().host_bytes : here.nics.front().pcie_bytes;
        constexpr double usual = 32e9;  // where neither NICs nor the host say it
        if (bytes == 0) bytes = usual;
        double widest = bytes;
        for (const ExportedNic& each : here.nics) widest = std::max(widest, each.pcie_bytes);
        std::string text =
            fmt::format("    <pci busid=\"{:04x}:01:00.0\" class=\"0x060400\" {}>\n", number, pci_link(widest));
        text += fmt::format("      <pci busid=\"{}\" class=\"{}\" vendor=\"{}\" device=\"{}\" {}>\n", busid(number),
                            device_class(), kind_->vendor, kind_->pci.substr(0, kind_->pci.find(' ')), pci_link(bytes));
        const std::string gcn = kind_->gcn.empty() ? "" : fmt::format(" gcn=\"{}\" arch=\"0\"", kind_->gcn);
        text +=
            fmt::format("        <gpu dev=\"{0}\" sm=\"{1}\"{2} rank=\"{0}\" gdr=\"1\">\n", number, kind_->units, gcn);
        text += links(here) + "        </gpu>\n      </pci>\n";
        for (std::uint32_t i = 0; i < here.nics.size(); ++i) text += nic(number, i, here.nics[i]);
        return text + "    </pci>\n";
    }

    std::string links(const ExportedAccelerator& from) {
        std::string text;
        for (const auto& [to, bytes] : from.links) text += link(bytes, busid(to), device_class());
        // One accelerator exchanges with nobody, whatever its switch stands for.
        if (from.switch_bytes > 0 && node_.accelerators().size() > 1)
            text += link(from.switch_bytes, nvswitch_busid, "0x068000");
        return text;
    }

    std::string link(double bytes, std::string_view target, std::string_view target_class) {
        const double count = bytes / 1e9 / kind_->link_gigabytes, whole = std::round(count);
        if (whole < 1 || std::abs(count - whole) > 1e-6 * whole) {
            refuse("node", fmt::format("{:g} GB/s are no whole number of links of {:g} GB/s, as {} has", bytes / 1e9,
                                       kind_->link_gigabytes, kind_->name));
        }
        if (kind_->family() == LinkFamily::infinity_fabric && target == nvswitch_busid)
            refuse("node", "RCCL knows no switches between accelerators");
        return fmt::format("          <{} target=\"{}\" count=\"{}\" tclass=\"{}\"/>\n",
                           kind_->family() == LinkFamily::nvlink ? "nvlink" : "xgmi", target, whole, target_class);
    }

    std::string nic(std::uint32_t accelerator, std::uint32_t place, const ExportedNic& nic) {
        constexpr double bits = 8, mega = 1e6;
        const std::string head = fmt::format("      <pci busid=\"{:04x}:{:02x}:00.0\" class=\"0x020700\" {}>\n",
                                             accelerator, place + 3, pci_link(nic.pcie_bytes));
        const std::string net = fmt::format(
            "        <nic>\n          <net name=\"nic{0}\" dev=\"{0}\" speed=\"{1:.0f}\" port=\"1\" guid=\"0x{0:x}\" "
            "maxconn=\"131072\" gdr=\"1\"/>\n        </nic>\n      </pci>\n",
            nics_, nic.port_bytes * bits / mega);
        ++nics_;
        return head + net;
    }

    const MachineInfo& machine_;
    const AcceleratorKind* kind_;
    NodeLinks node_;
    std::uint32_t nics_ = 0;
    std::vector<Diagnostic> errors_;
};

std::string write_nccl_xml(const Machine& machine) { return TopologyXml(machine).text(); }

}  // namespace

extern const ExportFormat nccl_xml;
const ExportFormat nccl_xml{"nccl-xml", "topology file of NCCL and RCCL for a node", nullptr, write_nccl_xml};

}  // namespace weft::exports
