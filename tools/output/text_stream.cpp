#include "tools/output/text_stream.hpp"

#include <zlib.h>
#include <algorithm>
#include <cstddef>

#include "sim/base/check.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

using namespace std::string_view_literals;

// A gzip file (RFC 1952) of blocks that are packed each by itself: threads share them, and the same text in the same
// blocks gives the same bytes. Without name and date, of a Unix.
constexpr std::string_view gzip_header = "\x1f\x8b\x08\0\0\0\0\0\0\x03"sv;
constexpr std::string_view last_block = "\x03\0"sv;  // of deflate: empty, and the end
constexpr int level = 3;                             // a third of the default's time, for an eighth more bytes

// A block as a part of a deflate stream that ends with a byte, where the next part may follow.
std::string deflated(std::string_view block) {
    z_stream stream{};
    const int ready = deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    WEFT_CHECK(ready == Z_OK, "zlib cannot start");
    constexpr std::size_t end_of_part = 16;  // at most: what is begun, and an empty block
    std::string packed(deflateBound(&stream, block.size()) + end_of_part, '\0');
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(block.data()));  // zlib does not write it
    stream.avail_in = static_cast<uInt>(block.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int state = deflate(&stream, Z_SYNC_FLUSH);
    deflateEnd(&stream);
    WEFT_CHECK(state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0, "zlib cannot go on");
    packed.resize(packed.size() - stream.avail_out);
    return packed;
}

void add_number(std::string& text, std::uint32_t number) {  // the lowest byte first
    for (unsigned shift = 0; shift < 32; shift += 8) text += static_cast<char>(number >> shift & 0xffU);
}

}  // namespace

TextStream::TextStream(const std::filesystem::path& path, std::size_t block)
    : block_(block), file_(path), is_packed_(path.extension() == ".gz") {
    if (is_packed_) file_.write(gzip_header);
}

void TextStream::hand_over() {
    // As many as pack faster than one formats, and one that waits to be written. What is not packed is written in
    // order.
    constexpr unsigned enough = 4;
    const std::size_t most = is_packed_ ? std::min(all_threads(), enough) + 1 : 1;
    std::string full = std::exchange(text_, under_way_.size() < most ? std::string() : written());
    text_.clear();
    if (failure_) return;
    under_way_.push_back(std::async(std::launch::async, [this, text = std::move(full)]() mutable {
        if (!is_packed_) {
            file_.write(text);
            return Block{.text = std::move(text)};
        }
        const auto sum =
            static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
        std::string packed = deflated(text);
        return Block{.text = std::move(text), .packed = std::move(packed), .sum = sum};
    }));
}

void TextStream::commit() {
    hand_over();
    while (!under_way_.empty()) written();
    if (failure_) std::rethrow_exception(failure_);
    if (is_packed_) {
        std::string end(last_block);
        add_number(end, sum_);
        add_number(end, static_cast<std::uint32_t>(size_));  // modulo 2^32, as the format has it
        file_.write(end);
    }
    file_.commit();
}

std::string TextStream::written() {
    std::future<Block> oldest = std::move(under_way_.front());
    under_way_.pop_front();
    try {
        Block block = oldest.get();
        if (is_packed_ && !failure_) {
            file_.write(block.packed);
            sum_ = static_cast<std::uint32_t>(crc32_combine(sum_, block.sum, static_cast<z_off_t>(block.text.size())));
            size_ += block.text.size();
        }
        return std::move(block.text);
    } catch (...) {
        failure_ = std::current_exception();
    }
    return {};
}

}  // namespace weft
