// Topology files of NCCL and RCCL (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE). Elements and attributes: NVIDIA/nccl
// src/graph/xml.cc and topo.cc, ROCm/rccl the same. Files that are written by hand for virtual machines have PCI
// devices alone: libraries fill in GPUs, their links and the speed of NICs as they run.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <set>

#include "sim/io/syntaxes.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/node/node_description.hpp"

namespace weft::formats {
namespace {

constexpr std::string_view nvswitch_class = "0x068000";

bool recognises(const SourceFile& file) {
    const std::string_view text = file.text;
    return text.find("<system") != std::string_view::npos &&
           (text.find("busid=") != std::string_view::npos || text.find("numaid=") != std::string_view::npos);
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
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

struct FoundLink {
    Field field;
    std::size_t gpu;
};

struct FoundGpu {
    std::uint32_t number = 0;
    PciPlace place;
    DescribedAccelerator accelerator;
    const AcceleratorKind* kind = nullptr;
    std::string guess;
};

class NcclTopology {
  public:
    NcclTopology(Import& import, const SourceFile& file) : import_(import), document_(parse_xml(file.path, file.text)) {
        node_.tool = "NCCL topology";
        node_.path = file.path;
        node_.file = std::string(file.name());
    }

    NodeDescription read() {
        Field root = document_.root();
        if (root.text("#name") != "system") root.error("", "expected an element <system>");
        walk(root, {});
        node_.numa_nodes = static_cast<std::uint32_t>(numa_nodes_.size());
        choose_devices();
        check_node_size(document_path(), gpus_.size(), nets_.size());
        number_gpus();
        node_.links = node_.no_links();
        node_.links_origin = {.file = document_path(), .line = 0, .key = "links"};
        for (FoundLink& link : links_) read_link(link);
        choose_kind();
        for (DescribedNic& nic : nets_) node_.nics.push_back(std::move(nic));
        place_nics_by_tree(node_);
        document_.check();
        return std::move(node_);
    }

  private:
    std::string document_path() const { return std::string(document_.name()); }

    void walk(Field element, PciPlace place);
    void read_cpu(Field& element, PciPlace& place);
    void read_pci(Field& element, PciPlace& place);
    void read_gpu(Field& element, const PciPlace& place);
    void read_net(Field& element, const PciPlace& place);
    void read_link(FoundLink& link);
    void no_effect(Field& element, const std::string& name, std::initializer_list<std::string_view> keys);
    void note_unknown(const Field& element, const std::string& name);
    void choose_devices();
    void number_gpus();
    void choose_kind();
    std::uint32_t number(Field& element, std::string_view key, std::uint32_t otherwise);

    Import& import_;
    Document document_;
    NodeDescription node_;
    std::size_t next_ = 0;
    std::set<std::string> numa_nodes_;
    std::vector<FoundGpu> gpus_, pci_gpus_;
    std::vector<DescribedNic> nets_, pci_nics_;
    std::vector<FoundLink> links_;
    std::map<std::string, std::size_t> by_busid_;  // index of gpus_
    std::set<std::string> noted_;
    int mistakes_ = 0, dangling_ = 0;
};

std::uint32_t NcclTopology::number(Field& element, std::string_view key, std::uint32_t otherwise) {
    const std::string text = element.text(key, "");
    if (text.empty()) return otherwise;
    constexpr int most_mistakes = 100;
    constexpr std::uint32_t most = 1'000'000'000;
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number > most) {
        element.error(key, fmt::format("expected a whole number up to {}, got \"{}\"", most, text));
        if (++mistakes_ == most_mistakes) document_.check();
        return otherwise;
    }
    return number;
}

// One word per kind of attribute or element, however many there are: finding the line of each would take long.
void NcclTopology::no_effect(Field& element, const std::string& name, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (!element.has(key) || !noted_.insert(fmt::format("{} {}", name, key)).second) continue;
        import_.without_effect.push_back(place_of(element, key, fmt::format("{} {}", name, key)));
    }
}

void NcclTopology::note_unknown(const Field& element, const std::string& name) {
    for (const std::string& key : element.unasked()) {
        if (!noted_.insert(name + " " + key).second) continue;
        import_.note(FormatNote::Severity::note, place_of(element, key, name + " " + key),
                     "not known to weft, and left out");
    }
}

void NcclTopology::walk(Field element, PciPlace place) {
    const std::string name = element.text("#name");
    const bool link = name == "nvlink" || name == "xgmi";
    if (name == "cpu") read_cpu(element, place);
    if (name == "pci") read_pci(element, place);
    if (name == "gpu") read_gpu(element, place);
    if (name == "net") read_net(element, place);
    if (link && gpus_.empty()) element.error("", "expected within an element <gpu>");
    if (link && !gpus_.empty()) links_.push_back({element, gpus_.size() - 1});
    no_effect(element, name, {"version"});
    const bool known = link || name == "system" || name == "cpu" || name == "pci" || name == "gpu" || name == "nic" ||
                       name == "net" || name == "c2c" || name == "pcilink";
    if (!known && noted_.insert("<" + name).second) {
        import_.note(FormatNote::Severity::note, place_of(element, "#name", name),
                     fmt::format("<{}> is not known to weft, and left out", name));
    }
    // What GPUs and CPUs, and PCI switches, have between themselves: no traffic of collectives that weft simulates.
    if (name == "c2c") no_effect(element, name, {"bw", "count"});
    if (name == "pcilink") no_effect(element, name, {"target"});
    if (element.has("#elements") && known) {
        for (Field& inner : element.list("#elements")) walk(inner, place);
    }
    if (known && !link) note_unknown(element, name);
}

void NcclTopology::read_cpu(Field& element, PciPlace& place) {
    numa_nodes_.insert(element.text("host_hash", "") + " " + element.text("numaid", ""));
    place.above.push_back(next_++);
    no_effect(element, "cpu", {"affinity", "arch", "vendor", "familyid", "modelid", "host_hash"});
}

void NcclTopology::read_pci(Field& element, PciPlace& place) {
    check_node_size(document_path(), pci_gpus_.size(), pci_nics_.size());
    place.above.push_back(next_++);
    place.busid = lower(element.text("busid"));
    place.vendor = element.text("vendor", "");
    place.device = element.text("device", "");
    place.device_class = lower(element.text("class", ""));
    const double own = pcie_gigabytes(element.text("link_speed", ""), element.text("link_width", ""));
    if (own > 0 && (place.narrowest == 0 || own < place.narrowest)) place.narrowest = own;
    no_effect(element, "pci", {"subsystem_vendor", "subsystem_device"});
    const std::string_view kind = std::string_view(place.device_class).substr(0, 6);
    if (kind == "0x0302" || kind == "0x0380" || kind == "0x1200") {
        const DescribedAccelerator accelerator{place.busid, place_of(element, "busid", "pci busid"), 0, place.narrowest,
                                               place.above};
        pci_gpus_.push_back({static_cast<std::uint32_t>(pci_gpus_.size()), place, accelerator, nullptr, {}});
    }
    if (kind == "0x0207" || kind == "0x0200") {
        DescribedNic nic;
        nic.name = place.busid;
        nic.origin = place_of(element, "busid", "pci busid");
        nic.pcie_gigabytes = place.narrowest;
        nic.busid = place.busid;
        nic.above = place.above;
        pci_nics_.push_back(std::move(nic));
    }
}

void NcclTopology::read_gpu(Field& element, const PciPlace& place) {
    check_node_size(document_path(), gpus_.size(), 0);
    FoundGpu gpu{.number = number(element, "dev", static_cast<std::uint32_t>(gpus_.size())),
                 .place = place,
                 .accelerator = {place.busid, place_of(element, "dev", "gpu dev"), 0, place.narrowest, place.above},
                 .kind = kind_of_pci(place.vendor, place.device),
                 .guess = {}};
    const std::string gcn = element.text("gcn", "");
    const std::uint32_t sm = number(element, "sm", 0);
    if (gpu.kind == nullptr && !gcn.empty()) gpu.kind = kind_of_gcn(gcn, sm);
    if (gpu.kind == nullptr && gcn.empty()) {
        gpu.kind = kind_of_sm(sm);
        gpu.guess = fmt::format("sm {}", sm);
    }
    if (place.busid.empty()) element.error("", "expected within an element <pci> with a busid");
    if (!by_busid_.try_emplace(place.busid, gpus_.size()).second)
        element.error("", fmt::format("a second GPU with the busid {}", place.busid));
    no_effect(element, "gpu", {"arch", "rank", "gdr"});
    gpus_.push_back(std::move(gpu));
}

void NcclTopology::read_net(Field& element, const PciPlace& place) {
    check_node_size(document_path(), 0, nets_.size());
    DescribedNic nic;
    nic.name = element.text("name", "");
    nic.origin = place_of(element, "speed", "net speed");
    constexpr double megabits_per_gigabit = 1000;
    nic.gigabits = number(element, "speed", 0) / megabits_per_gigabit;
    nic.pcie_gigabytes = place.narrowest;
    nic.busid = place.busid;
    nic.above = place.above;
    nets_.push_back(std::move(nic));
    no_effect(element, "net", {"dev", "latency", "port", "guid", "maxconn", "gdr", "coll", "keep"});
}

// Libraries take what they found themselves, where they found something.
void NcclTopology::choose_devices() {
    node_.links_known = !gpus_.empty();
    if (gpus_.empty()) {
        gpus_ = std::move(pci_gpus_);
        for (std::size_t i = 0; i < gpus_.size(); ++i) by_busid_.try_emplace(gpus_[i].place.busid, i);
        for (FoundGpu& gpu : gpus_) gpu.kind = kind_of_pci(gpu.place.vendor, gpu.place.device);
    }
    if (nets_.empty()) nets_ = std::move(pci_nics_);
}

// By the number of the device, as processes count them; in the order of the file if two have one number.
void NcclTopology::number_gpus() {
    std::set<std::uint32_t> numbers;
    for (const FoundGpu& gpu : gpus_) numbers.insert(gpu.number);
    if (numbers.size() == gpus_.size()) {
        std::vector<std::size_t> rank(gpus_.size());
        for (std::size_t i = 0; i < gpus_.size(); ++i)
            rank[i] = static_cast<std::size_t>(std::distance(numbers.begin(), numbers.find(gpus_[i].number)));
        for (FoundLink& link : links_) link.gpu = rank[link.gpu];
        for (auto& [busid, gpu] : by_busid_) gpu = rank[gpu];
        std::ranges::sort(gpus_, {}, &FoundGpu::number);
    }
    for (const FoundGpu& gpu : gpus_) node_.accelerators.push_back(gpu.accelerator);
}

void NcclTopology::read_link(FoundLink& link) {
    const std::string name = link.field.text("#name");
    const std::string target = lower(link.field.text("target", "")),
                      target_class = lower(link.field.text("tclass", ""));
    const std::uint32_t count = number(link.field, "count", 1);
    constexpr std::uint32_t most_links = 1000;
    if (count > most_links) return link.field.error("count", fmt::format("expected at most {} links", most_links));
    node_.family = name == "xgmi" ? LinkFamily::infinity_fabric : LinkFamily::nvlink;
    if (node_.links_origin.line == 0) {
        node_.links_origin = place_of(link.field, "count", name + " count");
    }
    note_unknown(link.field, name);
    const auto found = by_busid_.find(target);
    if (found != by_busid_.end()) {
        node_.links[link.gpu][found->second] += count;
    } else if (target_class.starts_with(nvswitch_class)) {
        node_.accelerators[link.gpu].switch_links += count;
    } else if (constexpr int most_noted = 100; ++dangling_ <= most_noted) {
        import_.note(FormatNote::Severity::warning, place_of(link.field, "target", name + " target"),
                     fmt::format("{} {} leads to no accelerator of the file, and is left out{}", name, target,
                                 dangling_ == most_noted ? "; so are all further ones" : ""));
    }
}

void NcclTopology::choose_kind() {
    if (gpus_.empty()) return;
    const FoundGpu& first = gpus_.front();
    node_.kind = first.kind;
    node_.kind_origin = first.accelerator.origin;
    node_.kind_guess = first.guess;
    for (const FoundGpu& gpu : gpus_) {
        if (gpu.kind == first.kind) continue;
        import_.note(FormatNote::Severity::warning, gpu.accelerator.origin,
                     fmt::format("is of another kind than {}, as which it counts", first.accelerator.name));
    }
    // Without a name, the generation of PCIe is all that tells the kind of an NVIDIA GPU, of class 0x0302.
    if (node_.kind != nullptr || node_.links_known || !first.place.device_class.starts_with("0x0302")) return;
    const double per_lane = first.place.narrowest / 2;  // GT/s of 16 lanes
    node_.kind = kind_of_sm(per_lane >= 32 ? 90 : per_lane >= 16 ? 80 : 70);
    node_.kind_guess = fmt::format("PCIe links of {:g} GT/s", per_lane);
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1)
        throw ConfigError(
            {Diagnostic{.file = files[1].path, .key = {}, .message = "one topology file describes a node"}});
    Import import;
    make_machine(import, NcclTopology(import, files.front()).read(), options);
    return import;
}

}  // namespace

extern const Format nccl_xml;
const Format nccl_xml{"nccl-xml", "topology file of NCCL or RCCL", recognises, read};

}  // namespace weft::formats
