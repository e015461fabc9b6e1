// Topology files of NCCL and RCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE). Elements and attributes: NVIDIA/nccl
// src/graph/xml.cc and topo.cc, ROCm/rccl the same. Files that are written by hand for virtual machines have PCI
// devices alone: libraries fill in GPUs, their links and the speed of NICs as they run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "sim/io/document.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft::formats {
namespace {

bool is_nccl_xml_file(const SourceFile& file) {
    return contains(file.text, "<system") && (contains(file.text, "busid=") || contains(file.text, "numaid="));
}

// The elements, and their attributes without effect. What GPUs and CPUs, and PCI switches, have between themselves
// (c2c, pcilink) carries no traffic of collectives that weft simulates.
struct Element {
    std::string_view name, without_effect;
};
constexpr std::array elements{Element{"system", "version"},
                              Element{"cpu", "affinity arch vendor familyid modelid host_hash version"},
                              Element{"pci", "subsystem_vendor subsystem_device version"},
                              Element{"gpu", "arch rank gdr version"},
                              Element{"nic", "version"},
                              Element{"net", "dev latency port guid maxconn gdr coll keep version"},
                              Element{"c2c", "version bw count"},
                              Element{"pcilink", "version target"},
                              Element{"nvlink", "version"},
                              Element{"xgmi", "version"}};

// GT/s of one lane as tools print it ("16.0 GT/s PCIe"), times lanes, in GB/s; 0 where either is not said. As machine
// files say it: bits on the wire; what packets and encoding take is the efficiency's part, but for the fifth that the
// 8b/10b code of the first two generations takes.
double pcie_gigabytes(std::string_view speed, std::string_view lanes) {
    const auto leading_number = [](std::string_view text) {
        double number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number >= 0 && number < 1e6 ? number : 0;
    };
    const double gigatransfers = leading_number(speed);
    return gigatransfers * leading_number(lanes) / 8 * (gigatransfers < 8 ? 0.8 : 1.0);
}

// Numbers of buses are dealt out side by side below one root ("0000:c1:00.0").
std::uint32_t buses_apart(std::string_view a, std::string_view b) {
    constexpr std::uint32_t most_buses = 256;
    const std::size_t i = a.find(':'), j = b.find(':');
    if (i == a.npos || j == b.npos || a.substr(0, i) != b.substr(0, j)) return most_buses;
    std::uint32_t x = 0, y = 0;
    std::from_chars(a.data() + i + 1, a.data() + std::min(i + 3, a.size()), x, 16);
    std::from_chars(b.data() + j + 1, b.data() + std::min(j + 3, b.size()), y, 16);
    return x > y ? x - y : y - x;
}

// Where an attribute stands, called by the element that it is of.
Origin place_of(const Field& element, std::string_view key, std::string name) {
    Origin origin = element.origin(key);
    origin.key = std::move(name);
    return origin;
}

// Where an element stands.
struct PciPlace {
    std::vector<std::size_t> above;  // CPU and PCI devices around it, outermost first
    std::string busid, vendor, device, device_class;
    double narrowest = 0;  // link of the PCI devices above, GB/s
};

struct FoundGpu {
    std::uint32_t number = 0;
    PciPlace place;
    Origin origin;
    const AcceleratorKind* kind = nullptr;
    std::string guess{};
};

struct FoundNic {
    PciPlace place;
    DescribedNic nic;
};

class NcclTopology {
  public:
    NcclTopology(Import& import, const SourceFile& file)
        : import_(import), document_(parse_xml(file.path, file.text)), node_("NCCL topology", file) {}

    NodeDescription read() {
        Field root = document_.root();
        if (root.text("#name") != "system") root.error("", "expected an element <system>");
        walk(root, {});
        node_.numa_nodes = static_cast<std::uint32_t>(numa_nodes_.size());
        choose_devices();
        check_node_size(node_.path, gpus_.size(), nets_.size());
        number_gpus();
        node_.set_no_links();
        node_.links_origin = in_file(node_.path, "links");
        for (const auto& [link, gpu] : links_) read_link(link, gpu);
        choose_kind();
        for (FoundNic& found : nets_) place_nic(found);
        document_.check();
        return std::move(node_);
    }

  private:
    void walk(Field element, PciPlace place) {
        const std::string name = element.text("#name");
        const bool link = name == "nvlink" || name == "xgmi";
        if (name == "cpu") {
            numa_nodes_.insert(element.text("host_hash", "") + " " + element.text("numaid", ""));
            place.above.push_back(next_++);
        }
        if (name == "pci") read_pci(element, place);
        if (name == "gpu") read_gpu(element, place);
        if (name == "net") {
            check_node_size(node_.path, 0, nets_.size());
            nets_.push_back({place,
                             {.name = element.text("name", ""),
                              .origin = place_of(element, "speed", "net speed"),
                              .gigabits = number(element, "speed", 0) / 1000.0}});  // said in Mbit/s
        }
        if (link && gpus_.empty()) element.error("", "expected within an element <gpu>");
        if (link && !gpus_.empty()) links_.push_back({element, gpus_.size() - 1});
        const auto known = std::ranges::find(elements, name, &Element::name);
        if (known == elements.end()) {
            if (noted_.insert("<" + name).second)
                import_.note(place_of(element, "#name", name), "<{}> is not known to weft, and left out", name);
            return;
        }
        for (const std::string_view key : words(known->without_effect)) {
            const std::string called = fmt::format("{} {}", name, key);
            if (element.has(key) && noted_.insert(called).second)
                import_.without_effect.push_back(place_of(element, key, called));
        }
        for (Field& inner : element.list_if_given("#elements")) walk(inner, place);
        if (!link) note_unknown(element, name);
    }

    void read_pci(Field& element, PciPlace& place) {
        check_node_size(node_.path, pci_gpus_.size(), pci_nics_.size());
        place.above.push_back(next_++);
        place.busid = lower_case(element.text("busid"));
        place.vendor = element.text("vendor", "");
        place.device = element.text("device", "");
        place.device_class = lower_case(element.text("class", ""));
        const double own = pcie_gigabytes(element.text("link_speed", ""), element.text("link_width", ""));
        if (own > 0 && (place.narrowest == 0 || own < place.narrowest)) place.narrowest = own;
        const std::string_view kind = std::string_view(place.device_class).substr(0, 6);
        const auto origin = [&] { return place_of(element, "busid", "pci busid"); };
        if (kind == "0x0302" || kind == "0x0380" || kind == "0x1200")
            pci_gpus_.push_back({static_cast<std::uint32_t>(pci_gpus_.size()), place, origin(),
                                 kind_of_pci(place.vendor, place.device)});
        if (kind == "0x0207" || kind == "0x0200")
            pci_nics_.push_back({place, {.name = place.busid, .origin = origin()}});
    }

    void read_gpu(Field& element, const PciPlace& place) {
        check_node_size(node_.path, gpus_.size(), 0);
        FoundGpu gpu{.number = number(element, "dev", static_cast<std::uint32_t>(gpus_.size())),
                     .place = place,
                     .origin = place_of(element, "dev", "gpu dev"),
                     .kind = kind_of_pci(place.vendor, place.device)};
        const std::string gcn = element.text("gcn", "");
        const std::uint32_t sm = number(element, "sm", 0);
        if (gpu.kind == nullptr && !gcn.empty()) {
            gpu.kind = kind_of_gcn(gcn, sm);
        } else if (gpu.kind == nullptr) {
            gpu.kind = kind_of_capability(sm);
            gpu.guess = fmt::format("sm {}", sm);
        }
        if (place.busid.empty()) element.error("", "expected within an element <pci> with a busid");
        if (!by_busid_.try_emplace(place.busid, gpus_.size()).second)
            element.error("", "a second GPU with the busid {}", place.busid);
        gpus_.push_back(std::move(gpu));
    }

    void read_link(Field link, std::size_t gpu) {
        const std::string name = link.text("#name"), target = lower_case(link.text("target", "")),
                          target_class = lower_case(link.text("tclass", ""));
        const std::uint32_t count = number(link, "count", 1);
        constexpr std::uint32_t most_links = 1000;
        if (count > most_links) return link.error("count", "expected at most {} links", most_links);
        node_.family = name == "xgmi" ? LinkFamily::infinity_fabric : LinkFamily::nvlink;
        if (node_.links_origin.line == 0) node_.links_origin = place_of(link, "count", name + " count");
        note_unknown(link, name);
        const auto found = by_busid_.find(target);
        if (found != by_busid_.end()) {
            node_.links[gpu][found->second] += count;
        } else if (target_class.starts_with("0x068000")) {
            node_.accelerators[gpu].switch_links += count;
        } else if (constexpr int most_noted = 100; ++dangling_ <= most_noted) {
            import_.warn(place_of(link, "target", name + " target"),
                         "{} {} leads to no accelerator of the file, and is left out{}", name, target,
                         dangling_ == most_noted ? "; so are all further ones" : "");
        }
    }

    // One word per kind of attribute or element, however many there are: finding the line of each would take long.
    void note_unknown(const Field& element, const std::string& name) {
        for (const std::string& key : element.unasked()) {
            if (!noted_.insert(name + " " + key).second) continue;
            import_.note(place_of(element, key, name + " " + key), "not known to weft, and left out");
        }
    }

    // Libraries take what they found themselves, where they found something.
    void choose_devices() {
        node_.links_known = !gpus_.empty();
        if (gpus_.empty()) {
            gpus_ = std::move(pci_gpus_);
            for (std::size_t i = 0; i < gpus_.size(); ++i) by_busid_.try_emplace(gpus_[i].place.busid, i);
        }
        if (nets_.empty()) nets_ = std::move(pci_nics_);
    }

    // By the number of the device, as processes count them; in the order of the file if two have one number.
    void number_gpus() {
        std::set<std::uint32_t> numbers;
        for (const FoundGpu& gpu : gpus_) numbers.insert(gpu.number);
        if (numbers.size() == gpus_.size()) {
            std::vector<std::size_t> rank(gpus_.size());
            for (std::size_t i = 0; i < gpus_.size(); ++i)
                rank[i] = static_cast<std::size_t>(std::distance(numbers.begin(), numbers.find(gpus_[i].number)));
            for (auto& [link, gpu] : links_) gpu = rank[gpu];
            for (auto& [busid, gpu] : by_busid_) gpu = rank[gpu];
            std::ranges::sort(gpus_, {}, &FoundGpu::number);
        }
        for (const FoundGpu& gpu : gpus_)
            node_.accelerators.push_back({gpu.place.busid, gpu.origin, 0, gpu.place.narrowest});
    }

    void choose_kind() {
        if (gpus_.empty()) return;
        const FoundGpu& first = gpus_.front();
        node_.kind = first.kind;
        node_.kind_origin = first.origin;
        node_.kind_guess = first.guess;
        for (const FoundGpu& gpu : gpus_) {
            if (gpu.kind == first.kind) continue;
            import_.warn(gpu.origin, "is of another kind than {}, as which it counts", first.place.busid);
        }
        // Without a name, the generation of PCIe is all that tells the kind of an NVIDIA GPU, of class 0x0302.
        if (node_.kind != nullptr || node_.links_known || !first.place.device_class.starts_with("0x0302")) return;
        const double per_lane = first.place.narrowest / 2;  // GT/s of 16 lanes
        node_.kind = kind_of_capability(per_lane >= 32 ? 90 : per_lane >= 16 ? 80 : 70);
        node_.kind_guess = fmt::format("PCIe links of {:g} GT/s", per_lane);
    }

    // By what is around both it and an accelerator; ties are broken by the numbers of their buses.
    void place_nic(FoundNic& found) {
        constexpr std::size_t farthest = std::size_t{1} << 20U;
        found.nic.pcie_gigabytes = found.place.narrowest;
        for (const FoundGpu& gpu : gpus_) {
            const auto first = std::ranges::mismatch(found.place.above, gpu.place.above).in1;
            const auto common = static_cast<std::size_t>(first - found.place.above.begin());
            found.nic.distance.push_back(static_cast<std::uint32_t>(farthest - std::min(common, farthest)));
            found.nic.apart.push_back(buses_apart(found.place.busid, gpu.place.busid));
        }
        node_.nics.push_back(std::move(found.nic));
    }

    std::uint32_t number(Field& element, std::string_view key, std::uint32_t otherwise) {
        const std::string text = element.text(key, "");
        if (text.empty()) return otherwise;
        constexpr int most_mistakes = 100;
        constexpr std::uint32_t most = 1'000'000'000;
        const std::optional<std::uint32_t> number = parse_as<std::uint32_t>(text);
        if (number && *number <= most) return *number;
        element.error(key, "expected a whole number up to {}, got \"{}\"", most, text);
        if (++mistakes_ == most_mistakes) document_.check();
        return otherwise;
    }

    Import& import_;
    Document document_;
    NodeDescription node_;
    std::size_t next_ = 0;
    std::set<std::string> numa_nodes_;
    std::vector<FoundGpu> gpus_, pci_gpus_;
    std::vector<FoundNic> nets_, pci_nics_;
    std::vector<std::pair<Field, std::size_t>> links_;  // and the GPUs that have them
    std::map<std::string, std::size_t> by_busid_;       // index of gpus_
    std::set<std::string> noted_;
    int mistakes_ = 0, dangling_ = 0;
};

Import read_nccl_xml_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Import import;
    NodeDescription node = NcclTopology(import, files.front()).read();
    return make_machine(std::move(node), options, std::move(import));
}

}  // namespace

extern const Format nccl_xml{"nccl-xml", "topology file of NCCL or RCCL", is_nccl_xml_file, read_nccl_xml_files,
                             "one topology file describes a node"};

}  // namespace weft::formats
