// `weft volume --view logger` as a user runs it: sums against the table of what DeepSpeed's logger counts, and its text
// read back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/csv.hpp"
#include "tests/tools/program.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

// The job of a row of the tables: "TP2xPP4" of degree 2x4 on 8 devices, "ZeRO-3" on 16, ...
std::string arguments_of(const test::CsvRow& row) {
    const std::string &scheme = row.at("scheme"), &degree = row.at("degree");
    std::uint32_t tensor = 1, pipeline = 1;
    std::string zero = "1";
    if (scheme.find('x') != std::string::npos) {
        tensor = static_cast<std::uint32_t>(std::stoul(degree));
        pipeline = static_cast<std::uint32_t>(std::stoul(degree.substr(degree.find('x') + 1)));
    } else if (scheme == "TP") {
        tensor = static_cast<std::uint32_t>(std::stoul(degree));
    } else if (scheme == "PP") {
        pipeline = static_cast<std::uint32_t>(std::stoul(degree));
    } else {
        zero = scheme.starts_with("DDP") ? "0" : scheme.substr(scheme.size() - 1);
    }
    const std::uint32_t data = static_cast<std::uint32_t>(std::stoul(row.at("n_devices"))) / (tensor * pipeline);
    std::string model = row.at("model");
    model.back() = static_cast<char>(std::tolower(model.back()));
    return "volume workloads/study/data-parallel.json --view logger --set model=gpt-neox-" + model +
           " --set layout.tensor=" + std::to_string(tensor) + " --set layout.pipeline=" + std::to_string(pipeline) +
           " --set layout.data=" + std::to_string(data) + " --set batch.global=" + std::to_string(4 * data) +
           " --set zero=" + zero + " --set deepspeed.partition_activations=true";
}

using Case = std::map<std::string, test::CsvRow>;  // by op

std::map<std::string, Case> cases() {
    std::map<std::string, Case> cases;
    for (const char* file : {"data_parallel_logged.csv", "model_parallel_logged.csv"}) {
        for (const test::CsvRow& row : test::read_csv(std::string(WEFT_TEST_DATA "/workloads/data/") + file)) {
            cases[arguments_of(row)][row.at("op")] = row;
        }
    }
    return cases;
}

struct Sum {
    double calls = 0, bytes = 0;
};

// "98.25 MB" as bytes.
double bytes_of(double number, const std::string& unit) {
    const std::string units = "BKMGT";
    for (std::size_t i = units.find(unit.front()); i > 0; --i) number *= 1024;
    return number;
}

// The summary read back: calls and bytes of each function, and whether its rows ascend.
std::map<std::string, Sum> parse(const std::string& text) {
    std::istringstream lines(text);
    std::string line, function;
    std::getline(lines, line);
    EXPECT_THAT(line, testing::StartsWith("Comm. Op            Message Size        Count               Total Latency"));
    std::map<std::string, Sum> sums;
    double before = 0;
    while (std::getline(lines, line)) {
        if (line.front() != ' ') {
            function = line;
            before = 0;
            continue;
        }
        std::istringstream cells(line);
        double size = 0, calls = 0, total = 0, average = 0;
        std::string unit;
        cells >> size >> unit >> calls >> total >> average;
        EXPECT_TRUE(cells) << line;
        EXPECT_GE(bytes_of(size, unit), before) << line;
        if (calls < 5) {
            EXPECT_NEAR(total, calls * average, 0.005 * (calls + 1)) << line;
        }
        before = bytes_of(size, unit);
        sums[function].calls += calls;
        sums[function].bytes += calls * before;
    }
    return sums;
}

TEST(logger_view, adds_up_to_what_the_logger_counts) {
    int compared = 0;
    for (const auto& [arguments, rows] : cases()) {
        const test::Ran ran = test::run_weft(arguments + " --json");
        ASSERT_EQ(ran.exit_code, 0) << arguments << ran.err;
        const auto json = nlohmann::json::parse(ran.out);
        std::map<std::string, Sum> sums;
        for (const auto& row : json.at("rows")) {
            const std::string when = row.at("when");
            if (when != "step" && when != "micro-batch") continue;
            Sum& sum = sums[row.at("op")];
            sum.calls += row.at("calls").get<double>();
            sum.bytes += row.at("calls").get<double>() * row.at("logged_bytes").get<double>();
        }
        for (const auto& [op, row] : rows) {
            EXPECT_EQ(sums[op].calls, std::stod(row.at("calls_per_iter"))) << arguments << " " << op;
            EXPECT_EQ(sums[op].bytes, std::stod(row.at("sum_logged_bytes"))) << arguments << " " << op;
            ++compared;
        }
        EXPECT_EQ(sums.size(), rows.size()) << arguments;
        EXPECT_EQ(json.at("totals").at("collectives").size(), rows.size()) << arguments;
    }
    EXPECT_GE(compared, 120);
}

// Sizes are printed to two places: the sums come back to half a percent.
TEST(logger_view, prints_a_table_that_can_be_read_back) {
    int compared = 0;
    for (const auto& [arguments, rows] : cases()) {
        if (rows.begin()->second.at("model") != "1.3B") continue;
        const test::Ran ran = test::run_weft(arguments);
        ASSERT_EQ(ran.exit_code, 0) << arguments << ran.err;
        std::map<std::string, Sum> sums = parse(ran.out);
        for (const auto& [op, row] : rows) {
            EXPECT_EQ(sums[op].calls, std::stod(row.at("calls_per_iter"))) << arguments << " " << op;
            EXPECT_NEAR(sums[op].bytes / std::stod(row.at("sum_logged_bytes")), 1, 0.005) << arguments << " " << op;
            ++compared;
        }
        EXPECT_EQ(sums.size(), rows.size()) << arguments;
    }
    EXPECT_GE(compared, 30);
}

// 1.3B in 2 tensor x 2 pipeline x 2 data ranks, on rank 0 in one step: functions in the order of their first calls;
// halves of the 32 MiB hidden state sent, received and gathered, after a partition meta of 9 int64; 8 MiB of mask.
TEST(logger_view, lists_functions_in_call_order_and_sizes_ascending) {
    const test::CsvRow row{{"model", "1.3B"}, {"scheme", "TP2xPP2"}, {"n_devices", "8"}, {"degree", "2x2"}};
    const test::Ran ran = test::run_weft(arguments_of(row));
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    std::string shape;  // function names, sizes and counts
    std::istringstream lines(ran.out);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::istringstream cells(line);
        std::string first, second, third;
        cells >> first >> second >> third;
        shape += first + (second.empty() ? "" : " " + second + " x" + third) + "\n";
    }
    EXPECT_EQ(shape,
              "send\n72.0 B x1\n8.0 MB x1\n16.0 MB x1\n"
              "recv\n72.0 B x1\n16.0 MB x1\n"
              "all_gather_into_tensor\n228.0 KB x1\n16.0 MB x14\n337.25 MB x1\n"
              "all_reduce\n1.0 B x2\n4.0 B x4\n674.95 MB x1\n"
              "broadcast\n8.0 B x1\n");
}

TEST(logger_view, prints_a_line_per_call_and_whole_runs_of_any_rank) {
    const test::CsvRow row{{"model", "19M"}, {"scheme", "PP"}, {"n_devices", "8"}, {"degree", "4"}};
    const test::Ran steady = test::run_weft(arguments_of(row) + " --rank 7 --verbose");
    ASSERT_EQ(steady.exit_code, 0) << steady.err;
    const auto lines = [](const std::string& text, const std::string& what) {
        int count = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
        return count;
    };
    // The last stage: activation and mask in, gradient out, the loss over its data ranks.
    EXPECT_EQ(lines(steady.out, "[Rank 7] comm op: recv |"), 2);
    EXPECT_EQ(lines(steady.out, "[Rank 7] comm op: send |"), 1);
    EXPECT_THAT(steady.out, HasSubstr("Comm. Op "));
    // From the start: three steps, 8 messages of shapes before the first activation, one to connect.
    const test::Ran run = test::run_weft(arguments_of(row) + " --rank 7 --verbose --steps 3");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(lines(run.out, "comm op: recv |"), 3 * 2 + 8 + 1);
    EXPECT_EQ(lines(run.out, "comm op: send |"), 3 * 1);
    EXPECT_GT(lines(run.out, "comm op: broadcast |"), 3);
}

TEST(logger_view, refuses_what_it_cannot_log) {
    const std::string job = "volume workloads/study/data-parallel.json ";
    const test::Ran other = test::run_weft(job + "--view logger --set framework=megatron --set deepspeed=null");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("only DeepSpeed has this logger; the job's framework is megatron"));
    EXPECT_EQ(test::run_weft(job + "--view logger --steps 0").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--view logger --rank 8").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--view logger --json --steps 2").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--view framework --verbose").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--view logger --histogram").exit_code, 2);
    EXPECT_EQ(test::run_weft(job + "--view logger --csv --histogram").exit_code, 0);
}

}  // namespace
}  // namespace weft
