// ZeRO-1 beside tensor and pipeline parallelism: the calls of rank 0's data group, layout by layout.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/csv.hpp"
#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

struct ZeroLayout {
    std::string model;
    std::uint32_t tensor = 1, pipeline = 1, data = 1;
    auto operator<=>(const ZeroLayout&) const = default;
};

// TP "4", PP "2", TP4xPP2 "4x2".
ZeroLayout layout_of(const test::CsvRow& row) {
    const std::string& scheme = row.at("scheme");
    const std::string& degree = row.at("degree");
    const auto first = static_cast<std::uint32_t>(std::stoul(degree));
    ZeroLayout layout{row.at("model")};
    if (const std::size_t x = degree.find('x'); x != std::string::npos) {
        layout.tensor = first;
        layout.pipeline = static_cast<std::uint32_t>(std::stoul(degree.substr(x + 1)));
    } else {
        (scheme == "TP" ? layout.tensor : layout.pipeline) = first;
    }
    layout.data = static_cast<std::uint32_t>(std::stoul(row.at("n_devices"))) / (layout.tensor * layout.pipeline);
    return layout;
}

// Layers that NeoX's balanced split gives the first of 1, 2, 4, 8 stages.
const std::map<std::string, std::map<std::uint32_t, std::uint32_t>> first_stage_layers{
    {"19M", {{1, 6}, {2, 3}, {4, 1}, {8, 0}}},    {"125M", {{1, 12}, {2, 6}, {4, 3}, {8, 1}}},
    {"1.3B", {{1, 24}, {2, 12}, {4, 6}, {8, 3}}}, {"13B", {{1, 40}, {2, 20}, {4, 10}, {8, 5}}},
    {"20B", {{1, 44}, {2, 22}, {4, 11}, {8, 5}}},
};

std::vector<StageModule> stage_of(const ZeroLayout& layout, const test::NamedModel& model) {
    const std::uint64_t multiple = 128ULL * layout.tensor;  // the vocabulary of 50,257 is padded to it
    const std::uint64_t vocabulary = (50257 + multiple - 1) / multiple * multiple;
    auto modules = test::neox_stage(first_stage_layers.at(model.name).at(layout.pipeline), model.hidden, vocabulary,
                                    layout.tensor);
    if (layout.pipeline > 1) modules.resize(modules.size() - 2);  // norm and output layer are on the last stage
    return modules;
}

using Calls = std::map<std::pair<std::string, double>, double>;  // operation and message to calls

Calls played(const ZeroLayout& layout, const test::NamedModel& model) {
    const auto modules = stage_of(layout, model);
    ShardingInput input{.modules = modules, .stages = layout.pipeline, .ranks = layout.data};
    input.zero = 1;
    input.gradient_overlap = Setting::on;
    input.model_ranks = layout.tensor * layout.pipeline;
    input.bucket_elements = model.bucket_elements;
    const auto engine = make_deepspeed_zero12(input);
    test::Player player{modules, *engine};
    const PassAt last{Pass::backward, {0, 0}, 0, Accumulation::complete};
    for (std::size_t m = modules.size(); m-- > 0;) engine->after(player.script, last, m);
    engine->end_pass(player.script, last);
    engine->finish_gradients(player.script);
    player.mark(test::Part::after_optimizer);
    engine->after_optimizer(player.script);
    Calls calls;
    for (const test::PlayedCall& call : player.calls()) {
        calls[{std::string(name(call.call.op)), call.call.message.value}] += 1;
    }
    return calls;
}

TEST(zero_1_beside_model_parallelism, sends_what_the_table_says) {
    std::map<ZeroLayout, Calls> expected;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/zero1_model_parallel_calls.csv")) {
        const std::string op = row.at("op") == "all_reduce" ? "all_reduce" : "all_gather";
        expected[layout_of(row)][{op, std::stod(row.at("full_message_bytes"))}] += std::stod(row.at("count"));
    }
    EXPECT_GE(expected.size(), 30U);
    for (const auto& [layout, calls] : expected) {
        for (const test::NamedModel& model : test::neox_models()) {
            if (model.name != layout.model) continue;
            EXPECT_EQ(played(layout, model), calls)
                << model.name << " tensor " << layout.tensor << " pipeline " << layout.pipeline;
        }
    }
}

}  // namespace
}  // namespace weft
