#include "sim/io/byte_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {

struct ByteSource::Opened {
    explicit Opened(gzFile opened) : file(opened) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() { gzclose(file); }

    gzFile file;
    bool is_over = false;
};

ByteSource::ByteSource(const std::filesystem::path& path) : name_(path.string()) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) refuse("cannot be read: is a directory");
    const gzFile file = gzopen(name_.c_str(), "rb");  // reads files that are not packed as they are
    if (file == nullptr) refuse("cannot be read: " + std::generic_category().message(errno));
    gzbuffer(file, 1U << 17U);
    opened_ = std::make_unique<Opened>(file);
}

ByteSource::ByteSource(std::string name, std::string_view text) : name_(std::move(name)), rest_(text) {}

ByteSource::~ByteSource() = default;

void ByteSource::refuse(std::string message) const {
    throw ConfigError({{.file = name_, .key = {}, .message = std::move(message)}});
}

std::string_view ByteSource::peek(std::size_t count) {
    if (rest_.size() < count && opened_ && !opened_->is_over) fill(count);
    return rest_.substr(0, count);
}

void ByteSource::skip(std::size_t count) {
    rest_.remove_prefix(count);
    offset_ += count;
}

void ByteSource::fill(std::size_t count) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    buffer_.erase(0, buffer_.size() - rest_.size());
    while (buffer_.size() < count && !opened_->is_over) {
        const std::size_t before = buffer_.size();
        if (offset_ + before > most_bytes) {
            refuse(fmt::format("has more than {} MiB unpacked: not an input", most_bytes >> 20U));
        }
        buffer_.resize(before + piece);
        const int read = gzread(opened_->file, buffer_.data() + before, static_cast<unsigned>(piece));
        buffer_.resize(before + static_cast<std::size_t>(std::max(read, 0)));
        if (read == static_cast<int>(piece)) continue;
        opened_->is_over = true;
        int problem = Z_OK;
        gzerror(opened_->file, &problem);
        if (problem == Z_ERRNO) refuse("cannot be read to its end");
        if (problem != Z_OK && problem != Z_STREAM_END) {
            refuse(fmt::format("is no whole gzip file: it ends, or is damaged, after {} unpacked bytes",
                               offset_ + buffer_.size()));
        }
    }
    rest_ = buffer_;
}

}  // namespace weft
