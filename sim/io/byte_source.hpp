// A file read once from its beginning to its end, packed with gzip or not, or a text at hand: for inputs too long to
// hold. Offsets are those of the unpacked bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace weft {

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
