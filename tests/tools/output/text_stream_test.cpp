#include "tools/output/text_stream.hpp"

#include <gtest/gtest.h>

#include "sim/io/files.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

TEST(text_stream, joins_what_is_put_in_order) {
    const test::TemporaryFolder folder;
    TextStream out(folder.path() / "text");
    out.put("a").put(std::uint64_t{0}).put(std::uint64_t{18446744073709551615U}).format("{:.2f}", 1.5).commit();
    EXPECT_EQ(read_text(folder.path() / "text"), "a0184467440737095516151.50");
}

TEST(text_stream, is_the_same_however_the_text_is_cut) {
    const test::TemporaryFolder folder;
    TextStream out(folder.path() / "text");
    std::string expected;
    for (std::size_t size = 1; expected.size() < 3 * TextStream::block; size = size * 3 + 1) {
        const std::string text(size, static_cast<char>('a' + size % 26));
        expected += text;
        out.put(text);
    }
    out.commit();
    EXPECT_EQ(read_text(folder.path() / "text"), expected);
}

TEST(text_stream, tells_times_in_microseconds_to_the_nanosecond) {
    const test::TemporaryFolder folder;
    TextStream out(folder.path() / "text");
    for (const std::int64_t nanoseconds : {0, 7, 1000, 1234567}) put_time(out, nanoseconds).put(" ");
    out.commit();
    EXPECT_EQ(read_text(folder.path() / "text"), "0.000 0.007 1.000 1234.567 ");
}

}  // namespace
}  // namespace weft
