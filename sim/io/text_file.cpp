#include "sim/io/text_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string message) {
    throw ConfigError({{.file = path.string(), .key = {}, .message = std::move(message)}});
}

[[noreturn]] void refuse_long(const std::filesystem::path& path, std::size_t most) {
    refuse(path, fmt::format("has more than {} MiB: not an input", most >> 20));
}

bool is_gzip(std::string_view text) { return text.starts_with("\x1f\x8b"); }

std::string unpacked(const std::filesystem::path& path, std::string packed, std::size_t most) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    if (inflateInit2(&stream, gzip_window) != Z_OK) refuse(path, "cannot be unpacked");
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string text;
    std::array<char, 1 << 16> piece{};
    int status = Z_OK;
    while (status == Z_OK && text.size() <= most) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = piece.size();
        status = inflate(&stream, Z_NO_FLUSH);
        text.append(piece.data(), piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (text.size() > most) refuse_long(path, most);
    if (status != Z_STREAM_END) refuse(path, "is no whole gzip file");
    return text;
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
        if (text.size() > most) refuse_long(path, most);
    }
    if (file.bad()) refuse(path, "cannot be read to its end");
    if (is_gzip(text)) return unpacked(path, std::move(text), most);
    return text;
}

}  // namespace weft
