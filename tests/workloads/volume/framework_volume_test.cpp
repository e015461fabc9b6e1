// The calls of the program against the counts read in the frameworks' sources.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/studies.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

VolumeTable volume_of(const std::vector<std::string>& settings, std::uint32_t rank = 0) {
    const Study study = test::small_study(settings);
    const Plan plan = make_plan(study);
    return framework_volume(plan, RankId{rank});
}

double calls(const VolumeTable& table, const std::string& op, const std::string& dimension, double message) {
    double sum = 0;
    for (const VolumeRow& row : table.rows) {
        const bool steady = row.when == "step" || row.when == "micro-batch";
        if (steady && row.op == op && row.dimension == dimension && row.message.value == message) sum += row.calls;
    }
    return sum;
}

std::vector<std::string> neox(const std::string& model, std::uint32_t tensor, std::uint32_t pipeline,
                              std::uint32_t data) {
    return {"framework=deepspeed",
            "model=" + model,
            "layout.tensor=" + std::to_string(tensor),
            "layout.pipeline=" + std::to_string(pipeline),
            "layout.data=" + std::to_string(data),
            "batch.micro=4",
            "batch.sequence=2048",
            "batch.global=" + std::to_string(4 * data),
            "recompute=full",
            "zero=1"};
}

// Hidden-state all-reduces per micro-batch: 6 L + 2 with serial layers, 4 L + 2 with the GPT-J residual.
TEST(framework_volume, neox_all_reduces_the_hidden_state_6l_plus_2_times) {
    const double message = 4.0 * 2048 * 2048 * 2;
    EXPECT_EQ(calls(volume_of(neox("gpt-neox-1.3b", 2, 1, 1)), "all_reduce", "tensor", message), 6 * 24 + 2);
    const double message_20b = 4.0 * 2048 * 6144 * 2;
    EXPECT_EQ(calls(volume_of(neox("gpt-neox-20b", 4, 1, 1)), "all_reduce", "tensor", message_20b), 4 * 44 + 2);
}

TEST(framework_volume, the_loss_takes_three_all_reduces_of_one_float_per_token) {
    EXPECT_EQ(calls(volume_of(neox("gpt-neox-1.3b", 2, 1, 1)), "all_reduce", "tensor", 4.0 * 4 * 2048), 3);
}

// DeepSpeed sends the attention mask with every activation: 2 s^2 = 8 MiB at 2,048 tokens; gradients go without.
TEST(framework_volume, deepspeed_sends_activation_and_mask_and_receives_a_gradient) {
    const VolumeTable table = volume_of(neox("gpt-neox-1.3b", 1, 2, 1));
    EXPECT_EQ(calls(table, "send", "pipeline", 4.0 * 2048 * 2048 * 2), 1);
    EXPECT_EQ(calls(table, "send", "pipeline", 8388608), 1);
    EXPECT_EQ(calls(table, "recv", "pipeline", 4.0 * 2048 * 2048 * 2), 1);
    EXPECT_EQ(calls(table, "recv", "pipeline", 8388608), 0);
}

// Partitioned activations: the first stage gathers 2, a middle one 3, the last 1 hidden state per micro-batch.
TEST(framework_volume, deepspeed_gathers_what_it_sent_in_parts) {
    const double message = 4.0 * 2048 * 2048 * 2;
    for (const auto& [rank, gathers] : {std::pair{0U, 2.0}, {2U, 3.0}, {6U, 1.0}}) {
        EXPECT_EQ(calls(volume_of(neox("gpt-neox-1.3b", 2, 4, 1), rank), "all_gather", "tensor", message), gathers);
    }
}

// ZeRO-1 all-reduces 2 P bytes and all-gathers 2 P bytes: 1.5 times the theory. 1.3B over 16: three buckets.
TEST(framework_volume, zero_1_all_reduces_its_buckets_and_gathers_two_groups) {
    const VolumeTable table = volume_of(neox("gpt-neox-1.3b", 1, 1, 16));
    for (const double bytes : {986611712.0, 998764544.0, 843919360.0}) {
        EXPECT_EQ(calls(table, "all_reduce", "data", bytes), 1);
    }
    EXPECT_EQ(calls(table, "all_gather", "data", 2828009472.0), 1);
    EXPECT_EQ(calls(table, "all_gather", "data", 1286144.0), 1);
    EXPECT_EQ(calls(table, "all_reduce", "data", 1), 1) << "overflow flag";
    EXPECT_EQ(calls(table, "all_reduce", "data", 4), 2) << "norms of the two optimizer groups";
}

TEST(framework_volume, ddp_sends_the_parameters_twice_over) {
    auto settings = neox("gpt-neox-1.3b", 1, 1, 8);
    settings.back() = "zero=0";
    const VolumeTable table = volume_of(settings);
    double volume = 0;
    for (const VolumeRow& row : table.rows)
        volume += row.op == "all_reduce" && row.dimension == "data" && row.message > 4_B ? row.volume.value : 0;
    EXPECT_EQ(volume, 2.0 * 2 * 1414647808 * 7 / 8);
}

TEST(framework_volume, megatron_sends_only_the_hidden_state) {
    auto settings = neox("gpt-neox-1.3b", 2, 2, 1);
    settings.front() = "framework=megatron";
    const VolumeTable table = volume_of(settings);
    double sends = 0;
    for (const VolumeRow& row : table.rows) {
        if (row.op != "send") continue;
        sends += row.calls;
        EXPECT_EQ(row.message.value, 4.0 * 2048 * 2048 * 2);
    }
    EXPECT_EQ(sends, 1);
}

TEST(framework_volume, the_distributed_optimizer_scatters_fp32_and_gathers_bf16) {
    const VolumeTable table = volume_of({"model=gpt-neox-1.3b", "layout.tensor=1", "layout.pipeline=1", "layout.data=8",
                                         "batch.global=8", "zero=1", "precision=bf16"});
    EXPECT_EQ(calls(table, "reduce_scatter", "data", 4.0 * 1414647808), 1);
    EXPECT_EQ(calls(table, "all_gather", "data", 2.0 * 1414647808), 1);
}

// A tied embedding has a copy on the last stage; the two are kept equal by one all-reduce between them.
TEST(framework_volume, a_tied_embedding_is_summed_over_first_and_last_stage) {
    for (const char* framework : {"deepspeed", "megatron"}) {
        const std::vector<std::string> settings{"model.tied_embeddings=true", std::string("framework=") + framework};
        const double message = 2.0 * 50432 / 2 * 1024;  // fp16, V padded to 256, two tensor ranks
        EXPECT_EQ(calls(volume_of(settings, 0), "all_reduce", "embedding", message), 1) << framework;
        EXPECT_EQ(calls(volume_of(settings, 4), "all_reduce", "embedding", message), 0) << "a middle stage";
        EXPECT_EQ(calls(volume_of(settings, 12), "all_reduce", "embedding", message), 1) << framework;
        const Plan tied = make_plan(test::small_study(settings)),
                   untied = make_plan(test::small_study({settings.back()}));
        EXPECT_EQ(tied.stages.back().parameters(), untied.stages.back().parameters())
            << "the copy is as large as a head";
    }
}

TEST(framework_volume, totals_repeat_the_micro_batch_rows) {
    auto settings = neox("gpt-neox-1.3b", 2, 1, 1);
    settings[7] = "batch.global=32";  // eight micro-batches
    const VolumeTable one = volume_of(neox("gpt-neox-1.3b", 2, 1, 1)), eight = volume_of(settings);
    const auto sum = [](const VolumeTable& table, const std::string& when) {
        Bytes bytes;
        for (const VolumeRow& row : table.rows) bytes += row.when == when ? row.volume : Bytes{};
        return bytes.value;
    };
    EXPECT_EQ(eight.micro_batches, 8U);
    EXPECT_EQ(sum(eight, "micro-batch"), sum(one, "micro-batch"));
    EXPECT_EQ(eight.total().value, 8 * sum(eight, "micro-batch") + sum(eight, "step"));
}

TEST(wire_volume, follows_the_conventions_of_the_reports) {
    EXPECT_EQ(wire_volume(Collective::all_reduce, 800_B, 8).value, 1400);
    EXPECT_EQ(wire_volume(Collective::all_gather, 800_B, 8).value, 700);
    EXPECT_EQ(wire_volume(Collective::reduce_scatter, 800_B, 8).value, 700);
    EXPECT_EQ(wire_volume(Collective::reduce, 800_B, 8).value, 700);
    EXPECT_EQ(wire_volume(Collective::all_to_all, 800_B, 8).value, 700);
    EXPECT_EQ(wire_volume(Collective::broadcast, 800_B, 8).value, 800);
    EXPECT_EQ(wire_volume(Collective::broadcast, 800_B, 1).value, 0);
    EXPECT_EQ(wire_volume(Collective::point_to_point, 800_B, 2).value, 800);
}

}  // namespace
}  // namespace weft
