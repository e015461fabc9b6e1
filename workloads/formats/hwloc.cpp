// Topologies of hwloc 1.11 to 3 as XML (lstopo --of xml). Elements: open-mpi/hwloc doc and hwloc2.dtd; links between
// GPUs: its plugins for NVML and RSMI, which give the MB/s of all links of a pair, for xGMI one figure whatever there
// is.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "sim/io/syntaxes.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/node_description.hpp"

namespace weft::formats {
namespace {

bool recognises(const SourceFile& file) {
    const std::string_view text = file.text;
    return text.find("<topology") != std::string_view::npos && text.find("<object") != std::string_view::npos;
}

// "0302 [10de:1db8] [10de:131d] a1 00"
struct PciType {
    std::string device_class, vendor, device;
    explicit PciType(const std::string& text) {
        if (text.size() < 15) return;
        device_class = text.substr(0, 4);
        vendor = "0x" + text.substr(6, 4);
        device = "0x" + text.substr(11, 4);
    }
    // Display controllers of servers' consoles are of the class 0300.
    bool is_accelerator() const {
        const bool known = vendor == "0x10de" || vendor == "0x1002" || vendor == "0x8086";
        return known && (device_class == "0302" || device_class == "0380" || device_class == "1200");
    }
    bool is_nvswitch() const { return device_class == "0680" && vendor == "0x10de"; }
};

struct Around {
    std::vector<std::size_t> above;  // objects, outermost first
    std::string pci;                 // gp_index of the PCI device around
};

class HwlocTopology {
  public:
    HwlocTopology(Import& import, const SourceFile& file)
        : import_(import), document_(parse_xml(file.path, file.text)), path_(file.path) {
        node_.tool = "hwloc topology";
        node_.path = file.path;
        node_.file = std::string(file.name());
    }

    NodeDescription read() {
        Field root = document_.root();
        if (root.text("#name") != "topology") root.error("", "expected an element <topology>");
        // Version 3 gives kinds of devices by bits, versions before by numbers.
        open_fabrics_ = root.text("version", "1").starts_with("3") ? "32" : "3";
        if (root.has("#elements")) {
            for (Field& element : root.list("#elements")) {
                const std::string name = element.text("#name");
                if (name == "object") walk(element, {});
                if (name.starts_with("distances2")) distances_.push_back(element);
            }
        }
        check_node_size(path_, node_.accelerators.size(), node_.nics.size());
        finish();
        document_.check();
        return std::move(node_);
    }

  private:
    void walk(Field element, Around around);
    void read_device(Field& element, Around& around);
    void read_system_device(Field& element, const Around& around);
    void finish();
    bool shares_bridge(const DescribedNic& nic) const;
    void read_links(Field& matrix);
    void put_link(const std::string& from, const std::string& to, double megabytes);

    Import& import_;
    Document document_;
    std::string path_;
    NodeDescription node_;
    std::string open_fabrics_;
    std::size_t next_ = 0;
    std::map<std::string, std::string> pci_of_;          // gp_index of a device of the system or PCI -> that of PCI
    std::map<std::string, std::size_t> accelerator_of_;  // gp_index of PCI -> index
    std::map<std::string, bool> switch_of_;              // gp_index of PCI: an NVSwitch
    std::map<std::string, std::size_t> nic_of_;
    std::set<std::size_t> bridges_;  // from PCI to PCI, among all objects
    std::set<std::string> other_types_;
    std::vector<Field> distances_;
    std::string model_;
};

void HwlocTopology::walk(Field element, Around around) {
    const std::string type = element.text("type", "");
    if (type == "NUMANode") ++node_.numa_nodes;
    if (type == "PCIDev") read_device(element, around);
    if (type == "OSDev") read_system_device(element, around);
    if (type == "Bridge" && element.text("bridge_type", "") == "1-1") bridges_.insert(next_);
    around.above.push_back(next_++);
    const bool used = type == "NUMANode" || type == "PCIDev" || type == "OSDev" || type == "Bridge";
    if (!used && other_types_.insert(type).second) {
        Origin origin = element.origin("type");
        origin.key = "object " + type;
        import_.without_effect.push_back(std::move(origin));
    }
    if (!element.has("#elements")) return;
    for (Field& inner : element.list("#elements")) {
        const std::string name = inner.text("#name");
        if (name == "object") walk(inner, around);
        if (name == "info" && inner.text("name", "") == "GPUModel" && model_.empty()) model_ = inner.text("value", "");
    }
}

void HwlocTopology::read_device(Field& element, Around& around) {
    const PciType type(element.text("pci_type", ""));
    const std::string index = element.text("gp_index", ""), busid = element.text("pci_busid", "");
    around.pci = index;
    pci_of_[index] = index;
    switch_of_[index] = type.is_nvswitch() || element.text("subtype", "") == "NVSwitch";
    double gigabytes = 0;
    const std::string speed = element.text("pci_link_speed", "");
    std::from_chars(speed.data(), speed.data() + speed.size(), gigabytes);
    constexpr double encoding = 130.0 / 128.0;  // of the bits on the wire, which machine files count
    gigabytes = gigabytes > 0 && gigabytes < 1e4 ? std::round(gigabytes * encoding * 100) / 100 : 0;
    const auto origin = [&] {
        Origin place = element.origin("pci_busid");
        place.key = "PCIDev " + busid;
        return place;
    };
    check_node_size(path_, node_.accelerators.size(), node_.nics.size());
    if (type.is_accelerator()) {
        if (!accelerator_of_.try_emplace(index, node_.accelerators.size()).second)
            element.error("gp_index", fmt::format("a second device with the gp_index {}", index));
        if (node_.accelerators.empty()) {
            node_.kind = kind_of_pci(type.vendor, type.device);
            node_.kind_origin = origin();
        }
        node_.accelerators.push_back({busid, origin(), 0, gigabytes, around.above});
    } else if (type.device_class == "0207") {
        nic_of_[index] = node_.nics.size();
    }
    if (nic_of_.contains(index)) {
        DescribedNic nic;
        nic.name = nic.busid = busid;
        nic.origin = origin();
        nic.pcie_gigabytes = gigabytes;
        nic.above = around.above;
        node_.nics.push_back(std::move(nic));
    }
}

// An Ethernet adapter is a NIC for collectives where it has a device of OpenFabrics, for RDMA.
void HwlocTopology::read_system_device(Field& element, const Around& around) {
    pci_of_[element.text("gp_index", "")] = around.pci;
    if (element.text("osdev_type", "") != open_fabrics_ || around.pci.empty()) return;
    const std::string name = element.text("name", "");
    if (const auto known = nic_of_.find(around.pci); known != nic_of_.end()) {
        node_.nics[known->second].name = name;
        return;
    }
    nic_of_[around.pci] = node_.nics.size();
    DescribedNic nic;
    nic.name = name;
    nic.origin = element.origin("name");
    nic.origin.key = "OSDev " + name;
    nic.above = around.above;
    if (!nic.above.empty()) nic.above.pop_back();  // its own PCI device
    node_.nics.push_back(std::move(nic));
}

void HwlocTopology::finish() {
    if (node_.kind == nullptr && !model_.empty()) node_.kind = kind_of_model(model_);
    if (node_.kind != nullptr) node_.family = node_.kind->family;
    node_.links = node_.no_links();
    node_.links_known = false;
    for (Field& matrix : distances_) {
        const std::string name = matrix.text("name", "");
        if (name == "NVLinkBandwidth" || name == "XGMIBandwidth") read_links(matrix);
    }
    place_nics_by_tree(node_);
    for (DescribedNic& nic : node_.nics) nic.near_accelerator = shares_bridge(nic);
}

bool HwlocTopology::shares_bridge(const DescribedNic& nic) const {
    return std::ranges::any_of(node_.accelerators, [&](const DescribedAccelerator& accelerator) {
        const auto apart = std::ranges::mismatch(nic.above, accelerator.above).in1;
        return apart != nic.above.begin() && bridges_.contains(*std::prev(apart));
    });
}

// The numbers of devices and the values, each over several elements.
void HwlocTopology::read_links(Field& matrix) {
    std::vector<std::string> devices;
    std::vector<double> values;
    if (!matrix.has("#elements")) return;
    for (Field& element : matrix.list("#elements")) {
        std::istringstream words(element.text("#text", ""));
        const bool indexes = element.text("#name") == "indexes";
        for (std::string word; words >> word;) {
            if (indexes) {
                devices.push_back(word.substr(word.find(':') + 1));
                continue;
            }
            double value = 0;
            std::from_chars(word.data(), word.data() + word.size(), value);
            values.push_back(value);
        }
    }
    if (values.size() != devices.size() * devices.size()) {
        return matrix.error(
            "", fmt::format("expected {} x {} values, got {}", devices.size(), devices.size(), values.size()));
    }
    node_.links_known = true;
    node_.links_origin = matrix.origin("name");
    node_.links_origin.key = matrix.text("name");
    node_.counts_known = node_.links_origin.key == "NVLinkBandwidth";
    for (std::size_t i = 0; i < devices.size(); ++i) {
        for (std::size_t j = 0; j < devices.size(); ++j) {
            if (i != j) put_link(devices[i], devices[j], values[i * devices.size() + j]);
        }
    }
}

void HwlocTopology::put_link(const std::string& from, const std::string& to, double megabytes) {
    const auto a = accelerator_of_.find(pci_of_[from]);
    if (a == accelerator_of_.end() || !(megabytes > 0)) return;
    const double one = node_.kind == nullptr ? 25 : node_.kind->link_gigabytes;
    const auto links = static_cast<std::uint32_t>(
        node_.counts_known ? std::clamp(std::round(megabytes / (one * 1000)), 1.0, 1000.0) : 1.0);
    const std::string& other = pci_of_[to];
    if (const auto b = accelerator_of_.find(other); b != accelerator_of_.end()) {
        node_.links[a->second][b->second] = links;
    } else if (switch_of_[other]) {
        node_.accelerators[a->second].switch_links += links;
    }
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1)
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "one topology describes a node"}});
    Import import;
    make_machine(import, HwlocTopology(import, files.front()).read(), options);
    return import;
}

}  // namespace

extern const Format hwloc;
const Format hwloc{"hwloc", "hwloc topology, lstopo --of xml", recognises, read};

}  // namespace weft::formats
