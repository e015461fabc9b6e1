// Lines of ibnetdiscover one by one, and machines that are cabled as a file says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/formats/files_read.hpp"
#include "workloads/formats/fabric/fabric.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
    return test::refusal_of([&] { read_ibnetdiscover({"fabric.txt", text}); });
}

const std::string leaf = "Switch\t64 \"S-a\"\t# \"leaf\" lid 1\n";

TEST(ibnetdiscover_lines, tell_devices_and_what_is_plugged_into_each_port) {
    const IbFabric fabric = read_ibnetdiscover(
        {"fabric.txt",
         "# Topology file\nvendid=0x2c9\nswitchguid=0xa(a)\n" + leaf +
             "[7]\t\"S-b\"[3]\t# \"spine\" lid 2 4xNDR\n[8]\t# nothing\n[9](9)\t\"R-r\"[1]\t# \"router\" "
             "lid 3 4xHDR\n\nSwitch\t64 \"S-b\"\t# \"spine\" lid 2\n[3]\t\"S-a\"[7]\t# \"leaf\" lid 1\n"});
    EXPECT_EQ(fabric.order, (std::vector<std::string>{"a", "b", "r"}));
    EXPECT_EQ(fabric.devices.at("a").kind, DeviceKind::switch_);
    EXPECT_EQ(fabric.devices.at("a").line, 4);
    EXPECT_TRUE(fabric.devices.at("b").has_part);
    EXPECT_EQ(fabric.devices.at("r").kind, DeviceKind::router);
    EXPECT_FALSE(fabric.devices.at("r").has_part);
    ASSERT_EQ(fabric.cables.size(), 2U) << "a cable that both ends tell is one";
    EXPECT_EQ(fabric.cables.at({{"a", 7}, {"b", 3}}), "4xNDR") << "by the end that says its speed";
    EXPECT_EQ(fabric.plugged.at({"b", 3}).first, (IbPort{"a", 7}));
    EXPECT_EQ(fabric.plugged.at({"a", 7}).second, 5);
    EXPECT_EQ(fabric.unknown_lines, 0U);
}

TEST(ibnetdiscover_lines, that_are_wrong_are_told_with_what_was_expected) {
    for (const auto& [line, expected] :
         {std::pair{"Switch\tmany \"S-b\"\t# \"x\"", "expected a number of ports and \"S-GUID\""},
          {"Switch\t4 \"Sb\"\t# \"x\"", "expected a number of ports and \"S-GUID\""},
          {"Ca\t1 \"H\"\t# \"x\"", "expected a number of ports and \"S-GUID\""},
          {"[1\t\"H-1\"[1]\t# \"n1\" lid 1", "expected a port, such as [1]"},
          {"[x]\t\"H-1\"[1]\t# \"n1\" lid 1", "expected a port, such as [1]"},
          {"[1]\tH-1[1]", "expected what the port is cabled to, such as \"S-GUID\"[1]"},
          {"[1]\t\"H1\"[1]\t# \"n1\"", "expected what the port is cabled to, such as \"S-GUID\"[1]"},
          {"[1]\t\"H-1\"\t# \"n1\"", "expected what the port is cabled to, such as \"S-GUID\"[1]"},
          {"[1]\t\"H-1\"[x]\t# \"n1\"",
           "expected the port at the other end, and a comment with the name of its device"},
          {"[1]\t\"H-1\"[1]\t# n1", "expected the port at the other end, and a comment with the name of its device"}})
        EXPECT_EQ(refusal(leaf + line + "\n"), "fabric.txt:2: error: " + std::string(expected)) << line;
}

TEST(ibnetdiscover_lists, that_are_wrong_are_told_with_what_was_expected) {
    for (const char* const line :
         {"SW x 10 0xa1 4x EDR", "SW 7 x 0xa1 4x EDR", "SW 7 10 a1 4x EDR", "SW 7 10 0xa1 4 EDR"})
        EXPECT_EQ(refusal(line), "fabric.txt:1: error: expected kind, lid, port, GUID, width and speed") << line;
    for (const char* const end : {"CA x 1 0xb1 ( 'a' - 'b' )", "CA 1 x 0xb1 ( 'a' - 'b' )", "CA 1 1 b1 ( 'a' - 'b' )",
                                  "CA 1 1 0xb1 'a' - 'b'", "CA 1 1 0xb1 ( 'a' + 'b' )", "CA 1 1 0xb1 ( 'a' - '"})
        EXPECT_EQ(refusal("SW 7 10 0xa1 4x EDR - " + std::string(end)),
                  "fabric.txt:1: error: expected the other end, and the names of both in brackets")
            << end;
}

TEST(ibnetdiscover_lists, have_cables_of_a_width_and_a_speed) {
    const IbFabric fabric = read_ibnetdiscover({"fabric.txt",
                                                "SW  7 10 0xa1 4x EDR - CA  1  1 0xb1 ( 'leaf 'one'' - 'n1 HCA-1' )\n"
                                                "SW  7 11 0xa1 4x ??? - RT  1  1 0xc1 ( 'leaf' - 'way out' )\n"});
    EXPECT_EQ(fabric.cables.at({{"a1", 10}, {"b1", 1}}), "4xEDR");
    EXPECT_EQ(fabric.cables.at({{"a1", 11}, {"c1", 1}}), "") << "not known";
    EXPECT_EQ(fabric.devices.at("a1").description, "leaf 'one'");
    EXPECT_EQ(fabric.devices.at("c1").kind, DeviceKind::router);
}

TEST(ibnetdiscover_files, are_given_up_after_so_many_mistakes) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "[\n";
    const std::string told = refusal(text);
    EXPECT_EQ(std::ranges::count(told, '\n'), 19) << "20 lines";
}

TEST(ibnetdiscover_files, are_told_by_any_of_their_forms) {
    const auto looks = [](const std::string& text) { return looks_like_ibnetdiscover({"x", text}); };
    EXPECT_TRUE(looks("#\n# Topology file: generated on Mon\n"));
    EXPECT_TRUE(looks("vendid=0x2c9\nswitchguid=0xa(a)\n"));
    EXPECT_TRUE(looks("vendid=0x2c9\ncaguid=0xa\n"));
    EXPECT_TRUE(looks(leaf));
    EXPECT_TRUE(looks("Ca\t1 \"H-1\"\t# \"n1\"\n"));
    EXPECT_TRUE(looks("SW     7 10 0x00000000000000a1 4x EDR\n"));
    for (const char* const other : {"", "Switch a b\n", "SwitchName=a Nodes=b\n", "SW 7 10 a1\n", "CAs are 4 of 5\n"})
        EXPECT_FALSE(looks(other)) << other;
}

CabledFabric two_switches() {
    return {.title = "two switches",
            .switches = {"a", "b"},
            .cables = {{"fabric.cable", {.gbit = 200, .between = {{{0, 1}, 3}}}}},
            .port_gbit = 200,
            .nics = 2,
            .nodes = {{.name = "n1", .switches = {0, 1}}, {.name = "n2", .switches = {1, 1}}}};
}

TEST(cabled_machine, has_the_nodes_and_cables_of_the_file_and_the_rest_of_another) {
    Import import;
    const LikeMachine like = read_like_machine("dgx-h100");
    write_cabled_machine(import, two_switches(), like, {"folder/fabric.txt", ""});
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["source"], "fabric.txt; nodes as dgx-h100");
    EXPECT_EQ(object["nodes"], 2);
    EXPECT_EQ(object["node_names"], json::parse(R"({"prefix": "n", "first": 1})"));
    EXPECT_EQ(object["network"]["nodes"], json::parse("[[0, 1], 1]")) << "one switch of all NICs is said once";
    EXPECT_EQ(object["network"]["cables"], json::parse(R"({"fabric.cable": [[0, 1, 3]]})"));
    EXPECT_EQ(object["network"]["port"], "fabric.port") << "of 200 Gbit/s where the other machine has 400";
    EXPECT_EQ(object["links"]["fabric.port"]["bandwidth"]["nominal"], "200 Gbit/s");
    EXPECT_EQ(object["links"]["fabric.port"]["bandwidth"]["efficiency"], like.find(like.port)->efficiency);
    EXPECT_EQ(object["node"]["nics"]["attached"], (json{like.attached[0], like.attached[4]})) << "spread over the node";
}

TEST(cabled_machine, without_cables_is_one_switch_of_equal_ports) {
    CabledFabric fabric = two_switches();
    fabric.cables.clear();
    const LikeMachine like = read_like_machine("dgx-h100");
    fabric.port_gbit = like.port_gbit();
    fabric.nics = like.nics();
    fabric.nodes = {{.name = "x07", .switches = {0}}, {.name = "x08", .switches = {0}}};
    Import import;
    write_cabled_machine(import, fabric, like, {"fabric.txt", ""});
    const json object = json::parse(import.object.json());
    EXPECT_EQ(object["network"]["cables"], json::object());
    EXPECT_EQ(object["network"]["port"], like.port);
    EXPECT_EQ(object["node_names"], (json{"x07", "x08"})) << "zeros would be lost";
    EXPECT_FALSE(object.contains("links"));
    EXPECT_FALSE(object.contains("node"));
}

// A machine file whose network is a list of cables has nodes of yet another one; so has what extends it.
TEST(cabled_machine, is_not_like_one_that_is_cabled_itself) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "cabled.json") << R"({"extends": "dgx-h100", "network": {"kind": "switches"}})";
    std::ofstream(folder.path() / "more.json") << R"({"extends": "./cabled.json", "nodes": 2})";
    std::ofstream(folder.path() / "plain.json") << R"({"extends": "dgx-h100", "nodes": 2})";
    for (const auto& [name, refused] : {std::pair{"cabled.json", true}, {"more.json", true}, {"plain.json", false}}) {
        Import import;
        FormatOptions options;
        options.like = folder.path() / name;
        EXPECT_EQ(like_node(import, options).has_value(), !refused) << name;
        EXPECT_EQ(import.has_errors(), refused) << name;
    }
}

}  // namespace
}  // namespace weft
