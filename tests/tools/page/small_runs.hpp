// Simulations that pages are made of in tests.
#pragma once

#include <string>
#include <vector>

#include "workloads/report/report.hpp"

namespace weft::test {

inline Simulation small_run(const std::string& job, std::vector<std::string> assignments) {
    const Study study = load_study(std::string(WEFT_SOURCE_DIR "/workloads/jobs/") + job, assignments);
    return simulate_step(study, make_plan(study),
                         {.folding = Folding::automatic, .recording = Recording::spans_and_links});
}

// 128 ranks, four stages, tensor and data groups across nodes.
inline Simulation dense_run() { return small_run("frontier-gpt-neox-20b-3d.json", {"batch.global=128"}); }
// 128 ranks, two stages, experts, context.
inline Simulation expert_run() { return small_run("dgx-h100-mixtral-8x7b.json", {"batch.global=32"}); }

}  // namespace weft::test
