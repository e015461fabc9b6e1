#include "topologies/measurements/measurement.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

// nccl-tests 2.13, shortened; log lines of the library among the rows.
constexpr const char* nccl_output =
    R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid  91223 on  nid005551 device  0 [0x01] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid  91224 on  nid005551 device  1 [0x01] NVIDIA GH200 120GB
#  Rank  2 Group  0 Pid  91225 on  nid005552 device  0 [0x01] NVIDIA GH200 120GB
#  Rank  3 Group  0 Pid  91226 on  nid005552 device  1 [0x01] NVIDIA GH200 120GB
nid005551:91223:91223 [0] NCCL INFO Bootstrap : Using hsn0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     0.09    0.00    0.00      0     0.08    0.00    0.00      0
           8             2     float     sum      -1    17.93    0.00    0.00      0    17.72    0.00    0.00      0
     1048576        262144     float     sum      -1    78.77   13.31   19.97      0    81.31   12.90   19.35      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 10.5
)";

constexpr const char* osu_output = R"(
# OSU MPI-ROCM Allgather Latency Test v7.5
# Size       Avg Latency(us)
1                       8.15
1048576               813.61
)";

TEST(measurements, reads_the_table_of_nccl_tests) {
    const MeasurementTable table = parse_measurements("run.txt", nccl_output, {.op = Collective::all_reduce});
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].op, Collective::all_reduce);
    EXPECT_EQ(table.rows[1].ranks, 4U);
    EXPECT_EQ(table.rows[1].nodes, 2U);
    EXPECT_EQ(table.rows[1].size, 1_MiB);
    EXPECT_DOUBLE_EQ(table.rows[1].time.value, 78.77e-6);
    EXPECT_EQ(table.rows[1].line, 15);
    ASSERT_EQ(table.skipped.size(), 1U);  // size 0
    EXPECT_EQ(table.skipped.front().line, 13);
}

TEST(measurements, reads_times_in_place_if_asked) {
    const MeasurementTable table =
        parse_measurements("run.txt", nccl_output, {.op = Collective::all_reduce, .place = ResultPlace::in_place});
    EXPECT_DOUBLE_EQ(table.rows.at(1).time.value, 81.31e-6);
}

TEST(measurements, what_the_output_tells_counts_more_than_a_hint) {
    const std::string text = std::string("# Collective test starting: all_gather_perf\n") + nccl_output;
    EXPECT_EQ(parse_measurements("run.txt", text, {.op = Collective::all_reduce}).rows.at(0).op,
              Collective::all_gather);
    EXPECT_THROW(parse_measurements("run.txt", nccl_output), ConfigError);  // nothing tells
}

constexpr const char* nccl_json = R"({"version": 3, "args": ["./build\/reduce_scatter_perf", "-b", "8"],
 "devices": [{"rank": 0, "hostname": "a"}, {"rank": 1, "hostname": "a"}, {"rank": 2, "hostname": "b"}],
 "results": [
  {"size": 0, "count": 0, "out_of_place": {"time": 0.1, "alg_bw": 0, "bus_bw": 0}, "in_place": null},
  {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "-1",
   "out_of_place": {"time": 78.77, "alg_bw": 13.31, "bus_bw": 19.97, "nwrong": null},
   "in_place": {"time": 81.31, "alg_bw": 12.90, "bus_bw": 19.35, "nwrong": 0}},
  {"size": 2097152, "out_of_place": {"time": "nan", "alg_bw": "nan", "bus_bw": "nan"}, "in_place": {"time": 99.5}}
 ]})";

TEST(measurements, reads_the_json_of_nccl_tests) {
    const MeasurementTable table = parse_measurements("run.json", nccl_json);
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].op, Collective::reduce_scatter);
    EXPECT_EQ(table.rows[0].ranks, 3U);
    EXPECT_EQ(table.rows[0].nodes, 2U);
    EXPECT_EQ(table.rows[0].size, 1_MiB);
    EXPECT_DOUBLE_EQ(table.rows[0].time.value, 78.77e-6);
    EXPECT_EQ(table.rows[0].line, 5);
    ASSERT_EQ(table.skipped.size(), 2U);
    EXPECT_EQ(table.skipped[0].why, "size 0");
    EXPECT_EQ(table.skipped[1].line, 8);
    const MeasurementTable in_place = parse_measurements("run.json", nccl_json, {.place = ResultPlace::in_place});
    ASSERT_EQ(in_place.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(in_place.rows[1].time.value, 99.5e-6);
}

TEST(measurements, bad_json_of_nccl_tests_is_refused_with_its_place) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            parse_measurements("run.json", text);
            return "";
        } catch (const ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_NE(refusal("{\n\"results\": [").find("run.json:2:"), std::string::npos);
    EXPECT_NE(refusal(R"({"args": ["all_reduce_perf"]})").find("results: missing"), std::string::npos);
    EXPECT_NE(refusal(R"({"results": []})").find("which collective"), std::string::npos);
    EXPECT_NE(refusal(R"({"args": ["all_reduce_perf"], "results": [{"size": "x", "out_of_place": {"time": -1}}]})")
                  .find("results[0].size: expected a number"),
              std::string::npos);
    EXPECT_NE(refusal(R"({"args": ["all_reduce_perf"], "results": [{"size": 8, "out_of_place": {"time": -1}}]})")
                  .find("results[0].out_of_place.time: expected a time above 0"),
              std::string::npos);
}

TEST(measurements, osu_counts_the_part_of_one_rank) {
    const MeasurementTable table = parse_measurements("osu.txt", osu_output, {.ranks = 16, .nodes = 2});
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1].op, Collective::all_gather);
    EXPECT_EQ(table.rows[1].size, 16_MiB);
    EXPECT_DOUBLE_EQ(table.rows[1].time.value, 813.61e-6);
    EXPECT_THROW(parse_measurements("osu.txt", osu_output), ConfigError);  // among how many ranks?
}

TEST(measurements, knows_the_names_of_osu_tests) {
    const auto op = [](const std::string& heading) {
        return parse_measurements("osu.txt", heading + "\n# Size  Avg Latency(us)\n8 1.5\n", {.ranks = 2})
            .rows.at(0)
            .op;
    };
    EXPECT_EQ(op("# OSU MPI Allreduce Latency Test v7.5"), Collective::all_reduce);
    EXPECT_EQ(op("# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v5.9"), Collective::all_to_all);
    EXPECT_EQ(op("# OSU MPI Broadcast Latency Test v7.3"), Collective::broadcast);
    EXPECT_EQ(op("# OSU MPI Latency Test v7.3"), Collective::point_to_point);
    EXPECT_EQ(op("# OSU MPI Reduce_scatter Latency Test v7.3"), Collective::reduce_scatter);
    EXPECT_THROW(op("# OSU MPI Bandwidth Test v7.3"), ConfigError);
}

TEST(measurements, finds_the_columns_of_csv_by_name) {
    const MeasurementTable table =
        parse_measurements("t.csv",
                           "# source: somewhere\n"
                           "machine,library,collective,nnodes,ranks,size_bytes,time_us_oop,time_us_ip,variant\n"
                           "\"A, \"\"B\"\"\",NCCL,allreduce,2,8,1024,20.35,20.32,hook on\n");
    ASSERT_EQ(table.rows.size(), 1U);
    const CollectiveMeasurement& row = table.rows.front();
    EXPECT_EQ(row.machine, "A, \"B\"");
    EXPECT_EQ(row.library, "NCCL");
    EXPECT_EQ(row.op, Collective::all_reduce);
    EXPECT_EQ(row.nodes, 2U);
    EXPECT_EQ(row.ranks, 8U);
    EXPECT_EQ(row.size, 1_KiB);
    EXPECT_DOUBLE_EQ(row.time.value, 20.35e-6);
    EXPECT_EQ(row.variant, "variant=hook on");
    EXPECT_EQ(row.line, 3);
}

TEST(measurements, a_bandwidth_stands_for_a_time_that_is_missing) {
    const std::string head = "op,ranks_GCD,nodes,bytes,time_ms,algbw,busbw\n";
    const auto time = [&](const std::string& row) {
        return parse_measurements("t.csv", head + row + "\n").rows.at(0).time.value;
    };
    EXPECT_DOUBLE_EQ(time("all_gather,4,1,1000000000,2,,"), 2e-3);
    EXPECT_DOUBLE_EQ(time("all_gather,4,1,1000000000,,10,"), 0.1);
    EXPECT_DOUBLE_EQ(time("all_gather,4,1,1000000000,,,10"), 0.075);  // (n - 1) / n of the bytes at 10 GB/s
    EXPECT_EQ(parse_measurements("t.csv", head + "all_gather,4,1,,,,10\n").skipped.size(), 1U);
    EXPECT_EQ(parse_measurements("t.csv", head + "all_gather,4,1,8,,,\n").skipped.size(), 1U);
}

TEST(measurements, the_size_convention_of_csv_is_never_guessed) {
    const std::string text = "# OSU micro-benchmarks 7.5\ncollective,ranks,size_bytes,time_us\nallgather,8,1024,40\n";
    EXPECT_THROW(parse_measurements("t.csv", text), ConfigError);
    EXPECT_EQ(parse_measurements("t.csv", text, {.convention = SizeConvention::osu}).rows.at(0).size, 8_KiB);
    EXPECT_EQ(parse_measurements("t.csv", text, {.convention = SizeConvention::nccl}).rows.at(0).size, 1_KiB);
    const std::string told = "# OSU\ncollective,ranks,size_bytes,time_us,convention\nallgather,8,1024,40,osu\n";
    EXPECT_EQ(parse_measurements("t.csv", told).rows.at(0).size, 8_KiB);
}

TEST(measurements, a_time_that_is_none_in_seconds_is_refused) {
    EXPECT_THROW(parse_measurements("osu.txt", "# OSU MPI Allreduce Latency Test v7.3\n8 5e-324\n"), ConfigError);
}

TEST(measurements, where_keeps_rows_of_one_kind) {
    const std::string text = "op,algorithm,ranks,bytes,time_us\nallreduce,ring,8,64,1\nallreduce,tree,8,64,2\n";
    const MeasurementTable all = parse_measurements("t.csv", text);
    EXPECT_THROW(of_one_kind(all, all.rows, "mpi"), ConfigError);
    const MeasurementTable ring = parse_measurements("t.csv", text, {.where = {{"algorithm", "ring"}}});
    EXPECT_EQ(of_one_kind(ring, ring.rows, "mpi").size(), 1U);
    EXPECT_THROW(parse_measurements("t.csv", text, {.where = {{"algoritm", "ring"}}}), ConfigError);
}

TEST(measurements, of_several_libraries_the_one_that_is_named) {
    const MeasurementTable table = parse_measurements(
        "t.csv", "library,op,ranks,bytes,time_us\nCray MPICH 8.1,allreduce,8,64,1\nRCCL 2.22,allreduce,8,64,2\n");
    EXPECT_EQ(of_one_kind(table, table.rows, "cray-mpich").at(0).time, 1_us);
    EXPECT_EQ(of_one_kind(table, table.rows, "rccl").at(0).time, 2_us);
    EXPECT_THROW(of_one_kind(table, table.rows, "nccl"), ConfigError);
}

std::vector<int> lines_of_errors(const std::string& text, const MeasurementHints& hints = {}) {
    std::vector<int> lines;
    try {
        parse_measurements("t.csv", text, hints);
    } catch (const ConfigError& error) {
        for (const Diagnostic& each : error.diagnostics()) lines.push_back(each.line);
    }
    return lines;
}

TEST(measurements, errors_name_every_line) {
    const std::string head = "op,ranks,bytes,time_us\n";
    EXPECT_EQ(lines_of_errors(head + "allreduce,8,64,1\nallreduce,x,64,1\nallredoose,8,64,1\nallreduce,8,64\n"),
              (std::vector{5}));  // the shape of the table comes first
    EXPECT_EQ(lines_of_errors(head + "allreduce,8,64,1\nallreduce,x,64,1\nallredoose,8,64,1\nallreduce,8,-1,1\n"),
              (std::vector{3, 4, 5}));
    EXPECT_EQ(lines_of_errors("op,op\n"), (std::vector{1}));
    EXPECT_EQ(lines_of_errors("op,\"ranks\n"), (std::vector{1}));
    EXPECT_EQ(lines_of_errors(""), (std::vector{0}));
    EXPECT_EQ(lines_of_errors("hello\nworld\n"), (std::vector{1}));
    EXPECT_EQ(lines_of_errors("op,bytes,busbw\nallreduce,64,fast\n"), (std::vector{2})) << "not of its ranks, too";
    EXPECT_EQ(lines_of_errors("# size time algbw busbw\n 8 x 1 1\n", {.op = Collective::broadcast}), (std::vector{2}));
    EXPECT_EQ(lines_of_errors("op,ranks,bytes,time_us,convention\nallgather,16,1e308,120,osu\nallgather,16,1,1,osu\n"),
              (std::vector{2}));  // 1.6e309 bytes
}

// Cut, doubled, overwritten with bytes of any kind: read, or refused with a ConfigError.
TEST(measurements, no_input_breaks_the_readers) {
    const std::vector<std::string> seeds{
        nccl_output, osu_output,
        "# OSU\nmachine,library,collective,nnodes,ranks,size_bytes,time_us_median,algorithm\nL,\"M "
        "\"\"P\",allgather,1,8,4,36.1,ring\n",
        "op,ranks,bytes,busbw_GBps,time_ms_derived\nall_gather,8,1048576,4.4,0.2\n"};
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) { return random() % n; };
    std::size_t read = 0, refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text = seeds[below(seeds.size())];
        for (std::size_t change = below(4) + 1; change > 0 && !text.empty(); --change) {
            const std::size_t at = below(text.size()), length = below(20);
            switch (below(4)) {
                case 0:
                    text.erase(at, length);
                    break;
                case 1:
                    text[at] = static_cast<char>(below(256));
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), length));
                    break;
                default:
                    text.insert(at, std::string(1, ",\"#\n-.eE0 9"[below(11)]));
            }
        }
        MeasurementHints hints;
        if (below(2) == 0) hints = {.op = Collective::all_gather, .ranks = 8, .convention = SizeConvention::osu};
        try {
            for (const CollectiveMeasurement& row : parse_measurements("fuzz", text, hints).rows) {
                EXPECT_GT(row.time.value, 0.0);
                EXPECT_GT(row.size.value, 0.0);
            }
            ++read;
        } catch (const ConfigError&) {
            ++refused;
        }
    }
    EXPECT_GT(read, 1000U);
    EXPECT_GT(refused, 1000U);
}

// Bus factors of nccl-tests, doc/PERFORMANCE.md, for 8 ranks.
TEST(measurements, bus_factors) {
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 8), 1.75);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_gather, 8), 0.875);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::reduce_scatter, 8), 0.875);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_to_all, 8), 0.875);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::broadcast, 8), 1.0);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::reduce, 8), 1.0);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::send_receive, 8), 1.0);
}

TEST(measurements, stated_sizes_are_the_inverse_of_full_ones) {
    for (const Collective op : {Collective::all_reduce, Collective::all_gather, Collective::all_to_all}) {
        for (const SizeConvention convention : {SizeConvention::nccl, SizeConvention::osu}) {
            EXPECT_EQ(stated_size(op, full_size(op, 12345_B, convention, 7), convention, 7), 12345_B);
        }
    }
}

}  // namespace
}  // namespace weft
