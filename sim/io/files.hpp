// Files, read as one text and written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace weft {

// What people write is shorter by far: longer ones are given by mistake, and a device may never end.
inline constexpr std::size_t longest_input = std::size_t{64} << 20;

// A gzip file as what it holds. Throws ConfigError: unreadable, or of more than `most` bytes.
std::string read_text(const std::filesystem::path& path, std::size_t most = longest_input);

// Writes a whole file or nothing: to a temporary beside it, then rename. Where the system has files without names, the
// temporary gets one only when it is whole, and where there is no file yet at once the right one: of a process that is
// killed nothing is left, but for a whole file beside the old one in the instant before it takes its place. Throws
// std::runtime_error with the reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// The same piece by piece, for content too long to hold. Nothing is left behind unless commit() is reached.
class AtomicFile {
  public:
    explicit AtomicFile(std::filesystem::path path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(std::string_view piece);
    void commit();

  private:
    [[noreturn]] void refuse(int error);
    void abandon();

    std::filesystem::path path_;    // as asked for
    std::filesystem::path target_;  // what the rename replaces
    std::filesystem::path part_;    // empty: a pipe or device, written to directly, or no name yet
    bool is_nameless_ = false;      // until it is whole
    int descriptor_ = -1;           // -1: closed
};

}  // namespace weft
