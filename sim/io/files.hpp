// Files, read as one text and written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
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

// A file read once from its beginning to its end, packed with gzip or not, or a text at hand: for inputs too long to
// hold. Offsets are those of the unpacked bytes.
class ByteSource {
  public:
    // Unpacked, of one file: a packed file of a few megabytes may otherwise go on for days.
    static constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30U;

    explicit ByteSource(const std::filesystem::path& path);  // throws ConfigError if it cannot be read
    ByteSource(std::string name, std::string_view text);     // which must outlive this
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    const std::string& name() const { return name_; }
    std::uint64_t offset() const { return offset_; }
    // The next bytes: `count`, unless the file ends before. Good until the next call. Throws ConfigError: unreadable, a
    // gzip file that is not whole, or more than most_bytes.
    std::string_view peek(std::size_t count);
    void skip(std::size_t count);                         // no more than were peeked
    [[noreturn]] void refuse(std::string message) const;  // a ConfigError of this file

  private:
    struct Opened;
    void fill(std::size_t count);

    std::string name_;
    std::unique_ptr<Opened> opened_;  // none: all is in rest_
    std::string buffer_;              // what was read and not skipped
    std::string_view rest_;           // of buffer_, or of the text
    std::uint64_t offset_ = 0;
};

}  // namespace weft
