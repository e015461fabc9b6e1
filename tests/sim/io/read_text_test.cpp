#include "sim/io/files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/io/diagnostics.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

TEST(text_file, is_read_up_to_its_limit_and_refused_beyond) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "job.json";
    const std::string text(200'000, 'x');
    std::ofstream(path) << text;
    EXPECT_EQ(read_text(path, text.size()), text);
    EXPECT_THROW(read_text(path, text.size() - 1), ConfigError);
}

TEST(text_file, without_an_end_is_refused) {
    try {
        read_text("/dev/zero");
        ADD_FAILURE() << "it has no end";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(), "/dev/zero: error: has more than 64 MiB: not an input");
    }
}

}  // namespace
}  // namespace weft
