#include "tools/command.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

class free_memory_of : public ::testing::Test {
  protected:
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    double bytes() const { return free_memory(root).value; }

    const test::TemporaryFolder temporary;
    const std::filesystem::path& root = temporary.path();
};

TEST_F(free_memory_of, a_machine_is_what_is_available) {
    EXPECT_TRUE(std::isinf(bytes()));
    write("proc/meminfo", "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1000 kB\n");
    EXPECT_EQ(bytes(), 1000 * 1024);
}

TEST_F(free_memory_of, a_control_group_is_its_limit_less_what_cannot_be_dropped) {
    write("proc/meminfo", "MemAvailable: 1000000 kB\n");
    write("proc/self/cgroup", "0::/job/step\n");
    write("sys/fs/cgroup/job/step/memory.max", "max\n");
    EXPECT_EQ(bytes(), 1000000 * 1024.0);
    write("sys/fs/cgroup/job/memory.max", "5000\n");  // of the group above
    write("sys/fs/cgroup/job/memory.current", "3000\n");
    write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 1500\nfile 7\n");
    EXPECT_EQ(bytes(), 5000 - 1500);
    write("sys/fs/cgroup/job/step/memory.max", "600\n");
    EXPECT_EQ(bytes(), 600);
    write("sys/fs/cgroup/job/step/memory.current", "700\n");
    EXPECT_EQ(bytes(), 0);
}

TEST_F(free_memory_of, a_container_that_sees_only_its_own_group_is_that_group) {
    write("proc/self/cgroup", "0::/somewhere/else\n");
    write("sys/fs/cgroup/memory.max", "4000\n");
    EXPECT_EQ(bytes(), 4000);
}

TEST_F(free_memory_of, version_one_has_a_tree_for_memory) {
    write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9000\n");
    write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4000\n");
    write("sys/fs/cgroup/memory/a/memory.stat", "cache 5\ntotal_inactive_file 1000\n");
    EXPECT_EQ(bytes(), 6000);
}

}  // namespace
}  // namespace weft
