// Hostfiles and Slurm node lists: the forms that launchers write, mistakes at their place, and any bytes at all.
#include "topologies/placement.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using Nodes = std::vector<std::uint32_t>;

MachineInfo small() {
    MachineInfo info;
    info.name = "small";
    info.nodes = 100;
    info.accelerators_per_node = 8;
    info.node_names = {.prefix = "nid", .first = 5};
    return info;
}
const MachineInfo machine = small();

Nodes parse(std::string_view text) { return parse_node_list("hosts", text, machine); }

std::string error_of(std::string_view text, const MachineInfo& info = machine) {
    try {
        parse_node_list("hosts", text, info);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

// Names that are listed node by node; zeros before a number do not tell names apart.
TEST(node_list, reads_listed_names) {
    MachineInfo info = machine;
    info.nodes = 4;
    info.node_names = NodeNames{.prefix = {}, .first = 0, .listed = {"gpu01", "gpu02", "gpu07", "login-a"}};
    EXPECT_EQ(parse_node_list("hosts", "gpu[02,07]\nlogin-a gpu1", info), (Nodes{1, 2, 3, 0}));
    EXPECT_EQ(parse_node_list("hosts", "2 3", info), (Nodes{2, 3}));
    EXPECT_NE(error_of("gpu[1-3]", info).find("has no node called \"gpu3\""), std::string::npos);
    EXPECT_NE(error_of("cpu1", info).find("has no node called \"cpu1\""), std::string::npos);
    EXPECT_NE(error_of("gpu1 gpu01", info).find("stands here again"), std::string::npos);
}

TEST(node_list, reads_the_names_of_shipped_machines) {
    const auto nodes = [](const char* name, std::string_view text) {
        return parse_node_list("hosts", text, Machine::load(name).info());
    };
    EXPECT_EQ(nodes("frontier", "frontier[00001-00003,09408]"), (Nodes{0, 1, 2, 9407}));
    EXPECT_EQ(nodes("lumi-g", "nid[005000-005001],nid007977"), (Nodes{0, 1, 2977}));
    EXPECT_EQ(nodes("leonardo", "lrdn0001"), Nodes{0});
    EXPECT_EQ(Machine::load("frontier").info().node_names->name(15), "frontier00016");
    EXPECT_EQ(Machine::load("lumi-g").info().node_names->name(0), "nid005000");
}

TEST(node_list, reads_names_and_numbers) {
    EXPECT_EQ(parse("nid000005\nnid000104\n17\n"), (Nodes{0, 99, 17}));
    EXPECT_EQ(parse("3 1 nid7"), (Nodes{3, 1, 2}));
}

TEST(node_list, reads_hostfiles_with_slots_and_comments) {
    EXPECT_EQ(parse("# the job\r\nnid00006 slots=8 max_slots=64\r\n\r\nnid00008:8 # the last\r\n"), (Nodes{1, 3}));
}

TEST(node_list, reads_slurm_lists) {
    EXPECT_EQ(parse("nid[00005-00008,00017],nid00020:8,[50-51]"), (Nodes{0, 1, 2, 3, 12, 15, 50, 51}));
}

TEST(node_list, names_the_place_of_a_mistake) {
    EXPECT_EQ(error_of("1\n2 1\n"), "hosts:2:3: error: node 1 stands here again, first in line 1");
    EXPECT_EQ(error_of("nid4"), "hosts:1:4: error: small has nodes nid5 to 104, not 4");
    EXPECT_EQ(error_of("\n  nid[00005-00200]"), "hosts:2:7: error: small has nodes nid5 to 104, not 105");
    EXPECT_EQ(error_of("node7"), "hosts:1:1: error: nodes of small are called \"nid\" and a number, not \"node\"");
    EXPECT_EQ(error_of("nid"), "hosts:1:1: error: expected a node, got \"nid\"");
    EXPECT_EQ(error_of("nid[8-6]"), "hosts:1:5: error: expected a range that ascends, got 8-6");
    EXPECT_EQ(error_of("nid[8-]"), "hosts:1:5: error: expected a number or a range such as 00017-00024, got \"8-\"");
    EXPECT_EQ(error_of("nid[8"), "hosts:1:1: error: expected a name that ends in ], got \"nid[8\"");
    EXPECT_EQ(error_of("7 slots=x"), "hosts:1:9: error: expected a number of slots, got \"x\"");
    EXPECT_EQ(error_of("7:4"),
              "hosts:1:3: error: 4 slots leave no room for a rank on each of the 8 accelerators of a node");
    EXPECT_EQ(error_of("# nothing\n"), "hosts:1:1: error: expected at least one node");
    EXPECT_EQ(error_of("99999999999999999999999"),
              "hosts:1:1: error: expected a number or a range such as 00017-00024, got \"99999999999999999999999\"");
}

TEST(node_list, asks_for_what_names_mean) {
    MachineInfo nameless = machine;
    nameless.node_names.reset();
    EXPECT_EQ(error_of("nid7", nameless),
              "hosts:1:1: error: expected the number of a node: the machine file of small has no \"node_names\", which "
              "say what \"nid\" stands for");
    EXPECT_EQ(parse_node_list("hosts", "7", nameless), (Nodes{7}));
}

TEST(node_list, reports_mistakes_together_but_not_without_end) {
    EXPECT_EQ(error_of("x1 5 x2\n"),
              "hosts:1:1: error: nodes of small are called \"nid\" and a number, not \"x\"\n"
              "hosts:1:6: error: nodes of small are called \"nid\" and a number, not \"x\"");
    std::string long_one;
    for (int i = 0; i < 1000; ++i) long_one += "x ";
    const std::string errors = error_of(long_one);
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n') + 1, 20);
}

// Any bytes are a list of nodes of the machine, each once, or a ConfigError.
TEST(node_list, survives_any_bytes) {
    const std::string_view alphabet = "nid[]-,:#= \n\t0123456789slots=\r\x7f\xff\0x";
    std::mt19937_64 random(4);
    int lists = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (auto length = random() % 40; length > 0; --length) {
            text += round % 4 == 0 ? static_cast<char>(random() % 256) : alphabet[random() % alphabet.size()];
        }
        try {
            const Nodes nodes = parse(text);
            EXPECT_EQ(std::set(nodes.begin(), nodes.end()).size(), nodes.size());
            for (const std::uint32_t node : nodes) EXPECT_LT(node, machine.nodes);
            ++lists;
        } catch (const ConfigError&) {
        }
    }
    EXPECT_GT(lists, 100);
}

}  // namespace
}  // namespace weft
