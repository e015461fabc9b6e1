// Whole jobs against the tables of calls read in the frameworks' sources: every row to the byte and the call, for data,
// tensor and pipeline parallelism of the study's models, and what DeepSpeed's logger adds up of them.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "tests/csv.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

std::vector<test::CsvRow> read(const std::string& name) {
    return test::read_csv(WEFT_TEST_DATA "/workloads/data/" + name);
}

struct Layout3d {
    std::uint32_t tensor = 1, pipeline = 1, data = 1;
    std::uint32_t zero = 1;
};

// "TP2xPP4" on 8 devices, "ZeRO-3" on 16, ...
Layout3d layout_of(const test::CsvRow& row) {
    const std::string& scheme = row.at("scheme");
    const auto degree = [&](std::size_t skip) {
        return static_cast<std::uint32_t>(std::stoul(row.at("degree").substr(skip)));
    };
    Layout3d layout;
    if (scheme.starts_with("TP") && scheme.find('x') != std::string::npos) {
        layout.tensor = degree(0);
        layout.pipeline = degree(row.at("degree").find('x') + 1);
    } else if (scheme == "TP") {
        layout.tensor = degree(0);
    } else if (scheme == "PP") {
        layout.pipeline = degree(0);
    } else {
        layout.zero = scheme.starts_with("DDP") ? 0 : static_cast<std::uint32_t>(scheme.back() - '0');
    }
    layout.data = static_cast<std::uint32_t>(std::stoul(row.at("n_devices"))) / (layout.tensor * layout.pipeline);
    return layout;
}

Plan plan_of(const std::string& model, const Layout3d& layout, std::uint32_t sequence = 2048) {
    std::string name = "gpt-neox-" + model;
    name.back() = static_cast<char>(std::tolower(name.back()));
    const auto set = [](const std::string& key, std::uint32_t value) { return key + "=" + std::to_string(value); };
    return make_plan(test::small_study({"framework=deepspeed", "model=" + name, set("layout.tensor", layout.tensor),
                                        set("layout.pipeline", layout.pipeline), set("layout.data", layout.data),
                                        set("zero", layout.zero), "batch.micro=4", set("batch.sequence", sequence),
                                        set("batch.global", 4 * layout.data), "recompute=full",
                                        "deepspeed.partition_activations=true"}));
}

std::string dimension_of(const std::string& group) {
    if (group.starts_with("dp")) return "data";
    if (group.starts_with("tp")) return "tensor";
    if (group.starts_with("pp")) return "pipeline";
    return "model";
}

// Calls and volume of one message size of one operation in one dimension.
using Kind = std::tuple<std::string, std::string, double>;
struct Sum {
    double calls = 0, volume = 0, logged = 0;
};
using Sums = std::map<Kind, Sum>;

Sums sums_of(const VolumeTable& table, const std::set<std::string>& when) {
    Sums sums;
    for (const VolumeRow& row : table.rows) {
        if (!when.contains(row.when)) continue;
        Sum& sum = sums[{row.op, row.dimension, row.message.value}];
        sum.calls += row.calls;
        sum.volume += row.volume.value;
        sum.logged += row.logged * row.calls;
    }
    return sums;
}

std::string framework_name(std::string op) {
    for (const std::string suffix : {"_into_tensor", "_tensor"}) {
        if (op.ends_with(suffix)) op.resize(op.size() - suffix.size());
    }
    return op;
}

// One configuration of a table: its rows.
using Case = std::tuple<std::string, std::string, std::string, std::string>;  // model, scheme, devices, degree

std::map<Case, std::vector<test::CsvRow>> cases(const std::string& file) {
    std::map<Case, std::vector<test::CsvRow>> cases;
    for (const test::CsvRow& row : read(file)) {
        cases[{row.at("model"), row.at("scheme"), row.at("n_devices"), row.at("degree")}].push_back(row);
    }
    return cases;
}

std::string title(const test::CsvRow& row) {
    return row.at("model") + " " + row.at("scheme") + " on " + row.at("n_devices") + ", degree " + row.at("degree") +
           ": " + row.at("op") + " " + row.at("group");
}

bool is_summary(const test::CsvRow& row) { return row.at("group").find('+') != std::string::npos; }

// The rows of one moment, those of equal messages together, against the table's.
void expect_rows(const std::vector<test::CsvRow>& rows, const Sums& ours) {
    Sums expected;
    std::map<Kind, std::string> titles;
    for (const test::CsvRow& row : rows) {
        const Kind kind{framework_name(row.at("op")), dimension_of(row.at("group")),
                        std::stod(row.at("full_message_bytes"))};
        expected[kind].calls += std::stod(row.at("count"));
        expected[kind].volume += std::stod(row.at("volume_bytes"));
        titles[kind] = title(row);
    }
    for (const auto& [kind, sum] : expected) {
        const auto found = ours.find(kind);
        ASSERT_NE(found, ours.end()) << titles[kind] << " of " << std::get<2>(kind) << " bytes is never called";
        EXPECT_EQ(found->second.calls, sum.calls) << titles[kind] << " of " << std::get<2>(kind) << " bytes";
        EXPECT_NEAR(found->second.volume, sum.volume, 0.5) << titles[kind] << " (the table rounds to bytes)";
    }
}

std::vector<test::CsvRow> filter(const std::vector<test::CsvRow>& rows, const std::set<std::string>& when) {
    std::vector<test::CsvRow> kept;
    for (const test::CsvRow& row : rows) {
        if (when.contains(row.at("when")) && row.at("view") != "all stages" && !is_summary(row)) kept.push_back(row);
    }
    return kept;
}

const std::set<std::string> steady{"step", "micro-batch"};

void expect_tables(const std::string& file) {
    for (const auto& [c, rows] : cases(file)) {
        const VolumeTable table = framework_volume(plan_of(std::get<0>(c), layout_of(rows.front())), RankId{0});
        expect_rows(filter(rows, {"iter", "iter (steady)", "micro-batch"}), sums_of(table, steady));
        expect_rows(filter(rows, {"first iter", "first iter only"}), sums_of(table, {"first-step"}));
    }
}

TEST(study_tables, data_parallel_calls_of_whole_jobs) { expect_tables("data_parallel_calls.csv"); }
TEST(study_tables, model_parallel_calls_of_whole_jobs) { expect_tables("model_parallel_calls.csv"); }

// Overflow flags of 1 byte and norms of 4 bytes over the data and the model group: one row of the table sums them up.
TEST(study_tables, six_small_all_reduces_surround_the_optimizer) {
    int compared = 0;
    for (const auto& [c, rows] : cases("model_parallel_calls.csv")) {
        const Sums sums =
            sums_of(framework_volume(plan_of(std::get<0>(c), layout_of(rows.front())), RankId{0}), steady);
        for (const test::CsvRow& row : rows) {
            if (!is_summary(row)) continue;
            double calls = 0;
            for (const double bytes : {1.0, 4.0}) {
                for (const char* dimension : {"data", "model"})
                    calls += sums.at({"all_reduce", dimension, bytes}).calls;
            }
            EXPECT_EQ(calls, std::stod(row.at("count"))) << title(row);
            ++compared;
        }
    }
    EXPECT_GE(compared, 30);
}

TEST(study_tables, sends_of_all_stages_together) {
    int compared = 0;
    for (const auto& [c, rows] : cases("model_parallel_calls.csv")) {
        const Layout3d layout = layout_of(rows.front());
        std::map<double, double> expected, ours;
        for (const test::CsvRow& row : rows) {
            if (row.at("view") == "all stages") {
                expected[std::stod(row.at("full_message_bytes"))] += std::stod(row.at("count"));
            }
        }
        if (expected.empty()) continue;
        const Plan plan = plan_of(std::get<0>(c), layout);
        for (std::uint32_t stage = 0; stage < layout.pipeline; ++stage) {
            const RankId rank{stage * layout.tensor * layout.data};
            for (const VolumeRow& row : framework_volume(plan, rank).rows) {
                if (row.op == "send" && steady.contains(row.when)) ours[row.message.value] += row.calls;
            }
        }
        EXPECT_EQ(ours, expected) << std::get<0>(c) << " " << std::get<1>(c) << std::get<3>(c);
        ++compared;
    }
    EXPECT_GE(compared, 12);
}

void expect_logged(const std::string& file) {
    int compared = 0;
    for (const auto& [c, rows] : cases(file)) {
        const VolumeTable table = logger_volume(plan_of(std::get<0>(c), layout_of(rows.front())), RankId{0});
        std::map<std::string, Sum> ours;
        for (const VolumeRow& row : table.rows) {
            if (!steady.contains(row.when)) continue;
            ours[row.op].calls += row.calls;
            ours[row.op].logged += row.logged * row.calls;
        }
        for (const test::CsvRow& row : rows) {
            EXPECT_EQ(ours[row.at("op")].calls, std::stod(row.at("calls_per_iter"))) << std::get<1>(c) << row.at("op");
            EXPECT_EQ(ours[row.at("op")].logged, std::stod(row.at("sum_logged_bytes")))
                << std::get<1>(c) << row.at("op");
            ++compared;
        }
        EXPECT_EQ(ours.size(), rows.size()) << "kinds of calls logged by " << std::get<0>(c) << " " << std::get<1>(c);
    }
    EXPECT_GE(compared, 60);
}

TEST(study_tables, logger_totals_under_data_parallelism) { expect_logged("data_parallel_logged.csv"); }
TEST(study_tables, logger_totals_under_model_parallelism) { expect_logged("model_parallel_logged.csv"); }

TEST(study_tables, sequence_lengths_move_sends_more_than_twice_and_receives_exactly_twice) {
    for (const test::CsvRow& row : read("sequence_lengths.csv")) {
        const auto sequence = static_cast<std::uint32_t>(std::stoul(row.at("seq")));
        const VolumeTable stages = framework_volume(plan_of("1.3B", {.pipeline = 2, .data = 8}, sequence), RankId{0});
        double sent = 0, received = 0;
        for (const VolumeRow& own : stages.rows) {
            if (own.op == "send" && own.when == "micro-batch") sent += own.volume.value;
            if (own.op == "recv" && own.when == "micro-batch") received += own.volume.value;
        }
        EXPECT_EQ(sent, std::stod(row.at("pp2_rank0_send_bytes"))) << sequence;
        EXPECT_EQ(received, std::stod(row.at("pp2_rank0_recv_bytes"))) << sequence;
        const VolumeTable tensor = framework_volume(plan_of("1.3B", {.tensor = 2, .data = 8}, sequence), RankId{0});
        double reduced = 0;
        for (const VolumeRow& own : tensor.rows) {
            if (own.op == "all_reduce" && own.dimension == "tensor") reduced += own.volume.value;
        }
        EXPECT_EQ(reduced, std::stod(row.at("tp2_framework_allreduce_volume_bytes"))) << sequence;
        double gathered = 0;
        const VolumeTable data = framework_volume(plan_of("1.3B", {.data = 16}, sequence), RankId{0});
        for (const VolumeRow& own : data.rows) {
            if (own.op == "all_gather" && own.when == "step") gathered += own.message.value * own.calls;
        }
        EXPECT_EQ(gathered, std::stod(row.at("zero1_allgather_full_bytes(constant)"))) << sequence;
    }
}

}  // namespace
}  // namespace weft
