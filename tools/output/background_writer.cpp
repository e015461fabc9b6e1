#include "tools/output/background_writer.hpp"

#include <zlib.h>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

namespace {

// A gzip file piece by piece, without name and date: the same text gives the same bytes.
class GzipStream {
  public:
    GzipStream() {
        constexpr int gzip_header = 16;  // added to the window size, see deflateInit2 in zlib.h
        const int ready = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header,
                                       MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
        WEFT_CHECK(ready == Z_OK, "zlib cannot start");
    }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    ~GzipStream() { deflateEnd(&stream_); }

    // Until zlib has taken all of `text` and, at the end, given all that it holds.
    std::string pack(std::string_view text, int flush) {
        std::string packed;
        std::string block(std::size_t{1} << 18, '\0');
        int state = Z_OK;
        do {
            const std::size_t piece = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
            stream_.next_in =
                const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // zlib does not write it
            stream_.avail_in = static_cast<uInt>(piece);
            stream_.next_out = reinterpret_cast<Bytef*>(block.data());
            stream_.avail_out = static_cast<uInt>(block.size());
            state = deflate(&stream_, piece == text.size() ? flush : Z_NO_FLUSH);
            WEFT_CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, "zlib cannot go on");
            text.remove_prefix(piece - stream_.avail_in);
            packed.append(block, 0, block.size() - stream_.avail_out);
        } while (!text.empty() || stream_.avail_out == 0 || (flush == Z_FINISH && state == Z_OK));
        WEFT_CHECK(flush != Z_FINISH || state == Z_STREAM_END, "zlib cannot finish");
        return packed;
    }

  private:
    z_stream stream_{};
};

}  // namespace

BackgroundWriter::BackgroundWriter(const std::filesystem::path& path)
    : file_(path), thread_([this, packs = path.extension() == ".gz"] { work(packs); }) {}

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

void BackgroundWriter::work(bool packs) {
    std::unique_lock lock(mutex_);
    if (!packs) return write_waiting(lock, [&](std::string_view block) { file_.write(block); });
    GzipStream gzip;
    write_waiting(lock, [&](std::string_view block) { file_.write(gzip.pack(block, Z_NO_FLUSH)); });
    try {
        if (!failure_) file_.write(gzip.pack({}, Z_FINISH));
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
