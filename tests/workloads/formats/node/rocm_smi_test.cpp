#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/workloads/formats/node_import.hpp"

namespace weft {
namespace {

using nlohmann::json;
constexpr auto plain_note = FormatNote::Severity::note;

// What rocm-smi prints of GPUs whose weights are these; pairs of weight 40 exchange by PCIe.
std::string tables(const std::vector<std::vector<int>>& weights) {
    std::string header, rows_of_weights, rows_of_types;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        header += fmt::format("       GPU{}", i);
        rows_of_weights += fmt::format("GPU{}", i);
        rows_of_types += fmt::format("GPU{}", i);
        for (std::size_t j = 0; j < weights.size(); ++j) {
            rows_of_weights += fmt::format("   {}", weights[i][j]);
            rows_of_types += fmt::format("   {}", i == j ? "0" : weights[i][j] == 40 ? "PCIE" : "XGMI");
        }
        rows_of_weights += "\n";
        rows_of_types += "\n";
    }
    return "==== Weight between two GPUs ====\n" + header + "\n" + rows_of_weights +
           "\n==== Link Type between two GPUs ====\n" + header + "\n" + rows_of_types +
           "==== End of ROCm SMI Log ====\n";
}

std::vector<std::vector<int>> weights_of_frontier() {
    const int links[8][8] = {{0, 4, 1, 0, 0, 0, 2, 0}, {4, 0, 0, 1, 0, 1, 0, 0}, {1, 0, 0, 4, 2, 0, 0, 0},
                             {0, 1, 4, 0, 0, 0, 0, 1}, {0, 0, 2, 0, 0, 4, 1, 0}, {0, 1, 0, 0, 4, 0, 0, 1},
                             {2, 0, 0, 0, 1, 0, 0, 4}, {0, 0, 0, 1, 0, 1, 4, 0}};
    std::vector<std::vector<int>> weights(8, std::vector<int>(8));
    for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t j = 0; j < 8; ++j) weights[i][j] = i == j ? 0 : links[i][j] > 0 ? 15 : 30;
    }
    return weights;
}

TEST(rocm_smi, pairs_one_hop_apart_are_joined) {
    const NodeImport node(seed("rocm_smi.txt"), like("el-capitan"));
    EXPECT_EQ(node.facts, json::parse(R"({"accelerators_per_node": 4, "nics_per_node": 0, "numa_nodes": 4})"));
    EXPECT_TRUE(node.has_note(plain_note, "how many links join a pair is as el-capitan"));
    EXPECT_EQ(node.object["node"]["links"][0], json::parse("[0, 2, 2, 2]"));
    EXPECT_EQ(node.machine().info().nics_per_node, 4U);
}

TEST(rocm_smi, dies_of_mi250x_are_told_by_their_links) {
    const NodeImport node(tables(weights_of_frontier()));
    EXPECT_EQ(node.object["extends"], "frontier");
    EXPECT_EQ(node.object["node"]["links"][0], json::parse("[0, 4, 1, 0, 0, 0, 2, 0]"));
    EXPECT_EQ(node.object["node"]["accelerators_per_package"], 2);
    EXPECT_FALSE(node.object.contains("links"));  // frontier has them all
}

TEST(rocm_smi, gpus_on_pcie_exchange_through_the_host) {
    const NodeImport node(tables({{0, 40}, {40, 0}}), like("frontier"));
    EXPECT_EQ(node.object["node"]["link"], "pcie.host");
    EXPECT_NE(refusal_of_node(tables({{0, 40}, {40, 0}})).find("--like"), std::string::npos);
}

TEST(rocm_smi, json_says_the_same) {
    const NodeImport node(R"({
        "system": {"(Topology) Weight between DRM devices 0 and 1": "15",
                   "(Topology) Hops between DRM devices 0 and 1": "1",
                   "(Topology) Link type between DRM devices 0 and 1": "XGMI"},
        "card0": {"(Topology) Numa Node": "0", "(Topology) Numa Affinity": "0"},
        "card1": {"(Topology) Numa Node": "1", "(Topology) Numa Affinity": "1"}
    })",
                          like("frontier"));
    EXPECT_EQ(node.facts["accelerators_per_node"], 2);
    EXPECT_EQ(node.facts["numa_nodes"], 2);
    EXPECT_EQ(node.object["node"]["links"], json::parse("[[0, 1], [1, 0]]"));
    EXPECT_TRUE(node.has_note(plain_note, "one each"));
}

// By their number and which pairs are one hop apart; or by the product that the file names.
TEST(rocm_smi, kinds_are_told_by_links_or_by_name) {
    const auto all = [](std::size_t gpus) {
        std::vector<std::vector<int>> weights(gpus, std::vector<int>(gpus, 15));
        for (std::size_t i = 0; i < gpus; ++i) weights[i][i] = 0;
        return tables(weights);
    };
    EXPECT_EQ(NodeImport(all(8)).object["device"], "mi300x");
    EXPECT_EQ(NodeImport(all(4)).object["extends"], "el-capitan");
    EXPECT_NE(refusal_of_node(all(3)).find("--like MACHINE"), std::string::npos);
    const std::string product = "GPU[0] : Card Series: AMD Instinct MI250X\nGPU[0] : GFX Version: gfx90a\n";
    EXPECT_EQ(NodeImport(product + all(4)).object["extends"], "frontier");
    EXPECT_NE(refusal_of_node("GPU[0] : Card Series: AMD Instinct MI250X\n" + all(3)).find("--like"),
              std::string::npos);
}

TEST(rocm_smi, mistakes_are_told_at_their_places) {
    const std::string good = seed("rocm_smi.txt");
    EXPECT_NE(refusal_of_node(replaced(good, "GPU2   XGMI", "GPU2   WIFI")).find("node.txt:20"), std::string::npos);
    EXPECT_NE(refusal_of_node(replaced(good, "GPU3   15  ", "GPU3   -15 ")).find("expected a weight"),
              std::string::npos);
    EXPECT_NE(refusal_of_node(good.substr(0, good.find("Link Type"))).find("lacks the types"), std::string::npos);
    EXPECT_NE(refusal_of_node("Weight between two GPUs").find("names no GPU"), std::string::npos);
    EXPECT_NE(refusal_of_node("Link Type between two GPUs\nGPU0 GPUx\n").find("node.txt:2: error: expected the number"),
              std::string::npos);
    EXPECT_NE(refusal_of_node("Link Type between two GPUs\n GPU0 GPU1\nGPU0 0\n")
                  .find("node.txt:3: error: expected a row "
                        "of 2 values of a GPU, got 1"),
              std::string::npos);
    EXPECT_NE(refusal_of_node(R"({"system": {"(Topology) Weight between DRM devices 0 and": "15"}})"), "");
}

}  // namespace
}  // namespace weft
