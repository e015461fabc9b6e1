// Slurm's topology files: trees become machines, what says nothing of cables is refused, any mistake is told.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

Import imported(const std::string& text, const std::string& like = "dgx-h100") {
    const std::vector<SourceFile> files{{"topology.conf", text}};
    FormatOptions options;
    options.like = like;
    const Format& format = format_of(files, "");
    EXPECT_EQ(format.name, "slurm-topology");
    return import_files(format, files, options);
}

std::string slurm_error(const std::string& text, const std::string& like = "dgx-h100") {
    try {
        imported(text, like);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

std::string fact(const Import& import, std::string_view name) {
    for (const FormatFact& each : import.facts) {
        if (each.name == name) return each.json;
    }
    return "";
}

const std::string two_leaves = R"(# two leaves below a core
SwitchName=leaf1 Nodes=gpu[01-03],gpu05 LinkSpeed=100
switchname=leaf2 NODES="gpu[06-07]" \
    linkspeed=100   # goes on
SwitchName=core Switches=leaf[1-2]
)";

TEST(slurm_topology, a_tree_is_a_machine) {
    const Import import = imported(two_leaves);
    EXPECT_EQ(fact(import, "hosts_named"), "6");
    EXPECT_EQ(fact(import, "switches"), "3");
    EXPECT_EQ(fact(import, "levels"), "2");
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["extends"], "dgx-h100");
    EXPECT_EQ(object["nodes"], 6);
    EXPECT_EQ(object["network"]["switches"], (json{"leaf1", "leaf2", "core"}));
    EXPECT_EQ(object["network"]["nodes"], (json{0, 0, 0, 0, 1, 1}));
    EXPECT_EQ(object["node_names"], (json{"gpu01", "gpu02", "gpu03", "gpu05", "gpu06", "gpu07"}));
    // All 8 ports of 4 and of 2 nodes can send upwards at once.
    EXPECT_EQ(object["network"]["cables"]["fabric.uplink"], (json{{0, 2, 32}, {1, 2, 16}}));
    EXPECT_EQ(import.without_effect.size(), 2U);
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return note.severity == FormatNote::Severity::warning &&
               note.message.find("how many cables") != std::string::npos;
    }));
    const Machine machine = Machine::read(import.object.document("mine.json"));
    EXPECT_EQ(machine.info().bisection, 3 * 8 * 50_GBps);  // all that three nodes can send
}

TEST(slurm_topology, yaml_says_the_same) {
    const Import import = imported(R"(---
- topology: spare
  flat: true
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: core
        children: leaf[1-2]
      - switch: leaf1
        nodes: gpu[01-03],gpu05
      - switch: leaf2
        nodes: gpu[06-07]
)");
    EXPECT_EQ(fact(import, "hosts_named"), "6");
    EXPECT_EQ(fact(import, "levels"), "2");
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["network"]["nodes"], (json{1, 1, 1, 1, 2, 2}));
}

TEST(slurm_topology, what_says_nothing_of_cables_is_refused) {
    EXPECT_NE(slurm_error("BlockName=b1 Nodes=n[0-3]\nBlockSizes=4\n").find("not how they are cabled"),
              std::string::npos);
    EXPECT_NE(slurm_error("- topology: a\n  flat: true\n").find("flat"), std::string::npos);
    EXPECT_NE(slurm_error("- topology: a\n  block:\n    block_sizes: [4]\n    blocks:\n      - {block: b, nodes: n1}\n")
                  .find("not how they are cabled"),
              std::string::npos);
    EXPECT_NE(slurm_error(two_leaves, "").find("--like MACHINE"), std::string::npos);
}

TEST(slurm_topology, mistakes_are_told_at_their_line) {
    EXPECT_NE(slurm_error("SwitchName=a Nodes=n[0-999999999]\n").find("topology.conf:1: error: Nodes: more than"),
              std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Switches=b\nSwitchName=b Switches=a\n").find("circle"), std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Switches=a\n").find("circle"), std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\n")
                  .find(":2: error: SwitchName: \"c\" has no line"),
              std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n").find("first in line 1"), std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n").find("hangs on \"a\" already"),
              std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Nodes\n").find("expected Key=Value"), std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n").find("falls apart"), std::string::npos);
    EXPECT_NE(slurm_error("SwitchName=a\n").find("no switch has nodes"), std::string::npos);
}

TEST(slurm_topology, nodes_are_not_those_of_another_list_of_cables) {
    const std::string path = testing::TempDir() + "cabled.json";
    std::ofstream(path) << imported(two_leaves).object.text();
    EXPECT_NE(slurm_error(two_leaves, path).find("cabled by a list of its own"), std::string::npos);
}

TEST(slurm_topology, keys_are_of_any_case_and_values_quoted_or_not) {
    const Import plain = imported("SwitchName=a Nodes=n[1-2]\n");
    for (const char* const text : {"SWITCHNAME=a NODES=n[1-2]\n", "  switchname=a\tnodes=\"n[1-2]\"  # two\n",
                                   "\n# a list\nSwitchName=\"a\" Nodes=n[1-2]", "SwitchName=a \\\n Nodes=n1,n2\r\n",
                                   "SwitchName=a Nodes=\"n[1-2]"})
        EXPECT_EQ(imported(text).object.json(), plain.object.json()) << text;
    const Import more = imported("SwitchName=a Nodes=n[1-2] Colour=red\n");
    EXPECT_TRUE(std::ranges::any_of(more.notes, [](const FormatNote& note) {
        return note.origin.key == "colour" && note.origin.line == 1 && note.message.find("not known") == 0;
    }));
}

// Two cores above two leaves of three nodes each, which have 8 ports: 12 cables up to each core.
TEST(slurm_topology, switches_with_several_parents_share_what_they_send) {
    const Import import = imported(
        "SwitchName=l1 Nodes=a[1-3]\nSwitchName=l2 Nodes=b[1-3]\nSwitchName=c1 Switches=l[1-2],l1\n"
        "SwitchName=c2 Switches=l[1-2]\nSwitchName=top Switches=c[1-2]\n");
    EXPECT_EQ(fact(import, "levels"), "3");
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["network"]["cables"]["fabric.uplink"],
              (json{{0, 2, 12}, {0, 3, 12}, {1, 2, 12}, {1, 3, 12}, {2, 4, 24}, {3, 4, 24}}));
    EXPECT_EQ(object["network"]["nodes"], (json{0, 0, 0, 1, 1, 1}));
}

TEST(slurm_topology, yaml_has_its_own_mistakes) {
    const std::string tree = "- topology: t\n  tree:\n    switches:\n      - switch: a\n        nodes: n[1-2]\n";
    EXPECT_EQ(fact(imported(tree), "hosts_named"), "2");
    EXPECT_EQ(imported(tree + "        link_speed: 100\n").without_effect.size(), 1U);
    EXPECT_NE(slurm_error(tree + "        children: [b]\n"), "none");
    EXPECT_NE(slurm_error(tree + "      - switch: b\n        children: c\n").find("\"c\" has no line"),
              std::string::npos);
    EXPECT_NE(slurm_error(tree + "      - switch: b\n        nodes: n[2-1]\n").find("topology.conf:7"),
              std::string::npos);
    const Import two = imported(tree + "- topology: other\n  block: {block_sizes: [4]}\n");
    EXPECT_TRUE(std::ranges::any_of(two.notes, [](const FormatNote& note) {
        return note.message == "is not the default of the cluster, and left out";
    }));
}

TEST(slurm_topology, many_lines_take_no_time) {
    std::string lines;
    for (int i = 0; i < 200000; ++i) lines += "SwitchName=s" + std::to_string(i) + "\n";
    EXPECT_NE(slurm_error(lines), "none");
    EXPECT_NE(slurm_error("SwitchName=a Nodes=" + std::string(200000, '[')), "none");
}

}  // namespace
}  // namespace weft
