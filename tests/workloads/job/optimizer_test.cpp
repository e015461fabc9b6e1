// What the optimizer keeps, computes and moves: precisions of its states, Muon's orthogonal updates, states on the
// host.
#include <gtest/gtest.h>

#include <utility>

#include "tests/refusal.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

Study study_of(const Settings& more) {
    Settings all{"layout.tensor=1", "layout.pipeline=1",          "layout.data=8",     "batch.global=16",
                 "precision=bf16",  "megatron.version=core-0.13", "model.biases=false"};
    all.insert(all.end(), more.begin(), more.end());
    return test::small_study(all);
}
MemoryUse memory_of(const Settings& more) { return make_plan(study_of(more)).stages.front().memory; }

std::string refusal(const Settings& more) {
    return test::refusal_of([&] { study_of(more); });
}
bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(optimizer_states, on_the_host_are_not_counted_where_ranks_cannot_share_the_model) {
    const std::string text = refusal({"zero=1", "optimizer.states=host", "model.experts.count=16", "layout.expert=128",
                                      "model.experts.top_k=1", "model.experts.ffn_hidden=64", "layout.data=128"});
    EXPECT_TRUE(mentions(text, "16 experts cannot be shared by 128 expert ranks")) << text;
}

// Bytes per parameter that the rank updates: 4 + 4 + 4, and with --use-precision-aware-optimizer what is asked for.
TEST(optimizer_states, take_the_bytes_of_their_formats) {
    const double updated = memory_of({"zero=1"}).optimizer.value / 12;
    const auto bytes = [&](const std::string& optimizer) {
        return memory_of({"zero=1", "optimizer=" + optimizer}).optimizer.value / updated;
    };
    EXPECT_DOUBLE_EQ(bytes(R"({"master": "remainders"})"), 2 + 4 + 4);
    EXPECT_DOUBLE_EQ(bytes(R"({"master": "fp16", "momentum": "bf16", "variance": "bf16"})"), 2 + 2 + 2);
    EXPECT_DOUBLE_EQ(bytes(R"({"momentum": "fp8", "variance": "fp16"})"), 4 + 1 + 2);
    EXPECT_LT(make_plan(study_of({"zero=1", R"(optimizer={"momentum": "bf16"})"})).stages.front().optimizer,
              make_plan(study_of({"zero=1"})).stages.front().optimizer);
    EXPECT_TRUE(mentions(refusal({R"(optimizer={"momentum": "bf16"})"}), "zero 1"));
    EXPECT_TRUE(
        mentions(refusal({"zero=1", R"(optimizer={"momentum": "bf16"})", "megatron.version=core-0.12"}), "core-0.13"));
}

// Five steps of 4 m m n + 2 m m m: four matrices of h x h (queries, keys, values, projection), and two of h x 4h.
TEST(muon, does_the_products_of_newton_and_schulz) {
    const Plan plan = make_plan(study_of({"optimizer=muon", "layout.data=1", "batch.global=2"}));
    const double h = 1024, square = 5 * (4 * h * h * h + 2 * h * h * h), wide = 5 * (4 * h * h * 4 * h + 2 * h * h * h);
    EXPECT_DOUBLE_EQ(orthogonalisation_flops(plan.job, plan.stages.front()).value, 8 * (4 * square + 2 * wide));
    const Plan adam = make_plan(study_of({"layout.data=1", "batch.global=2"}));
    EXPECT_DOUBLE_EQ((plan.hardware_flops - adam.hardware_flops).value, 8 * (4 * square + 2 * wide));
    EXPECT_GT(plan.stages.front().optimizer, adam.stages.front().optimizer);
    // No variance for 12 h h parameters of a layer.
    const double saved = 8 * 12 * h * h * 4;
    EXPECT_DOUBLE_EQ((adam.stages.front().memory.optimizer - plan.stages.front().memory.optimizer).value, saved);
}

// Dealt to the data ranks matrix by matrix, it wants whole gradients: they are all-reduced, and parameters gathered.
TEST(muon, deals_matrices_to_the_data_ranks_and_sums_gradients_whole) {
    const Plan alone = make_plan(study_of({"optimizer=muon"})),
               dealt = make_plan(study_of({"optimizer=muon", "zero=1"}));
    EXPECT_NEAR(orthogonalisation(alone, alone.stages[0]) / orthogonalisation(dealt, dealt.stages[0]), 8, 1e-9);
    double reduced = 0, gathered = 0;
    for (const VolumeRow& row : framework_volume(dealt, RankId{0}).rows) {
        if (row.op == "all_reduce" && row.label == "all-reduce gradients") reduced += row.message.value;
        if (row.op == "all_gather" && row.label == "all-gather parameters") gathered += row.message.value;
        EXPECT_NE(row.op, "reduce_scatter");
    }
    EXPECT_NEAR(reduced, 2 * gathered, 1e-6 * reduced);  // fp32 against bf16
    EXPECT_TRUE(mentions(refusal({"optimizer=muon", "overlap_gradients=true"}), "overlap"));
    EXPECT_TRUE(mentions(refusal({"optimizer=muon", "framework=fsdp", "megatron=null"}), "whole matrices"));
}

// DeepSpeed's own estimate (runtime/zero/stage_1_and_2.py, estimate_zero2_model_states_mem_needs): 2 bytes of each
// parameter on the device under ZeRO-2, 16 on the host.
const Settings offload{"framework=deepspeed", "megatron=null", "zero=2", R"(optimizer={"states": "host"})"};
Settings with(Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

TEST(zero_offload, leaves_the_parameters_on_the_device) {
    const Plan plan = make_plan(study_of(offload));
    const MemoryUse& use = plan.stages.front().memory;
    EXPECT_DOUBLE_EQ(use.parameters.value, 2 * plan.stages.front().parameters());
    EXPECT_EQ(use.gradients.value, 0);
    EXPECT_EQ(use.optimizer.value, 0);
    EXPECT_TRUE(mentions(refusal(with(offload, {"machine=perlmutter"})), "\"host\""));
    EXPECT_TRUE(mentions(refusal(with(offload, {"model.layers=8000"})), "512 GB"));
    EXPECT_TRUE(mentions(refusal(with(offload, {"framework=megatron", "zero=0"})), "offload_optimizer"));
}

// One micro-batch, nothing beside the backward pass: the step is longer by 4 bytes of each parameter that the rank
// updates to the host and 4 back, and by 36 at an eighth of its memory's bandwidth instead of the device's passes.
TEST(zero_offload, takes_the_time_of_its_copies_and_of_the_host) {
    const auto step = [](const Plan& plan, const Study& study) {
        return make_report(simulate_step(study, plan)).metric("step.time_s");
    };
    const Settings bare{"overlap_gradients=false", "batch.global=8"};
    const Study on_host = study_of(with(offload, bare)),
                on_device = study_of(with(offload, with(bare, {"optimizer=adam"})));
    const Plan host = make_plan(on_host), device = make_plan(on_device);
    const HostInfo& info = *host.machine.host;
    const double updated = host.stages.front().parameters() / 8;
    EXPECT_NEAR(host.stages.front().optimizer.value, 36 * updated * 8 / info.memory_bandwidth.value, 1e-9);
    const double copies = 8 * updated / info.link.value;
    const double longer = copies + host.stages.front().optimizer.value - device.stages.front().optimizer.value;
    EXPECT_NEAR(step(host, on_host) - step(device, on_device), longer, 1e-3 * longer);
}

// Later micro-batches fetch the sum in training precision and store it again, under the backward pass where reductions
// are.
TEST(zero_offload, hides_copies_under_the_backward_pass_where_reductions_are) {
    const auto step = [](const Settings& more) {
        const Study study = study_of(with(offload, more));
        return make_report(simulate_step(study, make_plan(study))).metric("step.time_s");
    };
    const Settings hidden{"overlap_gradients=true", "bucket_elements=1e7"},
        bare{"overlap_gradients=false", "bucket_elements=1e7"};
    EXPECT_LT(step(hidden), step(bare));
    EXPECT_LT(step(with(hidden, {"optimizer=adam"})), step(hidden));
}

TEST(zero_offload, folds_as_it_is) {
    for (const char* const zero : {"zero=1", "zero=2", "zero=3"}) {
        const Study study = study_of(with(offload, {zero}));
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::exact), report(Folding::none)), "") << zero;
    }
}

// Transformer Engine's windows: 8 layers, 3 of them copied, are done after layers 2, 5 and 7.
TEST(activation_offload, spreads_its_copies_over_all_layers) {
    EXPECT_EQ(copy_window(8, 3, 0), 2U);
    EXPECT_EQ(copy_window(8, 3, 1), 5U);
    EXPECT_EQ(copy_window(8, 3, 2), 7U);
    EXPECT_EQ(copy_window(8, 2, 0), 3U);
    EXPECT_EQ(copy_window(8, 7, 0), 1U);
    EXPECT_EQ(copy_window(8, 7, 6), 7U);
}

TEST(activation_offload, frees_the_layers_that_it_copies_and_waits_where_the_link_is_slow) {
    const auto run = [](const std::string& layers, double slower) {
        Study study = study_of({"layout.data=1", "batch.global=4", "offloaded_layers=" + layers});
        Plan plan = make_plan(study);
        if (plan.machine.host) plan.machine.host->link = plan.machine.host->link / slower;
        const Bytes activations = plan.stages.front().memory.activations;
        return std::pair{make_report(simulate_step(study, plan)).metric("step.time_s"), activations.value};
    };
    const auto [none, all] = run("0", 1);
    const auto [fast, freed] = run("3", 1e-3);
    EXPECT_NEAR(fast, none, 1e-3 * none);
    const Plan plan = make_plan(study_of({"layout.data=1", "batch.global=4"}));
    const double layer = layer_activations(plan.job, plan.stages.front().chunks.front(), 0).value;
    EXPECT_NEAR(all - freed, 3 * layer, 1);
    // Hardly any computation beside: three copies there and three back, four times.
    const auto [slow, same] = run("3", 1e4);
    const double copies = 4 * 6 * layer / (plan.machine.host->link.value / 1e4);
    EXPECT_GT(slow, copies);
    EXPECT_LT(slow, copies + none);
    EXPECT_EQ(same, freed);
    EXPECT_TRUE(mentions(refusal({"offloaded_layers=8"}), "fewer than the 8 layers"));
    EXPECT_TRUE(mentions(refusal({"offloaded_layers=2", "recompute=full"}), "recomputes"));
    EXPECT_TRUE(mentions(refusal({"offloaded_layers=2", "machine=perlmutter"}), "host"));
}

// Matrices of layers in one byte an element, embedding, output layer and norms in two.
TEST(parameters_in_fp8, are_gathered_at_half_the_bytes) {
    const auto gathered = [](const Settings& more) {
        Settings all{"machine=dgx-h100", "precision=fp8", "zero=1"};
        all.insert(all.end(), more.begin(), more.end());
        double bytes = 0;
        for (const VolumeRow& row : framework_volume(make_plan(study_of(all)), RankId{0}).rows) {
            if (row.label == "all-gather parameters") bytes += row.message.value;
        }
        return bytes;
    };
    const double h = 1024;
    EXPECT_NEAR(gathered({}) - gathered({"megatron.fp8_parameters=true"}), 8 * 12 * h * h, 1e-4 * 8 * 12 * h * h);
    EXPECT_TRUE(mentions(refusal({"zero=1", "megatron.fp8_parameters=true"}), "precision"));
}

TEST(output_in_fp8, is_megatrons_with_blocks_of_32) {
    const Settings own{"machine=dgx-b200", "precision=fp8", "fp8_recipe=mxfp8", "megatron.fp8_output=true",
                       "megatron.version=core-0.18"};
    EXPECT_EQ(refusal(own), "");
    Settings other = own;
    other[2] = "fp8_recipe=tensorwise";
    EXPECT_TRUE(mentions(refusal(other), "fp8_recipe mxfp8"));
    other = own;
    other.back() = "megatron.version=core-0.17";
    EXPECT_TRUE(mentions(refusal(other), "came with core-0.18"));
}

}  // namespace
}  // namespace weft
