// What a profiled rank becomes as a recorded program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/workloads/recorded/kineto_text.hpp"
#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

// A kernel from which the step begins; one from 10 to 20 us that is launched at 4; one that is launched at 25; and
// between the launches a call from 6 to 21.
RecordedRank rank_with(const std::string& call) {
    test::KinetoText text;
    text.kernel("begin", 0, 1, 0);
    text.kernel("first", 10, 10, 4);
    text.host("cuda_runtime", call, 6, 15);
    text.kernel("second", 30, 5, 25);
    const SourceFile file{"trace.json", text.text()};
    return read_recorded(std::span(&file, 1)).ranks.at(0);
}

std::vector<std::uint32_t> awaited(const RecordedRank& rank, std::uint32_t node) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = rank.first_dependency[node]; i < rank.first_dependency[node + 1]; ++i) {
        found.push_back(rank.dependencies[i].node);
    }
    std::ranges::sort(found);
    return found;
}

// Nodes: the kernels, then their launches.
TEST(kineto_program, the_host_computes_between_launches_but_waits_where_it_synchronizes) {
    const RecordedRank waits = rank_with("cudaStreamSynchronize"), works = rank_with("cudaMalloc");
    for (const RecordedRank& rank : {waits, works}) {
        ASSERT_EQ(rank.nodes.size(), 6U);
        EXPECT_EQ(awaited(rank, 1), (std::vector{0U, 4U}));
        EXPECT_EQ(awaited(rank, 2), (std::vector{1U, 5U}));
        EXPECT_TRUE(rank.units[rank.nodes[5].unit].is_host);
        EXPECT_NEAR(rank.nodes[4].time.value, 4e-6, 1e-12);
    }
    EXPECT_NEAR(works.nodes[5].time.value, (25 - 4) * 1e-6, 1e-12);
    EXPECT_EQ(awaited(works, 5), (std::vector{4U}));
    EXPECT_NEAR(waits.nodes[5].time.value, (25 - 4 - 15) * 1e-6, 1e-12) << "without what it waited";
    EXPECT_EQ(awaited(waits, 5), (std::vector{1U, 4U})) << "the kernel that ended meanwhile";
}

}  // namespace
}  // namespace weft
