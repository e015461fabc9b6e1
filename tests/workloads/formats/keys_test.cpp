// Keys of a foreign file: each is used, known to have no effect, or noted, at its place.
#include "workloads/formats/keys.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/refusal.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

struct Foreign {
    explicit Foreign(std::string text) : document(Document::parse("foreign.json", std::move(text))) {}

    Document document;
    Import import;
    FormatOptions options;
    ForeignKeys keys{import, document.root(), options};
};

TEST(format_keys, are_taken_over_under_another_name_if_they_are_there) {
    Foreign file(R"({"num_layers": 4, "tied": true, "empty": null, "wrong": -1})");
    const Draft& to = file.import.object;
    EXPECT_TRUE(file.keys.take_count("num_layers", "layers"));
    EXPECT_TRUE(file.keys.take_flag("tied", "model.tied_embeddings"));
    EXPECT_FALSE(file.keys.take_count("empty", "none"));
    EXPECT_FALSE(file.keys.take_flag("absent", "none.at.all"));
    EXPECT_EQ(to.json(), R"({"layers":4,"model":{"tied_embeddings":true}})");
    EXPECT_NE(to.text().find("num_layers"), std::string::npos);  // where it came from
    file.keys.take_count("wrong", "wrong");
    take_mistakes(file.import, file.document);
    ASSERT_EQ(file.import.notes.size(), 1U);
    EXPECT_EQ(file.import.notes[0].origin.key, "wrong");
    EXPECT_EQ(file.import.notes[0].origin.line, 1);
    EXPECT_TRUE(file.import.has_errors());
}

TEST(format_keys, put_values_at_paths_with_their_place) {
    Foreign file("{\n\"on\": true, \"off\": false, \"text\": \"true\"}");
    EXPECT_TRUE(file.keys.on("on"));
    EXPECT_FALSE(file.keys.on("off"));
    EXPECT_FALSE(file.keys.on("text"));
    EXPECT_FALSE(file.keys.on("absent"));
    file.keys.put("a.b.c", 1, "on");
    file.keys.put("a.d", "word", "off");
    file.import.put("e", 0.5, unwritten("its default"));
    EXPECT_EQ(file.import.object.json(), R"({"a":{"b":{"c":1},"d":"word"},"e":0.5})");
    const Document made = file.import.object.document("made");
    EXPECT_EQ(made.copy().root().object("a").origin("d").line, 2);
    EXPECT_EQ(made.copy().root().origin("e").key, "its default");
    EXPECT_EQ(in_file("x.json", "nodes").file, "x.json");
}

TEST(format_keys, that_nobody_asked_for_are_noted) {
    Foreign file("{\n\"lr\": 1,\n\"seed\": 2,\n\"odd\": 3,\n\"used\": 4,\n\"none\": null}");
    EXPECT_EQ(file.keys.keys.count("used"), 4U);
    const auto known = [](std::vector<std::string> names) {
        KnownKeys keys;
        for (std::string& name : names) keys.in_order.emplace_back(std::move(name), "");
        return keys;
    };
    file.keys.pass_over(known({"lr", "absent"}));
    file.keys.pass_over_unread(known({"seed", "used", "none", "absent"}));
    ASSERT_EQ(file.import.without_effect.size(), 2U);
    EXPECT_EQ(file.import.without_effect[0].key, "lr");
    EXPECT_EQ(file.import.without_effect[1].key, "seed");
    EXPECT_EQ(file.import.without_effect[1].line, 3);
    file.keys.note_rest();
    ASSERT_EQ(file.import.notes.size(), 1U);
    EXPECT_EQ(file.import.notes[0].origin.key, "odd");
    EXPECT_EQ(file.import.notes[0].origin.line, 4);
    EXPECT_EQ(file.import.notes[0].message, "not known to weft, and left out");
}

TEST(format_keys, that_change_a_step_are_refused_or_warned_of_where_they_are_given) {
    Foreign file(R"({"offload": true, "fused": false, "null": null})");
    file.keys.refuse("absent", "never");
    file.keys.refuse("null", "never");
    file.keys.warn("fused", "is simulated as fused");
    EXPECT_FALSE(file.import.has_errors());
    file.keys.refuse("offload", "weft has none");
    ASSERT_EQ(file.import.notes.size(), 2U);
    EXPECT_EQ(file.import.notes[0].severity, Severity::warning);
    EXPECT_EQ(file.import.notes[1].severity, Severity::error);
    file.import.note(unwritten("k"), "{} of {}", 1, "two");
    EXPECT_EQ(file.import.notes.back().severity, Severity::note);
    EXPECT_EQ(file.import.notes.back().message, "1 of two");
}

TEST(format_keys, of_each_program_are_known_by_section) {
    for (const auto& [program, section, key] :
         std::vector<std::tuple<std::string, std::string, std::string>>{{"deepspeed", "half_precision", "loss_scale"},
                                                                        {"deepspeed", "comms_logger", "prof_ops"},
                                                                        {"megatron", "switches", "bf16"},
                                                                        {"nemo", "optim", "bucket_cap_mb"},
                                                                        {"nemo", "outside_of_model", "hydra"},
                                                                        {"neox", "checkpointing", "profile_backward"},
                                                                        {"torchtitan", "sections", "profiling"}}) {
        EXPECT_TRUE(known_keys(program, section).contains(key)) << program << ": " << key;
        EXPECT_FALSE(known_keys(program, section).contains("sparkle")) << program;
    }
    EXPECT_EQ(known_keys("nemo", "other_names").by_name.at("bias"), "add_bias_linear");
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
    for (const char* const name : {"accelerators", "families", "flavours", "megatron_arguments", "nemo_keys"}) {
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
