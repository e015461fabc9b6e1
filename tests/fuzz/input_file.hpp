// Inputs that are read from files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace weft::test {

// The path of a file with this text, in place of the one before. None is used twice: what is kept between cases goes by
// path.
inline std::string file_of(const std::string& name, const std::string& text) {
    static const TemporaryFolder folder;
    static std::uint64_t number = 0;
    static std::filesystem::path path;
    std::filesystem::remove(path);
    path = folder.path() / (std::to_string(++number) + "-" + name);
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
}

}  // namespace weft::test
