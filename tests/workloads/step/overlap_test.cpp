// Overlap is nowhere typed in: it emerges from what a script waits for. What prefetching, hierarchy and quantisation
// are for must show in whole steps.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// 32 ranks on 4 nodes of Frontier that only share data, layers large enough to compute under a gather.
const Settings sharded{"layout.tensor=1", "layout.pipeline=1", "layout.data=32",      "batch.global=32",
                       "model.layers=12", "model.hidden=2048", "batch.sequence=2048", "model.vocabulary=8192"};

Report run(Settings base, const Settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    const Study study = test::small_study(base);
    return make_report(simulate_step(study, make_plan(study)));
}

double step(const Report& report) { return report.metric("step.time_s"); }

// Of one dimension, over all its calls.
template <class Value>
double sum(const Report& report, std::string_view dimension, Value value) {
    double total = 0;
    for (const CommunicationReport& row : report.communication) {
        if (row.dimension == dimension) total += (row.*value).value;
    }
    return total;
}

TEST(overlap, zero_3_prefetch_hides_gathers) {
    const Settings zero3{"framework=deepspeed", "zero=3"};
    for (const char* live : {"1e9", "4e7"}) {  // parameters that may stay: all, and less than two layers
        Settings base = sharded;
        base.insert(base.end(), zero3.begin(), zero3.end());
        base.push_back(std::string("deepspeed.max_live_elements=") + live);
        const Report with = run(base, {"deepspeed.prefetch_elements=5e7"});
        const Report without = run(base, {"deepspeed.prefetch_elements=0"});
        EXPECT_LT(step(with), step(without)) << live;
    }
}

TEST(overlap, fsdp_backward_prefetch_helps_in_order_of_its_eagerness) {
    const auto time = [](const char* prefetch) {
        return step(run(sharded, {"framework=fsdp", std::string("fsdp.backward_prefetch=") + prefetch}));
    };
    EXPECT_LE(time("pre"), time("post"));
    EXPECT_LE(time("post"), time("none"));
    EXPECT_LT(time("pre"), time("none"));
}

// Short sequences: the network is what the step waits for, and only one gradient shard of eight crosses it.
// Not on MI250X nodes, where groups of one rank per node share NICs and get 0.4 of them (measured on LUMI).
TEST(overlap, fsdp_hybrid_sharding_beats_full_sharding_where_every_gpu_has_a_nic) {
    for (const char* machine : {"dgx-a100", "dgx-h100"}) {
        const auto shard = [machine](const char* strategy) {
            return run(sharded, {"framework=fsdp", std::string("fsdp.strategy=") + strategy,
                                 std::string("machine=") + machine, "batch.sequence=256"});
        };
        const Report full = shard("full_shard"), hybrid = shard("hybrid_shard");
        EXPECT_LT(step(hybrid), step(full)) << machine;
        EXPECT_GT(sum(hybrid, "data inner", &CommunicationReport::bytes), 0) << machine;
        EXPECT_EQ(sum(full, "data inner", &CommunicationReport::bytes), 0) << machine;
    }
}

TEST(overlap, secondary_partitions_keep_backward_gathers_inside_the_node) {
    const Settings base{"framework=deepspeed", "zero=3", "deepspeed.max_live_elements=4e7",
                        "deepspeed.max_reuse_elements=0"};
    Settings zero3 = sharded;
    zero3.insert(zero3.end(), base.begin(), base.end());
    const Report flat = run(zero3, {}), hierarchical = run(zero3, {"deepspeed.hierarchical_ranks=8"});
    EXPECT_LT(sum(hierarchical, "data", &CommunicationReport::bytes), sum(flat, "data", &CommunicationReport::bytes));
    EXPECT_GT(sum(hierarchical, "data inner", &CommunicationReport::bytes), 0);
    EXPECT_LT(step(hierarchical), step(flat));
}

double gathered_bytes(const Report& report) {
    double total = 0;
    for (const CommunicationReport& row : report.communication) {
        if (row.op == "all_gather") total += row.bytes.value;
    }
    return total;
}

TEST(overlap, quantisation_halves_gathers_and_quarters_gradients) {
    const Settings zero3{"framework=deepspeed", "zero=3"};
    Settings base = sharded;
    base.insert(base.end(), zero3.begin(), zero3.end());
    const Report plain = run(base, {}), weights = run(base, {"deepspeed.quantized_weights=true"}),
                 gradients = run(base, {"deepspeed.quantized_gradients=true"});
    EXPECT_LT(gathered_bytes(weights), 0.55 * gathered_bytes(plain));
    EXPECT_GT(gathered_bytes(weights), 0.45 * gathered_bytes(plain));
    const auto all = [](const Report& r) {
        return sum(r, "data", &CommunicationReport::bytes) + sum(r, "data inner", &CommunicationReport::bytes) +
               sum(r, "data outer", &CommunicationReport::bytes);
    };
    EXPECT_LT(all(gradients), all(plain));
}

// The boards are the same, and so is what the network has of them.
TEST(overlap, reductions_to_owners_take_as_long_on_frontier_as_on_lumi_g) {
    Settings settings{"framework=deepspeed", "zero=1", "bucket_elements=1e8", "deepspeed.multi_rank_allreduce=false"};
    const double frontier = step(run(sharded, settings));
    settings.emplace_back("machine=lumi-g");
    EXPECT_NEAR(step(run(sharded, settings)) / frontier, 1, 0.1);
}

TEST(overlap, ddp_hides_what_a_reduction_after_backward_shows) {
    const Report under = run(sharded, {"framework=ddp"});
    const double exposed = sum(under, "data", &CommunicationReport::exposed);
    const double transferred = sum(under, "data", &CommunicationReport::time);
    EXPECT_LT(exposed, 0.5 * transferred);
    EXPECT_LT(step(under), step(run(sharded, {"framework=deepspeed", "zero=0"})));
}

TEST(overlap, megatron_hides_parameters_under_the_next_forward) {
    const Settings base{"zero=1", "overlap_gradients=true", "bucket_elements=4e7"};
    Settings megatron = sharded;
    megatron.insert(megatron.end(), base.begin(), base.end());
    EXPECT_LT(step(run(megatron, {"megatron.overlap_parameters=true"})), step(run(megatron, {})));
}

// Attention grows with the square of the sequence, what goes round the ring with the sequence.
TEST(overlap, ring_attention_hides_under_long_sequences) {
    double last = 1;
    for (const std::uint32_t sequence : {4096U, 16384U, 65536U, 262144U}) {
        const Report report = run({"layout.tensor=1", "layout.pipeline=1", "layout.data=1", "layout.context=8",
                                   "model.layers=2", "batch.global=1"},
                                  {"batch.sequence=" + std::to_string(sequence)});
        const double share = sum(report, "context", &CommunicationReport::exposed) / step(report);
        EXPECT_LE(share, last) << sequence;
        last = share;
    }
    EXPECT_LT(last, 1e-3);
}

}  // namespace
}  // namespace weft
