#include "workloads/framework/framework.hpp"

#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

const std::vector<Piece> dense{Piece::input_norm, Piece::qkv,    Piece::core,     Piece::projection,
                               Piece::post_norm,  Piece::mlp_up, Piece::mlp_down, Piece::residual};

HostOperations of_layer(const std::vector<std::string>& settings) {
    const Job job = test::small_study(settings).job;
    HostOperations sum;
    for (const Piece piece : dense) sum += host_operations(job, piece);
    return sum;
}

double total(const HostOperations& operations) {
    return operations.forward + operations.input_backward + operations.weight_backward;
}

// More than the kernels that keep the device busy: about a third of what is issued.
TEST(host_operations, are_more_than_kernels) {
    for (const char* const framework : {"framework=megatron", "framework=deepspeed"}) {
        const Study study = test::small_study({framework});
        double kernels = 0, issued = 0;
        for (const LayerPiece& piece : layer_pieces(study.job.model, LayerKind::dense, study.job.shard())) {
            kernels += double(piece.forward.size() + piece.input_backward.size() + piece.weight_backward.size());
            issued += total(host_operations(study.job, piece.piece));
        }
        EXPECT_GT(issued, 2 * kernels) << framework;
        EXPECT_LT(issued, 6 * kernels) << framework;
    }
}

TEST(host_operations, follow_what_a_layer_has) {
    const std::vector<std::string> plain{"model.biases=false", "model.positions=none"};
    const auto with = [&](const std::string& setting) {
        std::vector<std::string> settings = plain;
        settings.push_back(setting);
        return total(of_layer(settings)) - total(of_layer(plain));
    };
    EXPECT_EQ(with("model.positions=rotary"), 12);
    EXPECT_EQ(with("model.query_key_norm=true"), 26);
    EXPECT_GT(with("model.biases=true"), 0);
    EXPECT_EQ(with("model.norm_placement=sandwich"), 16);  // two norms more
    EXPECT_EQ(with("model.norm_placement=post"), 0);
    EXPECT_EQ(with("dropout=true"), 0);  // fused into the passes around it
}

TEST(host_operations, of_experts_have_a_parameter_for_each_bias) {
    const std::vector<std::string> plain{"model.experts.count=4", "layout.tensor=1", "model.biases=false"};
    std::vector<std::string> biased = plain;
    biased.back() = R"(model.biases=["experts"])";
    const auto of = [](const std::vector<std::string>& settings) {
        return total(host_operations(test::small_study(settings).job, Piece::experts));
    };
    EXPECT_EQ(of(biased) - of(plain), 4 * (4 + 12 + 4));
}

// Bytes an element of rows, beside probabilities in fp32 or, of the all-to-all, in 16 bits; which only Megatron's
// experts apart have, not under full graphs. A clamped activation moves 8 and 18 elements of its width more.
TEST(expert_passes, biases_and_clamps_are_apart) {
    const auto passes = [](const std::vector<std::string>& more, std::string_view which = "expert bias") {
        std::vector<std::string> settings{"model.experts.count=4", "layout.tensor=1", R"(model.biases=["experts"])"};
        settings.insert(settings.end(), more.begin(), more.end());
        const Job job = test::small_study(settings).job;
        Bytes moved;
        for (const LayerPiece& piece : layer_pieces(job.model, LayerKind::expert, job.shard())) {
            for (const std::vector<Kernel>* const kernels : {&piece.forward, &piece.input_backward}) {
                for (const Kernel& kernel : *kernels) {
                    if (kernel.name.starts_with(which)) moved += kernel.bytes;
                }
            }
        }
        const double rows = job.batch.micro * job.batch.sequence * job.model.experts.top_k;
        return moved.value / (rows * job.model.hidden);
    };
    EXPECT_NEAR(passes({}), 12 + 16, 1e-9);
    EXPECT_NEAR(passes({"experts.dispatcher=hybridep", "precision=bf16", "megatron.version=core-0.18"}), 28 + 40, 1e-9);
    const std::vector<std::string> gated{"model.gated=true", "model.experts.ffn_hidden=1024"};
    std::vector<std::string> clamped = gated;
    clamped.emplace_back("model.experts.clamped=true");
    EXPECT_NEAR(passes(gated, "swiglu"), 2 * (3 + 5), 1e-9);
    EXPECT_NEAR(passes(clamped, "swiglu"), 2 * (3 + 5 + 8 + 18), 1e-9);
    clamped.emplace_back("megatron.transformer_engine=false");
    EXPECT_NEAR(passes(clamped, "swiglu"), 2 * (3 + 5), 1e-9);
    EXPECT_EQ(passes({"cuda_graphs=full", "experts.capacity_factor=1", "megatron.version=core-0.18"}), 0);
    EXPECT_EQ(passes({"megatron.transformer_engine=false"}), 0);
    // Rows to padded places and back, each read and written, forward and backward: in 8 bits, where nobody else pads.
    std::vector<std::string> narrow{"precision=fp8", "machine=dgx-h100", "megatron.version=core-0.18"};
    EXPECT_NEAR(passes(narrow, "row padding"), 4 * 2 * 2, 1e-9);
    EXPECT_EQ(passes({"precision=bf16"}, "row padding"), 0);
    for (const char* const padded : {"experts.padded_routing=true", "experts.dispatcher=hybridep"}) {
        narrow.emplace_back(padded);
        EXPECT_EQ(passes(narrow, "row padding"), 0);
        narrow.pop_back();
    }
}

TEST(host_operations, of_zero_count_its_hooks) {
    const std::vector<std::string> plain{"framework=deepspeed", "layout.pipeline=1", "layout.data=8"};
    std::vector<std::string> zero1 = plain, zero3 = plain;
    zero1.emplace_back("zero=1");
    zero3.emplace_back("zero=3");
    EXPECT_GT(total(of_layer(zero1)), total(of_layer(plain)));
    EXPECT_GT(total(of_layer(zero3)), total(of_layer(zero1)));
}

// Once for all the pieces that a graph has, those that are run again among them; the others as ever.
TEST(plan, has_a_layer_issue_replays_under_cuda_graphs) {
    const auto of_layer = [](const std::string& graphs, const std::string& recompute) {
        const Plan plan = make_plan(
            test::small_study({"model.experts.count=4", "layout.tensor=1", "cuda_graphs=" + graphs, recompute}));
        return plan.costs.layer(LayerKind::expert);
    };
    const auto sum = [](const LayerCosts& layer) {
        HostOperations all;
        for (const PieceCost& piece : layer.pieces) all += piece.host;
        return all;
    };
    const std::string none = "recompute=none", core = "recompute=selective";
    const HostOperations eager = of_layer("none", none).host;
    EXPECT_EQ(sum(of_layer("none", none)).forward, eager.forward);
    EXPECT_EQ(of_layer("layer", none).host.forward, 1);
    EXPECT_EQ(of_layer("layer", core).host.input_backward, 1);
    EXPECT_EQ(replay(test::small_study({"cuda_graphs=full"}).job).input_backward, 0);
    const Job job = test::small_study({"model.experts.count=4", "layout.tensor=1"}).job;
    const double router = host_operations(job, Piece::post_norm).forward + host_operations(job, Piece::router).forward;
    EXPECT_EQ(of_layer("router", none).host.forward, eager.forward - router + 1);
    const double attention = host_operations(job, Piece::core).forward;
    EXPECT_EQ(of_layer("none", core).host.input_backward, eager.input_backward + attention + 8);
}

// Every weight is a parameter with a hook and a placeholder; forward all experts are one call.
TEST(host_operations, of_experts_grow_with_those_of_the_rank) {
    const auto of_experts = [](const char* count) {
        const Study study = test::small_study({std::string("model.experts.count=") + count, "layout.tensor=1",
                                               "model.biases=false", "megatron.version=core-0.13"});
        return host_operations(study.job, Piece::experts);
    };
    EXPECT_EQ(of_experts("8").weight_backward - of_experts("4").weight_backward, 16);
    EXPECT_EQ(of_experts("8").forward, of_experts("4").forward);
}

// The parts that the table's head lists for each dispatcher; nothing is exchanged where a rank has all experts.
TEST(host_operations, of_the_way_to_experts_follow_its_dispatcher) {
    struct Ways {
        const char *dispatcher, *ranks;
        double out, out_backward, back, back_backward;
    };
    const Ways exchanged{"all_to_all", "2", 7 + 6 + 5 + 2 + 3, 4 + 6 + 4, 3 + 1 + 2, 4 + 3 + 4};
    const Ways deepep{"deepep", "2", 1 + 15 + 16 + 5, 2 + 11 + 3 + 4, 2 + 8, 4 + 10};
    const Ways hybridep{"hybridep", "2", 11, 10, 8, 10};
    const Ways in_place{"all_to_all", "1", 10, 6, 8, 6};
    for (const Ways& ways : {exchanged, deepep, hybridep, in_place}) {
        const Job job =
            test::small_study({"model.experts.count=4", "layout.tensor=1", "layout.pipeline=1", "layout.data=2",
                               "model.biases=false", std::string("layout.expert=") + ways.ranks,
                               std::string("experts.dispatcher=") + ways.dispatcher, "megatron.version=core-0.15"})
                .job;
        HostOperations out = host_operations(job, Piece::permute), back = host_operations(job, Piece::unpermute);
        out += host_operations(job, Piece::experts);
        out.forward -= 18;  // of the experts themselves
        out.input_backward -= 14;
        EXPECT_EQ(out.forward, ways.out) << ways.dispatcher;
        EXPECT_EQ(out.input_backward, ways.out_backward) << ways.dispatcher;
        EXPECT_EQ(back.forward, ways.back) << ways.dispatcher;
        EXPECT_EQ(back.input_backward, ways.back_backward) << ways.dispatcher;
    }
}

// DDP casts each parameter: a gated map is two of them, the router's is one, and all experts have as many as one has.
TEST(host_operations, of_data_parallel_ranks_count_parameters_as_pytorch_registers_them) {
    const auto casts = [](const char* experts, const char* gated) {
        const Job job = test::small_study({"framework=ddp", "layout.tensor=1", "layout.pipeline=1", "layout.data=4",
                                           "model.biases=false", experts, gated})
                            .job;
        const LayerKind kind = job.model.experts.count > 0 ? LayerKind::expert : LayerKind::dense;
        const LayerPiece norm = layer_pieces(job.model, kind, job.shard()).front();
        double launches = 0;
        for (const Kernel& kernel : norm.forward) launches += kernel.launches;
        return eager_operations(job, kind, norm).forward / (55.0 / 27.0) - launches;
    };
    const double plain = casts("model.layers=4", "model.gated=false");
    EXPECT_NEAR(casts("model.layers=4", "model.gated=true"), plain + 1, 1e-9);
    for (const char* const experts : {"model.experts.count=4", "model.experts.count=8"}) {
        EXPECT_NEAR(casts(experts, "model.gated=false"), plain + 1, 1e-9);
        EXPECT_NEAR(casts(experts, "model.gated=true"), plain + 2, 1e-9);
    }
}

TEST(is_replayed, says_which_pieces_a_graph_of_a_part_has) {
    const auto replayed = [](const char* graphs, Piece piece) {
        return is_replayed(
            test::small_study({"model.experts.count=4", "layout.tensor=1", std::string("cuda_graphs=") + graphs}).job,
            piece);
    };
    EXPECT_TRUE(replayed("router", Piece::router));
    EXPECT_FALSE(replayed("router", Piece::qkv));
    EXPECT_TRUE(replayed("around_experts", Piece::qkv));
    EXPECT_FALSE(replayed("around_experts", Piece::experts));
    EXPECT_FALSE(replayed("none", Piece::qkv));
    EXPECT_NE(test::mistakes("cuda_graphs=router").find("no experts"), std::string::npos);
}

TEST(host_operations, of_compiled_or_recorded_layers_need_what_they_are_made_of) {
    EXPECT_NE(test::mistakes("compile=true").find("plain modules"), std::string::npos);
    const std::string experts = R"(model={"layers": 4, "hidden": 512, "heads": 8, "vocabulary": 50257,
                                          "experts": {"count": 4}})";
    const auto mistakes = [&](const std::string& capacity) {
        try {
            test::small_study({experts, "layout.tensor=1", "cuda_graphs=full", capacity});
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(mistakes("experts.capacity_factor=0").find("cuda_graphs"), std::string::npos);
    EXPECT_EQ(mistakes("experts.capacity_factor=1.5"), "");
}

}  // namespace
}  // namespace weft
