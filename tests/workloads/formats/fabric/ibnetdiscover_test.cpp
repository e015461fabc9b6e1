// Fabrics of ibnetdiscover: what is counted, which hosts become nodes, and files that are cut or contradict themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "topologies/machine.hpp"
#include "workloads/formats/fabric/fabric.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

Import fabric_of(const std::string& text, const std::string& like = "vista") {
    const std::vector<SourceFile> files{{"fabric.txt", text}};
    FormatOptions options;
    options.like = like;
    const Format& format = format_of(files, "");
    EXPECT_EQ(format.name, "ibnetdiscover");
    return import_files(format, files, options);
}

std::string fabric_error(const std::string& text, const std::string& like = "vista") {
    try {
        fabric_of(text, like);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

json facts_of(const Import& import) {
    json facts;
    for (const FormatFact& fact : import.facts) facts[fact.name] = json::parse(fact.json);
    return facts;
}

bool warns(const Import& import, std::string_view words) {
    return std::ranges::any_of(import.notes, [&](const FormatNote& note) {
        return note.severity == FormatNote::Severity::warning && note.message.find(words) != std::string::npos;
    });
}

// Leaf `l` of two, with hosts of `adapters` adapters each, and two cables to a spine.
std::string leaf_part(int leaf, int hosts, int adapters, const std::string& speed = "4xNDR") {
    std::string text = fmt::format(
        "switchguid=0xa{0}(a{0})\nSwitch\t64 \"S-a{0}\"\t# \"MF0;leaf{0}:MQM9700/U1\" enhanced lid 1\n", leaf);
    int port = 0;
    for (int host = 0; host < hosts; ++host) {
        for (int adapter = 0; adapter < adapters; ++adapter)
            text += fmt::format("[{}]\t\"H-b{}{}{}\"[1](b) \t# \"gpu-{} mlx5_{}\" lid 7 {}\n", ++port, leaf, host,
                                adapter, 10 * leaf + host, adapter, speed);
    }
    for (int cable = 0; cable < 2; ++cable)
        text += fmt::format("[{}]\t\"S-c\"[{}]\t# \"MF0;spine:MQM9700/U1\" lid 3 4xNDR\n", ++port, 2 * leaf + cable);
    return text + "\n";
}
std::string spine_part() {
    std::string text = "Switch\t64 \"S-c\"\t# \"MF0;spine:MQM9700/U1\" enhanced lid 3\n";
    for (int port = 0; port < 4; ++port)
        text += fmt::format("[{}]\t\"S-a{}\"[{}]\t# \"MF0;leaf{}:MQM9700/U1\" lid 1 4xNDR\n", port, port / 2,
                            3 + port % 2, port / 2);
    return text;
}
const std::string whole = leaf_part(0, 2, 1) + leaf_part(1, 2, 1) + spine_part();

TEST(ibnetdiscover, a_fabric_is_a_machine) {
    const Import import = fabric_of(whole);
    EXPECT_EQ(facts_of(import), json::parse(R"({"switches": 3, "cables_between_switches": 4, "cables_to_adapters": 4,
        "adapters": 4, "hosts_named": 4, "adapters_unnamed": 0, "cable_gbit_per_s": [400]})"));
    EXPECT_TRUE(import.notes.empty()) << import.notes.front().message;
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["network"]["switches"], (json{"leaf0", "spine", "leaf1"}));
    EXPECT_EQ(object["network"]["nodes"], (json{0, 0, 2, 2}));
    EXPECT_EQ(object["network"]["cables"]["infiniband.4xNDR"], (json{{0, 1, 2}, {1, 2, 2}}));
    EXPECT_EQ(object["node_names"], (json{"gpu-0", "gpu-1", "gpu-10", "gpu-11"}));
    const Machine machine = Machine::read(import.object.document("mine.json"));
    EXPECT_EQ(machine.info().bisection, 2 * 50_GBps);
}

TEST(ibnetdiscover, nics_are_the_adapters_of_a_host_by_name) {
    const Import import = fabric_of(leaf_part(0, 2, 12) + spine_part().substr(0, 50), "dgx-h100");
    EXPECT_TRUE(warns(import, "2 hosts have more than 8 adapters"));
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["network"]["nodes"], (json{0, 0}));
}

TEST(ibnetdiscover, hosts_with_fewer_adapters_are_left_out) {
    const Import import = fabric_of(leaf_part(0, 3, 8) + leaf_part(1, 2, 1), "dgx-h100");
    EXPECT_TRUE(warns(import, "2 of 5 hosts have fewer than 8 adapters in the file and are left out: gpu-[10-11]"));
    EXPECT_TRUE(warns(import, "1 switches are only known as the other ends"));
    EXPECT_EQ(json::parse(import.object.json())["nodes"], 3);
}

// A part of a fabric: nodes get as many NICs as it shows.
TEST(ibnetdiscover, a_node_has_no_more_nics_than_the_file_shows) {
    const Import import = fabric_of(whole, "dgx-h100");
    EXPECT_TRUE(warns(import, "no more than 1 adapters of most hosts"));
    const Machine machine = Machine::read(import.object.document("mine.json"));
    EXPECT_EQ(machine.info().nics_per_node, 1U);
    EXPECT_EQ(machine.info().accelerators_per_node, 8U);
}

TEST(ibnetdiscover, speeds_are_those_of_the_lanes) {
    EXPECT_EQ(facts_of(fabric_of(leaf_part(0, 2, 1, "4xHDR") + spine_part()))["cable_gbit_per_s"], (json{200, 400}));
    EXPECT_EQ(facts_of(fabric_of(leaf_part(0, 2, 1, "2xNDR")))["cable_gbit_per_s"], (json{200, 400}));
    const Import slow = fabric_of(leaf_part(0, 2, 1, "4xEDR"));
    EXPECT_EQ(json::parse(slow.object.json())["links"]["fabric.port"]["bandwidth"]["nominal"], "100 Gbit/s");
    EXPECT_TRUE(warns(fabric_of(leaf_part(0, 2, 1, "")), "2 cables have no speed"));
}

TEST(ibnetdiscover, what_is_no_host_is_told) {
    std::string text = whole;
    text +=
        "Switch\t64 \"S-a7\"\t# \"leaf7\" base lid 9\n"
        "[1]\t\"H-d1\"[1](d1) \t# \"MT4129 ConnectX7   Mellanox Technologies\" lid 5 4xNDR\n"
        "[2]\t\"H-d2\"[1](d2) \t# \"Mellanox Technologies Aggregation Node\" lid 6 4xNDR\n"
        "[3]\t\"S-a7\"[4]\t# \"leaf7\" lid 9 4xNDR\n"
        "[5]\t\"H-d5\"[1](d5) \t# \"gpu-7 mlx5_0\" lid 5 4xNDR\n";
    const Import import = fabric_of(text);
    EXPECT_EQ(facts_of(import)["adapters"], 6);
    EXPECT_EQ(facts_of(import)["adapters_unnamed"], 1);
    EXPECT_EQ(facts_of(import)["cables_to_adapters"], 6);
    EXPECT_TRUE(warns(import, "1 adapters have a description without a host"));
    EXPECT_TRUE(warns(import, "1 cables from a switch to itself"));
    EXPECT_TRUE(warns(import, "no cables in the file lead to the others: they are left out: gpu-7"));
}

TEST(ibnetdiscover, lists_of_ports_are_read) {
    const Import import = fabric_of(
        "CA   134  1 0x00000000000000b1 4x EDR - SW     7 10 0x00000000000000a1 ( 'n1 HCA-1' - 'leaf one' )\n"
        "SW     7 10 0x00000000000000a1 4x EDR - CA   134  1 0x00000000000000b1 ( 'leaf one' - 'n1 HCA-1' )\n"
        "SW     7 11 0x00000000000000a1 4x EDR - CA   135  1 0x00000000000000b2 ( 'leaf one' - 'n2 HCA-1' )\n"
        "SW     7 12 0x00000000000000a1 4x ???                                    'leaf one'\n");
    EXPECT_EQ(facts_of(import), json::parse(R"({"switches": 1, "cables_between_switches": 0, "cables_to_adapters": 2,
        "adapters": 2, "hosts_named": 2, "adapters_unnamed": 0, "cable_gbit_per_s": [100]})"));
    EXPECT_EQ(json::parse(import.object.json())["nodes"], 2);
}

// Gbit/s of data in one direction, after coding; what is no width and speed is not known.
TEST(ibnetdiscover, widths_and_speeds_are_those_of_the_specification) {
    for (const auto& [speed, gbit] : {std::pair{"4xSDR", 8.0},
                                      {"4xDDR", 16.0},
                                      {"4xQDR", 32.0},
                                      {"4xFDR10", 40.0},
                                      {"4xFDR", 54.56},
                                      {"4xEDR", 100.0},
                                      {"4xHDR", 200.0},
                                      {"2xHDR", 100.0},
                                      {"4xNDR", 400.0},
                                      {"4xXDR", 800.0},
                                      {"1xEDR", 25.0},
                                      {"12xEDR", 300.0},
                                      {"4xABC", 0.0},
                                      {"17xEDR", 0.0},
                                      {"xEDR", 0.0},
                                      {"EDR", 0.0},
                                      {"", 0.0},
                                      {"-4xEDR", 0.0},
                                      {"4 xEDR", 0.0}})
        EXPECT_EQ(infiniband_gbit(speed), gbit) << speed;
}

std::string one_leaf(const std::string& description, const std::string& ports) {
    return "switchguid=0xa(a)\nSwitch\t64 \"S-a\"\t# \"" + description + "\" enhanced lid 1\n" + ports;
}
std::string host_port(int port, const std::string& description, const std::string& speed = "4xNDR") {
    return fmt::format("[{0}]\t\"H-{0}\"[1](b) \t# \"{1}\" lid 7 {2}\n", port, description, speed);
}
const std::string two_hosts = host_port(1, "n1 mlx5_0") + host_port(2, "n2 mlx5_0");

TEST(ibnetdiscover, switches_are_called_by_their_descriptions) {
    for (const auto& [description, name] : {std::pair{"MF0;leaf1:MQM9700/U1", "leaf1"},
                                            {"MF0;core1:MCS8500/L03/U1", "core1/L03/U1"},
                                            {"Quantum Mellanox Technologies", "Quantum Mellanox Technologies"},
                                            {"MF0;leaf7", "leaf7"},
                                            {"", "a"},
                                            {"MF0;", "a"}}) {
        const json object = json::parse(fabric_of(one_leaf(description, two_hosts)).object.json());
        EXPECT_EQ(object["network"]["switches"], json{name}) << description;
    }
}

TEST(ibnetdiscover, hosts_are_told_from_products) {
    for (const char* const none :
         {"MT4129 ConnectX7 Mellanox Technologies", "MT4123", "n3 mlx5_0 more", "node HCA", ""})
        EXPECT_EQ(facts_of(fabric_of(one_leaf("leaf", two_hosts + host_port(3, none))))["adapters_unnamed"], 1) << none;
    for (const char* const host : {"n3 mlx5_0", "n3 HCA-1", "n3"})
        EXPECT_EQ(facts_of(fabric_of(one_leaf("leaf", two_hosts + host_port(3, host))))["hosts_named"], 3) << host;
}

// n2 before n10, and names that count up are a prefix and a number.
TEST(ibnetdiscover, nodes_are_in_the_order_of_their_numbers) {
    std::string ports;
    for (const int host : {10, 2, 1, 11}) ports += host_port(host, fmt::format("n{} mlx5_0", host));
    EXPECT_EQ(json::parse(fabric_of(one_leaf("leaf", ports)).object.json())["node_names"],
              (json{"n1", "n2", "n10", "n11"}));
    EXPECT_EQ(json::parse(fabric_of(one_leaf("leaf", two_hosts)).object.json())["node_names"],
              (json{{"prefix", "n"}, {"first", 1}}));
    const std::string padded = host_port(1, "n01 mlx5_0") + host_port(2, "n02 mlx5_0");
    EXPECT_EQ(json::parse(fabric_of(one_leaf("leaf", padded)).object.json())["node_names"], (json{"n01", "n02"}));
}

TEST(ibnetdiscover, adapters_of_another_speed_are_left_out) {
    const Import import = fabric_of(one_leaf("leaf", two_hosts + host_port(3, "n3 mlx5_0", "4xEDR")));
    EXPECT_TRUE(warns(import, "1 adapters that do not run at 400 Gbit/s as most do are left out"));
    EXPECT_EQ(json::parse(import.object.json())["nodes"], 2);
    const std::string others = "[7]\t\"R-7\"[1](b) \t# \"router\" lid 7 4xNDR\nlike nothing known\n";
    const Import more = fabric_of(one_leaf("leaf", two_hosts + others));
    EXPECT_TRUE(std::ranges::any_of(more.notes, [](const FormatNote& note) {
        return note.message == "1 cables of routers, aggregation nodes and from adapter to adapter are left out";
    }));
    EXPECT_TRUE(std::ranges::any_of(more.notes, [](const FormatNote& note) {
        return note.origin.line == 6 && note.message == "1 lines that are not known to weft are left out";
    }));
}

TEST(ibnetdiscover, wrong_files_are_told_at_their_line) {
    EXPECT_NE(fabric_error(whole, "").find("--like MACHINE"), std::string::npos);
    EXPECT_NE(fabric_error(whole.substr(0, 150)).find("fabric.txt:4: error: "), std::string::npos);  // cut in a line
    EXPECT_NE(fabric_error("switchguid=0xa(a)\n[1]\t\"S-a\"[1]\t# \"x\" lid 1 4xNDR\nCa\t1 \"H-1\"\n")
                  .find("before any Switch"),
              std::string::npos);
    EXPECT_NE(fabric_error(whole + leaf_part(0, 1, 1)).find("has a part already"), std::string::npos);
    EXPECT_NE(fabric_error(whole + "Switch 4 \"S-e\" # \"x\"\n[1] \"S-a0\"[1] # \"leaf0\" lid 1 4xNDR\n")
                  .find("is cabled to something else in line 3"),
              std::string::npos);
    EXPECT_NE(fabric_error("Switch 4 \"S-e\" # \"x\"\n").find("no cable"), std::string::npos);
    EXPECT_NE(fabric_error("Switch 4 \"S-e\" # \"x\"\n[1] \"H-1\"[1] # \"MT1 A B C\" lid 1 4xNDR\n").find("no adapter"),
              std::string::npos);
}

TEST(ibnetdiscover, many_lines_take_no_time) {
    std::string text = "Switch 4 \"S-fffffff\" # \"x\"\n";
    for (int i = 0; i < 20000; ++i) text += fmt::format("[{}] \"H-{:x}\"[1] # \"n{} mlx5_0\" lid 1 4xNDR\n", i, i, i);
    EXPECT_EQ(facts_of(fabric_of(text))["adapters"], 20000);
    std::string garbage = "Switch 4 \"S-fffffff\" # \"x\"\n";
    for (int i = 0; i < 200000; ++i) garbage += "[\n";
    EXPECT_NE(fabric_error(garbage).find("expected a port"), std::string::npos);
}

}  // namespace
}  // namespace weft
