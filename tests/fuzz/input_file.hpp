// Inputs that are read from files.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace weft::test {

// The path of a file with this text. There is one of each name.
inline std::string file_of(const std::string& name, const std::string& text) {
    static const TemporaryFolder folder;
    const std::string path = (folder.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

}  // namespace weft::test
