// Interleaved stages that exchange in awaited batches, as Megatron-LM before 2023: every shape runs to its end, and
// nothing is gained over handing over beside computation.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

double step(const std::vector<std::string>& settings) {
    const Study study = test::small_study(settings);
    return since_start(simulate_step(study, make_plan(study)).timeline.end).value;
}

TEST(batched_handover, runs_every_shape_and_is_never_faster) {
    for (const char* stages : {"2", "4"}) {
        for (const char* chunks : {"2", "4"}) {
            for (const char* batch : {"8", "16", "32"}) {
                std::vector<std::string> settings{"machine=dgx-a100",
                                                  "layout.tensor=2",
                                                  "layout.data=1",
                                                  "model.layers=16",
                                                  "sequence_parallel=true",
                                                  "schedule=interleaved",
                                                  std::string("layout.pipeline=") + stages,
                                                  std::string("layout.virtual_stages=") + chunks,
                                                  std::string("batch.global=") + batch};
                const double beside = step(settings);
                settings.emplace_back("megatron.overlap_pipeline=false");
                EXPECT_GE(step(settings), beside) << stages << ' ' << chunks << ' ' << batch;
            }
        }
    }
}

TEST(batched_handover, of_as_many_micro_batches_as_stages_runs) {
    EXPECT_GT(step({"machine=dgx-a100", "layout.data=1", "layout.virtual_stages=2", "schedule=interleaved",
                    "batch.global=4", "megatron.overlap_pipeline=false"}),
              0);
}

}  // namespace
}  // namespace weft
