#include "sim/io/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/io/diagnostics.hpp"

namespace weft {

std::string read_text(const std::filesystem::path& path, std::size_t most) {
    ByteSource source(path);
    std::string text(source.peek(most + 1));
    if (text.size() > most) source.refuse(fmt::format("has more than {} MiB: not an input", most >> 20));
    return text;
}

namespace {

// Calls make(name) with names beside `path` until one is free. Returns what it returned: negative, with errno, if it
// failed.
template <class Make>
int make_beside(const std::filesystem::path& path, std::filesystem::path& name, Make make) {
    for (int attempt = 0;; ++attempt) {
        name = path;
        name += "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".part";
        const int result = make(name.c_str());
        if (result >= 0 || errno != EEXIST) return result;
    }
}

std::string link_to(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// A file without a name in the folder of `path`; -1 where the system has none, or could not name it later.
int open_nameless(const std::filesystem::path& path, ::mode_t mode) {
#ifdef O_TMPFILE
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const int descriptor = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    if (descriptor < 0 || ::access(link_to(descriptor).c_str(), F_OK) == 0) return descriptor;
    ::close(descriptor);
#endif
    return -1;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path_, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        // A pipe or device (/dev/stdout) is written to, not replaced.
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
        // A symbolic link stays one: its target is replaced.
        const bool replaces = std::filesystem::exists(status);
        target_ = replaces ? std::filesystem::canonical(path_) : path_;
        const auto mode = replaces ? static_cast<::mode_t>(status.permissions()) & 0777U : 0666U;
        descriptor_ = open_nameless(target_, mode);
        is_nameless_ = descriptor_ >= 0;
        if (!is_nameless_) {
            descriptor_ = make_beside(target_, part_, [mode](const char* name) {
                return ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            });
        }
        // The mode of what is replaced, whatever the umask; where files have no modes, as they come.
        if (replaces && descriptor_ >= 0 && ::fchmod(descriptor_, mode) != 0 && errno != EPERM) refuse(errno);
    }
    if (descriptor_ >= 0) return;
    part_.clear();
    refuse(errno);
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::write(std::string_view piece) {
    while (!piece.empty()) {
        const ssize_t written = ::write(descriptor_, piece.data(), piece.size());
        if (written >= 0) {
            piece.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            refuse(errno);
        }
    }
}

void AtomicFile::commit() {
    if (std::exchange(is_nameless_, false)) {
        const std::string link = link_to(descriptor_);
        const auto give = [&link](const char* name) {
            return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
        };
        // A name that nobody has needs no other one before.
        if (give(target_.c_str()) != 0 && make_beside(target_, part_, give) < 0) {
            const int error = errno;
            part_.clear();
            refuse(error);
        }
    }
    if (::close(std::exchange(descriptor_, -1)) != 0) refuse(errno);
    if (part_.empty()) return;
    if (::rename(part_.c_str(), target_.c_str()) != 0) refuse(errno);
    part_.clear();
}

void AtomicFile::refuse(int error) {
    abandon();
    throw std::runtime_error("cannot write " + path_.string() + ": " + std::generic_category().message(error));
}

void AtomicFile::abandon() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    if (!part_.empty()) ::unlink(part_.c_str());
    part_.clear();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
    AtomicFile file(path);
    file.write(content);
    file.commit();
}

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
