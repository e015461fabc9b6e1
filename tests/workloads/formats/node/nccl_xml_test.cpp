#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/workloads/formats/node_import.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft {
namespace {

using nlohmann::json;
constexpr auto warning = FormatNote::Severity::warning;
constexpr auto plain_note = FormatNote::Severity::note;

TEST(nccl_xml, links_nics_and_numa_nodes_come_to_a_machine) {
    const NodeImport node(seed("nccl_xml.xml"));
    EXPECT_EQ(node.facts, json::parse(R"({"accelerators_per_node": 2, "nics_per_node": 1, "numa_nodes": 2,
                                          "links": [[0, 4], [4, 0]], "nic_gbit_per_s": [200]})"));
    EXPECT_EQ(node.object["extends"], "dgx-a100");
    EXPECT_EQ(node.object["node"]["kind"], "graph");
    EXPECT_EQ(node.object["node"]["links"], json::parse("[[0, 4], [4, 0]]"));
    EXPECT_EQ(node.object["links"]["nvlink.x4"]["bandwidth"]["nominal"], "100 GB/s");
    EXPECT_EQ(node.object["links"]["nvlink.x4"]["bandwidth"]["efficiency"], 0.913);  // dgx-a100's nvlink
    EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[0]"));
    const Machine machine = node.machine();
    EXPECT_EQ(machine.info().device, "a100-80");
    EXPECT_EQ(machine.info().accelerators_per_node, 2U);
    EXPECT_EQ(machine.info().nics_per_node, 1U);
}

TEST(nccl_xml, the_options_say_nodes_and_what_is_otherwise_alike) {
    const NodeImport node(seed("nccl_xml.xml"), like("perlmutter", 12));
    EXPECT_EQ(node.object["extends"], "perlmutter");
    EXPECT_EQ(node.object["device"], "a100-80");  // as the PCI numbers say, not as Perlmutter
    EXPECT_EQ(node.machine().info().nodes, 12U);
}

TEST(nccl_xml, links_to_switches_are_a_crossbar) {
    std::string text = seed("nccl_xml.xml");
    for (const char* target :
         {"0000:21:00.0\" count=\"4\" tclass=\"0x030200", "0000:11:00.0\" count=\"4\" tclass=\"0x030200"})
        text = replaced(text, target, "0000:c4:00.0\" count=\"12\" tclass=\"0x068000");
    const NodeImport node(text);
    EXPECT_EQ(node.facts["switch_links"], json::parse("[12, 12]"));
    EXPECT_EQ(node.object["node"]["kind"], "crossbar");
    EXPECT_EQ(node.object["node"]["accelerators"], 2);
    EXPECT_FALSE(
        node.object.value("links", json::object()).contains("nvlink"));  // 12 links of 25 GB/s are what dgx-a100 has
}

TEST(nccl_xml, without_links_accelerators_exchange_through_the_host) {
    const std::string text = replaced(seed("nccl_xml.xml"), "<nvlink", "<nvlink_gone");
    const NodeImport node(text);
    EXPECT_EQ(node.object["node"]["kind"], "crossbar");
    EXPECT_EQ(node.object["node"]["link"], "pcie.host");
    EXPECT_EQ(node.object["links"]["pcie.host"]["bandwidth"]["nominal"], "32 GB/s");
    EXPECT_EQ(node.object["node"]["nics"]["pxn"], false);
    EXPECT_TRUE(node.has_note(plain_note, "through the host"));
    EXPECT_TRUE(node.has_note(plain_note, "<nvlink_gone> is not known"));
}

// Two pairs of bridged GPUs.
TEST(nccl_xml, pairs_that_no_links_join_exchange_through_the_host) {
    std::string text = "<system version=\"1\"><cpu numaid=\"0\">";
    for (int i = 0; i < 4; ++i) {
        text += fmt::format(
            "<pci busid=\"0000:{0}1:00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><gpu "
            "dev=\"{0}\" sm=\"80\"><nvlink target=\"0000:{1}1:00.0\" count=\"12\" tclass=\"0x030200\"/></gpu></pci>",
            i, i ^ 1);
    }
    const NodeImport node(text + "</cpu></system>");
    EXPECT_EQ(node.object["node"]["host"], "pcie.host");
    EXPECT_TRUE(node.has_note(plain_note, "the file names no NIC"));
    const Topology topology = node.machine().topology(1);
    EXPECT_EQ(topology.route(RankId(0), RankId(1)).hops, 1U);
    EXPECT_EQ(topology.route(RankId(1), RankId(2)).hops, 2U);  // up to the host and down
}

// As cloud providers write them: libraries fill in the rest.
TEST(nccl_xml, devices_of_virtual_machines_are_told_by_their_class) {
    const std::string text =
        "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"ffff:ff:01.0\" class=\"0x060400\" link_speed=\"32.0 GT/s "
        "PCIe\" link_width=\"16\"><pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "
        "link_width=\"16\"/><pci busid=\"0101:00:00.0\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" "
        "link_width=\"16\"/></pci></cpu></system>";
    const NodeImport node(text);
    EXPECT_EQ(node.facts, json::parse(R"({"accelerators_per_node": 1, "nics_per_node": 1, "numa_nodes": 1})"));
    EXPECT_EQ(node.object["extends"], "dgx-h100");
    EXPECT_TRUE(node.has_note(warning, "--like MACHINE says which"));
    EXPECT_TRUE(node.has_note(plain_note, "does not say which links join"));
}

TEST(nccl_xml, links_that_lead_nowhere_and_slow_nics_are_left_out) {
    std::string text =
        replaced(seed("nccl_xml.xml"), "<nvlink target=\"0000:11:00.0\"", "<nvlink target=\"0000:99:00.0\"");
    text = replaced(text, "</nic>", "<net name=\"eth0\" dev=\"1\" speed=\"10000\"/></nic>");
    const NodeImport node(text);
    EXPECT_TRUE(node.has_note(warning, "nvlink 0000:99:00.0 leads to no accelerator"));
    EXPECT_TRUE(node.has_note(warning, "links of some pairs are told one way alone"));
    EXPECT_TRUE(node.has_note(warning, "NIC eth0 is left out: its 10 Gbit/s"));
    EXPECT_EQ(node.facts["nic_gbit_per_s"], json::parse("[10, 200]"));
    EXPECT_EQ(node.machine().info().nics_per_node, 1U);
}

TEST(nccl_xml, what_stands_in_for_an_unknown_device_is_named) {
    const NodeImport node(replaced(replaced(seed("nccl_xml.xml"), "0x20b2", "0x1db5"), "sm=\"80\"", "sm=\"70\""));
    EXPECT_TRUE(node.has_note(warning, "weft has no device file of V100: a100-40 stands in"));
}

TEST(nccl_xml, gpus_are_numbered_by_their_devices) {
    std::string text = replaced(seed("nccl_xml.xml"), "dev=\"0\" sm", "dev=\"7\" sm");
    const NodeImport node(text);
    EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[1]"));  // the NIC's neighbour is the second now
}

TEST(nccl_xml, mistakes_are_told_at_their_places) {
    const std::string good = seed("nccl_xml.xml");
    EXPECT_NE(refusal_of_node(replaced(good, "0000:21:00.0", "0000:11:00.0")).find("a second GPU with the busid"),
              std::string::npos);
    for (const char* wrong : {"-4", "1e30", "four", "4.5", "99999999999999"}) {
        const std::string message = refusal_of_node(replaced(good, "count=\"4\"", fmt::format("count=\"{}\"", wrong)));
        EXPECT_NE(message.find("node.txt:6"), std::string::npos) << message;
        EXPECT_NE(message.find("count"), std::string::npos) << message;
    }
    EXPECT_NE(refusal_of_node("<system version=\"1\"><cpu numaid=\"0\"/></system>").find("no accelerator"),
              std::string::npos);
    for (std::size_t length = 20; length + 20 < good.size(); length += 97)
        EXPECT_NE(refusal_of_node(good.substr(0, length) + " numaid="), "");
}

TEST(nccl_xml, bombs_end_quickly) {
    const std::string bomb =
        "<!DOCTYPE system [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><system version=\"&b;\"><cpu "
        "numaid=\"&b;\"/></system>";
    EXPECT_NE(refusal_of_node(bomb), "");
    std::string many = "<system version=\"1\"><cpu numaid=\"0\">";
    for (int i = 0; i < 100'000; ++i) many += fmt::format("<pci busid=\"{:x}\" class=\"0x030200\"/>", i);
    EXPECT_NE(refusal_of_node(many + "</cpu></system>").find("at most 1024"), std::string::npos);
    std::string deep = "<system numaid=\"0\">";
    for (int i = 0; i < 200'000; ++i) deep += "<pci busid=\"1\">";
    EXPECT_NE(refusal_of_node(deep), "");
}

// The node of Frontier as RCCL's authors dumped it on a machine of that kind.
TEST(nccl_xml, a_dump_of_eight_dies_has_the_links_of_frontier) {
    const std::filesystem::path path =
        std::filesystem::path(WEFT_SOURCE_DIR) / "../shared/reference/samples/nccl-topology/topo_8p1h_3.xml";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no samples beside the project";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const Topology dumped = NodeImport(text).machine().topology(1), frontier = Machine::load("frontier").topology(1);
    ASSERT_EQ(dumped.ranks, frontier.ranks);
    for (std::uint32_t a = 0; a < frontier.ranks; ++a) {
        for (std::uint32_t b = 0; b < frontier.ranks; ++b) {
            if (a == b) continue;
            const Route mine = dumped.route(RankId(a), RankId(b)), theirs = frontier.route(RankId(a), RankId(b));
            ASSERT_EQ(mine.hops, theirs.hops) << a << " to " << b;
            for (std::size_t hop = 0; hop < mine.hops; ++hop) {
                EXPECT_EQ(dumped.link(mine.hop[hop]).name, frontier.link(theirs.hop[hop]).name) << a << " to " << b;
                EXPECT_EQ(dumped.link(mine.hop[hop]).bandwidth, frontier.link(theirs.hop[hop]).bandwidth);
            }
        }
    }
}

}  // namespace
}  // namespace weft
