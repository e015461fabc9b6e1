// What joins accelerators, and of which kind they are, where a file leaves something open.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.hpp"
#include "tests/workloads/formats/node_import.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
constexpr auto warning = FormatNote::Severity::warning;
constexpr auto plain_note = FormatNote::Severity::note;

std::string system_of(const std::string& devices) {
    return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + devices + "</cpu>\n</system>\n";
}
// GPUs that know their architecture alone, each joined with the one beside it.
std::string amd_pair(const std::string& gcn, int units) {
    std::string devices;
    for (int i = 0; i < 2; ++i)
        devices += fmt::format(
            "<pci busid=\"0000:{0}1:00.0\" class=\"0x038000\"><gpu dev=\"{0}\" gcn=\"{2}\" sm=\"{3}\"><xgmi "
            "target=\"0000:{1}1:00.0\" count=\"2\" tclass=\"0x038000\"/></gpu></pci>\n",
            i, 1 - i, gcn, units);
    return system_of(devices);
}
// As cloud providers write them: a GPU of a class, with nothing of its kind but the speed of its PCIe link.
std::string virtual_gpu(const std::string& pci_class, const std::string& speed, const std::string& more = "") {
    return system_of(
        fmt::format("<pci busid=\"0001:00:00.0\" class=\"{}\" link_speed=\"{} GT/s PCIe\" "
                    "link_width=\"16\"{}/>\n",
                    pci_class, speed, more));
}

TEST(nccl_xml_kinds, of_amd_are_told_by_architecture_and_compute_units) {
    EXPECT_EQ(NodeImport(amd_pair("gfx942", 228)).object["extends"], "el-capitan");
    EXPECT_EQ(NodeImport(amd_pair("gfx942", 304)).object["device"], "mi300x");
    const NodeImport die(amd_pair("gfx90a", 104));
    EXPECT_EQ(die.object["extends"], "frontier");
    EXPECT_EQ(die.object["node"]["links"], json::parse("[[0, 2], [2, 0]]"));
    EXPECT_FALSE(die.has_note(warning, "the file does not say the kind")) << "it is no guess";
}

// 32 GT/s and more are those of H100, 16 of A100, less of V100, for which another device stands in.
TEST(nccl_xml_kinds, of_nvidia_are_guessed_by_the_generation_of_pcie) {
    for (const auto& [speed, extends, kind] : {std::tuple{"64.0", "dgx-h100", "H100"},
                                               {"32.0", "dgx-h100", "H100"},
                                               {"16.0", "dgx-a100", "A100 80 GB"},
                                               {"8.0", "dgx-a100-40", "V100"}}) {
        const NodeImport node(virtual_gpu("0x030200", speed));
        EXPECT_EQ(node.object["extends"], extends) << speed;
        EXPECT_TRUE(node.has_note(warning, fmt::format("may be {}: as {}. --like MACHINE says which", kind, extends)));
    }
    EXPECT_THAT(refusal_of_node(virtual_gpu("0x120000", "32.0")), HasSubstr("give --like MACHINE"))
        << "only NVIDIA's are of class 0x0302";
}

TEST(nccl_xml_kinds, that_differ_count_as_the_first) {
    std::string text = seed("nccl_xml.xml");
    text.replace(text.find("0x20b2"), 6, "0x2330");
    const NodeImport node(text);
    EXPECT_EQ(node.object["extends"], "dgx-h100");
    EXPECT_TRUE(node.has_note(warning, "is of another kind than 0000:11:00.0, as which it counts"));
}

TEST(nccl_xml_links, that_nobody_tells_are_those_of_a_node_of_as_many) {
    const std::string amd = virtual_gpu("0x120000", "32.0", " vendor=\"0x1002\" device=\"0x74a1\"");
    EXPECT_EQ(refusal_of_node(amd),
              "node.txt: error: links: the file does not say which links join its 1 accelerators, and el-capitan joins "
              "4 by a graph; give --like of another machine");
    const NodeImport h100(virtual_gpu("0x030200", "32.0"));
    EXPECT_EQ(h100.object["node"]["accelerators"], 1) << "of a crossbar any number can hang on it";
    EXPECT_TRUE(h100.has_note(plain_note, "libraries fill that in as they run): as dgx-h100"));
}

TEST(nccl_xml_elements, stand_where_they_belong) {
    EXPECT_THAT(refusal_of_node("<systems numaid=\"0\"/>"), HasSubstr("expected an element <system>"));
    EXPECT_THAT(refusal_of_node(system_of("<nvlink target=\"0000:11:00.0\" count=\"1\"/>")),
                HasSubstr("expected within an element <gpu>"));
    EXPECT_THAT(refusal_of_node(system_of("<gpu dev=\"0\" sm=\"90\"/>")),
                HasSubstr("expected within an element <pci> with a busid"));
    EXPECT_THAT(refusal_of_node(replaced(seed("nccl_xml.xml"), "count=\"4\"", "count=\"1001\"")),
                HasSubstr("expected at most 1000 links"));
}

TEST(nccl_xml_elements, have_attributes_that_are_noted_once_where_they_are_not_known) {
    const std::string text =
        replaced(replaced(seed("nccl_xml.xml"), "<nvlink ", "<nvlink hue=\"1\" "), "<gpu ", "<gpu hue=\"2\" ");
    const NodeImport node(text);
    EXPECT_EQ(std::ranges::count(node.import.notes, "nvlink hue", [](const FormatNote& n) { return n.origin.key; }), 1);
    EXPECT_EQ(std::ranges::count(node.import.notes, "gpu hue", [](const FormatNote& n) { return n.origin.key; }), 1);
}

TEST(nccl_xml_numbers, of_two_gpus_that_are_one_leave_the_order_of_the_file) {
    const NodeImport node(replaced(seed("nccl_xml.xml"), "dev=\"1\" sm", "dev=\"0\" sm"));
    EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[0]"));
    EXPECT_EQ(node.facts["accelerators_per_node"], 2);
}

// PCIe of the first two generations sends 10 bits for 8: 5 GT/s on 8 lanes are 4 GB/s.
TEST(nccl_xml_nics, behind_old_pcie_links_have_four_fifths_of_their_bits) {
    std::string text = system_of(
        "<pci busid=\"0000:11:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x20b2\"><gpu dev=\"0\" "
        "sm=\"80\"/></pci>\n<pci busid=\"0000:12:00.0\" class=\"0x020000\" link_speed=\"5.0 GT/s PCIe\" "
        "link_width=\"8\"><nic><net name=\"eth0\" dev=\"0\" speed=\"10000\"/></nic></pci>\n");
    const NodeImport node(text);
    const std::string link = read_like_machine("dgx-a100").nic_link;
    EXPECT_EQ(node.object["links"][link]["bandwidth"]["nominal"], "4 GB/s");
    EXPECT_EQ(node.facts["nic_gbit_per_s"], json::parse("[10]"));
}

NodeDescription pair_of(const char* device) {
    const SourceFile file{"node.xml", ""};
    NodeDescription node("a tool", file);
    for (int i = 0; i < 2; ++i) node.accelerators.push_back({fmt::format("gpu{}", i), in_file(file.path)});
    node.kind = kind_of_device(device);
    node.family = node.kind->family();
    node.links = {{0, 3}, {3, 0}};
    node.links_origin = {.file = file.path, .line = 3, .key = "links"};
    return node;
}

TEST(node_links, of_a_family_that_the_other_machine_has_not_are_as_fast_as_they_say) {
    const Import import = make_machine(pair_of("mi300x"), like("dgx-h100"));
    const json links = json::parse(import.object.json())["links"]["infinity_fabric.x3"];
    EXPECT_EQ(links["bandwidth"]["nominal"], "192 GB/s") << "3 of 64 GB/s";
    EXPECT_EQ(links["bandwidth"]["efficiency"], 1);
    EXPECT_EQ(links["latency"]["value"], "100 ns");
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return note.severity == warning &&
               note.message ==
                   "dgx-h100 has no class of the kind of infinity_fabric.x3: its efficiency is 1, nothing "
                   "was measured";
    }));
}

TEST(node_machines, may_be_like_a_machine_of_the_users_own) {
    const test::TemporaryFolder folder;
    const std::string own = folder.path() / "own.json";
    std::ofstream(own) << R"({"extends": "dgx-a100", "nodes": 3})";
    const Import import = make_machine(pair_of("a100-80"), like(own));
    EXPECT_EQ(json::parse(import.object.json())["extends"], own);
    EXPECT_EQ(Machine::read(import.object.document("node.json")).info().nodes, 3U);
}

TEST(nvidia_smi_matrix, has_a_line_with_the_names_of_its_gpus) {
    EXPECT_EQ(refusal_of_node("GPU0\t X \tNV12\nGPU1\tNV12\t X \n"),
              "node.txt: error: no line names the GPUs of the matrix");
    EXPECT_THAT(refusal_of_node("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \nGPU1\tNV12\t X \n"),
                HasSubstr("node.txt:2: error: GPU0: expected X, NV<n>, PIX, PXB, PHB, NODE or SYS for GPU1, got \"\""));
    EXPECT_THAT(refusal_of_node("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV1001\nGPU1\tNV12\t X \n"),
                HasSubstr("got \"NV1001\""));
}

}  // namespace
}  // namespace weft
