// Distillation: a teacher's forward pass beside the model's own.
#include <gtest/gtest.h>

#include <fstream>

#include "models/transformer/flops.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/called.hpp"
#include "tests/workloads/same_report.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

class teacher : public ::testing::Test {
  protected:
    teacher() {
        const std::string path = (folder_.path() / "teacher.json").string();
        std::ofstream(path) << R"({"layers": 12, "hidden": 2048, "heads": 16, "vocabulary": 50257})";
        taught_ = "model.teacher=" + path;
    }
    Settings with(Settings more) const {
        more.insert(more.begin(), {"precision=bf16", taught_});
        return more;
    }
    Study study(const Settings& more) const { return test::small_study(with(more)); }

    test::TemporaryFolder folder_;
    std::string taught_;
};

TEST_F(teacher, layers_are_shared_out_to_all_model_parts) {
    for (const Settings& more : {Settings{}, Settings{"schedule=interleaved", "layout.virtual_stages=2"}}) {
        const Plan plan = make_plan(study(more));
        std::uint32_t own = 0, taught = 0;
        for (const Stage& stage : plan.stages) {
            if (more.empty()) EXPECT_EQ(stage.layers(), 2 + 3);
            for (const Chunk& chunk : stage.chunks) {
                for (std::uint32_t i = 0; i < chunk.layers; ++i) {
                    const LayerKind kind = layer_kind(plan.job.model, chunk.first_layer + i);
                    ++(layer_of(plan.job.model, kind).of == LayerOf::teacher ? taught : own);
                }
            }
        }
        EXPECT_EQ(own, 8);
        EXPECT_EQ(taught, 12);
    }
}

// Two FLOPs of every parameter and token more, none of them backward; and its parameters, with nothing else.
TEST_F(teacher, runs_forward_alone) {
    const Plan plan = make_plan(study({})), alone = make_plan(test::small_study({"precision=bf16"}));
    const Transformer& own = plan.job.model.teacher.front();
    EXPECT_DOUBLE_EQ(plan.model_flops.value - alone.model_flops.value, model_flops(own, 32, 1024).value / 3.0);
    double held = 0, trained = 0;
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
        held += plan.stages[s].parameters() - alone.stages[s].parameters();
        trained += plan.stages[s].trained() - alone.stages[s].trained();
        EXPECT_DOUBLE_EQ(plan.stages[s].memory.optimizer.value, alone.stages[s].memory.optimizer.value);
    }
    EXPECT_EQ(trained, 0);
    EXPECT_EQ(held, static_cast<double>(parameters(own, {.tensor = 2, .expert = 1, .expert_tensor = 2})));
    EXPECT_EQ(parameters(plan.job.model), parameters(alone.job.model));
    const auto summed = [](const Plan& of) { return test::called(of, 1, "all-reduce layer").bytes; };
    EXPECT_DOUBLE_EQ(summed(plan) - summed(alone), 16 * 3 * 2 * 1024 * 2048 * 2.0);
    const auto handed = [](const Plan& of) { return test::called(of, 1, "forward activation").bytes; };
    EXPECT_DOUBLE_EQ(handed(plan), 3 * handed(alone));
}

TEST_F(teacher, jobs_fold_as_they_are) {
    const Settings one{"layout.tensor=1", "layout.pipeline=1", "layout.data=16"};
    const auto flat = [&](Settings more) {
        more.insert(more.begin(), one.begin(), one.end());
        return more;
    };
    for (const Settings& more :
         {Settings{}, Settings{"recompute=full"}, Settings{"schedule=interleaved", "layout.virtual_stages=2"},
          Settings{"sequence_parallel=true", "zero=1"}, flat({"framework=deepspeed", "zero=3"}),
          flat({"framework=fsdp", "fsdp.version=2"}), flat({"framework=ddp", "model.tied_embeddings=true"})}) {
        const Study asked = study(more);
        const auto report = [&](Folding folding) {
            return make_report(simulate_step(asked, make_plan(asked), {.folding = folding}));
        };
        EXPECT_EQ(test::differences(report(Folding::none), report(Folding::exact)), "")
            << (more.empty() ? "" : more.back());
    }
}

TEST_F(teacher, jobs_that_cannot_be_are_refused) {
    EXPECT_NE(test::mistake_at(with({"model.vocabulary=1000"}), "model.teacher").find("50257"), std::string::npos);
    EXPECT_NE(test::mistake_at(with({"layout.context=2", "layout.data=1"}), "layout.context"), "");
    const std::string own = (folder_.path() / "own.json").string();
    std::ofstream(own) << R"({"layers": 1, "hidden": 64, "heads": 2, "vocabulary": 50257, "teacher": ")" << own
                       << "\"}";
    EXPECT_NE(test::mistake_at({"model.teacher=" + own}, "model.teacher").find("of its own"), std::string::npos);
    EXPECT_NE(test::mistake_at({"model.teacher=nobody"}, "model.teacher").find("unknown model"), std::string::npos);
}

}  // namespace
}  // namespace weft
