#include "tools/output/background_writer.hpp"

#include <string_view>
#include <utility>

#include "tools/output/gzip.hpp"

namespace weft {

BackgroundWriter::BackgroundWriter(const std::filesystem::path& path, Packing packing)
    : file_(path), thread_([this, packing] { work(packing); }) {}

BackgroundWriter::~BackgroundWriter() { close(); }

std::string BackgroundWriter::exchange(std::string full) {
    const std::size_t size = full.size();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < most_waiting; });
    waiting_.push_back(std::move(full));
    std::string empty;
    if (!used_.empty()) {
        empty = std::move(used_.back());
        used_.pop_back();
    }
    lock.unlock();
    changed_.notify_all();
    if (empty.size() < size) empty.resize(size);
    return empty;
}

void BackgroundWriter::commit() {
    close();
    if (failure_) std::rethrow_exception(failure_);
    file_.commit();
}

void BackgroundWriter::close() {
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void BackgroundWriter::work(Packing packing) {
    std::unique_lock lock(mutex_);
    if (packing == Packing::none) return write_waiting(lock, [&](std::string_view block) { file_.write(block); });
    GzipStream gzip;
    write_waiting(lock, [&](std::string_view block) { file_.write(gzip.add(block)); });
    try {
        if (!failure_) file_.write(gzip.finish());
    } catch (...) {
        failure_ = std::current_exception();
    }
}

// Until no more will come.
void BackgroundWriter::write_waiting(std::unique_lock<std::mutex>& lock, auto write) {
    for (;;) {
        changed_.wait(lock, [this] { return !waiting_.empty() || is_closed_; });
        if (waiting_.empty()) return;
        std::string block = std::move(waiting_.front());
        waiting_.erase(waiting_.begin());
        const bool is_wanted = !failure_;
        lock.unlock();
        changed_.notify_all();
        std::exception_ptr failure;
        try {
            if (is_wanted) write(std::string_view(block));
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure) failure_ = failure;
        used_.push_back(std::move(block));
    }
}

}  // namespace weft
