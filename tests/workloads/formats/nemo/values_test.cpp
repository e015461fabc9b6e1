#include "workloads/formats/nemo/values.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Hydra {
    explicit Hydra(std::string json, std::vector<std::string> variables = {})
        : document(Document::parse("conf", std::move(json))), values(document.root(), variables) {}
    std::string operator()(std::string_view path) {
        unknown.clear();
        return values.text(path, unknown);
    }

    Document document;
    HydraValues values;
    std::vector<std::string> unknown;
};

TEST(hydra_values, are_found_at_their_paths) {
    Hydra at(R"({"a": {"b": {"c": 3}, "t": "word", "n": null, "l": [1, 2], "f": true}})");
    EXPECT_EQ(at("a.b.c"), "3");
    EXPECT_EQ(at("a.t"), "word");
    EXPECT_EQ(at("a.n"), "null");
    EXPECT_EQ(at("a.l"), "[1,2]");
    EXPECT_EQ(at("a.f"), "true");
    EXPECT_TRUE(at.unknown.empty());
    for (const char* const path : {"a.b.d", "a.t.c", "z", "a.b.c.d"}) {
        EXPECT_EQ(at(path), "") << path;
        EXPECT_EQ(at.unknown, std::vector<std::string>{path});
    }
}

TEST(hydra_values, refer_to_others_from_where_they_stand) {
    Hydra at(R"({"top": "t", "a": {"x": "1", "same": "${.x}", "above": "${..top}", "whole": "${a.x}",
                 "launcher": "${training.a.x}", "two": "${.x}-${top}!", "name": "x", "inner": "${a.${.name}}",
                 "open": "${.x", "deep": {"up": "${..x}"}}})");
    for (const auto& [path, text] : {std::pair{"a.same", "1"},
                                     {"a.above", "t"},
                                     {"a.whole", "1"},
                                     {"a.launcher", "1"},
                                     {"a.two", "1-t!"},
                                     {"a.inner", "1"},
                                     {"a.open", "${.x"},
                                     {"a.deep.up", "1"}}) {
        EXPECT_EQ(at(path), text) << path;
        EXPECT_TRUE(at.unknown.empty()) << path;
    }
}

// What is said elsewhere is asked for by the name that the file has for it; the user's word goes first.
TEST(hydra_values, not_there_are_named) {
    const std::string json =
        R"({"a": "${gone}", "b": "${oc.env:HOME_OF_IT}", "c": "${power:2,3}", "d": "${multiply:2,x}",
                                 "e": "${a}", "f": "${f}"})";
    Hydra at(json);
    for (const auto& [path, name] :
         {std::pair{"a", "gone"}, {"b", "HOME_OF_IT"}, {"c", "power:2,3"}, {"d", "multiply:2,x"}, {"e", "gone"}}) {
        at(path);
        EXPECT_EQ(at.unknown, std::vector<std::string>{name}) << path;
    }
    at("f");
    EXPECT_FALSE(at.unknown.empty());
    Hydra said(json, {"gone=7", "HOME_OF_IT=/x=y", "empty"});
    EXPECT_EQ(said("e"), "7");
    EXPECT_EQ(said("b"), "/x=y");
}

}  // namespace
}  // namespace weft
