#include "sim/io/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/temporary_folder.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

class atomic_file : public ::testing::Test {
  protected:
    std::string content(const fs::path& path) const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); }

    const test::TemporaryFolder temporary;
    const fs::path& folder = temporary.path();
};

TEST_F(atomic_file, content_replaces_what_was_there_and_nothing_is_left_beside) {
    const fs::path path = folder / "report.json";
    write_file_atomically(path, "first, and longer");
    const std::string bytes("second\0\n", 8);
    write_file_atomically(path, bytes);
    EXPECT_EQ(content(path), bytes);
    EXPECT_EQ(files(), 1);
}

TEST_F(atomic_file, pieces_appear_together_when_they_are_committed) {
    const fs::path path = folder / "trace.json";
    write_file_atomically(path, "old");
    AtomicFile file(path);
    file.write("new, ");
    file.write("in pieces");
    EXPECT_EQ(content(path), "old");
    file.commit();
    EXPECT_EQ(content(path), "new, in pieces");
    EXPECT_EQ(files(), 1);
}

TEST_F(atomic_file, pieces_that_are_not_committed_leave_nothing) {
    AtomicFile(folder / "trace.json").write("half");
    EXPECT_EQ(files(), 0);
}

// As a process that is killed leaves it.
TEST_F(atomic_file, pieces_have_no_name_until_they_are_whole) {
    const fs::path path = folder / "trace.json";
    AtomicFile file(path);
    file.write("half");
    if (files() == 1) GTEST_SKIP() << "the file system has no files without names";
    EXPECT_EQ(files(), 0);
    file.commit();
    EXPECT_EQ(content(path), "half");
    EXPECT_EQ(files(), 1);
}

TEST_F(atomic_file, a_symbolic_link_stays_a_link) {
    write_file_atomically(folder / "real", "old");
    fs::create_symlink("real", folder / "link");
    write_file_atomically(folder / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(content(folder / "real"), "new");
}

TEST_F(atomic_file, a_device_is_written_to_not_replaced) {
    write_file_atomically("/dev/null", "gone");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(atomic_file, failure_names_the_file_and_the_reason_and_leaves_nothing) {
    const fs::path path = folder / "missing" / "report.json";
    try {
        write_file_atomically(path, "x");
        FAIL() << "wrote into a folder that does not exist";
    } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "cannot write " + path.string() + ": No such file or directory");
    }
    EXPECT_THROW(write_file_atomically(folder, "x"), std::runtime_error);
    EXPECT_EQ(files(), 0);
}

TEST_F(atomic_file, what_is_replaced_keeps_its_mode_and_new_files_have_that_of_the_umask) {
    const fs::path path = folder / "report.json", fresh = folder / "fresh.json";
    write_file_atomically(path, "secret");
    for (const fs::perms mode : {fs::perms{0600}, fs::perms{0664}, fs::perms{0444}}) {
        fs::permissions(path, mode);
        write_file_atomically(path, "more of it");
        EXPECT_EQ(fs::status(path).permissions(), mode);
    }
    const ::mode_t mask = ::umask(027);
    write_file_atomically(fresh, "");
    ::umask(mask);
    EXPECT_EQ(fs::status(fresh).permissions(), fs::perms{0640});
}

}  // namespace
}  // namespace weft
