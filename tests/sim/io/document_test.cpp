#include "sim/io/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a reading of `text` by `read` is refused with; "" if it is not.
template <class Read>
std::string errors(std::string text, Read read, std::initializer_list<std::string_view> overrides = {}) {
    try {
        Document document = Document::parse("job.json", std::move(text));
        for (const std::string_view assignment : overrides) document.assign(assignment);
        Field root = document.root();
        read(root);
        document.check();
        return "";
    } catch (const ConfigError& error) {
        return error.what();
    }
}

std::string parse_errors(std::string text) {
    return errors(std::move(text), [](Field&) {});
}

TEST(document, a_valid_document_reads_as_written) {
    Document document = Document::parse("tier.json", R"({
        // comments of both kinds are allowed
        "kind": "torus", /* here
        too */ "radix": 8, "share": 0.25, "wide": true,
        "bandwidth": "200 Gbit/s", "latency": "2.5 us", "memory": "64 GiB", "peak": "191.5 TFLOP/s",
        "none": null, "sizes": [3, 4, 5], "nested": {"name": "inner"}
    })");
    Field root = document.root();
    EXPECT_EQ(root.choice("kind", {"crossbar", "torus"}), "torus");
    EXPECT_EQ(root.count("radix"), 8U);
    EXPECT_EQ(root.number("share"), 0.25);
    EXPECT_TRUE(root.flag("wide"));
    EXPECT_EQ(root.bandwidth("bandwidth"), 25_GBps);
    EXPECT_EQ(root.duration("latency"), 2.5_us);
    EXPECT_EQ(root.bytes("memory"), 64_GiB);
    EXPECT_EQ(root.flop_rate("peak"), 191.5_TFLOPps);
    EXPECT_FALSE(root.has("none"));
    std::vector<std::uint32_t> sizes;
    for (Field size : root.list("sizes")) sizes.push_back(size.as_whole());
    EXPECT_THAT(sizes, ElementsAre(3U, 4U, 5U));
    Field nested = root.object("nested");
    EXPECT_EQ(nested.text("name"), "inner");
    EXPECT_EQ(nested.path(), "nested");
    nested.done();
    root.done();
    EXPECT_NO_THROW(document.check());
}

TEST(document, defaults_stand_in_for_absent_and_null_keys_only) {
    Document document = Document::parse("d", R"({"a": 5, "b": null})");
    Field root = document.root();
    EXPECT_EQ(root.count("a", 7U), 5U);
    EXPECT_EQ(root.count("b", 7U), 7U);
    EXPECT_EQ(root.text("c", "otherwise"), "otherwise");
    EXPECT_EQ(root.duration("d", 3_us), 3_us);
    EXPECT_EQ(root.choice("e", {"x", "y"}, "y"), "y");
    EXPECT_FALSE(root.flag("f", false));
    EXPECT_NO_THROW(document.check());
}

TEST(document, all_mistakes_are_reported_at_once_in_order_of_place) {
    EXPECT_EQ(
        errors(R"({
  "tiers": [
    {"kind": "fat_treee", "radix": 0,
     "bandwidth": 400, "oversub": 2}
  ]
})",
               [](Field& root) {
                   Field tier = root.list("tiers").at(0);
                   tier.bandwidth("bandwidth");
                   tier.count("radix");
                   tier.choice("kind", {"crossbar", "fat_tree", "torus"});
                   tier.duration("latency");
                   tier.done();
                   root.done();
               }),
        "job.json:3:5: error: tiers[0].latency: missing (expected a quantity such as \"2.4 us\")\n"
        "job.json:3:14: error: tiers[0].kind: expected one of crossbar, fat_tree, torus, got \"fat_treee\", did you "
        "mean \"fat_tree\"?\n"
        "job.json:3:36: error: tiers[0].radix: expected an integer of at least 1, got 0\n"
        "job.json:4:19: error: tiers[0].bandwidth: expected a quantity such as \"25 GB/s\", got 400 (units: Gbit/s, "
        "Mbit/s, GB/s, TB/s, GiB/s)\n"
        "job.json:4:24: error: tiers[0].oversub: unknown key (this object accepts: bandwidth, kind, latency, "
        "radix)");
}

TEST(document, an_unknown_key_names_the_nearest_that_was_asked_for) {
    EXPECT_EQ(
        errors(R"({"pipelin": 4})",
               [](Field& root) {
                   for (const auto* key : {"tensor", "pipeline", "data", "order"}) root.count(key, 1U);
                   root.done();
               }),
        "job.json:1:2: error: pipelin: unknown key, did you mean \"pipeline\"? (this object accepts: data, order, "
        "pipeline, tensor)");
}

TEST(document, a_missing_object_is_one_mistake_not_one_per_member) {
    EXPECT_EQ(errors(R"({"machine": 5})",
                     [](Field& root) {
                         Field layout = root.object("layout");
                         layout.count("tensor");
                         layout.error("tensor", "does not divide anything");
                         layout.done();
                         Field machine = root.object("machine");
                         machine.text("name");
                         machine.done();
                     }),
              "job.json:1:1: error: layout: missing (expected an object)\n"
              "job.json:1:13: error: machine: expected an object, got 5");
}

TEST(document, an_error_of_meaning_stands_at_its_key_or_else_at_the_object) {
    EXPECT_EQ(errors(R"({"layout": {"tensor": 3}})",
                     [](Field& root) {
                         Field layout = root.object("layout");
                         layout.count("tensor");
                         layout.error("tensor", "3 does not divide 64 heads");
                         layout.error("data", "nothing is left for it");
                         root.error("", "does not fit");
                     }),
              "job.json:1:1: error: does not fit\n"
              "job.json:1:12: error: layout.data: nothing is left for it\n"
              "job.json:1:23: error: layout.tensor: 3 does not divide 64 heads");
}

TEST(document, a_mistake_that_is_read_twice_is_reported_once) {
    EXPECT_EQ(
        errors(R"({"a": "x"})", [](Field& root) { root.count("a"), root.whole("a"), root.error("a", "too small"); }),
        "job.json:1:7: error: a: expected an integer of at least 1, got \"x\"");
}

struct WrongValue {
    std::string json, message;
};

class wrong_value : public ::testing::TestWithParam<WrongValue> {};

TEST_P(wrong_value, of_a_count_is_refused_with_what_it_is) {
    EXPECT_EQ(errors("{\"n\": " + GetParam().json + "}", [](Field& root) { root.count("n"); }),
              "job.json:1:7: error: n: expected " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(document, wrong_value,
                         ::testing::Values(WrongValue{"0", "an integer of at least 1, got 0"},
                                           WrongValue{"-3", "an integer of at least 1, got -3"},
                                           WrongValue{"2.5", "an integer of at least 1, got 2.5"},
                                           WrongValue{"4294967296", "an integer of at most 4294967295, got 4294967296"},
                                           WrongValue{"1e300", "an integer of at most 4294967295, got 1e300"},
                                           WrongValue{"true", "an integer of at least 1, got true"},
                                           WrongValue{"[1]", "an integer of at least 1, got a list"},
                                           WrongValue{"{}", "an integer of at least 1, got an object"},
                                           WrongValue{R"("a\"b")", R"(an integer of at least 1, got "a\"b")"}));

TEST(document, counts_may_be_written_as_whole_decimals) {
    EXPECT_EQ(errors(R"({"a": 1e3, "b": 1000.0, "c": 4294967295, "d": 0, "e": -0.0})",
                     [](Field& root) {
                         EXPECT_EQ(root.count("a"), 1000U);
                         EXPECT_EQ(root.count("b"), 1000U);
                         EXPECT_EQ(root.count("c"), 4294967295U);
                         EXPECT_EQ(root.whole("d"), 0U);
                         EXPECT_EQ(root.whole("e"), 0U);
                     }),
              "");
}

TEST(document, quantities_below_or_at_zero_are_refused_where_they_make_no_sense) {
    EXPECT_EQ(
        errors(R"({"a": "0 GB/s", "b": "-1 us", "c": "0 us", "d": "25 Gb/s"})",
               [](Field& root) {
                   root.bandwidth("a");
                   root.duration("b");
                   EXPECT_EQ(root.duration("c"), Seconds{});
                   root.bandwidth("d");
               }),
        "job.json:1:7: error: a: expected a quantity above zero such as \"25 GB/s\", got \"0 GB/s\"\n"
        "job.json:1:22: error: b: expected a quantity of at least zero such as \"2.4 us\", got \"-1 us\"\n"
        "job.json:1:49: error: d: expected a quantity such as \"25 GB/s\", got \"25 Gb/s\" (units: Gbit/s, Mbit/s, "
        "GB/s, TB/s, GiB/s)");
}

// Formulas of what is read would end in infinity.
TEST(document, numbers_beyond_all_measure_are_refused) {
    EXPECT_EQ(errors(R"({"a": 1e-31, "b": -1e31, "c": "1e300 GB/s", "d": "-1e300 s", "e": 1e-30, "f": "1e30 B"})",
                     [](Field& root) {
                         root.number("a"), root.number("b"), root.bandwidth("c"), root.duration("d");
                         EXPECT_EQ(root.number("e"), 1e-30);
                         EXPECT_EQ(root.bytes("f"), Bytes{1e30});
                     }),
              "job.json:1:7: error: a: expected a number of 1e-30 to 1e30, or 0, got 1e-31\n"
              "job.json:1:19: error: b: expected a number of 1e-30 to 1e30, or 0, got -1e31\n"
              "job.json:1:31: error: c: expected a quantity of 1e-30 to 1e30 in units of the SI, or 0, such as \"25 "
              "GB/s\", got \"1e300 GB/s\"\n"
              "job.json:1:50: error: d: expected a quantity of 1e-30 to 1e30 in units of the SI, or 0, such as \"2.4 "
              "us\", got \"-1e300 s\"");
}

TEST(document, every_duplicate_key_is_refused_with_the_place_of_the_first) {
    EXPECT_EQ(parse_errors("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"a\": 3, \"\\u0061\": 4}"),
              "job.json:2:16: error: b.c: duplicate key (first on line 2)\n"
              "job.json:3:2: error: a: duplicate key (first on line 1)\n"
              "job.json:3:10: error: a: duplicate key (first on line 1)");
    EXPECT_EQ(parse_errors(R"([{"a": 1}, {"a": 2}])"), "") << "the same key in two objects is no duplicate";
}

TEST(document, broken_json_is_refused_with_its_place) {
    EXPECT_THAT(parse_errors("{\n  \"a\": 1,\n}"), HasSubstr("job.json:3:1: error: invalid JSON: unexpected '}'"));
    EXPECT_THAT(parse_errors("{\"a\": tru}"), HasSubstr("job.json:1:10: error: invalid JSON: "));
    EXPECT_THAT(parse_errors(""), HasSubstr("job.json:1:1: error: invalid JSON: unexpected end of input"));
    EXPECT_THAT(parse_errors("{} {}"), HasSubstr("job.json:1:4: error: invalid JSON: "));
    EXPECT_THAT(parse_errors("[1e999]"), HasSubstr("job.json:1:6: error: invalid JSON: number overflow"));
    EXPECT_THAT(parse_errors("[\"\xFF\"]"), HasSubstr("invalid JSON: "));
}

TEST(document, nesting_without_end_is_refused_not_a_stack_overflow) {
    EXPECT_EQ(parse_errors(std::string(100'000, '[')), "job.json:1:65: error: nested too deeply");
}

TEST(document, columns_count_characters_and_skip_a_byte_order_mark) {
    EXPECT_EQ(errors("\xEF\xBB\xBF{\"\xC3\xA9\xC3\xA9\": 1}", [](Field& root) { root.done(); }),
              "job.json:1:2: error: \xC3\xA9\xC3\xA9: unknown key (this object accepts: no keys)");
    EXPECT_EQ(errors("{\"k\": \"\xC3\xA9\", \"n\": 0}", [](Field& root) { root.text("k"), root.count("n"); }),
              "job.json:1:17: error: n: expected an integer of at least 1, got 0");
}

TEST(document, overrides_replace_add_and_erase) {
    Document document =
        Document::parse("d", R"({"layout": {"tensor": 4}, "tiers": [{"radix": 2}, {"radix": 3}], "zero": 1})");
    for (const auto* assignment : {"layout.tensor=8", "layout.order=tensor,data", "batch.micro=2", "tiers[1].radix=9",
                                   "tiers.0.radix=7", "zero=null", "model={\"layers\": [1, 2]}", "schedule=1f1b"}) {
        document.assign(assignment);
    }
    EXPECT_EQ(document.text(),
              R"({"layout":{"tensor":8,"order":"tensor,data"},"tiers":[{"radix":7},{"radix":9}],"zero":null,)"
              R"("batch":{"micro":2},"model":{"layers":[1,2]},"schedule":"1f1b"})");
    EXPECT_EQ(document.root().object("model").list("layers").at(1).as_whole(), 2U);
    EXPECT_FALSE(document.root().has("zero"));
}

TEST(document, an_override_takes_numbers_that_json_writes_otherwise) {
    Document document = Document::parse("d", "{}");
    for (const auto* assignment : {"a=.75", "b=+2", "c=1.", "d=-.5", "e=1f1b", "f=inf", "g=1.2.3", "h=.", "i=007"})
        document.assign(assignment);
    EXPECT_EQ(document.text(), R"({"a":0.75,"b":2,"c":1,"d":-0.5,"e":"1f1b","f":"inf","g":"1.2.3","h":".","i":"007"})");
}

TEST(document, a_mistake_in_an_override_says_so) {
    EXPECT_EQ(errors(R"({"layout": {"tensor": 4}})",
                     [](Field& root) {
                         Field layout = root.object("layout");
                         layout.count("tensor");
                         layout.done();
                     },
                     {"layout.tensor=none", "layout.pipelines=2"}),
              "--set: error: layout.pipelines: unknown key (this object accepts: tensor)\n"
              "--set: error: layout.tensor: expected an integer of at least 1, got \"none\"");
}

TEST(document, what_an_override_leaves_out_is_missing_in_the_document) {
    EXPECT_EQ(errors(R"({"layout": {"data": 2},
  "zero": 4})",
                     [](Field& root) {
                         root.object("batch").count("global");
                         root.object("layout").error("data", "too many");
                         root.error("zero", "too high");
                     },
                     {"batch.micro=2", "layout.data=null", "zero=5"}),
              "--set: error: zero: too high\n"
              "job.json:1:1: error: batch.global: missing (expected an integer of at least 1)\n"
              "job.json:1:12: error: layout.data: too many");
}

class impossible_override : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(impossible_override, is_refused_with_the_reason) {
    EXPECT_EQ(errors(R"({"model": 7, "tiers": [1, 2]})", [](Field&) {}, {GetParam().first}), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    document, impossible_override,
    ::testing::Values(std::pair("layout.tensor", "--set: error: layout.tensor: expected KEY.PATH=VALUE, got no \"=\""),
                      std::pair("=4", "--set: error: expected KEY.PATH=VALUE, got an empty key"),
                      std::pair("a..b=4", "--set: error: a..b: expected KEY.PATH=VALUE, got an empty key"),
                      std::pair("model.layers=4", "--set: error: model.layers: cannot be set: model is 7"),
                      std::pair("tiers.2=4", "--set: error: tiers: has no element \"2\": it is a list of 2"),
                      std::pair("tiers.x=4", "--set: error: tiers: has no element \"x\": it is a list of 2"),
                      std::pair("model={\"a\": 1, \"a\": 2}", "--set: error: model.a: duplicate key")));

TEST(document, text_round_trips_through_the_parser) {
    const std::string text = R"({"a":[1,2.50,-3e-7,"q\"\\é"],"b":{"c":null,"d":true},"e":{},"f":[]})";
    EXPECT_EQ(Document::parse("d", text).text(), text);
}

TEST(document, keys_come_in_document_order) {
    Document document = Document::parse("d", R"({"z": 1, "a": 2, "m": 3})");
    EXPECT_THAT(document.root().keys(), ElementsAre("z", "a", "m"));
}

TEST(document, a_root_of_the_wrong_kind_is_one_mistake) {
    EXPECT_EQ(errors("[1]", [](Field& root) { root.count("a"), root.text("b", "x"), root.object("c"), root.done(); }),
              "job.json:1:1: error: expected an object, got a list");
}

TEST(document, a_file_that_cannot_be_read_is_refused_with_the_reason) {
    const auto reason = [](const std::filesystem::path& path) {
        try {
            Document::read(path);
            return std::string();
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(reason("/no/such/job.json"), "/no/such/job.json: error: cannot be read: No such file or directory");
    EXPECT_EQ(reason("/tmp"), "/tmp: error: cannot be read: is a directory");
}

}  // namespace
}  // namespace weft
