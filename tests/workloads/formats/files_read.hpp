// Files of another tool as they are read: what is made of them, or what they are refused with, and what is said of
// keys.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft::test {

struct FilesRead {
    std::string refusal{};  // empty: they are taken
    nlohmann::json made{};
    std::map<std::string, nlohmann::json> facts{};
    std::vector<std::string> notes{};           // as compilers say them
    std::vector<std::string> without_effect{};  // keys
};

inline FilesRead files_read(const std::vector<SourceFile>& files, const FormatOptions& options = {}) {
    FilesRead read;
    try {
        const Import import = import_files(format_of(files, ""), files, options);
        read.made = nlohmann::json::parse(import.object.json());
        for (const FormatFact& fact : import.facts) read.facts[fact.name] = nlohmann::json::parse(fact.json);
        for (const FormatNote& note : import.notes) read.notes.push_back(to_text(note));
        for (const Origin& origin : import.without_effect) read.without_effect.push_back(origin.key);
    } catch (const ConfigError& error) {
        read.refusal = error.what();
    }
    return read;
}

}  // namespace weft::test
