// Objects that extend others: what comes of both, and where mistakes are told.
#include "sim/io/extends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace weft {
namespace {

using ::testing::HasSubstr;

const std::map<std::string, std::string> files{{"base", R"({"title": "base", "nodes": 4, "sizes": [1, 2, 3],
        "links": {"a.b": {"bandwidth": {"nominal": "10 GB/s", "efficiency": 0.5}, "latency": {"value": "1 us"}}},
        "node": {"kind": "ring", "width": 2, "hops": 1}})"},
                                               {"middle", R"({"extends": "base",
        "nodes": 8})"},
                                               {"lists/far.json", R"({"extends": "near.json"})"},
                                               {"lists/near.json", R"({"nodes": 3})"},
                                               {"one", R"({"extends": "two"})"},
                                               {"two", R"({"extends": "one"})"},
                                               {"list", "[1]"}};

Document find(const std::string& name) {
    const auto found = files.find(name);
    if (found == files.end()) {
        throw ConfigError({Diagnostic{.file = {}, .key = {}, .message = "nothing is called \"" + name + "\""}});
    }
    return Document::parse(name, found->second);
}

// The whole that `delta` comes to, as JSON, or what is wrong.
std::string whole(const std::string& delta, std::initializer_list<std::string_view> assignments = {}) {
    try {
        Document document = Document::parse("delta.json", delta);
        for (const std::string_view assignment : assignments) document.assign(assignment);
        extend(document.root(), find);
        document.check();
        return document.text();
    } catch (const ConfigError& error) {
        return error.what();
    }
}

constexpr const char* links =
    R"("links":{"a.b":{"bandwidth":{"nominal":"10 GB/s","efficiency":0.5},"latency":{"value":"1 us"}}})";

TEST(extends, objects_merge_and_all_else_replaces) {
    EXPECT_EQ(whole(R"({"extends": "base", "nodes": 5, "sizes": [9], "node": {"hops": 7}, "more": {"x": 1}})"),
              std::string(R"({"title":"base","nodes":5,"sizes":[9],)") + links +
                  R"(,"node":{"kind":"ring","width":2,"hops":7},"more":{"x":1}})");
}

TEST(extends, null_removes) {
    EXPECT_EQ(whole(R"({"extends": "base", "title": null, "links": null, "sizes": null, "node": {"hops": null}})"),
              R"({"nodes":4,"node":{"kind":"ring","width":2}})");
}

TEST(extends, another_kind_replaces_the_whole_object) {
    EXPECT_THAT(whole(R"({"extends": "base", "node": {"kind": "star"}})"), HasSubstr(R"("node":{"kind":"star"})"));
    EXPECT_THAT(whole(R"({"extends": "base", "node": {"kind": "star", "width": null}, "new": {"x": null}})"),
                HasSubstr(R"("node":{"kind":"star"},"new":{})"));
    EXPECT_THAT(whole(R"({"extends": "base", "node": {"kind": "ring", "hops": 2}})"),
                HasSubstr(R"("node":{"kind":"ring","width":2,"hops":2})"));
}

TEST(extends, a_plain_figure_keeps_what_is_said_beside_it) {
    EXPECT_THAT(whole(R"({"extends": "base", "links": {"a.b": {"bandwidth": "20 GB/s", "latency": "2 us"}}})"),
                HasSubstr(R"({"bandwidth":{"nominal":"20 GB/s","efficiency":0.5},"latency":{"value":"2 us"}})"));
}

TEST(extends, a_chain_is_followed) {
    EXPECT_THAT(whole(R"({"extends": "middle", "title": "mine"})"), HasSubstr(R"({"title":"mine","nodes":8,)"));
}

TEST(extends, paths_are_meant_from_the_file_that_says_them) {
    EXPECT_EQ(whole(R"({"extends": "lists/far.json"})"), R"({"nodes":3})");
}

TEST(extends, keys_with_dots_are_paths_in_what_is_extended) {
    EXPECT_THAT(
        whole(R"({"extends": "base", "links.a.b.bandwidth.nominal": "40 GB/s", "sizes[1]": 7, "node.hops": 3})"),
        testing::AllOf(HasSubstr(R"("nominal":"40 GB/s","efficiency":0.5)"), HasSubstr("[1,7,3]"),
                       HasSubstr(R"("hops":3)")));
    EXPECT_THAT(whole(R"({"extends": "base", "links": {"c.d": {"bandwidth": 1}}, "links.c.d.bandwidth": 2})"),
                HasSubstr(R"("c.d":{"bandwidth":2})"));
    EXPECT_THAT(whole(R"({"extends": "base", "node.hops": null})"), HasSubstr(R"({"kind":"ring","width":2})"));
}

TEST(extends, assignments_reach_into_what_a_name_stands_for) {
    Document document = Document::parse("job.json", R"({"machine": "base"})");
    document.assign("machine.links.a.b.bandwidth.nominal=40 GB/s");
    document.assign("machine.nodes=6");
    EXPECT_EQ(document.text(), R"({"machine":{"extends":"base","links.a.b.bandwidth.nominal":"40 GB/s","nodes":6}})");
    Field root = document.root();
    Field machine = root.object("machine");
    EXPECT_EQ(extend(machine, find), "base");
    EXPECT_EQ(machine.count("nodes"), 6U);
    EXPECT_EQ(machine.object("links").object("a.b").object("bandwidth").bandwidth("nominal"), 40_GBps);
}

TEST(extends, the_last_assignment_counts) {
    EXPECT_THAT(whole(R"({"extends": "base", "node": {"hops": 5}})", {"node.hops=6", "node.hops=7"}),
                HasSubstr(R"("hops":7)"));
}

TEST(extends, mistakes_are_told_where_they_were_written) {
    Document document = Document::parse("delta.json", R"({"extends": "middle",
        "node": {"width": -1}})");
    Field root = document.root();
    extend(root, find);
    root.object("node").count("width");
    root.object("node").text("hops");
    root.text("nodes");
    try {
        document.check();
        FAIL() << "no mistake";
    } catch (const ConfigError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "base:3:54: error: node.hops: expected a text, got 1\n"
                  "delta.json:2:27: error: node.width: expected an integer of at least 1, got -1\n"
                  "middle:2:18: error: nodes: expected a text, got 8");
    }
}

TEST(extends, what_cannot_be_extended_is_one_mistake_at_its_name) {
    EXPECT_EQ(whole("{\"nodes\": 1,\n \"extends\": \"nowhere\"}"),
              "delta.json:2:13: error: extends: nothing is called \"nowhere\"");
    EXPECT_THAT(whole(R"({"extends": "one"})"), HasSubstr("\"one\" extends itself"));
    EXPECT_THAT(whole(R"({"extends": 3})"), HasSubstr("delta.json:1:13: error: extends: expected a text, got 3"));
    EXPECT_THAT(whole(R"({"extends": ""})"), HasSubstr("expected a name, got \"\""));
    EXPECT_THAT(whole(R"({"extends": "list"})"), HasSubstr("\"list\" is no object"));
}

TEST(extends, a_path_to_nowhere_is_a_mistake) {
    EXPECT_THAT(whole(R"({"extends": "base", "sizes.7": 1})"),
                HasSubstr("delta.json:1:21: error: sizes: has no element \"7\""));
    EXPECT_THAT(whole(R"({"extends": "base", "nodes.x": 1})"), HasSubstr("nodes.x: cannot be set: nodes is 4"));
    EXPECT_THAT(whole(R"({"extends": "base"})", {"title.x=1"}), HasSubstr("--set: error: title.x: cannot be set"));
}

}  // namespace
}  // namespace weft
