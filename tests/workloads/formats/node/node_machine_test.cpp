// Described nodes as machines: what becomes of links, NICs and the network of the machine that they are like.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workloads/formats/node_import.hpp"
#include "workloads/formats/node/node.hpp"

namespace weft {
namespace {

using nlohmann::json;
constexpr auto warning = FormatNote::Severity::warning;
constexpr auto plain_note = FormatNote::Severity::note;

// Four GPUs of a kind, each pair with `links` links.
NodeDescription four_gpus(const char* device, std::uint32_t links) {
    const SourceFile file{"folder/node.xml", ""};
    NodeDescription node("a tool", file);
    for (int i = 0; i < 4; ++i) node.accelerators.push_back({fmt::format("gpu{}", i), {.file = file.path}});
    node.kind = kind_of_device(device);
    node.family = node.kind->family();
    node.set_no_links();
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) node.links[i][j] = i == j ? 0 : links;
    }
    node.links_origin = {.file = file.path, .line = 3, .key = "links"};
    return node;
}

DescribedNic nic(const std::string& name, double gigabits, std::vector<std::uint32_t> distance, double pcie = 0) {
    return {.name = name,
            .origin = {.file = "node.xml", .line = 9, .key = name},
            .gigabits = gigabits,
            .pcie_gigabytes = pcie,
            .distance = std::move(distance)};
}

struct Made {
    explicit Made(NodeDescription node, const FormatOptions& options = {}) {
        import = make_machine(std::move(node), options);
        object = json::parse(import.object.json());
    }
    bool says(FormatNote::Severity severity, std::string_view words) const {
        return std::ranges::any_of(import.notes, [&](const FormatNote& note) {
            return note.severity == severity && note.message.find(words) != std::string::npos;
        });
    }
    Machine machine() const { return Machine::read(import.object.document("node.json")); }

    Import import;
    json object;
};

TEST(node_machine, is_the_node_on_the_network_of_the_machine_of_its_kind) {
    const Made made(four_gpus("h100", 6));
    EXPECT_EQ(made.object["extends"], "dgx-h100");
    EXPECT_EQ(made.object["title"], "4 x H100 as described by a tool, otherwise dgx-h100");
    EXPECT_EQ(made.object["source"], "a tool node.xml; what it does not say: dgx-h100");
    EXPECT_EQ(made.object["links"]["nvlink.x6"]["bandwidth"]["nominal"], "150 GB/s");
    EXPECT_EQ(made.object["node"]["nics"]["attached"], (json{0, 1, 2, 3}));  // one for each, as there
    EXPECT_TRUE(made.says(plain_note, "the file names no NIC: 4 of them, as dgx-h100 has"));
    EXPECT_EQ(made.machine().info().accelerators_per_node, 4U);
}

TEST(node_machine, nics_are_shared_out_among_the_nearest) {
    NodeDescription node = four_gpus("a100-80", 4);
    for (const int i : {0, 1, 2, 3}) node.nics.push_back(nic(fmt::format("n{}", i), 200, {5, 5, 9, 9}));
    EXPECT_EQ(Made(node).object["node"]["nics"]["attached"], (json{0, 1, 0, 1}));
    node.nics[0].apart = {7, 3, 0, 0};
    EXPECT_EQ(Made(node).object["node"]["nics"]["attached"], (json{1, 0, 0, 1}));
}

TEST(node_machine, slow_and_far_nics_are_left_out_aloud) {
    NodeDescription node = four_gpus("a100-80", 4);
    node.nics = {nic("fast", 200, {0, 1, 1, 1}), nic("slow", 25, {0, 1, 1, 1}), nic("far", 200, {9, 9, 9, 9})};
    node.nics[2].near_accelerator = false;
    const Made made(node);
    EXPECT_EQ(made.object["node"]["nics"]["attached"], (json{0}));
    EXPECT_TRUE(made.says(warning, "NIC slow is left out: its 25 Gbit/s are less than the 200 Gbit/s of others"));
    EXPECT_TRUE(made.says(warning, "NIC far is left out: it shares no PCIe switch"));
    for (DescribedNic& each : node.nics) each.near_accelerator = false;  // then nothing tells them apart
    EXPECT_FALSE(Made(node).says(warning, "shares no PCIe switch"));
}

TEST(node_machine, ports_and_pcie_links_are_as_the_file_says) {
    NodeDescription node = four_gpus("a100-80", 4);
    for (int i = 0; i < 8; ++i) node.nics.push_back(nic("mlx", 100, {1, 1, 1, 1}, 15.75));
    const Made made(node);
    const std::string port = read_like_machine("dgx-a100").port;
    EXPECT_EQ(made.object["links"][port]["bandwidth"]["nominal"], "100 Gbit/s");
    EXPECT_TRUE(made.says(plain_note, "100 Gbit/s are the port's"));
    EXPECT_EQ(made.object["links"][read_like_machine("dgx-a100").nic_link]["bandwidth"]["nominal"], "15.75 GB/s");
    for (DescribedNic& each : node.nics) each.pcie_gigabytes = 4;
    EXPECT_TRUE(Made(node).says(warning, "a PCIe link of 4 GB/s is narrower than the port of 100 Gbit/s"));
}

// As many rails as NICs where the other machine has one for each; more NICs need switches of more ports.
TEST(node_machine, the_network_keeps_its_shape_with_other_numbers_of_nics) {
    for (const std::size_t nics : {2U, 8U, 16U}) {
        SCOPED_TRACE(nics);
        NodeDescription node = four_gpus("h100", 6);
        for (std::size_t i = 0; i < nics; ++i) node.nics.push_back(nic("n", 400, {1, 1, 1, 1}));
        const Made made(node);
        const LikeMachine like = read_like_machine("dgx-h100");
        const json network = made.object.value("network", json::object());
        EXPECT_EQ(network.value("rails", like.rails), nics);
        EXPECT_EQ(network.contains("levels"), nics > like.attached.size());
        EXPECT_EQ(made.says(plain_note, "the network keeps the shape of dgx-h100"), nics != like.attached.size());
        EXPECT_EQ(made.says(plain_note, "with switches of 2 times as many ports"), nics == 16);
        const MachineInfo info = made.machine().info();
        EXPECT_EQ(info.nics_per_node, nics);
    }
}

TEST(node_machine, links_of_another_family_are_refused) {
    NodeDescription node = four_gpus("h100", 6);
    node.family = LinkFamily::infinity_fabric;
    EXPECT_TRUE(Made(node).says(FormatNote::Severity::error, "these are links of another kind than H100 has"));
    node = four_gpus("h100", 6);
    node.accelerators[2].switch_links = 18;
    EXPECT_TRUE(Made(node).says(FormatNote::Severity::error, "some have none"));
    node = four_gpus("h100", 0);
    node.kind = nullptr;
    EXPECT_TRUE(Made(node).says(FormatNote::Severity::error, "give --like MACHINE"));
    EXPECT_TRUE(Made(node, like("tpu-v4")).says(FormatNote::Severity::error, "neither the file nor tpu-v4"));
    EXPECT_FALSE(Made(node, like("dgx-a100")).import.has_errors());
}

TEST(node_machine, links_told_one_way_or_back_to_themselves_are_warned_of) {
    NodeDescription node = four_gpus("a100-80", 4);
    node.links[0][1] = 6;
    node.links[3][3] = 2;
    const Made made(node);
    EXPECT_EQ(made.object["node"]["links"][1][0], 6);
    EXPECT_EQ(made.object["node"]["links"][3][3], 0);
    EXPECT_TRUE(made.says(warning, "told one way alone, or differ"));
    EXPECT_TRUE(made.says(warning, "lead back to their own accelerator"));
    for (std::uint32_t i = 0; i < 4; ++i) node.accelerators[i].switch_links = 12 - i;
    EXPECT_TRUE(Made(node).says(warning, "accelerators have 9 to 12 links to NVSwitches: 9 for each"));
}

TEST(node_machine, a_node_has_a_limit) {
    EXPECT_NO_THROW(check_node_size("n", 1024, 1024));
    EXPECT_THROW(check_node_size("n", 1025, 0), ConfigError);
    EXPECT_THROW(check_node_size("n", 0, 1025), ConfigError);
}

// What is read of a machine's file is what its topology has.
class like_machine : public ::testing::TestWithParam<std::string> {};
TEST_P(like_machine, is_read_as_machines_are) {
    const LikeMachine like = read_like_machine(GetParam());
    const MachineInfo info = Machine::load(GetParam()).info();
    EXPECT_EQ(like.device, info.device);
    EXPECT_EQ(like.accelerators, info.accelerators_per_node);
    EXPECT_EQ(like.attached.size(), info.nics_per_node);
    for (const LikeLink& link : like.links) {
        EXPECT_GT(link.nominal.value, 0) << link.name;
        EXPECT_GT(link.efficiency, 0) << link.name;
        EXPECT_EQ(like.find(link.name), &link);
    }
    EXPECT_NE(like.find(like.nic_link), nullptr);
    EXPECT_NE(like.find(like.port), nullptr);
    EXPECT_EQ(like.find("no.such"), nullptr);
}
INSTANTIATE_TEST_SUITE_P(formats, like_machine,
                         ::testing::Values("frontier", "dgx-h100", "dgx-a100", "alps", "lumi-g", "perlmutter",
                                           "el-capitan", "dgx-b200"),
                         [](const auto& info) { return replaced(info.param, "-", "_"); });

TEST(like_machines, the_nearest_class_of_a_family_is_of_the_nearest_number) {
    LikeMachine like;
    for (const char* const name : {"xgmi.x1", "xgmi.x4", "xgmi.x8", "xgmiother.x2"})
        like.links.push_back({name, BytesPerSecond{1e9}, 1, "1 ns"});
    EXPECT_EQ(like.nearest("xgmi", 2)->name, "xgmi.x1");
    EXPECT_EQ(like.nearest("xgmi", 5)->name, "xgmi.x4");
    EXPECT_EQ(like.nearest("xgmi", 100)->name, "xgmi.x8");
    EXPECT_EQ(like.nearest("nvlink", 1), nullptr);
}

}  // namespace
}  // namespace weft
