#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workloads/formats/node_import.hpp"

namespace weft {
namespace {

using nlohmann::json;
constexpr auto warning = FormatNote::Severity::warning;

// `cell` between every two of so many GPUs.
std::string matrix(std::uint32_t gpus, const std::string& cell) {
    std::string text;
    for (std::uint32_t i = 0; i < gpus; ++i) text += fmt::format("\tGPU{}", i);
    text += "\tCPU Affinity\tNUMA Affinity\n";
    for (std::uint32_t i = 0; i < gpus; ++i) {
        text += fmt::format("GPU{}", i);
        for (std::uint32_t j = 0; j < gpus; ++j) text += "\t" + (i == j ? " X " : cell);
        text += fmt::format("\t0-7\t{}\n", i / 2);
    }
    return text;
}

TEST(nvidia_smi, pairs_with_nvlinks_are_a_graph) {
    const NodeImport node(seed("nvidia_smi.txt"));
    EXPECT_EQ(node.facts, json::parse(R"({"accelerators_per_node": 2, "nics_per_node": 1, "numa_nodes": 2,
                                          "links": [[0, 12], [12, 0]]})"));
    EXPECT_EQ(node.object["extends"], "dgx-a100");
    EXPECT_TRUE(node.has_note(warning, "12 NVLinks of one GPU"));
    EXPECT_EQ(node.object["node"]["kind"], "graph");
    EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[0]"));
    EXPECT_EQ(node.machine().info().accelerators_per_node, 2U);
}

TEST(nvidia_smi, more_links_than_a_gpu_has_lead_to_switches) {
    const NodeImport node(matrix(8, "NV18"));
    EXPECT_EQ(node.facts["switch_links"], json::parse("[18, 18, 18, 18, 18, 18, 18, 18]"));
    EXPECT_EQ(node.facts["numa_nodes"], 4);
    EXPECT_EQ(node.object["extends"], "dgx-h100");
    EXPECT_EQ(node.object["node"]["kind"], "crossbar");
    EXPECT_EQ(node.machine().info().nics_per_node, 8U);  // of dgx-h100
    EXPECT_EQ(NodeImport(matrix(4, "NV4")).object["node"]["kind"], "graph");
}

TEST(nvidia_smi, without_nvlinks_the_kind_must_be_said) {
    EXPECT_NE(refusal_of_node(matrix(4, "SYS")).find("--like MACHINE"), std::string::npos);
    const NodeImport node(matrix(4, "SYS"), like("dgx-a100"));
    EXPECT_EQ(node.object["node"]["link"], "pcie.host");
}

TEST(nvidia_smi, nics_behind_no_switch_of_a_gpu_are_left_out) {
    std::string text = replaced(seed("nvidia_smi.txt"), "NIC0\tCPU", "NIC0\tbond\tCPU");
    text = replaced(replaced(text, "\tPIX\t0", "\tPIX\tNODE\t0"), "\tSYS\t16", "\tSYS\tSYS\t16");
    const NodeImport node(replaced(text, "\t X \n\n", "\t X \tSYS\n\n"));
    EXPECT_EQ(node.facts["nics_per_node"], 2);
    EXPECT_TRUE(node.has_note(warning, "NIC bond is left out"));
    EXPECT_EQ(node.machine().info().nics_per_node, 1U);
}

TEST(nvidia_smi, escapes_of_a_terminal_are_passed_over) {
    const NodeImport node("$ nvidia-smi topo -m\n\x1b[4m" +
                          replaced(seed("nvidia_smi.txt"), "GPU NUMA ID", "GPU NUMA ID\x1b[0m"));
    EXPECT_EQ(node.facts["links"], json::parse("[[0, 12], [12, 0]]"));
}

// What joins every two of so many GPUs, and the machine that it makes.
struct Joined {
    std::uint32_t gpus;
    const char *cell, *kind, *extends;
};
TEST(nvidia_smi, links_of_a_pair_tell_the_kind_of_gpu) {
    for (const auto& [gpus, cell, kind, extends] : {Joined{2, "NV4", "graph", "dgx-a100-40"},  // P100
                                                    {2, "NV6", "graph", "dgx-a100-40"},        // V100
                                                    {4, "NV2", "graph", "dgx-a100-40"},
                                                    {3, "NV4", "graph", "dgx-a100"},
                                                    {4, "NV4", "graph", "dgx-a100"},
                                                    {8, "NV12", "crossbar", "dgx-a100"},
                                                    {2, "NV18", "graph", "dgx-h100"},
                                                    {4, "NV6", "graph", "dgx-h100"},
                                                    {16, "NV6", "crossbar", "dgx-a100-40"}}) {
        const NodeImport node(matrix(gpus, cell));
        EXPECT_EQ(node.object["node"]["kind"], kind) << gpus << " " << cell;
        EXPECT_EQ(node.object["extends"], extends) << gpus << " " << cell;
        EXPECT_EQ(node.facts["accelerators_per_node"], gpus);
        EXPECT_EQ(node.machine().info().accelerators_per_node, gpus);
    }
    EXPECT_NE(refusal_of_node(matrix(4, "NV1")).find("--like MACHINE"), std::string::npos);  // 3 links: of none
}

TEST(nvidia_smi, distances_are_by_what_a_path_crosses) {
    const std::string legend = "\nNIC Legend:\n\n  NIC0: mlx5_7\n  NIC1: mlx5_9\n";
    const auto attached = [&](const std::string& first, const std::string& second) {
        return NodeImport("\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\t" + first +
                              "\t0-7\t0\nGPU1\tNV12\t X \t" + second + "\t8-15\tN/A\n" + legend,
                          like("dgx-a100"));
    };
    for (const char* const nearer : {"PIX\tSYS", "PXB\tNODE", "PHB\tSOC", "PHB\tNODE", "NODE\tSYS"}) {
        const std::string cells = nearer, near = cells.substr(0, cells.find('\t')), far = cells.substr(near.size() + 1);
        const NodeImport node = attached(near + "\t" + far, far + "\t" + near);
        EXPECT_EQ(node.object["node"]["nics"]["attached"], json::parse("[0, 1]")) << nearer;
        EXPECT_EQ(node.facts["numa_nodes"], 1);
    }
    EXPECT_TRUE(attached("PIX\tSYS", "SYS\tSYS").has_note(warning, "NIC mlx5_9 is left out"));
}

TEST(nvidia_smi, mistakes_are_told_at_their_places) {
    const std::string good = matrix(4, "NV4");
    EXPECT_NE(refusal_of_node(replaced(good, "GPU3\tNV4", "GPU3\tNV-4")).find("node.txt:5"), std::string::npos);
    EXPECT_NE(refusal_of_node(good.substr(0, good.find("GPU3\tNV4"))).find("no row of GPU3"), std::string::npos);
    EXPECT_NE(refusal_of_node(replaced(good, "\tGPU1\tGPU2", "\tGPU1\tGPU1")).find("one name"), std::string::npos);
    EXPECT_NE(refusal_of_node(matrix(1100, "SYS").substr(0, 100'000)), "");
    EXPECT_NE(refusal_of_node("\tGPU0\tCPU Affinity\nGPU0\t X \t\x1b"), "");
}

}  // namespace
}  // namespace weft
