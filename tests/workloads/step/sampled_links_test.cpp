// A sample of a machine's links tells as much as all of them: programs have the same constraints, and reports are the
// same, for any job on any tree or mesh of switches.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "sim/network/constraints.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"
#include "workloads/step/sampled_costs.hpp"

namespace weft {
namespace {

using test::one_of;
using Settings = std::vector<std::string>;

Simulation run(const Study& study, Links links) {
    return simulate_step(study, make_plan(study), {.folding = Folding::stages, .links = links, .kept = Kept::sums});
}

// Capacities and loads by pattern.
using Constraints = std::set<std::pair<double, std::vector<std::pair<std::size_t, double>>>>;

Constraints constraints_of(const Simulation& run) {
    Constraints constraints;
    const LinkPatterns crossed(run.topology(), run.step.program.patterns);
    for (const Constraint& constraint : find_constraints(run.topology(), crossed)) {
        std::vector<std::pair<std::size_t, double>> loads;
        for (const Crossing& crossing : constraint.crossings)
            loads.emplace_back(index(crossing.pattern), crossing.load);
        constraints.emplace(constraint.capacity.value, std::move(loads));
    }
    return constraints;
}

std::string differences(const Simulation& all, const Simulation& sample) {
    const Program &a = all.step.program, &b = sample.step.program;
    if (a.patterns.size() != b.patterns.size()) return "another number of patterns";
    for (PatternId id{}; id != a.patterns.end_id(); id = next(id)) {
        if (a.patterns[id].cap != b.patterns[id].cap) return "another cap";
        if (a.patterns[id].alone != b.patterns[id].alone) return "another rate alone";
    }
    if (!std::ranges::equal(a.legs, b.legs, [](const Leg& x, const Leg& y) {
            return x.pattern == y.pattern && x.latency == y.latency && x.bytes == y.bytes;
        })) {
        return "other legs";
    }
    if (constraints_of(all) != constraints_of(sample)) return "other constraints";
    return test::differences(make_report(all), make_report(sample));
}

nlohmann::json shipped_machine(const std::string& name = "dgx-a100") {
    std::ifstream file(WEFT_TEST_DATA "/../topologies/machines/" + name + ".json");
    return nlohmann::json::parse(file, nullptr, true, true);
}

// In a file of its own, gone with it.
class WrittenMachine {
  public:
    explicit WrittenMachine(const nlohmann::json& machine) { std::ofstream(file_) << machine; }
    std::string setting() const { return "machine=" + file_.string(); }

  private:
    test::TemporaryFolder folder_;
    std::filesystem::path file_ = folder_.path() / "machine.json";
};

// On a tree drawn at random.
nlohmann::json random_machine() {
    nlohmann::json machine = shipped_machine();
    const auto nics = one_of<std::vector<std::uint32_t>>({{0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 4, 6}, {0}});
    machine["node"]["nics"]["attached"] = nics;
    machine["node"]["nics"]["pxn"] = one_of({false, true});
    nlohmann::json& network = machine["network"];
    network["routing"] = one_of<std::string>({"minimal", "valiant"});
    network["nodes_per_leaf"] = one_of({1, 2, 3, 4, 8});
    network["rails"] = std::min<std::size_t>(nics.size(), one_of<std::size_t>({1, 2, 8}));
    network["leaf_order"] = one_of<std::string>({"rail", "unit"});
    network["radix"] = 100000;
    for (std::size_t level = 0; level < 2; ++level) {
        network["levels"][level]["children"] = level == 0 ? one_of({2, 3, 4, 8, 16}) : 4096;
        network["levels"][level]["parents"] = one_of({1, 2, 3, 4});
        network["levels"][level]["cables"] = one_of({1, 2});
    }
    return machine;
}

// On a dragonfly, or a dragonfly+, drawn at random.
nlohmann::json random_mesh() {
    nlohmann::json machine = shipped_machine(one_of<std::string>({"frontier", "leonardo"}));
    machine["nodes"] = 200;
    nlohmann::json& network = machine["network"];
    network["routing"] = one_of<std::string>({"minimal", "valiant", "adaptive", "adaptive"});
    network["radix"] = 100000;
    network["global_links"] = one_of({1, 2, 4});
    if (network["kind"] == "dragonfly") {
        const auto chassis = one_of({1, 2, 4}), nodes = one_of({1, 2, 4, 8}), switches = one_of({1, 2, 4});
        network["nodes_per_chassis"] = nodes;
        network["switches_per_chassis"] = switches;
        network["nodes_per_group"] = chassis * nodes - (nodes > 2 ? one_of({0, 1}) : 0);  // not always whole chassis
        network["switches_per_group"] = chassis * switches + one_of({0, 2});
    } else {
        network["nodes_per_leaf"] = one_of({1, 2, 5});
        network["nodes_per_group"] = one_of({5, 10, 20});
        network["rails"] = one_of({1, 2});
        network["spines_per_group"] = one_of({1, 2, 4});
    }
    return machine;
}

// The same, where messages to all nodes of a switch load every way up from one.
nlohmann::json random_even_machine(std::uint32_t nodes_per_leaf) {
    nlohmann::json machine = shipped_machine();
    machine["node"]["nics"]["pxn"] = one_of({false, true});
    nlohmann::json& network = machine["network"];
    network["routing"] = one_of<std::string>({"minimal", "valiant"});
    network["nodes_per_leaf"] = nodes_per_leaf;
    network["leaf_order"] = one_of<std::string>({"rail", "unit"});
    network["radix"] = 100000;
    nlohmann::json& levels = network["levels"];
    levels[0]["children"] = one_of({2, 4, 16});
    levels[0]["cables"] = nodes_per_leaf % 2 == 0 ? one_of({1, 2}) : 1;
    levels[0]["parents"] = nodes_per_leaf / levels[0]["cables"].get<std::uint32_t>();
    levels[1]["children"] = 4096;
    levels[1]["parents"] = one_of({1, 2, 3, 4});
    levels[1]["cables"] = one_of({1, 2});
    return machine;
}

Settings layout(std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t data) {
    return {test::key("layout.tensor", tensor), test::key("layout.pipeline", pipeline), test::key("layout.data", data),
            test::key("batch.global", 4 * data)};
}

TEST(sampled_links, tell_as_much_on_every_machine) {
    for (const std::string& machine : machine_names()) {
        const Machine loaded = Machine::load(machine);
        if (!SampledCosts::serves(loaded.topology(2, {}))) continue;
        const std::uint32_t on_node = loaded.info().accelerators_per_node, tensor = std::min(on_node, 8U),
                            ranks = std::min(loaded.info().nodes, 160U) * on_node;
        for (const auto& [t, p, d] : {std::tuple{tensor, 1U, ranks / tensor},
                                      {1U, 1U, ranks},
                                      {1U, 2U, ranks / 2},
                                      {tensor, 4U, ranks / tensor / 4}}) {
            for (const char* order : {"tensor,context,data,pipeline", "tensor,pipeline,context,data"}) {
                Settings settings = layout(t, p, d);
                settings.insert(settings.end(), {"machine=" + machine, std::string("layout.order=") + order, "zero=1"});
                SCOPED_TRACE(testing::PrintToString(settings));
                const Study study = test::small_study(settings);
                const Simulation sample = run(study, Links::sample);
                const std::uint32_t replica = t * p;  // of neighbouring ranks, where the pipeline is inside
                const bool is_even = on_node % replica == 0 || replica % on_node == 0;
                const bool has_nics_alike = std::has_single_bit(on_node);  // for groups moved inside their nodes
                EXPECT_TRUE(sample.step.is_sampled || (!is_even && order[7] == 'p') || !has_nics_alike);
                EXPECT_EQ(differences(run(study, Links::all), sample), "");
            }
        }
    }
}

// Whose neighbouring leaves, of whatever rail, share their switches above.
nlohmann::json machine_by_units(std::uint32_t nodes_per_leaf, std::uint32_t leaves) {
    nlohmann::json machine = shipped_machine();
    nlohmann::json& network = machine["network"];
    network["nodes_per_leaf"] = nodes_per_leaf;
    network["leaf_order"] = "unit";
    network["radix"] = 100000;
    for (std::size_t level = 0; level < 2; ++level) {
        network["levels"][level]["children"] = level == 0 ? leaves : 4096;
        network["levels"][level]["parents"] = level == 0 ? 1 : 4;
        network["levels"][level]["cables"] = 2;
    }
    return machine;
}

void expect_the_same(const Settings& settings) {
    const Study study = test::small_study(settings);
    const Simulation sample = run(study, Links::sample);
    EXPECT_TRUE(sample.step.is_sampled);
    EXPECT_EQ(differences(run(study, Links::all), sample), "");
}

// Groups on other NICs of the same nodes that pass one link: each counts by itself for its rate alone.
TEST(sampled_links, tell_groups_apart_where_ways_share_links) {
    const WrittenMachine machine(machine_by_units(1, 4));
    Settings settings = layout(4, 2, 2);
    settings.push_back(machine.setting());
    expect_the_same(settings);
}

// Three leaves share switches, and units have two: what one rail sends past few switches another sends past many, and
// has more detours for it.
TEST(sampled_links, tell_rails_apart_that_have_other_detours) {
    nlohmann::json by_units = machine_by_units(2, 3);
    by_units["network"]["rails"] = 2;
    const WrittenMachine machine(by_units);
    Settings settings = layout(2, 1, 64);
    settings.insert(settings.end(), {machine.setting(), "fabric.routing=adaptive"});
    expect_the_same(settings);
}

// Of large jobs, unless stages that lie far apart do not begin their switches.
TEST(sampled_links, are_taken_where_it_pays) {
    const auto is_sampled = [](Settings settings, const Settings& more) {
        settings.push_back("machine=spectrum-x-h100");
        settings.insert(settings.end(), more.begin(), more.end());
        return run(test::small_study(settings), Links::automatic).step.is_sampled;
    };
    EXPECT_TRUE(is_sampled(layout(8, 1, 1024), {}));
    EXPECT_TRUE(is_sampled(layout(8, 4, 256), {"layout.order=tensor,pipeline,context,data"}));
    EXPECT_TRUE(is_sampled(layout(8, 4, 256), {}));
    EXPECT_FALSE(is_sampled(layout(8, 4, 200), {}));
    EXPECT_FALSE(is_sampled(layout(8, 1, 64), {}));
    EXPECT_TRUE(is_sampled(layout(8, 1, 1024), {"fabric.placement=random:1"}));
    EXPECT_TRUE(is_sampled(layout(8, 1, 1024), {"fabric.routing=adaptive"}));
    EXPECT_TRUE(is_sampled(layout(8, 1, 1024), {"machine=frontier"}));
    EXPECT_FALSE(is_sampled(layout(8, 1, 1024), {"faults.jitter.spread=0.1", "faults.jitter.seed=1"}));
}

// Stages begin their switches, so that many groups in a row pass several switches alike.
RC_GTEST_PROP(sampled_links, tell_as_much_where_stages_lie_switches_apart, ()) {
    const auto nodes_per_leaf = one_of<std::uint32_t>({1, 2, 4, 8});
    const std::uint32_t data = nodes_per_leaf * one_of({1U, 2U, 3U, 4U, 6U, 8U});
    Settings settings = layout(one_of({4U, 8U}), one_of({2U, 4U}), data);
    const WrittenMachine machine(random_even_machine(nodes_per_leaf));
    settings.insert(settings.end(), {machine.setting(), "zero=1"});
    RC_LOG() << testing::PrintToString(settings);
    const Study study = test::small_study(settings);
    const Simulation sample = run(study, Links::sample);
    RC_ASSERT(sample.step.is_sampled || data % 2 != 0);  // two groups of four to a node
    RC_ASSERT(differences(run(study, Links::all), sample) == "");
}

void expect_the_same_of(const nlohmann::json& machine, const Settings& more) {
    Settings settings = test::random_job();
    const WrittenMachine written(machine);
    settings.push_back(written.setting());
    settings.insert(settings.end(), more.begin(), more.end());
    RC_LOG() << testing::PrintToString(settings);
    try {
        const Study study = test::small_study(settings);
        const Simulation sample = run(study, Links::sample);
        RC_TAG(sample.step.is_sampled ? "sampled" : "cut unevenly");
        RC_ASSERT(differences(run(study, Links::all), sample) == "");
    } catch (const ConfigError& error) {
        RC_TAG("refused");
        RC_ASSERT(!error.diagnostics().empty());
    }
}

RC_GTEST_PROP(sampled_links, tell_as_much_as_all_of_them, ()) { expect_the_same_of(random_machine(), {}); }

RC_GTEST_PROP(sampled_links, tell_as_much_as_all_of_a_mesh, ()) {
    expect_the_same_of(random_mesh(),
                       {one_of<std::string>({"fabric.placement=contiguous", "fabric.placement=random:1"})});
}

RC_GTEST_PROP(sampled_links, tell_as_much_where_a_tree_is_a_mesh, ()) {
    const std::string why = one_of<std::string>({"fabric.routing=adaptive", "fabric.placement=random:1"});
    expect_the_same_of(random_machine(), {why});
}

}  // namespace
}  // namespace weft
