// Links of each kind: NVLink 2 to 4 have 25 GB/s per link and direction, NVLink 5 has 50 GB/s, NVLink 1 has 20 GB/s;
// xGMI 46 GB/s on MI50, MI60 and MI100, 50 GB/s on MI200, 64 GB/s on MI300, 76.8 GB/s on MI350 (data sheets). PCI
// numbers: the public registry of PCI IDs, https://pci-ids.ucw.cz.
#include "workloads/formats/node/accelerator_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace weft {
namespace {

enum class Kind : std::uint8_t {
    p100,
    v100,
    a100_40,
    a100_64,
    a100_80,
    h100,
    h200,
    gh200,
    b200,
    gb200,
    mi60,
    mi100,
    mi250x,
    mi210,
    mi300a,
    mi300x,
    mi325x,
    mi350,
};

constexpr auto nvlink = LinkFamily::nvlink;
constexpr auto fabric = LinkFamily::infinity_fabric;

constexpr std::array kinds{
    AcceleratorKind{"P100", "a100-40", "dgx-a100-40", nvlink, 20, true, 1, 60},
    AcceleratorKind{"V100", "a100-40", "dgx-a100-40", nvlink, 25, true, 1, 70},
    AcceleratorKind{"A100 40 GB", "a100-40", "dgx-a100-40", nvlink, 25, false, 1, 80},
    AcceleratorKind{"A100 64 GB", "a100-64", "leonardo", nvlink, 25, false, 1, 80},
    AcceleratorKind{"A100 80 GB", "a100-80", "dgx-a100", nvlink, 25, false, 1, 80},
    AcceleratorKind{"H100", "h100", "dgx-h100", nvlink, 25, false, 1, 90},
    AcceleratorKind{"H200", "h200", "dgx-h100", nvlink, 25, false, 1, 90},
    AcceleratorKind{"GH200", "gh200", "alps", nvlink, 25, false, 1, 90},
    AcceleratorKind{"B200", "b200", "dgx-b200", nvlink, 50, false, 1, 100},
    AcceleratorKind{"GB200", "gb200", "gb200-nvl72", nvlink, 50, false, 1, 100},
    AcceleratorKind{"MI50 or MI60", "mi250x-gcd", "frontier", fabric, 46, true, 1, 64, "906"},
    AcceleratorKind{"MI100", "mi250x-gcd", "frontier", fabric, 46, true, 1, 120, "908"},
    AcceleratorKind{"die of MI250X", "mi250x-gcd", "frontier", fabric, 50, false, 2, 104, "910"},
    AcceleratorKind{"MI210", "mi250x-gcd", "frontier", fabric, 50, true, 1, 104, "910"},
    AcceleratorKind{"MI300A", "mi300a", "el-capitan", fabric, 64, false, 1, 228, "gfx942"},
    AcceleratorKind{"MI300X", "mi300x", "el-capitan", fabric, 64, false, 1, 304, "gfx942"},
    AcceleratorKind{"MI325X", "mi300x", "el-capitan", fabric, 64, true, 1, 304, "gfx942"},
    AcceleratorKind{"MI350X or MI355X", "mi300x", "el-capitan", fabric, 76.8, true, 1, 256, "gfx950"},
};

const AcceleratorKind* at(Kind kind) { return &kinds[static_cast<std::size_t>(kind)]; }

struct Named {
    std::string_view name;
    Kind kind;
};

template <std::size_t Size>
const AcceleratorKind* find(const std::array<Named, Size>& table, std::string_view name) {
    const auto found = std::ranges::find(table, name, &Named::name);
    return found == table.end() ? nullptr : at(found->kind);
}

// Of each kind the most common first.
constexpr std::array nvidia_devices{
    Named{"0x15f8", Kind::p100},    Named{"0x15f9", Kind::p100},    Named{"0x1db1", Kind::v100},
    Named{"0x1db3", Kind::v100},    Named{"0x1db4", Kind::v100},    Named{"0x1db5", Kind::v100},
    Named{"0x1db6", Kind::v100},    Named{"0x1db8", Kind::v100},    Named{"0x20b0", Kind::a100_40},
    Named{"0x20b2", Kind::a100_80}, Named{"0x20b3", Kind::a100_64}, Named{"0x20b5", Kind::a100_80},
    Named{"0x20f1", Kind::a100_40}, Named{"0x20f3", Kind::a100_80}, Named{"0x20f5", Kind::a100_80},
    Named{"0x2330", Kind::h100},    Named{"0x2321", Kind::h100},    Named{"0x2322", Kind::h100},
    Named{"0x2324", Kind::h100},    Named{"0x2331", Kind::h100},    Named{"0x2339", Kind::h100},
    Named{"0x2335", Kind::h200},    Named{"0x233b", Kind::h200},    Named{"0x2342", Kind::gh200},
    Named{"0x2348", Kind::gh200},   Named{"0x2901", Kind::b200},    Named{"0x2941", Kind::gb200},
};

constexpr std::array amd_devices{
    Named{"0x66a0", Kind::mi60},   Named{"0x66a1", Kind::mi60},   Named{"0x738c", Kind::mi100},
    Named{"0x738e", Kind::mi100},  Named{"0x7408", Kind::mi250x}, Named{"0x740c", Kind::mi250x},
    Named{"0x740f", Kind::mi210},  Named{"0x7410", Kind::mi210},  Named{"0x74a0", Kind::mi300a},
    Named{"0x74a1", Kind::mi300x}, Named{"0x74a9", Kind::mi300x}, Named{"0x74b5", Kind::mi300x},
    Named{"0x74a5", Kind::mi325x}, Named{"0x74b9", Kind::mi325x}, Named{"0x75a0", Kind::mi350},
    Named{"0x75a3", Kind::mi350},
};

constexpr std::array gcn_names{
    Named{"906", Kind::mi60},   Named{"908", Kind::mi100},  Named{"910", Kind::mi250x}, Named{"90a", Kind::mi250x},
    Named{"940", Kind::mi300a}, Named{"941", Kind::mi300x}, Named{"942", Kind::mi300x}, Named{"950", Kind::mi350},
};

// Parts of the names that drivers print; the first that fits.
constexpr std::array model_words{
    Named{"GH200", Kind::gh200},
    Named{"GB200", Kind::gb200},
    Named{"P100", Kind::p100},
    Named{"V100", Kind::v100},
    Named{"A100-SXM4-40", Kind::a100_40},
    Named{"A100-PCIE-40", Kind::a100_40},
    Named{"A100-SXM-64", Kind::a100_64},
    Named{"A100", Kind::a100_80},
    Named{"A800", Kind::a100_80},
    Named{"H100", Kind::h100},
    Named{"H800", Kind::h100},
    Named{"H200", Kind::h200},
    Named{"B200", Kind::b200},
    Named{"MI50", Kind::mi60},
    Named{"MI60", Kind::mi60},
    Named{"MI100", Kind::mi100},
    Named{"MI210", Kind::mi210},
    Named{"MI250", Kind::mi250x},
    Named{"MI300A", Kind::mi300a},
    Named{"MI300X", Kind::mi300x},
    Named{"MI325", Kind::mi325x},
    Named{"MI35", Kind::mi350},
};

std::string changed(std::string_view text, int (*change)(int)) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [&](unsigned char c) { return static_cast<char>(change(c)); });
    return result;
}

}  // namespace

std::string_view to_text(LinkFamily family) { return family == nvlink ? "nvlink" : "infinity_fabric"; }

const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device) {
    const std::string number = changed(device, std::tolower);
    if (changed(vendor, std::tolower) == "0x10de") return find(nvidia_devices, number);
    return vendor == "0x1002" ? find(amd_devices, number) : nullptr;
}

const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units) {
    const std::string_view number = gcn.starts_with("gfx") ? gcn.substr(3) : gcn;
    if (number.starts_with("94") && units == at(Kind::mi300a)->units) return at(Kind::mi300a);
    return find(gcn_names, number);
}

const AcceleratorKind* kind_of_sm(std::uint32_t sm) {
    switch (sm) {
        case 60:
            return at(Kind::p100);
        case 70:
            return at(Kind::v100);
        case 80:
            return at(Kind::a100_80);
        case 90:
            return at(Kind::h100);
        case 100:
            return at(Kind::b200);
        default:
            return nullptr;
    }
}

const AcceleratorKind* kind_of_model(std::string_view model) {
    const std::string name = changed(model, std::toupper);
    for (const Named& word : model_words) {
        if (name.find(word.name) != std::string::npos) return at(word.kind);
    }
    return nullptr;
}

const AcceleratorKind* kind_of_device(std::string_view device) {
    const auto found = std::ranges::find_if(
        kinds, [&](const AcceleratorKind& kind) { return kind.device == device && !kind.stands_in; });
    return found == kinds.end() ? nullptr : found;
}

const AcceleratorKind* kind_of_nvlinks(std::uint32_t links) {
    switch (links) {
        case 4:
            return at(Kind::p100);
        case 6:
            return at(Kind::v100);
        case 8:
        case 12:
            return at(Kind::a100_80);
        case 18:
            return at(Kind::h100);
        default:
            return nullptr;
    }
}

std::string_view pci_vendor_of(const AcceleratorKind& kind) { return kind.family == nvlink ? "0x10de" : "0x1002"; }

std::string_view pci_device_of(const AcceleratorKind& kind) {
    const auto device = [&](const auto& table) -> std::string_view {
        const auto found = std::ranges::find_if(table, [&](const Named& named) { return at(named.kind) == &kind; });
        return found == table.end() ? std::string_view{} : found->name;
    };
    return kind.family == nvlink ? device(nvidia_devices) : device(amd_devices);
}

}  // namespace weft
