#include "workloads/formats/fabric/fabric.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Names = std::vector<std::string>;

struct Tree {
    explicit Tree(std::string text) : tree(read_slurm_tree(import, {"topology", std::move(text)})) {}

    Import import;
    SlurmTree tree;
};

bool is_slurm(const std::string& text) { return is_slurm_topology({"topology", text}); }

TEST(slurm_tree_reader, is_recognised_by_its_keys) {
    for (const char* const text :
         {"SwitchName=a", "# list\n switchname = a\n", "BlockName=b", "BLOCKSIZES=4", "- topology: t\n  tree:\n",
          "topology: t\nblock:\n", "- topology: t\n  flat: true\n"})
        EXPECT_TRUE(is_slurm(text)) << text;
    for (const char* const text : {"", "Switch Name=a", "Nodes=n1", "topology: [ Ring ]\n", "tree:\n", "SwitchName"})
        EXPECT_FALSE(is_slurm(text)) << text;
}

TEST(slurm_tree_reader, lists_switches_with_what_is_below_them_and_where_they_stand) {
    const Tree read(
        "SwitchName=core Switches=leaf[1-2]\n\nSwitchName=leaf1 \\\n Nodes=n[1-3]\nSwitchName=leaf2 Nodes=n4\n");
    ASSERT_EQ(read.tree.switches.size(), 3U);
    EXPECT_EQ(read.tree.switches[0].switches, (Names{"leaf1", "leaf2"}));
    EXPECT_EQ(read.tree.switches[1].nodes, (Names{"n1", "n2", "n3"}));
    EXPECT_EQ(read.tree.switches[1].origin.line, 3);
    EXPECT_EQ(read.tree.switches[2].origin.line, 5);
    EXPECT_TRUE(read.tree.mistakes.empty());
    EXPECT_EQ(read.tree.expanded, 6U);
}

TEST(slurm_tree_reader, remembers_where_blocks_and_flat_networks_stand) {
    const Tree lines("SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\nBlockSizes=4\n");
    ASSERT_EQ(lines.tree.blocks.size(), 2U);
    EXPECT_EQ(lines.tree.blocks[0].key, "BlockName");
    EXPECT_EQ(lines.tree.blocks[1].line, 3);
    const Tree yaml("- topology: t\n  flat: true\n");
    ASSERT_EQ(yaml.tree.flat.size(), 1U);
    EXPECT_EQ(yaml.tree.flat[0].line, 2);
}

TEST(slurm_tree_reader, tells_so_many_mistakes_and_no_more) {
    const Tree few("SwitchName=a Nodes=n[1-\nSwitchName= Nodes=n1\nNodes\n");
    EXPECT_EQ(few.tree.mistakes.size(), 3U);
    std::string text;
    for (int i = 0; i < 100; ++i) text += "Nodes\n";
    EXPECT_EQ(Tree(text).tree.mistakes.size(), 20U);
}

}  // namespace
}  // namespace weft
