// What tests of topology formats share.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

inline FormatOptions like(std::string machine, std::uint32_t nodes = 0) {
    FormatOptions options;
    options.like = std::move(machine);
    options.nodes = nodes;
    return options;
}

struct NodeImport {
    explicit NodeImport(const std::string& text, FormatOptions options = {}, const std::string& path = "node.txt")
        : files{{path, text}}, import(import_files(format_of(files, ""), files, options)) {
        for (const FormatFact& fact : import.facts) facts[fact.name] = nlohmann::json::parse(fact.json);
        object = nlohmann::json::parse(import.object.json());
    }
    bool has_note(FormatNote::Severity severity, std::string_view words) const {
        for (const FormatNote& note : import.notes) {
            if (note.severity == severity && note.message.find(words) != std::string::npos) return true;
        }
        return false;
    }
    Machine machine() const { return Machine::read(import.object.document(files.front().path)); }

    std::vector<SourceFile> files;
    Import import;
    nlohmann::json facts = nlohmann::json::object();
    nlohmann::json object;
};

inline std::string seed(const std::string& name) {
    std::ifstream file(WEFT_SOURCE_DIR "/tests/workloads/formats/seeds/" + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The mistakes of a text that is no node; empty: it is one.
inline std::string refusal_of_node(const std::string& text, const FormatOptions& options = {}) {
    try {
        NodeImport(text, options);
        return {};
    } catch (const ConfigError& error) {
        return error.what();
    }
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

}  // namespace weft
