#include "tools/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/io/diagnostics.hpp"
#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

TEST(merge, names_the_first_of_many_missing_shards) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "rows.shard";
    const RowHeader header{.job = "job", .inputs = {}, .points = 1, .shard = {1, 4'294'967'295U}, .columns = {}};
    std::ofstream(path) << header_line(header) << row_line(0, {});
    try {
        merge_shards({path});
        FAIL() << "one shard of many is no whole";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.what(), path.string() + ": error: of 4294967295 shards, these are missing: 2, 3, 4, 5, 6, 7, " +
                                    "8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21 and 4294967274 more");
    }
}

}  // namespace
}  // namespace weft
