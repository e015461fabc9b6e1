// What a document keeps of the questions of its readers.
#include "sim/io/reading_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "sim/io/document.hpp"
#include "sim/io/units.hpp"

namespace weft {
namespace {

using testing::ElementsAre;

void read_shape(Field shape) {
    shape.text("label", "");
    if (shape.choice("kind", {"circle", "square"}) == "circle") {
        shape.number("radius");
    } else {
        shape.count("side", 3);
        if (shape.has("turned")) shape.flag("turned");
    }
    for (Field& weight : shape.list("weights")) weight.as_number();
    Field names = shape.object("names");
    for (const std::string& name : names.keys()) names.duration(name);
    shape.done();
}

void record_shape(ValueRecord& record, const std::string& text, Document::Extent extent = Document::Extent::whole) {
    Document document = Document::parse("shape.json", text);
    document.record();
    read_shape(document.root());
    document.add_to(record, extent);
    document.check();
}

const std::string circle = R"({"kind": "circle", "radius": 2, "weights": [1, 2], "names": {"a": "1 s"}})";
const std::string square = R"({"kind": "square", "label": "x", "turned": true, "weights": [], "names": {}})";

TEST(reading_record, has_what_each_kind_of_object_was_asked_for) {
    ValueRecord record;
    record_shape(record, circle);
    record_shape(record, square);
    ASSERT_EQ(record.objects.size(), 2U);
    const auto& of_circle = record.objects.at("circle").members;
    const auto& of_square = record.objects.at("square").members;
    EXPECT_TRUE(of_circle.contains("radius") && !of_circle.contains("side"));
    EXPECT_TRUE(of_square.contains("side") && !of_square.contains("radius"));
    EXPECT_THAT(of_circle.at("radius").value.takes, ElementsAre(R"({"type": "number"})"));
    EXPECT_THAT(of_square.at("side").value.takes, ElementsAre(R"({"type": "integer", "minimum": 1})"));
    EXPECT_THAT(of_square.at("side").value.defaults, ElementsAre("3"));
    EXPECT_THAT(of_square.at("kind").value.takes, ElementsAre(R"({"enum": ["circle", "square"]})"));
    EXPECT_THAT(of_circle.at("weights").value.element->takes, ElementsAre(R"({"type": "number"})"));
    EXPECT_EQ(of_circle.at("names").value.any->takes.size(), 1U);
}

TEST(reading_record, knows_what_objects_cannot_do_without) {
    ValueRecord record;
    record_shape(record, square);
    const ObjectRecord& object = record.objects.at("square");
    for (const char* key : {"kind", "weights", "names"}) EXPECT_TRUE(object.requires_member(object.members.at(key)));
    for (const char* key : {"label", "side", "turned"}) EXPECT_FALSE(object.requires_member(object.members.at(key)));
}

TEST(reading_record, a_change_requires_nothing) {
    ValueRecord record;
    record_shape(record, circle, Document::Extent::change);
    const ObjectRecord& object = record.objects.at("circle");
    for (const auto& [key, member] : object.members) EXPECT_FALSE(object.requires_member(member)) << key;
}

TEST(reading_record, is_of_documents_that_were_told_to_keep_one) {
    ValueRecord record;
    const Document document = Document::parse("shape.json", circle);
    read_shape(Document(document).root());
    document.add_to(record, Document::Extent::whole);
    EXPECT_TRUE(record.objects.empty());
}

TEST(patterns, take_what_the_parsers_take) {
    const auto takes = [](const std::string& pattern, const std::string& text) {
        return std::regex_match(text, std::regex(nlohmann::json::parse("\"" + pattern + "\"").get<std::string>()));
    };
    for (const char* text :
         {"64 GiB", "64GiB", "1.5e3 MB", "0 B", ".5 kB", "2. TiB", "-1 B", "64 Gib", "B", "5", "1 GB/s", "200 Gbit/s",
          "1 MiB/s", "3 bit", "2.4 us", "1 min", "1e-3 s", "5 TFLOP/s", "5 FLOPS"}) {
        EXPECT_EQ(takes(bytes_pattern(), text), parse_bytes(text).has_value()) << text;
        EXPECT_EQ(takes(bandwidth_pattern(), text), parse_bandwidth(text).has_value()) << text;
        EXPECT_EQ(takes(duration_pattern(), text), parse_duration(text).has_value()) << text;
        EXPECT_EQ(takes(flop_rate_pattern(), text), parse_flop_rate(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace weft
