// Runs the built program as a user would.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace weft::test {

struct Ran {
    int exit_code = -1;
    std::string out, err;
};

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// `weft <arguments>` in `folder`; arguments go through the shell.
inline Ran run_weft(const std::string& arguments, const std::filesystem::path& folder = WEFT_SOURCE_DIR) {
    std::array<char, 32> name{"/tmp/weft-test-XXXXXX"};
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) return {};
    close(descriptor);
    const std::string command =
        "cd '" + folder.string() + "' && '" WEFT_PROGRAM "' " + arguments + " 2>" + name.data() + " </dev/null";
    Ran ran;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return ran;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        ran.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ran.err = read_file(name.data());
    std::filesystem::remove(name.data());
    return ran;
}

}  // namespace weft::test
