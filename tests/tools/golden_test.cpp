// tests/golden/<case>/: job.json and what weft says of it, byte for byte. report.json holds stdout of a good job,
// errors.txt exit code and stderr of a bad one. Rewritten only with WEFT_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <vector>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(WEFT_TEST_DATA "/golden")) {
        if (entry.is_directory()) folders.push_back(entry.path());
    }
    std::ranges::sort(folders);
    return folders;
}

// The wall time is the one value that may differ between two runs; what measured runs of the kind say changes with any
// of their predictions, and the digest with any shipped file.
std::string without_wall_time(std::string report) {
    const std::size_t begin = report.find("\n  \"validation\": {"), end = report.find("\n  },", begin);
    if (end != report.npos) report.erase(begin, end - begin + 5);
    report = std::regex_replace(report, std::regex("\"input_digest\": \"[0-9a-f]{64}\""), "\"input_digest\": \"\"");
    return std::regex_replace(report, std::regex("\"wall_s\": [-+.e0-9]+"), "\"wall_s\": 0");
}

class golden : public testing::TestWithParam<fs::path> {};

TEST_P(golden, says_the_same_as_ever) {
    const fs::path folder = GetParam();
    const test::Ran ran = test::run_weft("simulate job.json --json", folder);
    const bool good = ran.exit_code == 0;
    const fs::path file = folder / (good ? "report.json" : "errors.txt");
    const std::string said =
        good ? without_wall_time(ran.out) : "exit " + std::to_string(ran.exit_code) + "\n" + ran.err;
    if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr) {
        fs::remove(folder / "report.json");
        fs::remove(folder / "errors.txt");
        std::ofstream(file, std::ios::binary) << said;
    }
    ASSERT_TRUE(fs::exists(file)) << "expected otherwise:\n" << said;
    EXPECT_EQ(said, test::read_file(file));
}

std::string case_name(const testing::TestParamInfo<fs::path>& info) {
    std::string name = info.param.filename().string();
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(cases, golden, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace weft
