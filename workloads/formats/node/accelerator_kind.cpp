#include "workloads/formats/node/node_description.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "topologies/measurements/lines.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/text.hpp"

namespace weft {
namespace {

std::vector<AcceleratorKind> read_kinds() {
    Document document = format_table("accelerators");
    std::vector<AcceleratorKind> kinds;
    Field root = document.root();
    for (Field& row : root.list("kinds")) {
        kinds.push_back({.name = row.text("name"),
                         .device = row.text("device"),
                         .machine = row.text("machine"),
                         .stands_in = row.flag("stands_in", false),
                         .vendor = row.text("vendor"),
                         .link_gigabytes = row.number("link_gigabytes"),
                         .dies_per_package = row.count("dies_per_package", 1),
                         .pci = row.text("pci"),
                         .capability = row.text("capability", ""),
                         .nvlinks = row.text("nvlinks", ""),
                         .architectures = row.text("architectures", ""),
                         .products = row.text("products", "")});
        row.done();
    }
    document.check();
    return kinds;
}

const std::vector<AcceleratorKind>& all_kinds() {
    static const std::vector<AcceleratorKind> kinds = read_kinds();
    return kinds;
}

// The first kind that is so.
template <class Is>
const AcceleratorKind* find_kind(Is is) {
    const auto found = std::ranges::find_if(all_kinds(), is);
    return found == all_kinds().end() ? nullptr : &*found;
}

const AcceleratorKind* kind_with(std::string AcceleratorKind::*list, std::string_view word) {
    return find_kind([&](const AcceleratorKind& kind) { return std::ranges::count(words(kind.*list), word) > 0; });
}

}  // namespace

const AcceleratorKind* kind_of_pci(std::string_view vendor, std::string_view device) {
    const AcceleratorKind* const kind = kind_with(&AcceleratorKind::pci, lower_case(device));
    return kind != nullptr && kind->vendor == lower_case(vendor) ? kind : nullptr;
}

const AcceleratorKind* kind_of_gcn(std::string_view gcn, std::uint32_t units) {
    const std::string_view number = gcn.starts_with("gfx") ? gcn.substr(3) : gcn;
    constexpr std::uint32_t units_of_mi300a = 228;
    return kind_with(&AcceleratorKind::architectures,
                     number.starts_with("94") && units == units_of_mi300a ? "940" : number);
}

const AcceleratorKind* kind_of_capability(std::uint32_t sm) {
    return kind_with(&AcceleratorKind::capability, std::to_string(sm));
}

const AcceleratorKind* kind_of_nvlinks(std::uint32_t links) {
    return kind_with(&AcceleratorKind::nvlinks, std::to_string(links));
}

const AcceleratorKind* kind_of_product(std::string_view text) {
    std::string capitals(text);
    std::ranges::transform(capitals, capitals.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return find_kind([&](const AcceleratorKind& kind) {
        return std::ranges::any_of(words(kind.products), [&](auto name) { return contains(capitals, name); });
    });
}

const AcceleratorKind* kind_of_device(std::string_view device) {
    return find_kind([&](const AcceleratorKind& kind) { return kind.device == device && !kind.stands_in; });
}

}  // namespace weft
