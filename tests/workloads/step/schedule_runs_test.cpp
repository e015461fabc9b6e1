// Every schedule on real networks: no deadlock, parts that add up, and contention that never helps.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

struct Point {
    std::string machine, framework, schedule;
    std::uint32_t tensor, pipeline, data, micro_batches, chunks;
};

std::string text(const Point& p) {
    return p.machine + ", " + p.framework + " " + p.schedule + ", t" + std::to_string(p.tensor) + " p" +
           std::to_string(p.pipeline) + " d" + std::to_string(p.data) + " m" + std::to_string(p.micro_batches) + " v" +
           std::to_string(p.chunks);
}

Study study_of(const Point& p) {
    const Schedule& schedule = *find_schedule(p.schedule);
    const std::uint32_t chunks = schedule.chunks == 0 ? p.chunks : schedule.chunks;
    std::vector<std::string> own{"machine=" + p.machine,
                                 "framework=" + p.framework,
                                 "schedule=" + p.schedule,
                                 "layout.tensor=" + std::to_string(p.tensor),
                                 "layout.pipeline=" + std::to_string(p.pipeline),
                                 "layout.data=" + std::to_string(p.data),
                                 "batch.global=" + std::to_string(p.data * p.micro_batches),
                                 "model.layers=" + std::to_string(p.pipeline * chunks)};
    if (schedule.chunks == 0) own.push_back("layout.virtual_stages=" + std::to_string(chunks));
    return test::small_study(own);
}

double step(const Study& study, NetworkKind network) {
    return since_start(simulate_step(study, make_plan(study), {.network = network}).timeline.end).value;
}

void check(const Point& point) {
    const Study study = study_of(point);
    const Report report = make_report(simulate_step(study, make_plan(study)));
    const double flow = report.metric("step.time_s");
    for (const StageReport& c : report.stages) {
        EXPECT_NEAR((c.compute + c.exposed + c.idle).value, flow, 1e-9 * flow) << text(point) << ", " << c.name;
    }
    EXPECT_NEAR(report.metric("step.compute_s") + report.metric("step.exposed_communication_s") +
                    report.metric("step.bubble_s") + report.metric("step.imbalance_s"),
                flow, 1e-9 * flow)
        << text(point);
    // Where communication slows computation, a later transfer may come at a better moment: no rule holds.
    Study apart = study;
    apart.device.interference = 1.0;
    const double free = step(apart, NetworkKind::free), ideal = step(apart, NetworkKind::ideal);
    EXPECT_LE(free, ideal * (1 + 1e-12)) << text(point);
    EXPECT_LE(ideal, step(apart, NetworkKind::flow) * (1 + 1e-12)) << text(point);
}

using Case = std::tuple<std::string, std::string, std::string>;  // machine, framework, schedule

class schedule_runs : public testing::TestWithParam<Case> {};

TEST_P(schedule_runs, to_the_end_and_contention_never_helps) {
    const auto& [machine, framework, schedule] = GetParam();
    const Schedule& order = *find_schedule(schedule);
    for (const std::uint32_t pipeline : {1U, 2U, 4U, 8U}) {
        for (const std::uint32_t micro_batches : {1U, 3U, pipeline, 2 * pipeline, 2 * pipeline + 2}) {
            for (const std::uint32_t chunks : {1U, 2U, 3U, 5U}) {
                const std::uint32_t own = order.chunks == 0 ? chunks : order.chunks;
                if (order.chunks != 0 && chunks > 1) continue;
                if (!order.obstacle({pipeline, micro_batches, own}).empty()) continue;
                for (const auto& [tensor, data] : {std::pair{1U, 1U}, {2U, 1U}, {1U, 2U}, {2U, 2U}}) {
                    check({machine, framework, schedule, tensor, pipeline, data, micro_batches, own});
                }
            }
        }
    }
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
    const auto& [machine, framework, schedule] = info.param;
    std::string name = machine + "_" + framework + "_" + schedule;
    std::ranges::replace(name, '-', '_');
    return name;
}

const auto machines = testing::Values("frontier", "dgx-h100");

INSTANTIATE_TEST_SUITE_P(megatron, schedule_runs,
                         testing::Combine(machines, testing::Values("megatron"),
                                          testing::Values("gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v",
                                                          "dualpipe")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(deepspeed, schedule_runs,
                         testing::Combine(machines, testing::Values("deepspeed"), testing::Values("gpipe", "1f1b")),
                         name_of);

}  // namespace
}  // namespace weft
