#include "tools/output/text_stream.hpp"

#include <zlib.h>
#include <algorithm>
#include <cstddef>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {

// A gzip file piece by piece, without name and date: the same text gives the same bytes.
class BackgroundWriter::GzipStream {
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

BackgroundWriter::BackgroundWriter(const std::filesystem::path& path) : file_(path) {
    if (path.extension() == ".gz") gzip_ = std::make_unique<GzipStream>();
}

BackgroundWriter::~BackgroundWriter() = default;

std::string BackgroundWriter::exchange(std::string full) {
    std::string before = written();
    if (failure_) return before;
    under_way_ = std::async(std::launch::async, [this, block = std::move(full)]() mutable {
        gzip_ ? file_.write(gzip_->pack(block, Z_NO_FLUSH)) : file_.write(block);
        return std::move(block);
    });
    return before;
}

void BackgroundWriter::commit() {
    written();
    if (failure_) std::rethrow_exception(failure_);
    if (gzip_) file_.write(gzip_->pack({}, Z_FINISH));
    file_.commit();
}

std::string BackgroundWriter::written() {
    try {
        if (under_way_.valid()) return under_way_.get();
    } catch (...) {
        failure_ = std::current_exception();
    }
    return {};
}

}  // namespace weft
