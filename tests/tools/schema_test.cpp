// `weft schema`: the reference and the schemas know every key that a reader asks for, and nothing else.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"
#include "tests/tools/program.hpp"
#include "tools/schema/reference.hpp"
#include "workloads/framework/framework.hpp"

namespace weft {
namespace {

using nlohmann::json;

class schema : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(, schema, testing::ValuesIn(reference_kinds()), [](const auto& kind) { return kind.param; });

TEST_P(schema, every_key_has_a_meaning_and_every_meaning_a_key) {
    const Reference reference = make_reference(GetParam());
    std::set<std::string> meant;
    for (const auto& [path, record] : every_key(reference)) {
        const std::size_t place = reference.place_of_meaning(path);
        ASSERT_LT(place, reference.meanings.size())
            << "no row of a " << GetParam() << " says what this means: " << path;
        meant.insert(reference.meanings[place].first);
    }
    for (const auto& [key, text] : reference.meanings) {
        EXPECT_TRUE(meant.contains(key)) << "no reader asks for " << key;
        EXPECT_FALSE(text.empty()) << key;
    }
}

TEST_P(schema, every_key_is_read_in_some_shipped_file_or_example) {
    const Reference reference = make_reference(GetParam());
    for (const auto& [path, record] : every_key(reference)) {
        const bool known = !record->takes.empty() || record->element != nullptr || record->any != nullptr ||
                           !record->objects.empty() || reference.others.contains(path);
        EXPECT_TRUE(known) << "tools/schema/examples has no " << GetParam() << " with " << path;
    }
}

void read_text(const std::string& kind, const std::string& text) { read_as(kind, Document::parse("file.json", text)); }

// The objects of a document, as pointers, and the same without the numbers of lists' elements.
void find_objects(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& found) {
    if (value.is_object()) found.push_back(at);
    for (const auto& [key, inner] : value.items()) {
        if (inner.is_structured()) {
            find_objects(inner, value.is_array() ? at / std::stoul(key) : at / key, found);
        }
    }
}

std::string shape_of(const json::json_pointer& at) {
    std::string shape;
    for (const char c : at.to_string()) shape += c >= '0' && c <= '9' ? '#' : c;
    return shape;
}

TEST_P(schema, readers_refuse_a_wrong_key_in_each_object) {
    std::set<std::string> seen;
    for (const embedded::File& file : files_of(GetParam())) {
        const json document = json::parse(file.text, nullptr, true, /*ignore_comments=*/true);
        std::vector<json::json_pointer> objects;
        find_objects(document, json::json_pointer(), objects);
        for (const json::json_pointer& at : objects) {
            const bool by_kind = at.empty() || document[at].contains("kind");
            if (!seen.insert(shape_of(at) + (by_kind ? std::string(file.name) : "")).second) continue;
            json wrong = document;
            wrong[at]["no such key"] = true;
            EXPECT_THROW(read_text(GetParam(), wrong.dump()), ConfigError) << file.path << " " << at.to_string();
        }
    }
    EXPECT_GT(seen.size(), 2U);
}

TEST_P(schema, readers_pass_over_the_name_of_a_schema_at_the_root_only) {
    const embedded::File file = files_of(GetParam()).front();
    json document = json::parse(file.text, nullptr, true, /*ignore_comments=*/true);
    document["$schema"] = "weft.schema.json";
    EXPECT_NO_THROW(read_text(GetParam(), document.dump()));
    document.erase("$schema");
    for (auto& [key, inner] : document.items()) {
        if (!inner.is_object()) continue;
        inner["$schema"] = "weft.schema.json";
        EXPECT_THROW(read_text(GetParam(), document.dump()), ConfigError) << key;
        break;
    }
}

TEST_P(schema, is_json_and_closed) {
    const json printed = json::parse(json_schema(make_reference(GetParam())));
    std::vector<json::json_pointer> objects;
    find_objects(printed, json::json_pointer(), objects);
    for (const json::json_pointer& at : objects) {
        const json& part = printed[at];
        if (!part.contains("type") || part["type"] != "object") continue;
        EXPECT_TRUE(part.contains("additionalProperties") || part.contains("allOf")) << at.to_string();
    }
}

TEST(schema_command, names_the_kinds_of_files_it_knows) {
    const test::Ran ran = test::run_weft("schema tuner");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("device, job, machine, model"), std::string::npos) << ran.err;
}

TEST(schema_command, has_examples_that_check_passes) {
    int jobs = 0;
    for (const embedded::File& file : embedded::schema_examples()) {
        if (!file.name.starts_with("job") && !file.name.starts_with("machine")) continue;
        const test::Ran ran = test::run_weft("check " + std::string(WEFT_SOURCE_DIR "/") + std::string(file.path));
        EXPECT_EQ(ran.exit_code, 0) << file.path << ran.err;
        if (file.name.starts_with("job")) ++jobs;
    }
    EXPECT_GE(jobs, static_cast<int>(framework_names().size()));
}

TEST(schema_command, says_what_readers_know) {
    const json job = json::parse(test::run_weft("schema job").out);
    EXPECT_EQ(job["properties"]["zero"], json::parse(R"({"type": "integer", "minimum": 0, "default": 0,
        "description": "ZeRO stage, 0 to 3; under Megatron 1 is the distributed optimizer"})"));
    EXPECT_EQ(job["required"], json::parse(R"(["machine", "model", "batch"])"));
    const json device = json::parse(test::run_weft("schema device").out);
    EXPECT_EQ(device["if"]["required"], json::parse(R"(["extends"])"));
    EXPECT_TRUE(device["else"]["else"]["properties"]["fitted"].contains("required"));
    EXPECT_FALSE(device["else"]["then"]["properties"]["fitted"].contains("required"));
    const json machine = json::parse(test::run_weft("schema machine").out);
    EXPECT_EQ(machine["else"]["properties"]["network"]["allOf"].size(), 5U);
}

}  // namespace
}  // namespace weft
