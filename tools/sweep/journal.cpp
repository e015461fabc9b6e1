#include "tools/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace weft {

std::filesystem::path Journal::path_of(const std::filesystem::path& out) {
    std::filesystem::path path = out;
    return path += ".journal";
}

Journal::Journal(const std::filesystem::path& out, const RowHeader& header, Resume resume) : path_(path_of(out)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse("cannot be written: " + std::generic_category().message(errno));
    try {
        // Not every file system of a cluster has locks; then there is none.
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            refuse("another sweep is writing it");
        }
        take_over(header, resume);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

Journal::~Journal() {
    (void)::fdatasync(descriptor_);  // what failed to reach the disk is done again
    ::close(descriptor_);
}

void Journal::take_over(const RowHeader& header, Resume resume) {
    RowFile found = read_row_file(path_);
    if (!found.rows.empty()) {
        if (found.header.inputs != header.inputs) {
            refuse("is of other inputs (" + header.inputs.difference(found.header.inputs) +
                   "); remove it to begin anew");
        }
        if (found.header.shard != header.shard) {
            refuse(fmt::format("is of shard {}/{}", found.header.shard.number, found.header.shard.of));
        }
        if (resume == Resume::no) {
            refuse(
                fmt::format("has {} of {} rows of a sweep that was not finished: --resume goes on with it, and "
                            "without the file the sweep begins anew",
                            found.rows.size(), rows_of(found.header.points, found.header.shard)));
        }
    }
    const bool is_ours = found.whole_bytes > 0 && header_line(found.header) == header_line(header);
    if (::ftruncate(descriptor_, is_ours ? static_cast<off_t>(found.whole_bytes) : 0) != 0) {
        refuse("cannot be written: " + std::generic_category().message(errno));
    }
    if (!is_ours) write(header_line(header));
    sync();
    if (is_ours && !found.damaged.empty()) {
        fmt::print(stderr, "{}\n{} rows are whole, {} lines are not: their rows are done again\n",
                   ConfigError(found.damaged).what(), found.rows.size(), found.damaged.size());
    }
    done_ = std::move(found.rows);
}

// A file system that cannot sync has to be trusted.
void Journal::sync() {
    synced_ = std::chrono::steady_clock::now();
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) {
        refuse("cannot be written: " + std::generic_category().message(errno));
    }
}

void Journal::add(std::size_t number, const Row& row) {
    write(row_line(number, row));
    if (std::chrono::steady_clock::now() - synced_ > std::chrono::seconds(1)) sync();
}

void Journal::write(std::string_view line) {
    while (!line.empty()) {
        const ssize_t written = ::write(descriptor_, line.data(), line.size());
        if (written >= 0) {
            line.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            refuse("cannot be written: " + std::generic_category().message(errno));
        }
    }
}

void Journal::remove() {
    std::error_code ignored;  // a journal that stays is in nobody's way: the next sweep says whose it is
    std::filesystem::remove(path_, ignored);
}

void Journal::refuse(const std::string& reason) const { throw std::runtime_error(path_.string() + " " + reason); }

}  // namespace weft
