// ZeRO-3's gathers call by call against DeepSpeed's own coordinator.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "models/transformer/transformer.hpp"
#include "tests/csv.hpp"
#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

std::vector<StageModule> modules_of(const std::string& name) {
    const Transformer model = load_transformer(name);
    std::vector<StageModule> modules;
    const auto add = [&](const std::vector<Module>& list, std::uint32_t layer) {
        for (const Module& module : list) {
            modules.push_back({{module.name, module.expert, module.tensors, module.vector}, layer, 0});
        }
    };
    add(embedding_modules(model, {}), 0);
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        add(layer_modules(model, LayerKind::dense, {}), layer);
    }
    add(head_modules(model, {}), model.layers);
    return modules;
}

struct Gathers {
    std::uint64_t calls = 0, elements = 0;
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: offset basis, and below its prime

    void add(std::uint64_t shard) {
        ++calls;
        elements += shard;
        for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (shard >> 8 * byte & 0xff)) * 0x100000001b3;
    }
};

Gathers gathers(const std::vector<test::PlayedCall>& calls, std::size_t from, double shards) {
    Gathers sum;
    for (std::size_t i = from; i < calls.size(); ++i) {
        if (calls[i].call.op != Collective::all_gather) continue;
        sum.add(static_cast<std::uint64_t>(calls[i].call.message.value / shards));
    }
    return sum;
}

void expect(const Gathers& found, const test::CsvRow& row, const std::string& what) {
    EXPECT_EQ(found.calls, std::stoull(row.at("calls"))) << what;
    EXPECT_EQ(found.elements, std::stoull(row.at("shard_elements"))) << what;
    EXPECT_EQ(found.hash, std::stoull(row.at("hash"), nullptr, 16)) << what;
}

std::string case_of(const test::CsvRow& row) {
    std::string name = row.at("model");
    for (const char* key : {"ranks", "micro_batches", "checkpointing", "prefetch", "persistence", "max_live"}) {
        name += ' ' + row.at(key);
    }
    return name + ' ' + row.at("max_reuse");
}

TEST(zero3, gathers_call_by_call_what_deepspeed_gathers) {
    const auto rows = test::read_csv(WEFT_TEST_DATA "/workloads/data/zero3_gathers.csv");
    ASSERT_EQ(rows.size() % 3, 0U) << "three steps a case";
    for (std::size_t i = 0; i < rows.size(); i += 3) {
        const test::CsvRow& row = rows[i];
        const auto modules = modules_of(row.at("model"));
        ShardingInput input{.modules = modules, .step = StepKind::first, .zero = 3, .gradient_overlap = Setting::on};
        input.ranks = static_cast<std::uint32_t>(std::stoul(row.at("ranks")));
        input.micro_batches = static_cast<std::uint32_t>(std::stoul(row.at("micro_batches")));
        input.checkpointing = row.at("checkpointing") == "on" ? Checkpointing::every_layer : Checkpointing::none;
        input.deepspeed.prefetch_elements = std::stod(row.at("prefetch"));
        input.deepspeed.persistence_elements = std::stod(row.at("persistence"));
        input.deepspeed.max_live_elements = std::stod(row.at("max_live"));
        input.deepspeed.max_reuse_elements = std::stod(row.at("max_reuse"));
        const double shards = input.element_bytes * input.ranks;

        const auto engine = make_deepspeed_zero3(input);
        test::Player player{modules, *engine, input.checkpointing};
        for (std::size_t step = 0; step < 3; ++step) {
            const std::size_t from = player.calls().size();
            player.step(input.micro_batches);
            const test::CsvRow& expected = rows[i + step];
            ASSERT_EQ(expected.at("step"), std::to_string(step + 1));
            expect(gathers(player.calls(), from, shards), expected, case_of(row) + " step " + expected.at("step"));
        }
        input.step = StepKind::steady;
        expect(gathers(test::play_step(make_deepspeed_zero3, input, modules), 0, shards), rows[i + 2],
               case_of(row) + " steady");
    }
}

}  // namespace
}  // namespace weft
