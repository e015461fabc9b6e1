// Every DeepSpeed call of a step, by size, count and type, against the table of calls read in its sources, and their
// sums against what its communication logger adds up.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "tests/csv.hpp"
#include "tests/workloads/data_parallel/stage_driver.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

std::string function_name(Collective op) {
    if (op == Collective::all_gather) return "all_gather_into_tensor";
    if (op == Collective::reduce_scatter) return "reduce_scatter_tensor";
    return std::string(name(op));
}

// What the logger prints as a call's size: the tensor that it is given, for an all-gather the shard.
double logged_bytes(const Call& call, std::uint32_t ranks) {
    return call.op == Collective::all_gather ? call.message.value / ranks : call.message.value;
}

struct Case {
    test::NamedModel model;
    std::string scheme;
    std::uint32_t ranks;
};

std::string title(const Case& c) { return c.model.name + " " + c.scheme + " " + std::to_string(c.ranks); }

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const test::NamedModel& model : test::neox_models()) {
        if (model.name == "20B") continue;  // not in the tables
        for (const char* scheme : {"DDP(stage0)", "ZeRO-1", "ZeRO-2", "ZeRO-3"}) {
            for (const std::uint32_t ranks : {8U, 16U}) all.push_back({model, scheme, ranks});
        }
    }
    return all;
}

std::vector<PlayedCall> play(const Case& c, StepKind step) {
    ShardingInput input{.step = step, .ranks = c.ranks, .gradient_overlap = Setting::on};
    input.loss_scaling = LossScaling::dynamic;
    input.checkpointing = Checkpointing::every_layer;
    input.zero = c.scheme == "DDP(stage0)" ? 0 : static_cast<std::uint32_t>(c.scheme.back() - '0');
    const test::Factory make = input.zero == 0   ? make_deepspeed_stage0
                               : input.zero == 3 ? make_deepspeed_zero3
                                                 : make_deepspeed_zero12;
    return test::play_step(make, input, test::neox_stage(c.model.layers, c.model.hidden));
}

bool belongs(const test::CsvRow& row, const Case& c) {
    return row.at("model") == c.model.name && row.at("scheme") == c.scheme &&
           row.at("n_devices") == std::to_string(c.ranks);
}

// Operation, group size, full message, type, part of the step where the table tells it.
using Key = std::tuple<std::string, std::uint32_t, double, std::string, std::string>;
using Counts = std::map<Key, double>;

// "fwd prefetch", "bwd fetch" of the notes.
std::string direction_of(const std::string& note) {
    const std::string start = note.substr(0, 4);
    return start == "fwd " || start == "bwd " ? start.substr(0, 3) : "";
}

Key key_of(const PlayedCall& played, std::uint32_t ranks) {
    const Call& call = played.call;
    const std::uint32_t size = call.group == part_axes() ? 1 : ranks;
    std::string direction;
    if (call.op == Collective::all_gather && played.part == Part::forward) direction = "fwd";
    if (call.op == Collective::all_gather && played.part == Part::backward) direction = "bwd";
    return {function_name(call.op), size, call.message.value, std::string(call.type), direction};
}

Key key_of(const test::CsvRow& row) {
    return {row.at("op"), static_cast<std::uint32_t>(std::stoul(row.at("group_size"))),
            std::stod(row.at("full_message_bytes")), row.at("dtype"), direction_of(row.at("note"))};
}

Counts counts_of(const std::vector<PlayedCall>& calls, std::uint32_t ranks) {
    Counts counts;
    for (const PlayedCall& played : calls) counts[key_of(played, ranks)] += 1;
    return counts;
}

Counts expected_counts(const Case& c, StepKind step) {
    Counts counts;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/data_parallel_calls.csv")) {
        const bool other_step = row.at("when") == (step == StepKind::first ? "iter (steady)" : "first iter");
        if (belongs(row, c) && !other_step) counts[key_of(row)] += std::stod(row.at("count"));
    }
    return counts;
}

class deepspeed_calls : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(of_the_study, deepspeed_calls, testing::ValuesIn(cases()));

TEST_P(deepspeed_calls, are_those_of_a_steady_step) {
    const Counts expected = expected_counts(GetParam(), StepKind::steady);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(counts_of(play(GetParam(), StepKind::steady), GetParam().ranks), expected) << title(GetParam());
}

TEST_P(deepspeed_calls, are_those_of_the_first_step) {
    const Counts expected = expected_counts(GetParam(), StepKind::first);
    EXPECT_EQ(counts_of(play(GetParam(), StepKind::first), GetParam().ranks), expected) << title(GetParam());
}

TEST_P(deepspeed_calls, move_and_log_the_bytes_of_the_table) {
    const Case& c = GetParam();
    std::map<Key, Call> calls;
    for (const PlayedCall& played : play(c, StepKind::steady)) {
        calls[key_of(played, c.ranks)] = played.call;
    }
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/data_parallel_calls.csv")) {
        if (!belongs(row, c) || row.at("when") == "first iter") continue;
        const auto found = calls.find(key_of(row));
        ASSERT_NE(found, calls.end()) << title(c) << row.at("note");
        const auto size = static_cast<std::uint32_t>(std::stoul(row.at("group_size")));
        const Call& call = found->second;
        EXPECT_EQ(logged_bytes(call, size), std::stod(row.at("ds_logged_bytes"))) << title(c);
        const Bytes moved = wire_volume(call.op, call.message * std::stod(row.at("count")), size);
        EXPECT_EQ(std::round(moved.value), std::stod(row.at("volume_bytes"))) << title(c);
    }
}

TEST_P(deepspeed_calls, add_up_to_what_the_logger_sums) {
    const Case& c = GetParam();
    struct Sum {
        double calls = 0, logged = 0, volume = 0;
    };
    std::map<std::string, Sum> sums;
    for (const PlayedCall& played : play(c, StepKind::steady)) {
        const Call& call = played.call;
        const std::uint32_t size = call.group == part_axes() ? 1 : c.ranks;
        ASSERT_EQ(call.through, Through::deepspeed);
        Sum& sum = sums[function_name(call.op)];
        sum.calls += 1;
        sum.logged += logged_bytes(call, size);
        sum.volume += wire_volume(call.op, call.message, size).value;
    }
    std::size_t rows = 0;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/data_parallel_logged.csv")) {
        if (!belongs(row, c)) continue;
        const Sum& sum = sums[row.at("op")];
        EXPECT_EQ(sum.calls, std::stod(row.at("calls_per_iter"))) << title(c);
        EXPECT_EQ(sum.logged, std::stod(row.at("sum_logged_bytes"))) << title(c);
        // The table adds rounded rows.
        EXPECT_NEAR(sum.volume, std::stod(row.at("sum_true_volume_bytes_paper_convention")), 1) << title(c);
        ++rows;
    }
    EXPECT_EQ(rows, sums.size()) << title(c);
}

}  // namespace
}  // namespace weft
