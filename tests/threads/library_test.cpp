// Threads that share a warm job of the library. It proves most where the thread sanitizer watches (preset tsan).
#include <gtest/gtest.h>

#include <thread>

#include "tools/library/weft.hpp"

namespace weft::library {
namespace {

const WarmJob job = WarmJob::read(R"({
    "machine": "dgx-a100", "nodes": 1, "framework": "megatron",
    "model": {"layers": 4, "hidden": 256, "heads": 8, "vocabulary": 1024},
    "layout": {"tensor": 2, "pipeline": 2, "data": 2}, "batch": {"sequence": 192, "micro": 1, "global": 16}})");

std::vector<std::string> results() {
    std::vector<std::string> texts;
    for (const char* const assignment : {"batch.micro=2", "layout.order=data,tensor,pipeline", "machine=frontier"}) {
        const SimulatedStep step = job.simulate({assignment});
        texts.push_back(std::to_string(step.metric("step.time_s")));
        texts.push_back(std::to_string(step.timeline().begin.size()));
    }
    const SweepTable table = job.sweep({{.threads = 2}, {"batch.micro=1,2", "zero=0,1"}, {}, {}});
    for (const auto& row : table.rows) texts.push_back(std::to_string(std::get<double>(row.at(2))));
    texts.push_back(job.explain_json({}, {.threads = 2}));
    return texts;
}

TEST(threads, share_a_warm_job_and_find_what_one_alone_does) {
    const std::vector<std::string> alone = results();
    std::vector<std::string> of_first, of_second;
    {
        const std::jthread first([&] { of_first = results(); });
        const std::jthread second([&] { of_second = results(); });
    }
    EXPECT_EQ(of_first, alone);
    EXPECT_EQ(of_second, alone);
}

}  // namespace
}  // namespace weft::library
