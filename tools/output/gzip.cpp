#include "tools/output/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {

struct GzipStream::State {
    z_stream stream{};

    // Until zlib has taken all of `text` and, at the end, given all that it holds.
    std::string pack(std::string_view text, int flush) {
        std::string packed;
        std::string block(std::size_t{1} << 18, '\0');
        int state = Z_OK;
        do {
            const std::size_t piece = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
            stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // zlib does not write it
            stream.avail_in = static_cast<uInt>(piece);
            stream.next_out = reinterpret_cast<Bytef*>(block.data());
            stream.avail_out = static_cast<uInt>(block.size());
            state = deflate(&stream, piece == text.size() ? flush : Z_NO_FLUSH);
            WEFT_CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, "zlib cannot go on");
            text.remove_prefix(piece - stream.avail_in);
            packed.append(block, 0, block.size() - stream.avail_out);
        } while (!text.empty() || stream.avail_out == 0 || (flush == Z_FINISH && state == Z_OK));
        WEFT_CHECK(flush != Z_FINISH || state == Z_STREAM_END, "zlib cannot finish");
        return packed;
    }
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
    constexpr int gzip_header = 16;  // added to the window size, see deflateInit2 in zlib.h
    const int ready = deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header,
                                   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    WEFT_CHECK(ready == Z_OK, "zlib cannot start");
}

GzipStream::~GzipStream() { deflateEnd(&state_->stream); }

std::string GzipStream::add(std::string_view piece) { return state_->pack(piece, Z_NO_FLUSH); }

std::string GzipStream::finish() { return state_->pack({}, Z_FINISH); }

std::string gzip(std::string_view text) {
    GzipStream stream;
    std::string packed = stream.add(text);
    return packed += stream.finish();
}

}  // namespace weft
