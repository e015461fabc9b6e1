#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workloads/formats/node_import.hpp"

namespace weft {
namespace {

using nlohmann::json;
constexpr auto plain_note = FormatNote::Severity::note;

TEST(hwloc, bandwidths_of_pairs_are_numbers_of_links) {
    const NodeImport node(seed("hwloc.xml"));
    EXPECT_EQ(node.facts, json::parse(R"({"accelerators_per_node": 2, "nics_per_node": 1, "numa_nodes": 1,
                                          "links": [[0, 6], [6, 0]]})"));
    EXPECT_EQ(node.object["extends"], "dgx-h100");
    EXPECT_EQ(node.object["node"]["kind"], "graph");
    EXPECT_EQ(node.object["links"]["nvlink.x6"]["bandwidth"]["nominal"], "150 GB/s");
    EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[0]"));
    EXPECT_EQ(node.machine().info().device, "h100");
}

TEST(hwloc, links_to_switches_are_a_crossbar) {
    std::string text =
        replaced(seed("hwloc.xml"), "<object type=\"PCIDev\" gp_index=\"10\"",
                 "<object type=\"PCIDev\" gp_index=\"20\" subtype=\"NVSwitch\" pci_busid=\"0000:05:00.0\" "
                 "pci_type=\"0680 [10de:22a3] [10de:1796] a1 00\"/><object type=\"PCIDev\" gp_index=\"10\"");
    text = replaced(text, "7 11 </indexes>", "OSDev:7 OSDev:11 </indexes><indexes>PCIDev:20</indexes>");
    text = replaced(text, "1000000 150000 150000 1000000 ", "0 0 450000 0 0 450000 450000 450000 0 ");
    const NodeImport node(text);
    EXPECT_EQ(node.facts["switch_links"], json::parse("[18, 18]"));
    EXPECT_EQ(node.object["node"]["kind"], "crossbar");
}

TEST(hwloc, without_distances_links_are_those_of_the_other_machine) {
    const NodeImport node(replaced(seed("hwloc.xml"), "NVLinkBandwidth", "NUMALatency"));
    EXPECT_TRUE(node.has_note(plain_note, "does not say which links join"));
    EXPECT_EQ(node.object["node"]["accelerators"], 2);
}

TEST(hwloc, mistakes_are_told_at_their_places) {
    const std::string good = seed("hwloc.xml");
    EXPECT_NE(refusal_of_node(replaced(good, "1000000 150000 ", "")).find("expected 2 x 2 values"), std::string::npos);
    EXPECT_NE(refusal_of_node(replaced(good, "gp_index=\"10\"", "gp_index=\"6\"")).find("second device"),
              std::string::npos);
    EXPECT_NE(refusal_of_node(replaced(good, "PCIDev", "Misc")).find("no accelerator"), std::string::npos);
    for (std::size_t length = 110; length + 20 < good.size(); length += 211)
        EXPECT_NE(refusal_of_node(good.substr(0, length) + "<object"), "");
}

}  // namespace
}  // namespace weft
