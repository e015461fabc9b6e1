// Real files of other tools, with the facts that must be found in each, where such samples lie beside the project.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

const std::filesystem::path& folder() {
    static const std::filesystem::path path = std::filesystem::path(WEFT_SOURCE_DIR) / "../shared/reference/samples";
    return path;
}

std::vector<json> cases() {
    std::ifstream file(folder() / "expected.json");
    if (!file) return {};
    const json all = json::parse(file);
    return {all.begin(), all.end()};
}

FormatOptions options_of(const json& arguments) {
    FormatOptions options;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const std::string name = arguments[i], value = arguments[i + 1];
        if (name == "--machine") options.machine = value;
        if (name == "--model") options.model = value;
        if (name == "--like" || name == "--node") options.like = value;
        if (name == "--nodes") options.nodes = static_cast<std::uint32_t>(std::stoul(value));
        if (name == "--vocabulary") options.vocabulary = static_cast<std::uint32_t>(std::stoul(value));
        if (name == "--set") options.overrides.push_back(value);
    }
    return options;
}

// "object.layout.tensor" of {"object": ..., "facts": ...}.
json at_path(const json& result, const std::string& path) {
    json::json_pointer pointer;
    const std::size_t dot = path.find('.');
    if (path.starts_with("facts.")) return result["facts"].value(path.substr(dot + 1), json());
    std::string step;
    for (const char c : path + ".") {
        if (c != '.') {
            step += c;
            continue;
        }
        pointer.push_back(step);
        step.clear();
    }
    return result.contains(pointer) ? result.at(pointer) : json();
}

json to_json(const Import& import) {
    json result{{"object", json::parse(import.object.json())}, {"facts", json::object()}};
    for (const FormatFact& fact : import.facts) result["facts"][fact.name] = json::parse(fact.json);
    return result;
}

void expect_facts(const json& facts, const Import& import) {
    const json result = to_json(import);
    for (const auto& [path, expected] : facts.items()) EXPECT_EQ(at_path(result, path), expected) << path;
}

void expect_notes(const json& keys, const Import& import) {
    for (const std::string key : keys) {
        const bool noted = std::ranges::any_of(import.notes, [&](const FormatNote& note) {
            return note.origin.key.find(key) != std::string::npos || note.message.find(key) != std::string::npos;
        });
        EXPECT_TRUE(noted) << key;
    }
}

bool may_exit_with(const json& entry, int code) {
    const json& exit = entry["exit"];
    return exit.is_array() ? std::ranges::find(exit, json(code)) != exit.end() : exit == code;
}

// What the samples call refused and is read since, with its parameters: Gemma 4 as transformers has it, but for three
// norms and scalars of each layer; Nemotron-H by the shapes of its modules.
const std::map<std::string, std::uint64_t> read_since{
    {"huggingface/gemma-4-26b-a4b.config.json", 25'232'800'000},
    {"huggingface/nemotron-h-56b.config.json", 56'324'350'464},
};

void run_case(const json& entry) {
    std::vector<std::string> paths;
    const json files = entry.contains("files") ? entry["files"] : json::array({entry["file"]});
    for (const std::string file : files) paths.push_back((folder() / file).string());
    // Recognised, and refused by name; what can be replayed is read.
    const std::string first = entry["file"];
    const bool read = first.starts_with("chakra/") || first.starts_with("goal/") || first.starts_with("kineto/");
    const bool trace = entry["kind"] == "trace" && !read;
    std::string refusal;
    try {
        const std::vector<SourceFile> sources = read_sources(paths);
        const Import import =
            import_files(format_of(sources, ""), sources, options_of(entry.value("args", json::array())));
        if (const auto since = read_since.find(first); since != read_since.end()) {
            EXPECT_EQ(to_json(import)["facts"]["parameters"], since->second);
            return;
        }
        EXPECT_TRUE(!trace && may_exit_with(entry, 0));
        EXPECT_EQ(to_text(import.kind), entry["kind"].get<std::string>());
        expect_facts(entry.value("facts", json::object()), import);
        expect_notes(entry.value("notes", json::array()), import);
        return;
    } catch (const ConfigError& error) {
        refusal = error.what();
    }
    EXPECT_TRUE(trace || may_exit_with(entry, 3)) << refusal;
    EXPECT_EQ(refusal.find("no known format"), std::string::npos) << refusal;
    for (const std::string word : entry.value("stderr", json::array())) {
        EXPECT_NE(refusal.find(word), std::string::npos) << word << " is not in: " << refusal;
    }
}

// WEFT_SAMPLES=PART runs the cases whose file has PART in its name.
TEST(formats, what_real_files_say_is_found) {
    if (!std::filesystem::exists(folder() / "expected.json")) GTEST_SKIP() << "no samples beside the project";
    const char* const part = std::getenv("WEFT_SAMPLES");
    for (const json& entry : cases()) {
        const std::string file = entry["file"];
        if (part != nullptr && file.find(part) == std::string::npos) continue;
        SCOPED_TRACE(file);
        run_case(entry);
    }
}

}  // namespace
}  // namespace weft
