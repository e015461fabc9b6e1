// Files that are read once, packed or not, and what is wrong with them.
#include "sim/io/files.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

class byte_source : public ::testing::Test {
  protected:
    std::string plain(const std::string& text) {
        std::ofstream(path(), std::ios::binary) << text;
        return path();
    }
    std::string packed(const std::string& text) {
        const gzFile file = gzopen(path().c_str(), "wb1");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        gzclose(file);
        return path();
    }
    std::string path() const { return (folder_.path() / "file").string(); }

    static std::string all(ByteSource& source) {
        std::string text;
        for (std::string_view piece; !(piece = source.peek(1000)).empty(); source.skip(piece.size())) text += piece;
        return text;
    }
    static std::string refusal(const std::string& path) {
        return test::refusal_of([&] {
            ByteSource source{std::filesystem::path(path)};
            while (!source.peek(1 << 16).empty()) source.skip(source.peek(1 << 16).size());
        });
    }

    test::TemporaryFolder folder_;
};

TEST_F(byte_source, reads_the_same_of_a_file_packed_or_not_and_of_a_text) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += std::to_string(i) + " ";
    ByteSource file{std::filesystem::path(plain(text))};
    EXPECT_EQ(all(file), text);
    EXPECT_EQ(file.offset(), text.size());
    ByteSource unpacked{std::filesystem::path(packed(text))};
    EXPECT_EQ(all(unpacked), text);
    ByteSource held("held", text);
    EXPECT_EQ(all(held), text);
}

TEST_F(byte_source, peeks_as_far_as_is_asked_and_keeps_its_place) {
    ByteSource source{std::filesystem::path(plain("abcdef"))};
    EXPECT_EQ(source.peek(2), "ab");
    source.skip(1);
    EXPECT_EQ(source.peek(100), "bcdef");
    EXPECT_EQ(source.offset(), 1U);
}

TEST_F(byte_source, refuses_what_is_no_whole_file) {
    EXPECT_NE(refusal((folder_.path() / "none").string()).find("cannot be read"), std::string::npos);
    EXPECT_NE(refusal(folder_.path().string()).find("is a directory"), std::string::npos);
    const std::string whole = packed(std::string(100'000, 'a') + "b");
    std::filesystem::resize_file(whole, std::filesystem::file_size(whole) - 12);
    EXPECT_NE(refusal(whole).find("is no whole gzip file"), std::string::npos) << refusal(whole);
}

// Of a file that holds the same packed part again and again.
TEST_F(byte_source, stops_at_its_limit) {
    std::ifstream file(packed(std::string(1 << 26, ' ')), std::ios::binary);
    const std::string part{std::istreambuf_iterator<char>(file), {}};
    std::string many;
    for (int i = 0; i < 33; ++i) many += part;
    EXPECT_NE(refusal(plain(many)).find("has more than 2048 MiB unpacked"), std::string::npos);
}

}  // namespace
}  // namespace weft
