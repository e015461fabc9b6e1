// Folding of the ranks of a stage into one class, for every scheme and every way of data parallelism.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ostream>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

struct Scheme {
    const char* name;
    std::vector<std::string> settings;
};

using Settings = std::vector<std::string>;

std::string with_experts(std::uint32_t count) {
    return "model.experts={\"count\": " + std::to_string(count) + ", \"top_k\": 2, \"ffn_hidden\": 1024}";
}

Settings layout(std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t data, std::uint32_t micro_batches) {
    return {"layout.tensor=" + std::to_string(tensor), "layout.pipeline=" + std::to_string(pipeline),
            "layout.data=" + std::to_string(data), "batch.global=" + std::to_string(data * micro_batches)};
}

Settings with(Settings base, const Settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

// A pipelined stage fills a node: then what crosses to the next stage goes alike from every rank.
std::vector<Scheme> schemes() {
    const Settings pipelined = layout(2, 4, 4, 8), sharded = layout(1, 1, 16, 2), context = layout(2, 2, 2, 2);
    std::vector<Scheme> all{
        {"interleaved", with(pipelined, {"schedule=interleaved", "layout.virtual_stages=2"})},
        {"zb-h1", with(pipelined, {"schedule=zb-h1"})},
        {"zb-h2", with(pipelined, {"schedule=zb-h2"})},
        {"zb-v", with(pipelined, {"schedule=zb-v"})},
        {"dualpipe", with(pipelined, {"schedule=dualpipe"})},
        {"layers by hand", with(pipelined, {"layout.split=[1, 4, 3, 0]", "megatron.version=core-0.13"})},
        {"further tokens", with(pipelined, {"model.mtp_layers=1", "megatron.version=core-0.13"})},
        {"further tokens apart", with(pipelined, {"model.mtp_layers=2", "layout.split=Et*4|t*4|m*2|L",
                                                  "megatron.version=core-0.13", "sequence_parallel=true"})},
        {"sequence parallel", with(pipelined, {"sequence_parallel=true", "zero=1"})},
        {"ring", with(context, {"layout.context=4"})},
        {"keys gathered", with(context, {"layout.context=4", "context_method=all_gather"})},
        {"ulysses", with(context, {"layout.context=4", "context_method=all_to_all"})},
        {"experts", with(layout(1, 2, 8, 2), {with_experts(8), "layout.expert=4"})},
        {"experts over tensor ranks",
         with(layout(2, 2, 4, 2),
              {with_experts(8), "layout.expert=8", "layout.expert_tensor=1", "sequence_parallel=true", "zero=1"})},
        {"cut experts", with(layout(2, 2, 4, 2),
                             {with_experts(8), "layout.expert=4", "layout.expert_tensor=2", "sequence_parallel=true"})},
        {"joint passes of dualpipe",
         with(layout(1, 2, 8, 4), {with_experts(8), "layout.expert=8", "schedule=dualpipe"})},
        {"joint passes", with(layout(1, 1, 16, 3), {with_experts(8), "layout.expert=8", "experts.overlap=passes",
                                                    "megatron.version=core-0.14"})},
        {"parameters under forward",
         with(sharded, {"zero=1", "overlap_gradients=true", "megatron.overlap_parameters=true"})},
        {"zero 2", with(sharded, {"framework=deepspeed", "zero=2"})},
        {"zero 3", with(sharded, {"framework=deepspeed", "zero=3"})},
        {"hpz", with(sharded, {"framework=deepspeed", "zero=3", "deepspeed.hierarchical_ranks=8"})},
        {"zero++", with(sharded, {"framework=deepspeed", "zero=3", "deepspeed.hierarchical_ranks=8",
                                  "deepspeed.quantized_weights=true", "deepspeed.quantized_gradients=true"})},
        {"ddp", with(sharded, {"framework=ddp"})},
    };
    for (const char* strategy : {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}) {
        all.push_back({strategy, with(sharded, {"framework=fsdp", "fsdp.strategy=" + std::string(strategy)})});
    }
    return all;
}

class folding_scheme : public testing::TestWithParam<Scheme> {
  protected:
    static Study study(const std::string& machine) {
        return test::small_study(with(GetParam().settings, {"machine=" + machine, "model.vocabulary=8192"}));
    }
    static Report report(const Study& study, Folding folding) {
        return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
    }
};

// Every accelerator of a DGX has its own NIC: all ranks of a stage sit alike.
TEST_P(folding_scheme, is_exact_where_placement_is_symmetric) {
    const Study study = this->study("dgx-h100");
    const Report folded = report(study, Folding::stages), unfolded = report(study, Folding::none);
    ASSERT_EQ(unfolded.classes, study.job.layout.ranks());
    for (std::size_t i = 0; i < folded.metrics.size(); ++i) {
        const double a = folded.metrics[i].value, b = unfolded.metrics[i].value;
        EXPECT_NEAR(a, b, 1e-9 * std::max(std::abs(a), std::abs(b)) + 1e-12) << folded.metrics[i].key;
    }
}

// Odd GCDs of a MI250X node sit nearer to a NIC than even ones: a folded stage goes at the pace of its slowest group.
TEST_P(folding_scheme, bounds_an_asymmetric_placement_from_above) {
    const Study study = this->study("frontier");
    const double folded = report(study, Folding::stages).metric("step.time_s");
    const double unfolded = report(study, Folding::none).metric("step.time_s");
    EXPECT_GE(folded, unfolded * (1 - 1e-9));
    EXPECT_LE(folded, unfolded * 1.002);
}

void PrintTo(const Scheme& scheme, std::ostream* out) { *out << scheme.name; }

std::string name_of(const testing::TestParamInfo<Scheme>& info) {
    std::string name = info.param.name;
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    std::ranges::replace_if(
        name, [&](char c) { return !letter(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(all, folding_scheme, testing::ValuesIn(schemes()), name_of);

}  // namespace
}  // namespace weft
