#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using test::run_weft;

SortedJson collective_json(const std::string& arguments) {
    const test::Ran ran = run_weft("collective " + arguments + " --json");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return SortedJson::parse(ran.out, nullptr, false);
}

double time_of(const std::string& arguments) { return collective_json(arguments).at("rows").at(0).at("time_s"); }

// Bandwidths as nccl-tests defines them (doc/PERFORMANCE.md).
TEST(collective, json_has_the_agreed_keys) {
    const SortedJson json = collective_json("all_reduce --machine frontier --ranks 16 --sizes 1K:1G:1024");
    EXPECT_EQ(json.at("machine"), "frontier");
    EXPECT_EQ(json.at("library"), "rccl");
    EXPECT_EQ(json.at("ranks"), 16);
    EXPECT_EQ(json.at("nodes"), 2);
    EXPECT_GE(json.at("channels"), 1);
    EXPECT_TRUE(json.at("links").at(0).contains("class"));
    EXPECT_TRUE(json.at("links").at(0).contains("utilization"));
    ASSERT_EQ(json.at("rows").size(), 3U);
    for (const SortedJson& row : json.at("rows")) {
        const double size = row.at("size_bytes"), time = row.at("time_s");
        EXPECT_DOUBLE_EQ(row.at("algbw"), size / time);
        EXPECT_DOUBLE_EQ(row.at("busbw"), size / time * 2.0 * 15.0 / 16.0);
        EXPECT_TRUE(row.at("algorithm").is_string());
        EXPECT_TRUE(row.at("protocol").is_string());
    }
}

TEST(collective, says_how_well_calls_of_the_kind_are_known) {
    const std::string measured = "all_reduce --machine dgx-h200 --ranks 16 --sizes 1K,1M";
    const SortedJson told = collective_json(measured);
    for (const SortedJson& row : told.at("rows")) {
        const SortedJson& known = row.at("validation");
        EXPECT_TRUE(known.at("validated")) << known;
        EXPECT_EQ(known.at("sets"), SortedJson::array({"collectives-h200-2x8"}));
        EXPECT_GT(known.at("p90"), 0.0);
    }
    const std::string text = run_weft("collective " + measured).out;
    EXPECT_NE(text.find("#  up to 64 KiB  7 of collectives-h200-2x8, 16 ranks: mean error"), text.npos) << text;
    const std::string unknown = run_weft("collective all_reduce --machine tpu-v4 --ranks 8 --sizes 1M").out;
    EXPECT_NE(unknown.find("#  no evidence: nothing measured of xla\n"), unknown.npos) << unknown;
}

TEST(collective, says_why_a_larger_message_may_be_the_faster_one_and_what_shared_nics_cost) {
    const std::string text = run_weft(
                                 "collective all_reduce --machine lumi-g --ranks 24 --ranks-per-node 1 --groups 8 "
                                 "--sizes 128K,256K")
                                 .out;
    EXPECT_NE(text.find("# 131072 B take longer than 262144 B: the library's own table has tree LL up to there\n"),
              text.npos)
        << text;
    const std::string shared =
        run_weft("collective all_reduce --machine frontier --ranks 64 --groups 2 --sizes 256M").out;
    EXPECT_NE(shared.find("# groups share NICs, of which ring Simple reaches 0.395 then, 0.77 where"), shared.npos);
}

TEST(collective, sizes_are_a_range_or_a_list) {
    const auto sizes = [](const std::string& text) {
        std::vector<std::int64_t> found;
        const SortedJson json = collective_json("broadcast --machine dgx-a100 --ranks 8 --sizes " + text);
        for (const SortedJson& row : json.at("rows")) {
            found.push_back(row.at("size_bytes"));
        }
        return found;
    };
    EXPECT_EQ(sizes("8:1K:4"), (std::vector<std::int64_t>{8, 32, 128, 512}));
    EXPECT_EQ(sizes("8,64k,1M"), (std::vector<std::int64_t>{8, 65536, 1048576}));
    EXPECT_EQ(sizes("1:8"), (std::vector<std::int64_t>{1, 2, 4, 8}));
    EXPECT_EQ(sizes("3GiB"), (std::vector<std::int64_t>{3221225472}));
    for (const char* wrong : {"8:4", "8:16:1", "0", "x", "8,,9", "''", "1.5", "8:16:2:3", "-8", "1e999", "8:1G:nan"}) {
        EXPECT_EQ(run_weft(std::string("collective broadcast --machine dgx-a100 --ranks 8 --sizes=") + wrong).exit_code,
                  2)
            << wrong;
    }
}

// OSU counts what one rank sends to one other: an eighth of the full buffer among 8.
TEST(collective, osu_counts_parts_where_nccl_counts_the_whole) {
    for (const char* op : {"all_gather", "all_to_all"}) {
        const std::string of = std::string(op) + " --machine frontier --ranks 8 ";
        EXPECT_EQ(time_of(of + "--sizes 1M --format osu"), time_of(of + "--sizes 8M")) << op;
    }
    const std::string of = "all_reduce --machine frontier --ranks 8 --sizes 1M";
    EXPECT_EQ(time_of(of + " --format osu"), time_of(of));
}

TEST(collective, knows_the_names_of_nccl_tests) {
    for (const char* op : {"allreduce", "all_gather", "reduce-scatter", "sendrecv", "alltoall", "bcast"}) {
        EXPECT_EQ(run_weft(std::string("collective ") + op + " --machine frontier --ranks 8 --sizes 8").exit_code, 0)
            << op;
    }
}

TEST(collective, blocking_calls_wait_for_the_host) {
    const std::string of = "all_reduce --machine frontier --ranks 8 --sizes 1M --calls ";
    EXPECT_NEAR(time_of(of + "blocking") - time_of(of + "queued"), 100e-6, 50e-6);  // RCCL's host part on Frontier
    EXPECT_GT(time_of(of + "blocking"), time_of(of + "queued"));
}

TEST(collective, groups_share_the_nics) {
    const std::string of = "all_reduce --machine dgx-a100 --sizes 1G --ranks ";
    EXPECT_GT(time_of(of + "32 --groups 8"), 0.9 * time_of(of + "4 --ranks-per-node 1"));
    const SortedJson json = collective_json(of + "32 --groups 8");
    EXPECT_EQ(json.at("groups"), 8);
}

TEST(collective, text_is_the_table_of_nccl_tests) {
    const test::Ran ran = run_weft("collective all_reduce --machine frontier --ranks 16 --sizes 8,1M");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.out.find("#        size         count     type   redop    root       time    algbw    busbw"),
              std::string::npos);
    EXPECT_NE(ran.out.find("     1048576        262144    float     sum      -1"), std::string::npos);
}

TEST(collective, explains_phases_and_candidates) {
    const SortedJson row =
        collective_json("all_gather --machine frontier --ranks 128 --sizes 64M --explain").at("rows").at(0);
    ASSERT_EQ(row.at("phases").size(), 1U);
    EXPECT_EQ(row.at("phases")[0].at("pattern"), "shift by 1, 127 rounds");
    int chosen = 0;
    for (const SortedJson& candidate : row.at("candidates")) {
        if (!candidate.at("chosen")) continue;
        ++chosen;
        EXPECT_EQ(candidate.at("time_s"), row.at("time_s"));
    }
    EXPECT_EQ(chosen, 1);
}

TEST(collective, a_loaded_fabric_is_slower) {
    for (const std::string op : {"all_reduce", "all_gather", "send_receive"}) {
        const std::string of = op + " --machine leonardo --ranks 64 --sizes 64K --load ";
        double before = 0.0;
        for (const char* const load : {"0", "0.25", "0.5", "0.75", "0.9"}) {
            const double now = time_of(of + load);
            EXPECT_GT(now, before) << op << load;
            before = now;
        }
    }
    const std::string one_switch = "collective all_reduce --machine dgx-h100 --ranks 16 --sizes 64K --load 0.75";
    const std::string text = run_weft(one_switch).out;
    EXPECT_NE(text.find("# other traffic: infiniband.leaf_spine 75 % (a packet waits 1.5 times its own time), "),
              text.npos)
        << text;
    EXPECT_NE(text.find("# no message meets other traffic\n"), text.npos) << text;
}

// The first sample has the hashes of the row, and each has those of a seed of its own.
TEST(collective, samples_of_ecmp_vary_by_their_hashes) {
    const std::string of = "all_reduce --machine megascale --ranks 2048 --placement random:1 --sizes 256M ";
    std::vector<double> times;
    for (int seed = 3; seed < 10; ++seed) {
        const SortedJson one = collective_json(of + "--routing ecmp:" + std::to_string(seed));
        times.push_back(one.at("rows").at(0).at("time_s").get<double>());
    }
    const SortedJson drawn = collective_json(of + "--routing ecmp:3 --samples 7");
    EXPECT_EQ(drawn.at("samples").at("hashes_from"), "ecmp:3");
    const SortedJson& row = drawn.at("rows").at(0);
    EXPECT_NEAR(row.at("time_s").get<double>(), times[0], 1e-9 * times[0]);
    std::ranges::sort(times);
    EXPECT_LT(times.front(), times.back());
    EXPECT_NEAR(row.at("sampled").at("p50_s").get<double>(), times[3], 1e-9 * times[3]);
    EXPECT_NEAR(row.at("sampled").at("p99_s").get<double>(), times.back(), 1e-9 * times.back());
    EXPECT_EQ(run_weft("collective " + of + "--routing ecmp --samples 5 --jobs 1").out,
              run_weft("collective " + of + "--routing ecmp --samples 5 --jobs 2").out);
}

// De Sensi et al., SC24 (arXiv 2408.14090): on 1,024 GPUs others cost Leonardo's all-reduce up to half of its goodput,
// Slingshot's hardly any. GPCNeT on 64 nodes of Slingshot (Cray System Management, fabric validation): 1.0 times as
// slow beside congestors, on average and for 99 %.
TEST(collective, meets_flows_of_others_as_published_fabrics_do) {
    const auto row = [](const std::string& of) {
        return collective_json("all_reduce --machine " + of).at("rows").at(0);
    };
    const auto slower = [&](const SortedJson& of, const char* quantile) {
        return of.at("congested").at(quantile).get<double>() / of.at("time_s").get<double>();
    };
    const SortedJson leonardo = row("leonardo --ranks 1024 --sizes 1G --load 0.3");
    EXPECT_GT(slower(leonardo, "p50_s"), 1.2);
    EXPECT_GT(slower(leonardo, "p95_s"), slower(leonardo, "p50_s"));
    EXPECT_GT(slower(leonardo, "p99_s"), slower(leonardo, "p95_s"));
    EXPECT_LT(slower(leonardo, "p99_s"), 2.0);
    for (const char* const slingshot : {"alps --ranks 1024", "lumi-g --ranks 1024", "perlmutter --ranks 256"}) {
        const std::string of = std::string(slingshot) + " --sizes 1G --load ";
        EXPECT_LT(slower(row(of + "0.3"), "p99_s"), 1.05) << slingshot;
        EXPECT_FALSE(row(of + "0").contains("congested"));
    }
}

void expect_refused(const std::string& arguments, const std::string& because) {
    const test::Ran ran = run_weft("collective " + arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    EXPECT_NE(ran.err.find(because), std::string::npos) << arguments << ": " << ran.err;
}

TEST(collective, refusals_say_what_there_is) {
    expect_refused("all_redoce --machine frontier --ranks 8", "did you mean \"all_reduce\"");
    expect_refused("all_reduce --machine frontier --ranks 8 --library rcl", "did you mean \"rccl\"");
    expect_refused("all_reduce --machine frontier --ranks 8 --algorithm rng", "did you mean \"ring\"");
    expect_refused("all_to_all --machine frontier --ranks 8 --protocol LL", "it has: Simple");
    expect_refused("all_reduce --machine frontier --ranks 80000", "which hold 75264 ranks");
    expect_refused("all_reduce --machine frontier --ranks 8 --ranks-per-node 9", "has 8 accelerators, not 9");
    expect_refused("all_reduce --machine frontier --ranks 9 --groups 2", "9 ranks do not fill 2 equal groups");
    expect_refused("point_to_point --machine frontier --ranks 16", "among 16 ranks on 2 nodes");
    expect_refused("all_reduce --machine frontier --ranks 0", "at least 1");
    expect_refused("all_reduce --machine frontier --ranks -4", "at least 1");
    expect_refused("all_reduce --machine frontier --ranks 3 --order 0,1", "all 3 ranks, got 2");
    expect_refused("all_reduce --machine frontier --ranks 3 --order 0,1,1", "twice");
    expect_refused("all_reduce --machine frontier --ranks 8 --routing fast",
                   "minimal, ecmp, ecmp:SEED, valiant, adaptive");
    expect_refused("all_reduce --machine frontier --ranks 8 --background slingshot.globel=0.2", "slingshot.global");
    expect_refused("all_reduce --machine frontier --ranks 8 --background x=2", "below 1");
    expect_refused("all_reduce --machine frontier --ranks 8 --load 1", "below 1");
    expect_refused("all_reduce --machine frontier --ranks 8 --samples 10", "here it is adaptive");
    expect_refused("all_reduce --machine frontier --ranks 8 --jobs 2", "only with --samples");
    expect_refused("all_reduce --machine frontier --ranks 8 --calls late", "blocking, queued");
}

// Two nodes of different groups are a global link apart, which others may load.
TEST(collective, feels_where_its_nodes_are_and_who_else_sends) {
    const std::string of = "point_to_point --machine frontier --ranks 2 --ranks-per-node 1 --calls queued --sizes ";
    EXPECT_GT(time_of(of + "8 --placement scatter:2"), time_of(of + "8"));
    EXPECT_GT(time_of(of + "1G --placement scatter:2 --routing minimal --background slingshot.global=0.9"),
              2.0 * time_of(of + "1G --placement scatter:2 --routing minimal"));
}

// A table that the program wrote itself is met without error.
TEST(collective, compares_with_what_nccl_tests_would_have_printed) {
    const test::TemporaryFolder folder;
    const std::string of = "all_reduce --machine dgx-a100 --ranks 16 ";
    const test::Ran csv = run_weft("collective " + of + "--sizes 1K:1G:16 --csv");
    std::ofstream(folder.path() / "measured.csv") << csv.out;
    const test::Ran ran = run_weft("collective " + of + "--compare '" + (folder.path() / "measured.csv").string() +
                                   "' --plot '" + (folder.path() / "times.svg").string() + "' --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson comparison = SortedJson::parse(ran.out).at("comparison");
    EXPECT_EQ(comparison.at("rows").size(), 6U);
    EXPECT_NEAR(comparison.at("largest_absolute_error"), 0.0, 1e-12);
    EXPECT_NE(test::read_file(folder.path() / "times.svg").find("<svg"), std::string::npos);
}

TEST(collective, compare_says_how_far_it_is_off) {
    const test::TemporaryFolder folder;
    const std::string of = "all_reduce --machine dgx-a100 --ranks 8 --sizes 1M";
    const double time = time_of(of);
    std::ofstream(folder.path() / "measured.csv")
        << "op,ranks,bytes,time_s\nallreduce,8,1048576," << time / 1.25 << "\nallreduce,16,1048576,1\n";
    const SortedJson json = collective_json("all_reduce --machine dgx-a100 --ranks 8 --compare '" +
                                            (folder.path() / "measured.csv").string() + "'");
    EXPECT_NEAR(json.at("comparison").at("median_absolute_error"), 0.25, 1e-5);
    EXPECT_EQ(json.at("comparison").at("rows").size(), 1U);  // the other row is about 16 ranks
    const test::Ran none = run_weft("collective all_reduce --machine dgx-a100 --ranks 4 --compare '" +
                                    (folder.path() / "measured.csv").string() + "'");
    EXPECT_EQ(none.exit_code, 3);
    EXPECT_NE(none.err.find("all_reduce among 16 ranks"), std::string::npos);
}

TEST(calibrate, writes_a_machine_that_meets_the_table) {
    const test::TemporaryFolder folder;
    const std::string table = (folder.path() / "measured.csv").string(), out = (folder.path() / "my.json").string();
    std::ofstream file(table);
    file << "op,ranks,nnodes,bytes,time_s\n";
    const SortedJson rows = collective_json("all_gather --machine dgx-a100 --ranks 8 --sizes 8:1G:4").at("rows");
    for (const SortedJson& row : rows) {  // half as fast, and 10 us later
        file << "allgather,8,1," << row.at("size_bytes") << ',' << 2.0 * row.at("time_s").get<double>() + 1e-5 << '\n';
    }
    file.close();
    const test::Ran ran = run_weft("calibrate '" + table + "' --machine dgx-a100 --out '" + out + "' --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson fitted = SortedJson::parse(ran.out).at("fitted");
    EXPECT_LT(fitted.at("after").at("median_absolute_error"), 0.1);
    EXPECT_GT(fitted.at("before").at("median_absolute_error"), 0.4);
    const SortedJson again =
        collective_json("all_gather --machine '" + out + "' --ranks 8 --compare '" + table + "'").at("comparison");
    EXPECT_NEAR(again.at("median_absolute_error"), fitted.at("after").at("median_absolute_error"), 1e-3);
    EXPECT_NE(test::read_file(out).find("fitted to 14 rows of all_gather among 8 ranks on 1 node (measured.csv)"),
              std::string::npos);
}

// An outlier among rows that the machine's own constants meet: the third row, in line 4.
TEST(calibrate, warns_of_a_row_that_the_fit_misses_by_more_than_half) {
    const test::TemporaryFolder folder;
    const std::string table = (folder.path() / "measured.csv").string();
    std::ofstream file(table);
    file << "op,ranks,nnodes,bytes,time_s\n";
    std::size_t line = 1;
    const SortedJson rows = collective_json("all_gather --machine dgx-a100 --ranks 8 --sizes 8:1G:4").at("rows");
    for (const SortedJson& row : rows) {
        const double factor = ++line == 4 ? 6.0 : 1.0;
        file << "allgather,8,1," << row.at("size_bytes") << ',' << factor * row.at("time_s").get<double>() << '\n';
    }
    file.close();
    const test::Ran ran = run_weft("calibrate '" + table + "' --machine dgx-a100");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(ran.err.starts_with("warning: measured.csv:4: all_gather among 8 ranks on 1 node of 128 B, "))
        << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

// Measured on 4, 8 and 16 nodes of Perlmutter (tests/validation): what is fitted to the smaller two meets the largest
// as well as these.
TEST(calibrate, fits_small_scales_so_that_the_larger_follow) {
    const test::TemporaryFolder folder;
    const std::string table = (folder.path() / "measured.csv").string();
    std::ofstream file(table);
    file << "op,ranks,nnodes,bytes,time_s\n";
    std::istringstream set(test::read_file(WEFT_SOURCE_DIR "/tests/validation/collectives-perlmutter-rings.csv"));
    std::string line;
    std::getline(set, line);  // name,use,measured.collective_s,op,ranks,size
    while (std::getline(set, line)) {
        std::istringstream cells(line.substr(line.find("\",fit,") + 6));
        double seconds = 0.0, size = 0.0;
        unsigned ranks = 0;
        char comma = 0;
        std::string unit;
        cells >> seconds;
        cells.ignore(12);  // ",all_gather,"
        cells >> ranks >> comma >> size >> unit;
        file << "allgather," << ranks << ',' << ranks / 4 << ',' << size * (unit == "GiB" ? 1024.0 : 1.0) * 1048576.0
             << ',' << seconds << '\n';
    }
    file.close();
    const test::Ran ran = run_weft("calibrate '" + table + "' --machine perlmutter --hold ranks=64 --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson found = SortedJson::parse(ran.out);
    EXPECT_EQ(found.at("fitted").at("after").at("rows"), 44);
    EXPECT_EQ(found.at("held").at("after").at("rows"), 22);
    EXPECT_LT(found.at("held").at("after").at("median_absolute_error"), 0.06);
    EXPECT_LT(found.at("held").at("after").at("percentile_90_absolute_error"), 0.25);
}

TEST(calibrate, refuses_what_it_cannot_place) {
    const test::TemporaryFolder folder;
    const std::string table = (folder.path() / "measured.csv").string();
    std::ofstream(table) << "op,ranks,nnodes,bytes,time_us\nallreduce,9,2,8,1\nallreduce,32,2,8,1\n";
    const test::Ran ran = run_weft("calibrate '" + table + "' --machine dgx-a100");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find(":2:1: error: 9 ranks do not fill 2 nodes evenly"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find(":3:1: error: 32 ranks on 2 nodes"), std::string::npos) << ran.err;
    const std::string log = (folder.path() / "log.txt").string();
    std::ofstream(log) << "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)\n"
                          "# Using devices\n#  Rank  0 Group  0 Pid  1 on  host device  0 [0x07] NVIDIA A100\n"
                          "# all_reduce_perf\n#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
                          "  8  2  float  sum  -1  20.0  0.00  0.00  0\n";
    const test::Ran other = run_weft("calibrate '" + log + "' --machine dgx-a100 --ranks 16");
    EXPECT_EQ(other.exit_code, 3);
    EXPECT_NE(other.err.find("log.txt:6:1: error: measured among 1 ranks by its own lines, and --ranks says 16"),
              std::string::npos)
        << other.err;
    EXPECT_EQ(run_weft("calibrate '" + table + "' --machine dgx-a100 --fit lunch").exit_code, 2);
    EXPECT_EQ(run_weft("calibrate '" + table + "' --machine dgx-a100 --hold ranks").exit_code, 2);
    EXPECT_EQ(run_weft("calibrate no-such-file.csv --machine dgx-a100").exit_code, 3);
}

}  // namespace
}  // namespace weft
