// Writes a whole file or nothing: to a temporary beside it, then rename. Where the system has files without names, the
// temporary gets one only when it is whole, so that nothing is left of it even if the process is killed. Throws
// std::runtime_error with the reason.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft {

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
