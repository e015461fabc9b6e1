#include "tools/output/text_stream.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

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
    for (std::size_t size = 1; expected.size() < 3 * TextStream::usual_block; size = size * 3 + 1) {
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

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Many more blocks than may wait, of different sizes.
std::string write_blocks(const fs::path& path) {
    std::string expected;
    TextStream writer(path, 1);
    for (std::size_t i = 0; i < 100; ++i) {
        const std::string block(1 + i * 37 % 1000, static_cast<char>('a' + i % 26));
        expected += block;
        writer.put(block);
    }
    writer.commit();
    return expected;
}

TEST(text_stream, writes_all_blocks_in_order) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "blocks.txt";
    const std::string expected = write_blocks(path);
    EXPECT_EQ(content(path), expected);
}

TEST(text_stream, packs_as_if_all_were_one) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "blocks.txt.gz";
    const std::string expected = write_blocks(path);
    EXPECT_LT(fs::file_size(path), expected.size());
    EXPECT_EQ(read_text(path), expected);
}

// One gzip file, whose bytes do not depend on which block was packed first.
TEST(text_stream, packs_long_texts_always_to_the_same_bytes) {
    const test::TemporaryFolder folder;
    std::string expected;
    for (std::int64_t i = 0; expected.size() < 8 * TextStream::usual_block; ++i)
        expected += std::to_string(i * 7919 % 100003) + "\n";
    std::string first;
    for (const char* const name : {"a.gz", "b.gz"}) {
        TextStream out(folder.path() / name);
        for (std::size_t at = 0; at < expected.size(); at += 5000) out.put(std::string_view(expected).substr(at, 5000));
        out.commit();
        const std::string packed = content(folder.path() / name);
        EXPECT_EQ(packed.substr(0, 4), std::string("\x1f\x8b\x08\0", 4));
        EXPECT_EQ(read_text(folder.path() / name), expected);
        if (first.empty()) first = packed;
        EXPECT_TRUE(packed == first);
    }
    EXPECT_LT(first.size(), expected.size() / 2);
}

TEST(text_stream, an_empty_text_is_a_file_as_well) {
    const test::TemporaryFolder folder;
    TextStream(folder.path() / "none.gz").commit();
    EXPECT_EQ(read_text(folder.path() / "none.gz"), "");
}

TEST(text_stream, leaves_no_file_without_commit) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "abandoned.txt";
    TextStream(path, 1).put("half");
    EXPECT_FALSE(fs::exists(path));
}

TEST(text_stream, tells_that_the_device_is_full) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    TextStream writer("/dev/full", 1);
    for (int i = 0; i < 20; ++i) writer.put("more");
    EXPECT_THROW(writer.commit(), std::runtime_error);
}

TEST(text_stream, tells_that_a_packed_file_finds_no_room) {
    const test::TemporaryFolder folder;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 1000;
    auto* const heard = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    TextStream writer(folder.path() / "much.gz", 1);
    for (int i = 0; i < 200; ++i) writer.put(std::string(100, static_cast<char>(i)));
    EXPECT_THROW(writer.commit(), std::runtime_error);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, heard);
    EXPECT_FALSE(fs::exists(folder.path() / "much.gz"));
}

}  // namespace
}  // namespace weft
