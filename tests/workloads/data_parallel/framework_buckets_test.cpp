// Gradient buckets for unusual shapes and settings against what the frameworks' own code makes of them.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

#include "tests/csv.hpp"
#include "tests/workloads/data_parallel/stage_driver.hpp"
#include "workloads/data_parallel/data_parallel.hpp"

namespace weft {
namespace {

std::uint32_t number(const test::CsvRow& row, const char* key) {
    return static_cast<std::uint32_t>(std::stoul(row.at(key)));
}

Setting setting(const test::CsvRow& row, const char* key) { return row.at(key) == "on" ? Setting::on : Setting::off; }

// One module each: "elements/vector/expert" and perhaps "/chunk".
std::vector<StageModule> modules_of(const std::string& list) {
    std::vector<StageModule> modules;
    std::istringstream stream(list);
    for (std::string item; stream >> item;) {
        std::istringstream fields(item);
        std::uint64_t elements = 0;
        std::uint32_t vector = 0, expert = 0, chunk = 0;
        char slash = 0;
        fields >> elements >> slash >> vector >> slash >> expert >> slash >> chunk;
        modules.push_back({{"qkv", expert == 1, {elements}, {vector == 1}}, 0, chunk});
    }
    return modules;
}

// The reductions of a step whose gradients are complete in backward order.
std::string reductions(DataParallel& engine, const ShardingInput& input) {
    Script script;
    engine.begin_step(script);
    for (std::uint32_t i = 0; i < input.micro_batches; ++i) {
        const auto accumulation = i + 1 == input.micro_batches ? Accumulation::complete : Accumulation::continues;
        const PassAt at{Pass::backward, {i, 0}, 0, accumulation};
        engine.begin_pass(script, at);
        for (std::size_t m = input.modules.size(); m-- > 0;) {
            engine.before(script, at, m);
            engine.after(script, at, m);
        }
        engine.end_pass(script, at);
    }
    engine.finish_gradients(script);
    std::string list;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        list += fmt::format("{}{}:{}:{}", list.empty() ? "" : " ", call.op == Collective::reduce ? "r" : "ar",
                            call.group == copy_axes() ? "d" : "e", call.message.value / input.element_bytes);
    }
    return list;
}

TEST(framework_buckets, zero_1_and_2_reduce_as_deepspeed_does) {
    int rows = 0;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/zero12_reductions.csv")) {
        ++rows;
        const auto modules = modules_of(row.at("tensors"));
        ShardingInput input{.modules = modules};
        input.ranks = number(row, "ranks");
        input.expert_ranks = number(row, "expert_ranks");
        input.zero = number(row, "zero");
        input.gradient_overlap = setting(row, "overlap");
        input.deepspeed.reduce_scatter = setting(row, "reduce_scatter");
        input.deepspeed.multi_rank_allreduce = setting(row, "multi_rank");
        input.bucket_elements = number(row, "bucket");
        input.micro_batches = number(row, "micro_batches");
        const auto engine = make_deepspeed_zero12(input);
        EXPECT_EQ(reductions(*engine, input), row.at("calls")) << "row " << rows;
    }
    EXPECT_EQ(rows, 36);
}

TEST(framework_buckets, megatron_lays_out_its_buffers_so) {
    int rows = 0;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/megatron_buffers.csv")) {
        ++rows;
        const auto modules = modules_of(row.at("tensors"));
        ShardingInput input{.modules = modules, .stage = number(row, "stage"), .stages = number(row, "stages")};
        input.ranks = number(row, "ranks");
        input.expert_ranks = number(row, "expert_ranks");
        input.zero = row.at("distributed") == "on" ? 1 : 0;
        input.gradient_overlap = setting(row, "overlap");
        input.bucket_elements = number(row, "bucket");
        input.embedding_tie = row.at("tied") == "on" ? EmbeddingTie::over_stages : EmbeddingTie::none;
        std::string list;
        for (const MegatronBucket& bucket : megatron_buckets(input)) {
            list += fmt::format("{}{}:{}:{}:{}", list.empty() ? "" : " ", bucket.group == copy_axes() ? "d" : "e",
                                bucket.chunk, bucket.elements, bucket.tensors.size());
        }
        EXPECT_EQ(list, row.at("buckets")) << "row " << rows;
    }
    EXPECT_EQ(rows, 36);
}

// max(40e6, 1e6 x data ranks) elements a bucket (distributed_data_parallel.py): ranks that share sequences are reduced
// with the others, but do not count.
TEST(framework_buckets, megatron_limits_buckets_by_data_ranks_without_context) {
    const std::vector<StageModule> modules(200, {{"qkv", false, {1000000}, {false}}, 0, 0});
    ShardingInput input{.modules = modules, .ranks = 100, .gradient_overlap = Setting::on};
    EXPECT_EQ(megatron_buckets(input).size(), 2U);
    input.sequence_ranks = 2;
    EXPECT_EQ(megatron_buckets(input).size(), 4U);
    input.sequence_ranks = 4;
    EXPECT_EQ(megatron_buckets(input).size(), 5U);
}

TEST(framework_buckets, the_bucket_of_stage_0_is_no_setting) {
    const std::vector<StageModule> modules(11, {{"qkv", false, {100000000}, {false}}, 0, 0});
    ShardingInput input{.modules = modules, .ranks = 8, .bucket_elements = 1e6};
    const auto engine = make_deepspeed_stage0(input);
    EXPECT_EQ(reductions(*engine, input), "ar:d:600000000 ar:d:500000000") << "flushed beyond 5e8 elements";
}

}  // namespace
}  // namespace weft
