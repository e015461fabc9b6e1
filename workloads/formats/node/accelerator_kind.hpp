// Kinds of accelerator, as topology tools name them, and what of weft stands for each: the rows of accelerators.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

enum class LinkFamily : std::uint8_t { nvlink, infinity_fabric };
std::string_view to_text(LinkFamily family);  // as machine files call it

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

}  // namespace weft
