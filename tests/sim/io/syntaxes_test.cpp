#include "sim/io/document.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

std::string errors_of(const std::function<void()>& read) {
    try {
        read();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

TEST(yaml, is_read_key_by_key_with_its_places) {
    Document document =
        parse_yaml("a.yml", "# of a run\nmodel: {layers: 12, gated: True, rate: 1.0e-5,}\nnames: [a, 'b']\n");
    Field root = document.root(), model = root.object("model");
    EXPECT_EQ(model.count("layers"), 12U);
    EXPECT_TRUE(model.flag("gated"));
    EXPECT_DOUBLE_EQ(model.number("rate"), 1e-5);
    EXPECT_EQ(root.list("names").at(1).as_text(), "b");
    EXPECT_EQ(model.origin("gated").line, 2);
    EXPECT_EQ(model.origin("gated").key, "model.gated");
    document.check();
}

TEST(yaml, quoted_words_are_texts) {
    Document document = parse_yaml("a.yml", "a: '12'\nb: \"true\"\nc: 1_000\nd: None\n");
    Field root = document.root();
    EXPECT_EQ(root.text("a"), "12");
    EXPECT_EQ(root.text("b"), "true");
    EXPECT_EQ(root.count("c"), 1000U);
    EXPECT_FALSE(root.has("d"));
    document.check();
}

TEST(yaml, mistakes_have_their_places) {
    EXPECT_EQ(errors_of([] {
                  Document document = parse_yaml("a.yml", "layers: many\n");
                  document.root().count("layers");
                  document.check();
              }),
              "a.yml:1:9: error: layers: expected an integer of at least 1, got \"many\"");
    EXPECT_EQ(errors_of([] { parse_yaml("a.yml", "a: 1\na: 2\n"); }),
              "a.yml:2:1: error: a: duplicate key (first on line 1)");
    EXPECT_TRUE(
        errors_of([] { parse_yaml("a.yml", "a: [1, 2\nb: 3\n"); }).starts_with("a.yml:2:2: error: invalid YAML"));
}

TEST(yaml, aliases_and_brackets_do_not_exhaust_it) {
    std::string bomb = "a0: &a0 [x]\n";
    for (int i = 1; i < 30; ++i) {
        const std::string before = std::to_string(i - 1), here = std::to_string(i);
        bomb += "a" + here + ": &a" + here + " [" + repeated("*a" + before + ", ", 10) + "]\n";
    }
    EXPECT_NE(errors_of([&] { parse_yaml("a.yml", bomb); }), "none");
    EXPECT_NE(errors_of([&] { parse_yaml("a.yml", repeated("[", 200'000)); }), "none");
}

TEST(toml, is_read_key_by_key_with_its_places) {
    Document document =
        parse_toml("a.toml", "[training]\nsteps = 10\nrate = 0.5\n[model]\nname = \"llama\"\nok = true\n");
    Field root = document.root(), training = root.object("training");
    EXPECT_EQ(training.count("steps"), 10U);
    EXPECT_DOUBLE_EQ(training.number("rate"), 0.5);
    EXPECT_EQ(training.origin("rate").line, 3);
    EXPECT_EQ(root.object("model").text("name"), "llama");
    EXPECT_TRUE(root.object("model").flag("ok"));
    document.check();
}

TEST(toml, mistakes_have_their_places) {
    EXPECT_TRUE(errors_of([] { parse_toml("a.toml", "a = 1\nb = = 2\n"); }).starts_with("a.toml:2:"));
    EXPECT_NE(errors_of([&] { parse_toml("a.toml", "a = " + repeated("[", 200'000)); }), "none");
}

TEST(xml, elements_are_objects_of_their_attributes) {
    Document document =
        parse_xml("a.xml", "<system version=\"1\">\n  <gpu dev=\"0\"/>\n  <gpu dev=\"1\"/>\n</system>\n");
    Field root = document.root();
    EXPECT_EQ(root.text("#name"), "system");
    EXPECT_EQ(root.text("version"), "1");
    std::vector<Field> gpus = root.list("#elements");
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[1].text("dev"), "1");
    EXPECT_EQ(gpus[1].origin("dev").line, 3);
    document.check();
}

TEST(xml, the_text_of_an_element_without_elements_is_kept) {
    Document document = parse_xml("a.xml", "<a>lost<b>1 2\n3</b><c> </c></a>");
    std::vector<Field> inner = document.root().list("#elements");
    EXPECT_EQ(inner[0].text("#text"), "1 2\n3");
    EXPECT_FALSE(inner[1].has("#text"));
    EXPECT_FALSE(document.root().has("#text"));
}

TEST(xml, mistakes_have_their_places) {
    EXPECT_TRUE(errors_of([] { parse_xml("a.xml", "<a>\n<b></a>\n"); }).starts_with("a.xml:2:"));
    EXPECT_NE(errors_of([] { parse_xml("a.xml", ""); }), "none");
    EXPECT_NE(errors_of([&] { parse_xml("a.xml", repeated("<a>", 200'000)); }), "none");
}

TEST(xml, entities_of_its_own_stay_as_they_are) {
    const std::string bomb = "<!DOCTYPE a [<!ENTITY x \"yyyyyyyy\">]>\n<a b=\"&x;&x;\"/>\n";
    EXPECT_EQ(parse_xml("a.xml", bomb).root().text("b"), "&x;&x;");
}

}  // namespace
}  // namespace weft
