#include "tools/output/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {

std::string gzip(std::string_view text) {
    z_stream stream{};
    constexpr int gzip_header = 16;  // added to the window size, see deflateInit2 in zlib.h
    const int ready = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header, MAX_MEM_LEVEL,
                                   Z_DEFAULT_STRATEGY);
    WEFT_CHECK(ready == Z_OK, "zlib cannot start");
    std::string packed;
    std::string block(std::size_t{1} << 18, '\0');
    int state = Z_OK;
    while (state == Z_OK) {
        const std::size_t piece = std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
        stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // zlib does not write to it
        stream.avail_in = static_cast<uInt>(piece);
        stream.next_out = reinterpret_cast<Bytef*>(block.data());
        stream.avail_out = static_cast<uInt>(block.size());
        state = deflate(&stream, piece == text.size() ? Z_FINISH : Z_NO_FLUSH);
        text.remove_prefix(piece - stream.avail_in);
        packed.append(block, 0, block.size() - stream.avail_out);
    }
    deflateEnd(&stream);
    WEFT_CHECK(state == Z_STREAM_END, "zlib cannot finish");
    return packed;
}

}  // namespace weft
