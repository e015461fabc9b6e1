// What is published about the shipped machines as wholes, against what their files add up to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/io/embedded.hpp"
#include "tests/topologies/shipped_machine_json.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// For a test's name.
std::string words(std::string machine) {
    std::replace(machine.begin(), machine.end(), '-', '_');
    return machine;
}

// All links of a class in a machine or a part of it, both directions.
BytesPerSecond nominal_sum(const Topology& topology, std::string_view link_class) {
    BytesPerSecond sum;
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        if (topology.link(link).name == link_class) sum += topology.link(link).nominal;
    }
    return sum;
}

// How many accelerators a machine has, and what its NICs send per node.
struct Published {
    const char* machine;
    std::uint32_t accelerators;
    const char* port;
    BytesPerSecond injection;
};
void PrintTo(const Published& published, std::ostream* out) { *out << published.machine; }

class published_figures : public testing::TestWithParam<Published> {};

TEST_P(published_figures, are_those_of_the_file) {
    const Machine machine = Machine::load(GetParam().machine);
    EXPECT_EQ(machine.info().nodes * machine.info().accelerators_per_node, GetParam().accelerators);
    EXPECT_EQ(nominal_sum(machine.topology(1), GetParam().port), 2 * GetParam().injection);  // both directions
}

INSTANTIATE_TEST_SUITE_P(
    machine_files, published_figures,
    testing::Values(Published{"frontier", 9408 * 8, "slingshot.nic", 100_GBps},  // OLCF user guide: dies
                    Published{"lumi-g", 2978 * 8, "slingshot.nic", 100_GBps},    // PICO, lumi_info.md
                    Published{"perlmutter", 1792 * 4, "slingshot.nic", 100_GBps},
                    Published{"alps", 10752, "slingshot.nic", 100_GBps},  // cscs-docs, alps/hardware.md
                    Published{"alps-a100", 576, "slingshot.nic", 100_GBps},
                    Published{"alps-mi250x", 96 * 2, "slingshot.nic", 100_GBps},
                    Published{"aurora", 63744 * 2, "slingshot.nic", 200_GBps},  // ALCF: cards, of two stacks
                    Published{"el-capitan", 44544, "slingshot.nic", 100_GBps},  // TOP500, November 2024
                    Published{"leonardo", 3456 * 4, "infiniband.nic", 50_GBps},
                    Published{"jean-zay", 416, "omni_path.nic", 50_GBps},        // bigscience, train/tr11-176B-ml
                    Published{"dgx-h100", 576 * 8, "infiniband.nic", 400_GBps},  // ml-engineering: 400 GB/s per node
                    Published{"meta-roce-h100", 24576, "ethernet.nic",
                              400_GBps},  // Llama 3 (2407.21783): 8 pods of 3,072
                    Published{"spectrum-x-h100", 131072, "ethernet.nic", 400_GBps},  // a size of ours
                    Published{"gb200-nvl72", 8 * 72, "infiniband.nic", 3600_GBps},
                    Published{"vista", 600, "infiniband.nic", 50_GBps}, Published{"tpu-v4", 4096, "ici.port", 300_GBps},
                    Published{"tpu-v5p", 8960, "ici.port", 600_GBps}),  // 1,200 GB/s both ways
    [](const auto& test) { return words(test.param.machine); });

// 2 links between every two of 166 groups: 1.38 PB/s in all (arXiv 2512.04291).
TEST(machine_files, aurora_has_its_global_bandwidth) {
    const Machine aurora = Machine::load("aurora");
    const double sum = nominal_sum(aurora.topology(aurora.info().nodes), "slingshot.global").value;
    EXPECT_NEAR(sum, 1.38e15, 0.01 * 1.38e15);
}

// 270 + 270 TB/s between 74 groups (G. Lockwood's notes, after OLCF slides).
TEST(machine_files, frontier_has_its_global_bandwidth) {
    const Machine frontier = Machine::load("frontier");
    const double sum = nominal_sum(frontier.topology(frontier.info().nodes), "slingshot.global").value;
    EXPECT_NEAR(sum, 540e12, 0.01 * 540e12);
}

// 24 TB/s per pod (Google Cloud, TPU v4).
TEST(machine_files, tpu_v4_has_its_bisection) {
    EXPECT_NEAR(Machine::load("tpu-v4").info().bisection.value, 24e12, 0.1 * 24e12);
}

// 12.8 TB/s for a unit of 32 nodes (ml-engineering).
TEST(machine_files, dgx_h100_units_have_their_bandwidth) {
    const Topology unit = Machine::load("dgx-h100").topology(32);
    EXPECT_EQ(nominal_sum(unit, "infiniband.nic"), 2 * 12800_GBps);
    EXPECT_EQ(nominal_sum(unit, "infiniband.leaf_spine"), 2 * 12800_GBps);  // no taper
}

// Ports of 400 Gbit/s up from each tier for every port below: half of the GPUs send to the other half at full rate.
TEST(machine_files, spectrum_x_h100_does_not_taper) {
    const Machine machine = Machine::load("spectrum-x-h100");
    EXPECT_EQ(machine.info().bisection, machine.info().nodes / 2.0 * 400_GBps);
    // 2,048 leaves and as many spines of 128 ports, half of them up; cores have theirs all down.
    EXPECT_EQ(machine.topology(machine.info().nodes).vertices(), 16384U * (8 + 8 + 1) + 2048 + 2048 + 1024);
}

class shipped_machine : public testing::TestWithParam<std::string> {};

TEST_P(shipped_machine, builds_at_any_size) {
    const Machine machine = Machine::load(GetParam());
    for (const std::uint32_t nodes : {1U, 2U, 40U}) {
        const std::uint32_t built = std::min(nodes, machine.info().nodes);
        const Topology topology = machine.topology(built);
        EXPECT_EQ(topology.ranks, built * machine.info().accelerators_per_node);
        const Route longest = topology.route(RankId{0}, RankId{topology.ranks - 1});
        EXPECT_EQ(longest.hops > 0, topology.ranks > 1);
    }
}

// A figure without a source is one that nobody can check.
void expect_source(const nlohmann::json& object, const std::string& path) {
    EXPECT_TRUE(object.is_object() && object.value("source", "") != "") << path;
}

TEST_P(shipped_machine, says_where_its_figures_are_from) {
    const nlohmann::json machine = test::shipped_machine_json(GetParam());
    expect_source(machine, "");
    for (const auto& [name, link] : machine.at("links").items()) {
        expect_source(link.at("bandwidth"), "links." + name + ".bandwidth");
        expect_source(link.at("latency"), "links." + name + ".latency");
    }
    expect_source(machine.at("node"), "node");
    expect_source(machine.at("node").at("nics"), "node.nics");
    expect_source(machine.at("network"), "network");
    for (const nlohmann::json& library : machine.at("libraries")) {
        const std::string name = library.at("name");
        expect_source(library.at("launch"), name + ".launch");
        expect_source(library.at("blocking"), name + ".blocking");
        for (const nlohmann::json& row : library.at("costs")) expect_source(row, name + " " + row.dump());
    }
}

// What one library costs on one fabric is said once: MI250X nodes of three sites take the same constants.
TEST(shipped_fabrics, are_shared_by_machines) {
    const auto library = [](const char* machine) { return Machine::load(machine).info().libraries.front(); };
    EXPECT_EQ(library("lumi-g"), library("alps-mi250x"));
    const Library frontier = library("frontier"), lumi = library("lumi-g");
    ASSERT_EQ(frontier.costs.size(), lumi.costs.size());
    for (std::size_t i = 0; i < lumi.costs.size(); ++i) {
        EXPECT_EQ(frontier.costs[i].step_across, lumi.costs[i].step_across);
        EXPECT_EQ(frontier.costs[i].efficiency_across, lumi.costs[i].efficiency_across);
    }
    const Library perlmutter = library("perlmutter"), alps = library("alps");
    EXPECT_EQ(perlmutter.find(Collective::all_gather, "ring", "Simple")->step_across,
              alps.find(Collective::all_gather, "ring", "Simple")->step_across);
    EXPECT_NE(perlmutter.find(Collective::all_gather, "ring", "LL")->step_across,
              alps.find(Collective::all_gather, "ring", "LL")->step_across)
        << "a machine may say what is its own";
}

TEST(shipped_fabrics, say_where_their_figures_are_from) {
    for (const embedded::File& file : embedded::fabrics()) {
        const nlohmann::json library = nlohmann::json::parse(file.text, nullptr, true, true);
        expect_source(library, std::string(file.path));
        for (const auto& [name, row] : library.at("costs").items()) expect_source(row, name);
    }
}

TEST(shipped_tuners, say_where_their_figures_are_from) {
    for (const embedded::File& file : embedded::tuners()) {
        const nlohmann::json tuner = nlohmann::json::parse(file.text, nullptr, true, true);
        expect_source(tuner, std::string(file.path));
        if (tuner.contains("decisions")) continue;  // which may all be from there
        for (const char* place : {"in_node", "across"}) expect_source(tuner.at(place), place);
    }
}

INSTANTIATE_TEST_SUITE_P(machine_files, shipped_machine, testing::ValuesIn(machine_names()),
                         [](const auto& test) { return words(test.param); });

}  // namespace
}  // namespace weft
