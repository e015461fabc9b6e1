// The tree of switches that Slurm is told of a machine: every node once, and who shares a leaf in the topology shares
// one there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "topologies/machine.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Machine machine_of(const std::string& text) { return Machine::read(Document::parse("machine.json", text)); }

std::string written(const Machine& machine) { return find_export("slurm-topology").machine(machine); }

Import read_again(const std::string& text) {
    const std::vector<SourceFile> files{{"topology.conf", text}};
    FormatOptions options;
    options.like = "dgx-h100";
    return import_files(format_of(files, ""), files, options);
}

std::uint64_t fact(const Import& import, std::string_view name) {
    for (const FormatFact& each : import.facts) {
        if (each.name == name) return std::stoull(each.json);
    }
    return 0;
}

struct Sized {
    std::string_view machine;
    std::uint32_t nodes;
};
std::ostream& operator<<(std::ostream& out, const Sized& each) { return out << each.machine; }
class slurm_tree : public ::testing::TestWithParam<Sized> {};
TEST_P(slurm_tree, of_a_shipped_machine_holds_every_node_once) {
    const Machine machine =
        machine_of(json{{"extends", std::string(GetParam().machine)}, {"nodes", GetParam().nodes}}.dump());
    const std::string text = written(machine);
    EXPECT_THAT(text, HasSubstr("SwitchName=leaf0 Nodes="));
    const Import again = read_again(text);  // one tree, no node twice: the reader refuses all else
    EXPECT_EQ(fact(again, "hosts_named"), GetParam().nodes);
    EXPECT_GE(fact(again, "switches"), 1U);
}
INSTANTIATE_TEST_SUITE_P(exports, slurm_tree,
                         ::testing::Values(Sized{"frontier", 64}, Sized{"dgx-h100", 64}, Sized{"dgx-a100", 32},
                                           Sized{"alps", 64}, Sized{"lumi-g", 64}, Sized{"leonardo", 40},
                                           Sized{"el-capitan", 32}, Sized{"tpu-v4", 32}, Sized{"gb200-nvl72", 8}),
                         [](const auto& info) {
                             std::string name(info.param.machine);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

// Two leaves of three nodes below two spines, which are one switch of Slurm's.
Machine two_leaves(const std::string& names) {
    return machine_of(R"({"extends": "vista", "nodes": 6, "network": {"kind": "switches", "port": "infiniband.nic",
        "routing": "adaptive", "switches": ["a", "b", "s1", "s2"], "nodes": [0, 0, 0, 1, 1, 1],
        "cables": {"infiniband.leaf_spine": [[0, 2], [0, 3], [1, 2], [1, 3]]}}, "node_names": )" +
                      names + "}");
}

TEST(slurm_topology_export, spines_that_join_the_same_leaves_are_one_switch) {
    const std::string tree = written(two_leaves(R"({"prefix": "gpu", "first": 7, "digits": 3})"));
    EXPECT_THAT(tree, HasSubstr("SwitchName=leaf0 Nodes=gpu[007-009]\nSwitchName=leaf1 Nodes=gpu[010-012]\n"));
    EXPECT_THAT(tree, HasSubstr("SwitchName=height1.0 Switches=leaf[0-1]\n"));
    EXPECT_THAT(tree, Not(HasSubstr("height2")));
    EXPECT_THAT(tree, Not(HasSubstr("has no \"node_names\"")));
    EXPECT_THAT(written(two_leaves(R"(["n1", "n2", "n3", "login", "x1", "x2"])")),
                HasSubstr("SwitchName=leaf1 Nodes=login,x[1-2]\n"));
}

TEST(slurm_topology_export, nodes_without_names_are_called_by_their_numbers) {
    const std::string tree = written(machine_of(R"({"extends": "dgx-h100", "nodes": 2})"));
    EXPECT_THAT(tree, HasSubstr("# The machine file has no \"node_names\": nodes are called by their numbers.\n"));
    EXPECT_THAT(tree, HasSubstr("Nodes=node[0-1]\n"));
}

}  // namespace
}  // namespace weft
