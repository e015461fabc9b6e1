// What Chakra's files say, where their writers differ, and what is wrong with them.
#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "tests/workloads/recorded/traces.hpp"
#include "workloads/recorded/checks.hpp"

namespace weft {
namespace {

using test::attribute;
using test::ChakraFile;
using test::read_chakra_files;

std::string refusal_of_bytes(const std::string& bytes) {
    const SourceFile file{"a.0.et", bytes};
    return test::refusal_of([&] { read_recorded(std::span(&file, 1)); });
}

TEST(chakra, numbers_are_read_whatever_kind_they_are_of) {
    const auto packed = [](std::string_view name, const std::string& value) {
        return test::bytes_field(10, test::bytes_field(1, name) + value);
    };
    for (const std::string& flag : {attribute("is_cpu_op", 0, 27), attribute("is_cpu_op", 0, 7), std::string()}) {
        for (const std::string& size :
             {attribute("comm_size", 64, 9), attribute("comm_size", 64, 13), attribute("comm_size", 128, 17),
              packed("comm_size", test::varint(21U << 3U | 1U) + std::string("\x40\0\0\0\0\0\0\0", 8))}) {
            const RecordedProgram program =
                read_chakra_files({ChakraFile().node(1, 7, flag + attribute("comm_type", 0, 11) + size)});
            EXPECT_EQ(program.ranks[0].nodes[0].kind, RecordedKind::collective);
            EXPECT_EQ(program.ranks[0].nodes[0].bytes, 64_B);
        }
    }
}

TEST(chakra, a_collective_of_the_host_is_its_launch) {
    const RecordedProgram program =
        read_chakra_files({ChakraFile().node(1, 7, attribute("is_cpu_op", 1, 27) + test::number_field(7, 9))});
    const RecordedRank& rank = program.ranks[0];
    EXPECT_EQ(rank.nodes[0].kind, RecordedKind::compute);
    EXPECT_NEAR(rank.nodes[0].time.value, 9e-6, 1e-15);
    EXPECT_TRUE(rank.units[rank.nodes[0].unit].is_host);
}

TEST(chakra, nodes_may_be_waited_for_before_they_come_and_those_that_are_not_there_are_left_out) {
    const RecordedProgram program =
        read_chakra_files({ChakraFile().compute(1, 1, test::after(9) + test::after(77)).compute(9, 1)});
    ASSERT_EQ(program.ranks[0].dependencies.size(), 1U);
    EXPECT_EQ(program.ranks[0].dependencies[0].node, 1U);
    ASSERT_EQ(program.notes.size(), 1U);
    EXPECT_NE(program.notes[0].find("1 dependencies"), std::string::npos);
}

TEST(chakra, groups_are_those_of_a_metadata_node_or_of_a_file_beside_it) {
    const std::string group = test::text_attribute("pg_name", "7");
    const std::string text = R"([{"pg_name": "7", "ranks": [1, 0], "group_size": 2}])";
    ChakraFile told;
    told.node(1, 1, test::bytes_field(8, test::bytes_field(1, "['" + text + "']"))).collective(2, 0, 64, group);
    EXPECT_EQ(read_chakra_files({told}).groups.at(1), (std::vector<std::uint32_t>{1, 0}));
    const std::vector<SourceFile> beside{{"groups.json", R"({"7": [0, 1]})"},
                                         {"a.0.et", ChakraFile().collective(2, 0, 64, group).bytes}};
    EXPECT_EQ(read_recorded(std::span(beside)).groups.at(1), (std::vector<std::uint32_t>{0, 1}));
    const std::string refusal =
        test::refusal_of([&] { meet(read_chakra_files({ChakraFile().collective(2, 0, 64, group)})); });
    EXPECT_NE(refusal.find("rank.0.et: error: node 2: is of group \"7\", which nobody defines"), std::string::npos)
        << refusal;
}

TEST(chakra, what_cannot_be_read_is_refused_with_its_byte) {
    const std::string sound = ChakraFile().collective(1, 0, 64).bytes;
    const auto with = [](const std::string& message) { return ChakraFile().bytes + test::message(message); };
    const std::pair<std::string, const char*> cases[] = {
        {"", "is empty"},
        {sound.substr(0, sound.size() - 3), "at byte 1: a message of"},
        {sound + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "a length that is cut or has more than 64 bits"},
        {sound + "\xff\xff\xff\xff\x7f", "a message of 34359738367 bytes; at most"},
        {sound + std::string(1, '\0'), "an empty message, which is no node"},
        {with("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "a varint that is cut or has more than 64 bits"},
        {with("\x12\x09"
              "ab"),
         "a field that is longer than its message"},
        {with("\x0b"), "a wire type that there is not"},
        {with(test::number_field(1, 3)), "node 3: has type 0; there are 1 to 7"},
        {with(test::number_field(1, 3) + test::number_field(3, 7)), "node 3: has no comm_size"},
        {ChakraFile().collective(1, 3, 64).bytes, "is a gather or scatter"},
        {ChakraFile().collective(1, 12, 64).bytes, "has comm_type 12; there are 0 to 9"},
        {ChakraFile().compute(1, 1).compute(1, 1).bytes, "node 1: is there twice"},
        {ChakraFile()
             .collective(1, 0, 64,
                         test::bytes_field(10, test::bytes_field(1, "involved_dim") +
                                                   test::bytes_field(28, std::string("\x0a\x02\x01\x00", 4))))
             .bytes,
         "is among some dimensions"},
    };
    for (const auto& [bytes, words] : cases) {
        const std::string refusal = refusal_of_bytes(bytes);
        EXPECT_NE(refusal.find(words), std::string::npos) << words << " is not in: " << refusal;
    }
}

TEST(chakra, a_group_is_needed_where_a_dimension_is_left_out_and_not_for_other_lists) {
    const auto refusal = [](const std::string& attributes) {
        return refusal_of_bytes(ChakraFile().collective(1, 0, 64, attributes).bytes);
    };
    const auto listed = [](std::string_view name, char second) {
        return test::bytes_field(
            10, test::bytes_field(1, name) + test::bytes_field(28, std::string{'\x0a', '\x02', '\x01', second}));
    };
    EXPECT_EQ(refusal(listed("involved_dim", '\x01')), refusal(""));
    EXPECT_NE(refusal(listed("involved_dim", '\x00')), refusal(""));
    EXPECT_EQ(refusal(listed("other", '\x00')), refusal(""));
    EXPECT_EQ(refusal(attribute("involved_dim", 0, 7)), refusal("")) << "no list";
}

}  // namespace
}  // namespace weft
