// Recipes of narrow products in jobs: their calls against what Transformer Engine calls, and who has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/refusal.hpp"
#include "tests/workloads/called.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using testing::HasSubstr;
using Settings = std::vector<std::string>;

// Two stages of four layers, tensor 2 with sequence parallelism, four micro-batches of 1024 tokens.
Settings settings(const Settings& more) {
    Settings all{"machine=gb200-nvl72", "precision=fp8", "megatron.version=core-0.15", "layout.tensor=2",
                 "layout.pipeline=2",   "layout.data=2", "sequence_parallel=true",     "batch.global=8",
                 "model.biases=false",  "model.layers=8"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
Study study_of(const Settings& more) { return test::small_study(settings(more)); }

test::Called called(const Study& study, std::string_view label) { return test::called(make_plan(study), 0, label); }

std::string refusal(const Settings& more) {
    return test::refusal_of([&] { study_of(more); });
}

constexpr double micro_batches = 4, layers = 4, products = 4 * layers;

// reduce_and_update_fp8_tensors: three maxima of each product forward, two backward, fp32, after every pass.
TEST(recipes, of_delayed_scaling_share_maxima_after_every_pass_where_they_are_named) {
    const test::Called named = called(study_of({"fp8_recipe=delayed"}), "all-reduce maxima");
    EXPECT_EQ(double(named.calls), 2 * micro_batches);
    EXPECT_EQ(named.bytes, micro_batches * products * (3 + 2) * 4);
    for (const char* other : {"fp8_recipe=tensorwise", "fp8_recipe=blockwise", "fp8_recipe=mxfp8", "precision=fp4"}) {
        EXPECT_EQ(called(study_of({other}), "all-reduce maxima").calls, 0U) << other;
    }
    EXPECT_EQ(called(study_of({}), "all-reduce maxima").calls, 0U);
}

TEST(recipes, of_a_job_that_names_none_are_delayed_scaling) {
    const Plan none = make_plan(study_of({})), named = make_plan(study_of({"fp8_recipe=delayed"}));
    const LayerCosts &a = none.costs.layer(LayerKind::dense), &b = named.costs.layer(LayerKind::dense);
    ASSERT_EQ(a.pieces.size(), b.pieces.size());
    for (std::size_t i = 0; i < a.pieces.size(); ++i) {
        EXPECT_EQ(a.pieces[i].forward, b.pieces[i].forward);
        EXPECT_EQ(a.pieces[i].input_backward, b.pieces[i].input_backward);
        EXPECT_EQ(a.pieces[i].weight_backward, b.pieces[i].weight_backward);
    }
    EXPECT_EQ(none.stages[0].memory.total(), named.stages[0].memory.total());
}

// What tensor ranks gather of each layer: two inputs forward and again backward, two gradients, the latter in both
// forms where one is not made of the other; with one scale for a tensor its maximum first, but for what was kept cast.
TEST(recipes, gather_operands_as_wide_as_their_scales_make_them) {
    const double row = 1024 * 1024;
    struct Case {
        const char* recipe;
        double bytes, forms, maxima;
    };
    for (const Case& c : {Case{"fp8_recipe=delayed", 1, 1, 0}, Case{"fp8_recipe=tensorwise", 1, 1, 4},
                          Case{"fp8_recipe=blockwise", 1 + 4 / 128.0, 2, 0},
                          Case{"fp8_recipe=mxfp8", 1 + 1 / 32.0, 2, 0}, Case{"precision=fp4", 0.5 + 1 / 16.0, 2, 4}}) {
        const Study study = study_of({c.recipe});
        const double passes = layers * micro_batches;
        EXPECT_DOUBLE_EQ(called(study, "all-gather layer").bytes, passes * 2 * row * c.bytes) << c.recipe;
        EXPECT_DOUBLE_EQ(called(study, "all-gather saved input").bytes, passes * 2 * row * c.bytes) << c.recipe;
        EXPECT_DOUBLE_EQ(called(study, "all-gather output gradient").bytes, passes * 2 * row * c.bytes * c.forms);
        const test::Called maxima = called(study, "all-reduce maximum");
        EXPECT_EQ(double(maxima.calls), passes * c.maxima) << c.recipe;
        EXPECT_EQ(maxima.bytes, passes * c.maxima * 4);
    }
}

TEST(recipes, run_large_layers_the_faster_the_narrower_their_products_are) {
    const Settings large{"model.hidden=8192", "model.heads=64", "batch.sequence=8192"};
    const auto layer = [&](const char* precision) {
        Settings own = large;
        own.emplace_back(precision);
        const Plan plan = make_plan(study_of(own));
        Seconds sum;
        for (const PieceCost& piece : plan.costs.layer(LayerKind::dense).pieces) {
            sum += piece.forward + piece.input_backward + piece.weight_backward;
        }
        return sum;
    };
    EXPECT_LT(layer("precision=fp8"), layer("precision=bf16"));
    EXPECT_LT(layer("precision=fp4"), layer("fp8_recipe=mxfp8"));
    EXPECT_LT(layer("fp8_recipe=delayed"), layer("fp8_recipe=tensorwise"));
}

TEST(recipes, need_a_device_and_a_version_that_have_them) {
    EXPECT_THAT(refusal({"machine=dgx-h100", "fp8_recipe=mxfp8"}), HasSubstr("scales of blocks (mxfp8)"));
    EXPECT_THAT(refusal({"machine=dgx-h100", "precision=fp4"}), HasSubstr("h100 (dgx-h100) has no fp4"));
    EXPECT_THAT(refusal({"machine=dgx-a100"}), HasSubstr("has no fp8"));
    EXPECT_THAT(refusal({"precision=bf16", "fp8_recipe=delayed"}), HasSubstr("set precision to fp8"));
    EXPECT_EQ(refusal({"machine=dgx-h100", "fp8_recipe=blockwise"}), "");
    const auto lacking = [](const Settings& more) {
        std::string all;
        for (const JobError& feature : lacking_features(study_of(more).job)) all += feature.message + "\n";
        return all;
    };
    EXPECT_THAT(lacking({"megatron.version=core-0.9", "fp8_recipe=mxfp8"}), HasSubstr("came with Megatron-core 0.13"));
    EXPECT_THAT(lacking({"megatron.version=core-0.14", "precision=fp4"}), HasSubstr("came with Megatron-core 0.15"));
    EXPECT_EQ(lacking({"megatron.version=core-0.13", "fp8_recipe=mxfp8"}), "");
}

TEST(recipes, of_attention_are_those_of_products_by_cudnn) {
    const Settings own{"fp8_recipe=mxfp8", "attention=cudnn", "megatron.fp8_attention=true"};
    const auto with = [&](std::size_t which, const char* other) {
        Settings changed = own;
        changed[which] = other;
        return refusal(changed);
    };
    EXPECT_EQ(refusal(own), "");
    EXPECT_EQ(with(0, "precision=fp4"), "");
    EXPECT_THAT(with(0, "precision=bf16"), HasSubstr("attention is in 8 bits where other products are"));
    EXPECT_THAT(with(0, "fp8_recipe=blockwise"), HasSubstr("but for fp8_recipe blockwise"));
    EXPECT_THAT(with(1, "attention=flash"), HasSubstr("by cuDNN"));
    EXPECT_THAT(with(1, "layout.context=2"), HasSubstr("without context ranks"));
    EXPECT_THAT(with(0, "machine=mi300x"), HasSubstr("no measured rate of attention in 8 bits"));
    const auto layer = [&](const Settings& more) {
        const Plan plan = make_plan(study_of(more));
        return plan.stages[0].memory.total();
    };
    EXPECT_GT(layer(own), layer({own[0], own[1]}));  // kept in both orders, with scales
    EXPECT_LT(layer({"fp8_recipe=tensorwise", own[1], own[2]}), layer({"fp8_recipe=tensorwise", own[1]}));
}

TEST(recipes, are_read_from_megatrons_flags) {
    const auto job = [](const std::string& flags) {
        FormatOptions options;
        options.machine = "dgx-b200";
        const std::vector<SourceFile> files{
            {"run.sh",
             "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 512 "
             "--num-attention-heads 8 --seq-length 256 --max-position-embeddings 256 --micro-batch-size 1 "
             "--global-batch-size 8 --vocab-size 32000 --bf16 " +
                 flags + "\n"}};
        return import_files(format_of(files, ""), files, options).object.json();
    };
    EXPECT_THAT(job("--fp8-format hybrid --fp8-recipe mxfp8"),
                testing::AllOf(HasSubstr(R"("precision":"fp8")"), HasSubstr(R"("fp8_recipe":"mxfp8")")));
    EXPECT_THAT(job("--fp4-format e2m1"), HasSubstr(R"("precision":"fp4")"));
    EXPECT_THAT(job("--fp8-format hybrid"), testing::Not(HasSubstr("fp8_recipe")));
}

}  // namespace
}  // namespace weft
