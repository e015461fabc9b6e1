// Kinds of accelerator by all that tools call them.
#include "workloads/formats/node/node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "models/device/device.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

std::string name_of(const AcceleratorKind* kind) { return kind == nullptr ? "" : kind->name; }

struct PciNumber {
    std::string_view vendor, device, name;
};
TEST(accelerator_kind, is_told_by_pci_numbers) {
    for (const auto& [vendor, device, name] : {PciNumber{"0x10de", "0x15f8", "P100"},
                                               {"0x10de", "0x1db8", "V100"},
                                               {"0x10de", "0x20b0", "A100 40 GB"},
                                               {"0x10de", "0x20b3", "A100 64 GB"},
                                               {"0x10DE", "0x20B2", "A100 80 GB"},
                                               {"0x10de", "0x2330", "H100"},
                                               {"0x10de", "0x2335", "H200"},
                                               {"0x10de", "0x2342", "GH200"},
                                               {"0x10de", "0x2901", "B200"},
                                               {"0x10de", "0x2941", "GB200"},
                                               {"0x1002", "0x738c", "MI100"},
                                               {"0x1002", "0x7408", "die of MI250X"},
                                               {"0x1002", "0x740f", "MI210"},
                                               {"0x1002", "0x74a0", "MI300A"},
                                               {"0x1002", "0x74a1", "MI300X"},
                                               {"0x1002", "0x74a5", "MI325X"},
                                               {"0x1002", "0x75a3", "MI350X or MI355X"},
                                               {"0x1002", "0x20b2", ""},
                                               {"0x10de", "0x74a1", ""},
                                               {"0x8086", "0x0bd5", ""},
                                               {"0x10de", "", ""}})
        EXPECT_EQ(name_of(kind_of_pci(vendor, device)), name) << vendor << " " << device;
}

TEST(accelerator_kind, of_amd_is_told_by_architecture_and_compute_units) {
    EXPECT_EQ(name_of(kind_of_gcn("906", 60)), "MI50 or MI60");
    EXPECT_EQ(name_of(kind_of_gcn("908", 120)), "MI100");
    for (const char* const gcn : {"910", "90a", "gfx90a"}) EXPECT_EQ(name_of(kind_of_gcn(gcn, 104)), "die of MI250X");
    EXPECT_EQ(name_of(kind_of_gcn("gfx942", 228)), "MI300A");
    EXPECT_EQ(name_of(kind_of_gcn("gfx942", 304)), "MI300X");
    EXPECT_EQ(name_of(kind_of_gcn("940", 0)), "MI300A");
    EXPECT_EQ(name_of(kind_of_gcn("gfx950", 256)), "MI350X or MI355X");
    EXPECT_EQ(name_of(kind_of_gcn("gfx1100", 96)), "");
}

TEST(accelerator_kind, is_guessed_by_what_several_share) {
    EXPECT_EQ(name_of(kind_of_capability(60)), "P100");
    EXPECT_EQ(name_of(kind_of_capability(70)), "V100");
    EXPECT_EQ(name_of(kind_of_capability(80)), "A100 80 GB");
    EXPECT_EQ(name_of(kind_of_capability(90)), "H100");
    EXPECT_EQ(name_of(kind_of_capability(100)), "B200");
    EXPECT_EQ(name_of(kind_of_capability(0)), "");
    EXPECT_EQ(name_of(kind_of_nvlinks(4)), "P100");
    EXPECT_EQ(name_of(kind_of_nvlinks(6)), "V100");
    for (const std::uint32_t links : {8U, 12U}) EXPECT_EQ(name_of(kind_of_nvlinks(links)), "A100 80 GB");
    EXPECT_EQ(name_of(kind_of_nvlinks(18)), "H100");
    EXPECT_EQ(name_of(kind_of_nvlinks(0)), "");
}

// What stands for a kind is there, has that device where weft has it, and links of the family that the vendor makes.
TEST(accelerator_kind, has_a_device_and_a_machine_of_weft) {
    std::set<std::string> seen;
    for (const std::string& device : device_names()) {
        const AcceleratorKind* const kind = kind_of_device(device);
        if (kind == nullptr) continue;  // of libraries that these tools know nothing of
        seen.insert(device);
        EXPECT_EQ(kind->device, device);
        const MachineInfo info = Machine::load(kind->machine).info();
        EXPECT_EQ(load_device(info.device).name, info.device);
        EXPECT_GE(kind->link_gigabytes, 20.0);
        EXPECT_EQ(kind->family() == LinkFamily::nvlink, kind->architectures.empty());
        for (const std::string_view number : words(kind->pci))
            EXPECT_EQ(kind_of_pci(kind->vendor, number), kind) << number;
    }
    for (const char* const device :
         {"a100-40", "a100-80", "h100", "h200", "gh200", "b200", "gb200", "mi250x-gcd", "mi300a", "mi300x"})
        EXPECT_TRUE(seen.contains(device)) << device;
    EXPECT_EQ(to_text(LinkFamily::nvlink), "nvlink");
    EXPECT_EQ(to_text(LinkFamily::infinity_fabric), "infinity_fabric");
}

}  // namespace
}  // namespace weft
