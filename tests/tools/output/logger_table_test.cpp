// The expected texts were printed by DeepSpeed 0.14.0's own logger, given the same calls and 16 ranks.
#include "tools/output/volume_text.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr std::uint32_t world = 16;

LoggedCall call(std::string_view name, double bytes, double milliseconds) {
    return {.name = name, .size = {bytes}, .latency = {milliseconds / 1e3}};
}

// A call of every kind, large, small and empty.
std::vector<LoggedCall> assorted() {
    return {call("all_reduce", 1, 0.5),
            call("all_gather_into_tensor", 176750592, 12.5),
            call("all_gather_into_tensor", 80384, 0.125),
            call("send", 33554432, 3.7),
            call("send", 8388608, 1.1),
            call("all_reduce", 986611712, 98.2),
            call("recv", 33554432, 250),
            call("reduce_scatter_tensor", 1073741824, 77.7),
            call("broadcast", 0, 0.03),
            call("all_to_all_single", 2048, 0.4),
            call("barrier", 0, 1),
            call("reduce", 103022592, 2.2)};
}

// Squares in a scrambled order, so that trimmed values and their number show: of 15 calls two at each end are left
// out (1.5 rounds to 2), of 5 none (0.5 rounds to 0), of 25 two (2.5 rounds to 2).
void add_squares(std::vector<LoggedCall>& calls, std::string_view name, double bytes, int count, int stride) {
    for (int i = 0; i < count; ++i) {
        const double root = stride * i % count + 1;
        calls.push_back(call(name, bytes, root * root));
    }
}

constexpr std::string_view expected_lines =
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_reduce | time"
    " (ms): 0.50 | msg size: 1.0 B | algbw (Gbps): 0.00 | busbw (Gbps): 0.00\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_gather_into_tensor | time"
    " (ms): 12.50 | msg size: 168.56 MB | algbw (Gbps): 1809.93 | busbw (Gbps): 1696.81\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_gather_into_tensor | time"
    " (ms): 0.12 | msg size: 78.5 KB | algbw (Gbps): 82.31 | busbw (Gbps): 77.17\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: send | time"
    " (ms): 3.70 | msg size: 32.0 MB | algbw (Gbps): 72.55 | busbw (Gbps): 72.55\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: send | time"
    " (ms): 1.10 | msg size: 8.0 MB | algbw (Gbps): 61.01 | busbw (Gbps): 61.01\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_reduce | time"
    " (ms): 98.20 | msg size: 940.91 MB | algbw (Gbps): 160.75 | busbw (Gbps): 150.70\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: recv | time"
    " (ms): 250.00 | msg size: 32.0 MB | algbw (Gbps): 1.07 | busbw (Gbps): 1.07\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: reduce_scatter_tensor | time"
    " (ms): 77.70 | msg size: 1.0 GB | algbw (Gbps): 1768.84 | busbw (Gbps): 1658.29\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: broadcast | time"
    " (ms): 0.03 | msg size: 0B | algbw (Gbps): 0.00 | busbw (Gbps): 0.00\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_to_all_single | time"
    " (ms): 0.40 | msg size: 2.0 KB | algbw (Gbps): 0.04 | busbw (Gbps): 0.04\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: barrier | time"
    " (ms): 1.00 | msg size: 0B | algbw (Gbps): 0.00 | busbw (Gbps): 0.00\n"
    "[INFO] [logging.py:96:log_dist] [Rank 0] comm op: reduce | time"
    " (ms): 2.20 | msg size: 98.25 MB | algbw (Gbps): 374.63 | busbw (Gbps): 374.63\n";

constexpr std::string_view expected_summary =
    "Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)     tput_avg "
    "(Gbps)     busbw_avg (Gbps)    \n"
    "all_reduce\n"
    "                    1.0 B               1                   0.50                0.50                0.00          "
    "      0.00                \n"
    "                    940.91 MB           1                   98.20               98.20               160.75        "
    "      150.70              \n"
    "all_gather_into_tensor\n"
    "                    78.5 KB             1                   0.12                0.12                82.31         "
    "      77.17               \n"
    "                    168.56 MB           1                   12.50               12.50               1809.93       "
    "      1696.81             \n"
    "send\n"
    "                    1.5 KB              15                  1240.00             74.00               0.00          "
    "      0.00                \n"
    "                    8.0 MB              1                   1.10                1.10                61.01         "
    "      61.01               \n"
    "                    32.0 MB             1                   3.70                3.70                72.55         "
    "      72.55               \n"
    "recv\n"
    "                    1.5 KB              5                   55.00               11.00               0.00          "
    "      0.00                \n"
    "                    32.0 MB             1                   250.00              250.00              1.07          "
    "      1.07                \n"
    "reduce_scatter_tensor\n"
    "                    1.0 GB              1                   77.70               77.70               1768.84       "
    "      1658.29             \n"
    "broadcast\n"
    "                    0B                  1                   0.03                0.03                0.00          "
    "      0.00                \n"
    "all_to_all_single\n"
    "                    2.0 KB              1                   0.40                0.40                0.04          "
    "      0.04                \n"
    "barrier\n"
    "                    0B                  1                   1.00                1.00                0.00          "
    "      0.00                \n"
    "reduce\n"
    "                    98.25 MB            1                   2.20                2.20                374.63        "
    "      374.63              \n"
    "isend\n"
    "                    1.0 KB              25                  5525.00             205.67              0.00          "
    "      0.00                \n";

TEST(logger_table, a_line_per_call) { EXPECT_EQ(logger_lines(assorted(), world), expected_lines); }

TEST(logger_table, a_row_per_size_with_trimmed_means) {
    std::vector<LoggedCall> calls = assorted();
    add_squares(calls, "send", 1536, 15, 7);
    add_squares(calls, "recv", 1536, 5, 3);
    add_squares(calls, "isend", 1024, 25, 7);
    EXPECT_EQ(logger_summary(calls, world), expected_summary);
}

TEST(logger_table, sizes_are_written_as_python_rounds_and_prints) {
    struct Case {
        double bytes;
        std::string_view text;
    };
    for (const Case& c : {

             Case{0, "0B"},
             Case{1, "1.0 B"},
             Case{1023, "1023.0 B"},
             Case{1024, "1.0 KB"},
             Case{1025, "1.0 KB"},
             Case{1536, "1.5 KB"},
             Case{1048575, "1024.0 KB"},
             Case{1048576, "1.0 MB"},
             Case{103022592, "98.25 MB"},
             Case{8388608, "8.0 MB"},
             Case{1047552, "1023.0 KB"},
             Case{1073741823, "1024.0 MB"},
             Case{1073741824, "1.0 GB"},
             Case{2828009472, "2.63 GB"},
             Case{1099511627776, "1.0 TB"},
             Case{1152, "1.12 KB"},
             Case{1160, "1.13 KB"},
             Case{1029, "1.0 KB"},
         }) {
        EXPECT_EQ(logger_size(Bytes{c.bytes}), c.text) << c.bytes;
    }
}

TEST(logger_table, bandwidths_count_all_ranks_whatever_the_group) {
    // 1 MB in 1 ms is 8 Gbit/s.
    struct Case {
        std::string_view name;
        double algorithm, bus;
    };
    for (const Case& c :
         {Case{"all_gather", 32, 24}, Case{"all_gather_into_tensor", 32, 24}, Case{"reduce_scatter", 32, 24},
          Case{"reduce_scatter_tensor", 32, 24}, Case{"all_reduce", 16, 12}, Case{"all_reduce_coalesced", 16, 12},
          Case{"inference_all_reduce", 16, 12}, Case{"all_to_all_single", 8, 6}, Case{"isend", 8, 8},
          Case{"irecv", 8, 8}, Case{"gather", 8, 8}, Case{"scatter", 8, 8}}) {
        const LoggedBandwidth bandwidth = logger_bandwidth(call(c.name, 1e6, 1), 4);
        EXPECT_DOUBLE_EQ(bandwidth.algorithm_gbps, c.algorithm) << c.name;
        EXPECT_DOUBLE_EQ(bandwidth.bus_gbps, c.bus) << c.name;
    }
}

TEST(logger_table, a_call_of_no_time_has_no_bandwidth) {
    const LoggedBandwidth bandwidth = logger_bandwidth(call("all_reduce", 1e6, 0), 1);
    EXPECT_EQ(bandwidth.algorithm_gbps, 0);
    EXPECT_EQ(bandwidth.bus_gbps, 0);
}

TEST(logger_table, refuses_what_the_logger_cannot_rate) {
    EXPECT_NO_THROW(logger_summary(std::vector{call("barrier", 1, 1)}, world));
    EXPECT_THROW(logger_summary(std::vector{call("monitored_barrier", 1, 1)}, world), LogicError);
    EXPECT_THROW(logger_summary(std::vector{call("all_to_all", 1, 1)}, world), LogicError);
}

TEST(logger_table, of_no_calls_only_the_heading_is_left) {
    EXPECT_EQ(logger_lines({}, world), "");
    EXPECT_EQ(logger_summary({}, world), expected_summary.substr(0, expected_summary.find('\n') + 1));
}

}  // namespace
}  // namespace weft
