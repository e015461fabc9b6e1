// Equations 1-5 of arXiv 2408.10197, to the byte: every model, degree and scheme of the table.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/csv.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

Job job_of(const test::CsvRow& row) {
    const std::string& scheme = row.at("scheme");
    std::string model = "gpt-neox-" + row.at("model");
    model.back() = static_cast<char>(std::tolower(model.back()));
    std::string tensor = "1", pipeline = "1", data = "1", zero = "0";
    if (scheme == "TP") {
        tensor = row.at("degree");
    } else if (scheme == "PP") {
        pipeline = row.at("degree");
    } else if (const std::size_t x = scheme.find("xPP"); x != std::string::npos) {
        tensor = scheme.substr(2, x - 2);
        pipeline = scheme.substr(x + 3);
    } else {
        data = row.at("degree");
        if (scheme.starts_with("ZeRO-")) zero = scheme.substr(5);
    }
    return test::small_study(
               {"model=" + model, "framework=deepspeed", "layout.tensor=" + tensor, "layout.pipeline=" + pipeline,
                "layout.data=" + data, "zero=" + zero, "batch.micro=4", "batch.sequence=2048"},
               Purpose::equations)
        .job;
}

std::vector<test::CsvRow> table() { return test::read_csv(WEFT_TEST_DATA "/workloads/data/paper_equations.csv"); }

class paper_volume_rows : public testing::TestWithParam<test::CsvRow> {};

TEST_P(paper_volume_rows, equal_the_equations_to_the_byte) {
    const test::CsvRow& expected = GetParam();
    const VolumeTable volume = paper_volume(job_of(expected));
    const auto row = std::ranges::find_if(volume.rows, [&](const VolumeRow& r) { return r.op == expected.at("op"); });
    ASSERT_NE(row, volume.rows.end());
    EXPECT_EQ(row->calls, std::stod(expected.at("count")));
    EXPECT_EQ(row->message.value, std::stod(expected.at("full_message_bytes")));
    EXPECT_EQ(row->volume.value, std::stod(expected.at("volume_bytes")));
    EXPECT_EQ(row->group_size, std::stoul(expected.at("group_size")));
}

std::string row_name(const testing::TestParamInfo<test::CsvRow>& info) {
    std::string name = info.param.at("model") + "_" + info.param.at("scheme") + "_" + info.param.at("degree") + "_" +
                       info.param.at("op") + "_" + std::to_string(info.index);
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(table, paper_volume_rows, testing::ValuesIn(table()), row_name);

TEST(paper_volume, no_parallelism_means_no_rows) {
    const Job job =
        test::small_study({"layout.tensor=1", "layout.pipeline=1", "layout.data=1"}, Purpose::equations).job;
    EXPECT_TRUE(paper_volume(job).rows.empty());
}

}  // namespace
}  // namespace weft
