#include "sim/io/text_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string message) {
    throw ConfigError({{.file = path.string(), .key = {}, .message = std::move(message)}});
}

}  // namespace

std::string read_text(const std::filesystem::path& path, std::size_t most) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) refuse(path, "cannot be read: is a directory");
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(path, "cannot be read: " + std::generic_category().message(errno));
    std::string text;
    std::array<char, 1 << 16> piece{};
    while (file.read(piece.data(), piece.size()), file.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > most) refuse(path, fmt::format("has more than {} MiB: not an input", most >> 20));
    }
    if (file.bad()) refuse(path, "cannot be read to its end");
    return text;
}

}  // namespace weft
