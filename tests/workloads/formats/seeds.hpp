// Small valid files of other tools, one or more of each format and named after it, and how they are read.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft::test {

struct FormatSeed {
    const Format* format;
    SourceFile file;
};

// By path.
inline std::vector<FormatSeed> format_seeds() {
    const auto underscored = [](std::string text) {
        std::ranges::replace(text, '-', '_');
        return text;
    };
    std::vector<FormatSeed> found;
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_TEST_DATA "/workloads/formats/seeds")) {
        for (const Format* const format : formats::all()) {
            if (underscored(entry.path().stem().string()) != underscored(std::string(format->name))) continue;
            std::ostringstream text;
            text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            found.push_back({format, {entry.path().string(), text.str()}});
        }
    }
    std::ranges::sort(found, {}, [](const FormatSeed& seed) { return seed.file.path; });
    return found;
}

inline FormatOptions seed_options() {
    return {.machine = "dgx-h100",
            .nodes = 2,
            .model = "gpt-neox-125m",
            .vocabulary = 50257,
            .like = "dgx-h100",
            .variables = {},
            .overrides = {}};
}

}  // namespace weft::test
