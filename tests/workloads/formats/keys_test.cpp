// Keys of a foreign file: each is used, known to have no effect, or noted, at its place.
#include "workloads/formats/keys.hpp"

#include <gtest/gtest.h>

#include "tests/refusal.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

struct Foreign {
    explicit Foreign(std::string text) : document(Document::parse("foreign.json", std::move(text))) {}

    Document document;
    Field root = document.root();
    Import import;
};

TEST(format_keys, are_taken_over_under_another_name_if_they_are_there) {
    Foreign file(R"({"num_layers": 4, "tied": true, "empty": null, "wrong": -1})");
    Draft& to = file.import.object;
    EXPECT_TRUE(take_count(file.root, "num_layers", to, "layers"));
    EXPECT_TRUE(take_flag(file.root, "tied", to, "tied_embeddings"));
    EXPECT_FALSE(take_count(file.root, "empty", to, "none"));
    EXPECT_FALSE(take_flag(file.root, "absent", to, "none"));
    EXPECT_EQ(to.json(), R"({"layers":4,"tied_embeddings":true})");
    EXPECT_NE(to.text().find("num_layers"), std::string::npos);  // where it came from
    take_count(file.root, "wrong", to, "wrong");
    take_mistakes(file.import, file.document);
    ASSERT_EQ(file.import.notes.size(), 1U);
    EXPECT_EQ(file.import.notes[0].origin.key, "wrong");
    EXPECT_EQ(file.import.notes[0].origin.line, 1);
    EXPECT_TRUE(file.import.has_errors());
}

TEST(format_keys, that_nobody_asked_for_are_noted) {
    Foreign file("{\n\"lr\": 1,\n\"seed\": 2,\n\"odd\": 3,\n\"used\": 4,\n\"none\": null}");
    EXPECT_EQ(file.root.count("used"), 4U);
    without_effect(file.import, file.root, {"lr", "absent"});
    unread_without_effect(file.import, file.root, "seed used none absent");
    ASSERT_EQ(file.import.without_effect.size(), 2U);
    EXPECT_EQ(file.import.without_effect[0].key, "lr");
    EXPECT_EQ(file.import.without_effect[1].key, "seed");
    EXPECT_EQ(file.import.without_effect[1].line, 3);
    note_rest(file.import, file.root);
    ASSERT_EQ(file.import.notes.size(), 1U);
    EXPECT_EQ(file.import.notes[0].origin.key, "odd");
    EXPECT_EQ(file.import.notes[0].origin.line, 4);
    EXPECT_EQ(file.import.notes[0].message, "not known to weft, and left out");
}

TEST(format_keys, that_change_a_step_are_refused_or_warned_of_where_they_are_given) {
    Foreign file(R"({"offload": true, "fused": false, "null": null})");
    refuse_key(file.import, file.root, "absent", "never");
    refuse_key(file.import, file.root, "null", "never");
    warn_key(file.import, file.root, "fused", "is simulated as fused");
    EXPECT_FALSE(file.import.has_errors());
    refuse_key(file.import, file.root, "offload", "weft has none");
    ASSERT_EQ(file.import.notes.size(), 2U);
    EXPECT_EQ(file.import.notes[0].severity, Severity::warning);
    EXPECT_EQ(file.import.notes[1].severity, Severity::error);
    file.import.note({.file = {}, .line = 0, .key = "k"}, "said");
    EXPECT_EQ(file.import.notes.back().severity, Severity::note);
}

TEST(format_keys, of_the_user_say_ranks_and_what_is_overridden) {
    EXPECT_EQ(ranks_of({.machine = "dgx-h100", .nodes = 3}), 24U);
    EXPECT_EQ(ranks_of({.machine = "dgx-h100"}), 0U);
    EXPECT_EQ(ranks_of({.nodes = 3}), 0U);
    FormatOptions options;
    options.overrides = {"batch.micro=2", "layout.tensor=4"};
    EXPECT_TRUE(overridden_by_user(options, "batch.micro"));
    EXPECT_FALSE(overridden_by_user(options, "batch"));
    EXPECT_FALSE(overridden_by_user(options, "batch.micro=2"));
}

TEST(format_tables, are_there_by_name) {
    for (const char* const name : {"accelerators", "families", "flavours", "nemo_keys", "torchtitan_keys"}) {
        Document table = format_table(name);
        EXPECT_FALSE(table.root().keys().empty()) << name;
        EXPECT_NO_THROW(table.check()) << name;
    }
    EXPECT_NE(test::refusal_of([] { format_table("familes"); }).find("families"), std::string::npos);
    Document list = Document::parse("list", R"({"words": ["a", "b"]})");
    EXPECT_EQ(texts(list.root().list("words")), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace weft
