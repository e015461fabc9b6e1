#include "tools/output/volume_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HistogramBin bin(std::string op, double from, double to, double calls, double bytes) {
    return {.op = std::move(op), .from = {from}, .to = {to}, .calls = calls, .bytes = {bytes}};
}

TEST(histogram, bins_are_closed_below_and_open_above) {
    const std::vector<MessageCount> messages{{"send", {1}, 1},    {"send", {2}, 10},      {"send", {3}, 100},
                                             {"send", {4}, 1000}, {"send", {1048575}, 2}, {"send", {1048576}, 3}};
    EXPECT_THAT(message_histogram(messages),
                ElementsAre(bin("send", 1, 2, 1, 1), bin("send", 2, 4, 110, 320), bin("send", 4, 8, 1000, 4000),
                            bin("send", 524288, 1048576, 2, 2097150), bin("send", 1048576, 2097152, 3, 3145728)));
}

TEST(histogram, empty_messages_stand_apart) {
    const std::vector<MessageCount> messages{{"barrier", {1}, 1}, {"barrier", {0}, 7}};
    EXPECT_THAT(message_histogram(messages), ElementsAre(bin("barrier", 0, 1, 7, 0), bin("barrier", 1, 2, 1, 1)));
}

TEST(histogram, operations_keep_the_order_in_which_they_first_occur) {
    const std::vector<MessageCount> messages{{"send", {8}}, {"all_reduce", {8}}, {"send", {2}}};
    EXPECT_THAT(message_histogram(messages),
                ElementsAre(bin("send", 2, 4, 1, 2), bin("send", 8, 16, 1, 8), bin("all_reduce", 8, 16, 1, 8)));
}

TEST(histogram, refuses_sizes_that_are_none) {
    EXPECT_THROW(message_histogram(std::vector<MessageCount>{{"send", {-1}}}), LogicError);
    EXPECT_THROW(message_histogram(std::vector<MessageCount>{{"send", {std::nan("")}}}), LogicError);
    EXPECT_THROW(message_histogram(std::vector<MessageCount>{{"send", {std::numeric_limits<double>::infinity()}}}),
                 LogicError);
}

TEST(histogram, loses_nothing_and_puts_each_message_into_its_bin) {
    const bool held = rc::check([](const std::vector<std::uint32_t>& sizes) {
        std::vector<MessageCount> messages;
        for (const std::uint32_t size : sizes) messages.push_back({"send", {static_cast<double>(size)}, 1});
        double calls = 0, bytes = 0;
        for (const HistogramBin& b : message_histogram(messages)) {
            double inside = 0;  // the naive twin: counts the messages between the edges
            for (const std::uint32_t size : sizes) inside += size >= b.from.value && size < b.to.value ? 1 : 0;
            RC_ASSERT(b.calls == inside);
            calls += b.calls;
            bytes += b.bytes.value;
        }
        RC_ASSERT(calls == static_cast<double>(sizes.size()));
        RC_ASSERT(bytes == std::accumulate(sizes.begin(), sizes.end(), 0.0));
    });
    EXPECT_TRUE(held);
}

TEST(histogram, draws_bars_in_proportion_to_calls) {
    const std::string text = histogram_text(message_histogram(
        std::vector<MessageCount>{{"all_gather", {256}, 80}, {"all_gather", {6291456}, 20}, {"send", {0}, 1}}));
    EXPECT_EQ(text,
              "all_gather: 100 calls\n"
              "               message  calls   share     bytes\n"
              "        256 B to 512 B     80  80.0 %  20.0 KiB  " +
                  std::string(40, '#') +
                  "\n"
                  "  4.00 MiB to 8.00 MiB     20  20.0 %   120 MiB  " +
                  std::string(10, '#') +
                  "\n"
                  "\n"
                  "send: 1 call\n"
                  "  message  calls    share  bytes\n"
                  "    empty      1  100.0 %    0 B  " +
                  std::string(40, '#') + "\n");
}

TEST(histogram, csv_has_the_agreed_columns) {
    EXPECT_EQ(table_csv(histogram_table(
                  message_histogram(std::vector<MessageCount>{{"send", {6291456}, 24}, {"send", {0.5}, 1.5}}))),
              "op,from_bytes,to_bytes,calls,bytes\n"
              "send,0,1,1.5,0.75\n"
              "send,4194304,8388608,24,150994944\n");
}

}  // namespace
}  // namespace weft
