// Machine files with mistakes: what is reported, and where.
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

const std::string good_network = R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 8,
        "switches_per_group": 4, "nodes_per_chassis": 4, "switches_per_chassis": 2, "global_links": 2, "radix": 16,
        "port": "port", "local": "up", "global": "core" })";

// The keys and messages of all errors, in the order reported.
std::vector<std::pair<std::string, std::string>> errors_of(const std::string& text) {
    try {
        static_cast<void>(Machine::read(Document::parse("small.json", text)));
    } catch (const ConfigError& error) {
        std::vector<std::pair<std::string, std::string>> errors;
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            EXPECT_EQ(diagnostic.file, "small.json");
            EXPECT_GT(diagnostic.line, 0) << diagnostic.message;
            errors.emplace_back(diagnostic.key, diagnostic.message);
        }
        return errors;
    }
    return {};
}

std::string with(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// A network of an unknown kind is not read as one of another kind.
TEST(machine_file_errors, a_wrong_kind_is_the_only_mistake) {
    const auto network =
        errors_of(with(small_machine(good_network), R"("kind": "dragonfly")", R"("kind": "fat_treee")"));
    ASSERT_EQ(network.size(), 1U);
    EXPECT_EQ(network.front().first, "network.kind");
    EXPECT_NE(network.front().second.find("did you mean \"fat_tree\"?"), std::string::npos);
    const auto node = errors_of(with(small_machine(good_network), R"("kind": "crossbar")", R"("kind": "kross")"));
    ASSERT_EQ(node.size(), 1U);
    EXPECT_EQ(node.front().first, "node.kind");
}

struct Mistake {
    const char* name;
    const char* from;  // in the good file
    const char* to;
    const char* key;
    const char* message;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class machine_file : public testing::TestWithParam<Mistake> {};

TEST_P(machine_file, a_single_mistake_is_reported_at_its_key) {
    const Mistake& mistake = GetParam();
    const auto errors = errors_of(with(small_machine(good_network), mistake.from, mistake.to));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].first, mistake.key);
    EXPECT_NE(errors[0].second.find(mistake.message), std::string::npos) << errors[0].second;
}

constexpr const char* crossbar =
    R"("node": { "kind": "crossbar", "source": "test", "accelerators": 2, "link": "wire",)";

INSTANTIATE_TEST_SUITE_P(
    mistakes, machine_file,
    testing::Values(
        Mistake{"efficiency_above_one", R"("efficiency": 0.5)", R"("efficiency": 1.5)",
                "links.wire.bandwidth.efficiency", "at most 1, got 1.5"},
        Mistake{"no_bandwidth", R"("nominal": "10 GB/s")", R"("nominal": "0 GB/s")", "links.port.bandwidth.nominal",
                ""},
        Mistake{"efficiency_left_out", R"("nominal": "100 GB/s", "efficiency": 0.5,)", R"("nominal": "100 GB/s",)",
                "links.wire.bandwidth.efficiency", ""},
        Mistake{"unknown_key", R"("device": "none")", R"("device": "none", "colour": "blue")", "colour", ""},
        Mistake{"unknown_kind", R"("kind": "dragonfly")", R"("kind": "dragonflie")", "network.kind", "dragonfly"},
        Mistake{"too_many_digits", R"("node": { "kind")",
                R"("node_names": { "prefix": "n", "first": 1, "digits": 11 }, "node": { "kind")", "node_names.digits",
                "at most 10"},
        Mistake{"node_kind_as_network", R"("kind": "dragonfly")", R"("kind": "crossbar")", "network.kind", ""},
        Mistake{"unknown_link_class", R"("local": "up")", R"("local": "upp")", "network.local",
                R"(no link class is called "upp", did you mean "up")"},
        Mistake{"nic_on_nothing", R"("attached": [0, 1])", R"("attached": [0, 2])", "node.nics.attached[1]",
                "expected an accelerator from 0 to 1, got 2"},
        Mistake{"unknown_tuner", R"("libraries": [ { "name": "test",)",
                R"("libraries": [ { "name": "test", "tuner": "rccl", )", "libraries[0].tuner", "rccl-mi200"},
        Mistake{"a_tuner_from_nowhere", R"("libraries": [ { "name": "test",)",
                R"("libraries": [ { "name": "test", "tuner": "tables/none.json", )", "libraries[0].tuner",
                "cannot be read"},
        Mistake{"no_nics", R"("attached": [0, 1])", R"("attached": [])", "node.nics.attached", "at least one NIC"},
        Mistake{"accelerators_beyond_any_node", R"("accelerators": 2, "link")", R"("accelerators": 1000000000, "link")",
                "node.accelerators", "expected at most 1024, got 1000000000"},
        Mistake{"packages_that_do_not_divide", R"("accelerators": 2, "link")",
                R"("accelerators": 2, "accelerators_per_package": 3, "link")", "node.accelerators_per_package",
                "3 does not divide the 2 accelerators"},
        Mistake{"too_few_ports", R"("radix": 16)", R"("radix": 7)", "network.radix",
                "a switch needs 8 ports (4 to NICs, 3 local, 1 global), but has 7"},
        Mistake{"unknown_protocol", R"("algorithm": "ring", "protocol": "Simple")",
                R"("algorithm": "ring", "protocol": "Simpel")", "libraries[0].costs.ring_simple.protocol",
                R"(did you mean "Simple")"},
        Mistake{"unknown_fabric", R"("name": "test")", R"("name": "test", "extends": "slingshot-aws-ofi-rcll")",
                "libraries[0].extends", R"(did you mean "slingshot-aws-ofi-rccl")"},
        Mistake{"failures_without_a_pause", R"("device": "none")",
                R"("device": "none", "failures": { "node": { "value": "0 h", "source": "test" } })", "failures.node",
                "expected more than 0: a mean time between failures"},
        Mistake{"power_as_energy", R"("device": "none")",
                R"("device": "none", "power": { "node": { "value": "3 J", "source": "test" } })", "power.node.value",
                "700 W"},
        Mistake{"a_site_that_gives_power", R"("device": "none")",
                R"("device": "none", "power": { "node": { "value": "3 kW" }, "overhead": { "value": 0.9 } })",
                "power.overhead", "expected a factor of 1 or more, got 0.9"},
        Mistake{"more_ranks_than_numbers", R"("nodes": 16)", R"("nodes": 4000000000)", "nodes", "are more than"},
        Mistake{"too_few_switches", R"("nodes_per_chassis": 4)", R"("nodes_per_chassis": 2)",
                "network.switches_per_group", "need 4 chassis of 2 switches, but a group has 4"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(machine_files, all_mistakes_come_at_once) {
    std::string text = small_machine(good_network);
    text = with(text, R"("efficiency": 0.5)", R"("efficiency": 0)");
    text = with(text, R"("attached": [0, 1])", R"("attached": [0, 9])");
    text = with(text, R"("global": "core")", R"("global": "cores")");
    text = with(text, R"("name": "test")", R"("nam": "test")");
    std::vector<std::string> keys;
    for (const auto& [key, message] : errors_of(text)) keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"links.wire.bandwidth.efficiency", "node.nics.attached[1]",
                                              "network.global", "libraries[0].name", "libraries[0].nam"}));
}

TEST(machine_files, a_nic_on_nothing_is_no_matter_where_not_all_accelerators_are_used) {
    std::string text = with(small_machine(good_network), R"("attached": [0, 1])", R"("attached": [1000000000, 1])");
    text = with(text, R"("accelerators": 2, "link")", R"("accelerators": 2, "uses": 1, "link")");
    ASSERT_FALSE(errors_of(text).empty());
    EXPECT_EQ(errors_of(text).front().first, "node.nics.attached[0]");
}

TEST(machine_files, the_good_one_is_read) { EXPECT_TRUE(errors_of(small_machine(good_network)).empty()); }

std::string graph_node(const std::string& matrix) {
    return with(small_machine(good_network), crossbar,
                R"("node": { "kind": "graph", "source": "test", "link": "wire", "links": )" + matrix + ",");
}

TEST(graph_files, a_lopsided_matrix_names_both_cells) {
    const auto errors = errors_of(with(graph_node("[[0, 1], [2, 0]]"), R"("wire": {)", R"("wire.x1": {)"));
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].first, "node.links");
    EXPECT_EQ(errors[0].second, "not symmetric: 1 links from 0 to 1, but 2 from 1 to 0");
}

TEST(graph_files, a_ragged_matrix_names_its_row) {
    const auto errors = errors_of(graph_node("[[0, 1], [1]]"));
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].first, "node.links[1]");
    EXPECT_EQ(errors[0].second, "expected 2 numbers, one per accelerator, got 1");
}

TEST(graph_files, a_node_in_two_parts_is_refused) {
    std::string text = graph_node("[[0, 0], [0, 0]]");
    const auto errors = errors_of(text);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].second, "the node falls apart: no path from accelerator 0 to accelerator 1");
}

TEST(graph_files, a_multiplicity_without_a_class_is_named) {
    const auto errors = errors_of(graph_node("[[0, 3], [3, 0]]"));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].second, "no link class is called \"wire.x3\"");
}

std::string tree(const std::string& levels, std::uint32_t radix) {
    return small_machine(R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 4, "rails": 2, "radix": )" +
                         std::to_string(radix) + R"(, "port": "port", "levels": )" + levels + "}");
}

TEST(fat_tree_files, levels_that_do_not_join_all_leaves_are_refused) {
    const auto errors = errors_of(tree(R"([{ "link": "up", "children": 4, "parents": 2 }])", 16));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].first, "network.levels");
    EXPECT_EQ(errors[0].second, "16 nodes have 8 leaf switches, which these levels join to 2 separate trees");
}

// One block of 4 units: spines of their own join the leaves of each rail, and nothing joins the rails.
std::string rails_apart(const std::string& levels) {
    return with(tree(levels, 16), R"("radix")", R"("leaf_order": "rail", "radix")");
}

TEST(fat_tree_files, rails_that_nothing_joins_are_refused_with_what_would_join_them) {
    const auto errors = errors_of(rails_apart(R"([{ "link": "up", "children": 8, "parents": 2 }])"));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].first, "network.levels");
    EXPECT_EQ(
        errors[0].second,
        "16 nodes have 8 leaf switches, which these levels join to 2 separate trees; add a level above the rails, "
        "or let messages change rails inside the node (\"pxn\": true of its \"nics\")");
}

TEST(fat_tree_files, blocks_of_a_rail_that_nothing_joins_are_refused_whatever_nodes_do) {
    const std::string text = rails_apart(R"([{ "link": "up", "children": 2, "parents": 2 }])");
    for (const auto& errors : {errors_of(text), errors_of(with(text, R"("nics": {)", R"("nics": { "pxn": true,)"))}) {
        ASSERT_EQ(errors.size(), 1U);
        EXPECT_EQ(errors[0].second, "16 nodes have 8 leaf switches, which these levels join to 4 separate trees");
    }
}

TEST(fat_tree_files, trees_without_levels_or_of_too_many_links_are_refused) {
    const auto none = errors_of(tree("[]", 16));
    ASSERT_FALSE(none.empty());
    EXPECT_EQ(none.back().second, "16 nodes have 8 leaf switches, which these levels join to 8 separate trees");
    const auto many = errors_of(tree(R"([{ "link": "up", "children": 8, "parents": 65536, "cables": 65536 }])", 16));
    ASSERT_EQ(many.size(), 3U);  // 2^32 ports up, which 32 bits would hold as none
    EXPECT_EQ(many.back().first, "network.levels");
    EXPECT_EQ(many[0].second, "a switch of level 0 needs 4294967300 ports (4 down, 4294967296 up), but has 16");
}

TEST(fat_tree_files, a_switch_cannot_have_more_cables_than_ports) {
    const auto errors = errors_of(tree(R"([{ "link": "up", "children": 8, "parents": 2, "cables": 2 }])", 12));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].second, "a switch of level 1 needs 16 ports (16 down, 0 up), but has 12");
}

}  // namespace
}  // namespace weft
