// Memory of joint passes against a walk through the layers in Megatron-core's order: TransformerLayerSchedulePlan.run
// (core/models/common/model_chunk_schedule_plan.py) has the attention of the forward, the MLP of the backward, the MLP
// of the forward, the attention of the backward; each node frees what it kept as its backward ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

struct LayerSizes {
    Bytes attention, mlp, workspace;
};

LayerSizes sizes(const Job& job, std::uint32_t layer) {
    const LayerKind kind = layer_kind(job.model, layer);
    const Inventory inventory{.recompute = job.recompute.of_layer(layer),
                              .parts = recomputed_parts(job, kind),
                              .expert_weights = job.framework->expert_weights,
                              .map_inputs = job.framework->map_inputs};
    LayerSizes sizes;
    sizes.workspace = layer_workspace(job.model, kind, job.shard(), inventory);
    for (const SavedTensor& tensor : saved_tensors(job.model, kind, job.shard(), inventory)) {
        (tensor.half == LayerHalf::mlp ? sizes.mlp : sizes.attention) += tensor.bytes;
    }
    return sizes;
}

// What is allocated and freed, one after another.
class Walk {
  public:
    Walk(const Job& job, const Stage& stage) : job_(job), stage_(stage) {}

    Bytes peak() {
        const std::vector<Slot>& slots = stage_.slots;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].runs == Slot::Runs::with_next) {
                joint(chunk(slots[i]), chunk(slots[i + 1]));
                ++i;
            } else if (slots[i].kind == SlotKind::forward) {
                forward(chunk(slots[i]));
            } else {
                backward(chunk(slots[i]));
            }
        }
        EXPECT_NEAR(alive_.value, 0, 1) << "what was kept is given back";
        return peak_;
    }

  private:
    const Chunk& chunk(const Slot& slot) const { return stage_.chunks[slot.chunk]; }
    LayerSizes layer(const Chunk& chunk, std::uint32_t i) const { return sizes(job_, chunk.first_layer + i); }
    Bytes embedding(const Chunk& chunk) const {
        return chunk.has_embedding() ? embedding_activations(job_.model, job_.shard()) : Bytes{};
    }
    void keep(Bytes bytes, Bytes beside = {}) {
        alive_ += bytes;
        peak_ = std::max(peak_, alive_ + beside);
    }
    void begin_backward(const Chunk& chunk) {
        if (!chunk.has_head()) return;
        keep({}, head_workspace(job_.model, job_.shard()));
        keep(-chunk.head_activations);
    }
    void forward(const Chunk& chunk) {
        keep(embedding(chunk));
        for (std::uint32_t i = 0; i < chunk.layers; ++i) keep(layer(chunk, i).attention + layer(chunk, i).mlp);
        keep(chunk.head_activations);
    }
    void backward(const Chunk& chunk) {
        begin_backward(chunk);
        for (std::uint32_t i = chunk.layers; i-- > 0;) {
            keep({}, layer(chunk, i).workspace);
            keep(-layer(chunk, i).attention - layer(chunk, i).mlp);
        }
        keep(-embedding(chunk));
    }
    void joint(const Chunk& ahead, const Chunk& behind) {
        begin_backward(behind);
        keep(embedding(ahead));
        for (std::uint32_t i = 0; i < std::max(ahead.layers, behind.layers); ++i) {
            const LayerSizes up = i < ahead.layers ? layer(ahead, i) : LayerSizes{},
                             down = i < behind.layers ? layer(behind, behind.layers - 1 - i) : LayerSizes{};
            keep(up.attention, down.workspace);
            keep(-down.mlp);
            keep(up.mlp, down.workspace);
            keep(-down.attention);
        }
        keep(-embedding(behind));
        keep(ahead.head_activations);
    }

    const Job& job_;
    const Stage& stage_;
    Bytes alive_, peak_;
};

Settings settings(const Settings& more) {
    Settings all{"machine=dgx-h100",
                 "precision=bf16",
                 "megatron.version=core-0.14",
                 "experts.overlap=passes",
                 "layout.tensor=1",
                 "layout.data=8",
                 "layout.expert=8",
                 "batch.global=128",
                 R"(model.experts={"count": 16, "top_k": 4, "ffn_hidden": 512, "shared": 1})"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// Activations and gradients of them, without the matrix library's.
Bytes passing(const Plan& plan, const Stage& stage) {
    return stage.memory.activations + stage.memory.workspace - matrix_library_workspace(plan.job.model);
}

TEST(joint_memory, is_that_of_a_walk_through_the_pairs_of_layers) {
    for (const char* schedule : {"1f1b", "interleaved"}) {
        for (const char* pipeline : {"1", "2", "4"}) {
            if ((schedule == std::string("1f1b")) != (pipeline == std::string("1"))) continue;
            for (const char* dense : {"0", "1", "5"}) {
                for (const char* vocabulary : {"1024", "151936"}) {
                    for (const char* recompute : {"none", "selective"}) {
                        Settings own{std::string("schedule=") + schedule,
                                     std::string("layout.pipeline=") + pipeline,
                                     std::string("model.experts.first_dense=") + dense,
                                     "model.layers=16",
                                     std::string("model.vocabulary=") + vocabulary,
                                     std::string("recompute=") + recompute};
                        if (schedule == std::string("interleaved")) own.emplace_back("layout.virtual_stages=2");
                        const Plan plan = make_plan(test::small_study(settings(own)));
                        for (const Stage& stage : plan.stages) {
                            const double walked = Walk(plan.job, stage).peak().value;
                            EXPECT_NEAR(passing(plan, stage).value / walked, 1, 1e-9)
                                << schedule << " " << pipeline << " " << dense << " " << vocabulary << " " << recompute;
                        }
                    }
                }
            }
        }
    }
}

// Beyond one whole micro-batch: the forward's token ids, and the attention of one layer.
TEST(joint_memory, is_that_of_one_micro_batch_and_the_attention_of_a_layer) {
    const Settings common{"layout.pipeline=1", "model.vocabulary=1024", "recompute=none",
                          "model.experts.first_dense=0"};
    Settings apart = common;
    apart.emplace_back("experts.overlap=none");
    const Plan joint = make_plan(test::small_study(settings(common))),
               in_turn = make_plan(test::small_study(settings(apart)));
    const Job& job = joint.job;
    const Bytes more = embedding_activations(job.model, job.shard()) + sizes(job, 0).attention;
    EXPECT_NEAR((passing(joint, joint.stages[0]) - passing(in_turn, in_turn.stages[0])).value, more.value, 1);
    EXPECT_LT(more.value, 0.1 * joint.stages[0].chunks[0].activations.value);
}

}  // namespace
}  // namespace weft
