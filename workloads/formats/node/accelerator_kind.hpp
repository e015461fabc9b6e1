// Kinds of accelerator, as topology tools name them, and what of weft stands for each.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

enum class LinkFamily : std::uint8_t { nvlink, infinity_fabric };
std::string_view to_text(LinkFamily family);  // as machine files call it

struct AcceleratorKind {
    std::string_view name;     // "A100 80 GB"
    std::string_view device;   // of weft; another kind's where weft has no file of this one
    std::string_view machine;  // shipped, with that device or the nearest to it
    LinkFamily family = LinkFamily::nvlink;
    double link_gigabytes = 0;  // per second, of one link and direction
    bool stands_in = false;     // weft has no file of this device
    std::uint32_t dies_per_package = 1;
    std::uint32_t units = 0;    // "sm" of topology files: compute capability of NVIDIA, compute units of AMD
    std::string_view gcn = {};  // of AMD
};

std::string_view pci_vendor_of(const AcceleratorKind& kind);  // "0x10de"
std::string_view pci_device_of(const AcceleratorKind& kind);  // the most common; empty where none is known

// nullptr where nothing is known of it. All texts as the tools print them.
const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device);  // "0x10de", "0x20b2"
// "908", "gfx942", with the number of compute units, which tells MI300A and MI300X apart.
const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units);
const AcceleratorKind* kind_of_sm(std::uint32_t sm);             // 80
const AcceleratorKind* kind_of_model(std::string_view model);    // "Tesla V100-SXM3-32GB"
const AcceleratorKind* kind_of_device(std::string_view device);  // "h100", of weft
// By the number of NVLinks of one accelerator, which several kinds may share.
const AcceleratorKind* kind_of_nvlinks(std::uint32_t links);

}  // namespace weft
