#include "sim/io/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string message) {
    throw ConfigError({{.file = path.string(), .key = {}, .message = std::move(message)}});
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) refuse(path, "cannot be read: is a directory");
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read: " + std::generic_category().message(errno));
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) refuse(path, "cannot be read to its end");
    return text;
}

}  // namespace weft
