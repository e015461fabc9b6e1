#include "tools/output/text_stream.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

struct Blocks {
    std::vector<std::size_t> sizes;
    std::string text;
    TextStream::Sink sink() {
        return [this](std::string block) {
            sizes.push_back(block.size());
            text += block;
            return std::string(TextStream::block, '?');  // what is in it does not matter
        };
    }
};

TEST(text_stream, joins_what_is_put_in_order) {
    Blocks blocks;
    TextStream out(blocks.sink());
    out.put("a").put(std::uint64_t{0}).put(std::uint64_t{18446744073709551615U}).format("{:.2f}", 1.5).flush();
    EXPECT_EQ(blocks.text, "a0184467440737095516151.50");
}

TEST(text_stream, hands_over_full_blocks_however_the_text_is_cut) {
    std::string expected;
    Blocks blocks;
    TextStream out(blocks.sink());
    for (std::size_t size = 1; expected.size() < 3 * TextStream::block; size = size * 3 + 1) {
        const std::string text(size, static_cast<char>('a' + size % 26));
        expected += text;
        out.put(text);
    }
    out.flush();
    EXPECT_EQ(blocks.text, expected);
    for (std::size_t i = 0; i + 1 < blocks.sizes.size(); ++i) EXPECT_EQ(blocks.sizes[i], TextStream::block);
}

TEST(text_stream, gives_room_in_one_piece_and_keeps_what_was_put_there) {
    std::string expected;
    Blocks blocks;
    TextStream out(blocks.sink());
    for (std::uint64_t i = 0; expected.size() < 3 * TextStream::block; ++i) {
        const std::string text(i * 7 % 1000, static_cast<char>('a' + i % 26));
        TextCursor line = out.room(text.size() + 20);
        out.end_at(line.put(text).put(i));
        expected += text + std::to_string(i);
        if (i % 3 == 0) out.put("|");
        if (i % 3 == 0) expected += "|";
    }
    out.flush();
    EXPECT_EQ(blocks.text, expected);
    for (const std::size_t size : blocks.sizes) EXPECT_LE(size, TextStream::block);
    EXPECT_GE(blocks.sizes.size(), 3U);
}

}  // namespace
}  // namespace weft
