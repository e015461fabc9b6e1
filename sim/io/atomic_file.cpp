#include "sim/io/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace weft {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, int error) {
    throw std::runtime_error("cannot write " + path.string() + ": " + std::generic_category().message(error));
}

// Writes everything and closes; the errno of what failed, or 0.
int write_and_close(int descriptor, std::string_view content) {
    int error = 0;
    while (error == 0 && !content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written >= 0) {
            content.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (::close(descriptor) != 0 && error == 0) error = errno;
    return error;
}

// A new file beside `path` that no other writer uses.
int open_beside(const std::filesystem::path& path, std::filesystem::path& name) {
    for (int attempt = 0;; ++attempt) {
        name = path;
        name += "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".part";
        const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        // A pipe or device (/dev/stdout) is written to, not replaced.
        const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        const int error = descriptor < 0 ? errno : write_and_close(descriptor, content);
        if (error != 0) refuse(path, error);
        return;
    }
    // A symbolic link stays one: its target is replaced.
    const std::filesystem::path target = std::filesystem::exists(status) ? std::filesystem::canonical(path) : path;
    std::filesystem::path part;
    const int descriptor = open_beside(target, part);
    if (descriptor < 0) refuse(path, errno);
    int error = write_and_close(descriptor, content);
    if (error == 0 && ::rename(part.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return;
    ::unlink(part.c_str());
    refuse(path, error);
}

}  // namespace weft
