// The first step of a run sets connections up; later ones do not.
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

std::uint32_t chunks_of(const std::string& schedule) {
    const std::uint32_t own = find_schedule(schedule)->chunks;
    return own == 0 ? 2 : own;
}

Report run(const std::string& framework, const std::string& schedule, std::uint32_t stages, const char* step,
           const char* first_use) {
    const std::uint32_t chunks = find_schedule(schedule)->chunks == 0 ? chunks_of(schedule) : 1;
    const Study study =
        test::small_study({"layout.virtual_stages=" + std::to_string(chunks), "framework=" + framework,
                           "schedule=" + schedule, "layout.tensor=1", "layout.data=1",
                           "layout.pipeline=" + std::to_string(stages), "batch.global=" + std::to_string(2 * stages),
                           "model.layers=16", std::string("step=") + step, std::string("first_use=") + first_use});
    return make_report(simulate_step(study, make_plan(study)));
}

// Boundaries between stages that a micro-batch crosses one way.
double crossings(const std::string& schedule, std::uint32_t stages) {
    const std::vector<Place> path = find_schedule(schedule)->path({stages, 2 * stages, chunks_of(schedule)}, 0);
    double count = 0;
    for (std::size_t i = 1; i < path.size(); ++i) count += path[i].stage != path[i - 1].stage ? 1 : 0;
    return count;
}

double received(const Report& report) {
    double exposed = 0;
    for (const CommunicationReport& row : report.communication) {
        if (row.op == "recv") exposed += row.exposed.value;
    }
    return exposed;
}

// The first micro-batch finds one new connection after another on its way through the parts, and again on its way back;
// DeepSpeed has connected the way there at start-up.
// Once setting up takes longer than all else, every second of it shows in the step that often, and in nothing else.
TEST(first_step, waits_for_every_connection_on_the_way_there_and_back) {
    const auto cases = {std::pair{"megatron", "1f1b"}, {"megatron", "gpipe"}, {"megatron", "zb-h1"},
                        {"megatron", "zb-h2"},         {"megatron", "zb-v"},  {"megatron", "dualpipe"},
                        {"megatron", "interleaved"},   {"deepspeed", "1f1b"}, {"deepspeed", "gpipe"}};
    for (const auto& [framework, schedule] : cases) {
        for (const std::uint32_t p : {2U, 4U, 8U}) {
            const Report one = run(framework, schedule, p, "first", "1 s");
            const Report two = run(framework, schedule, p, "first", "2 s");
            const double longer = two.metric("step.time_s") - one.metric("step.time_s");
            const double ways = std::string(framework) == "deepspeed" ? 1 : 2;
            EXPECT_NEAR(longer, ways * crossings(schedule, p), 1e-9) << framework << " " << schedule << " p" << p;
            EXPECT_GE(received(two) - received(one), ways * (p - 1) / p - 1e-9)
                << framework << " " << schedule << " p" << p;
            EXPECT_EQ(two.metric("step.compute_s"), one.metric("step.compute_s"))
                << framework << " " << schedule << " p" << p;
        }
    }
}

TEST(first_step, is_longer_by_at_least_one_way) {
    const double cold = run("megatron", "1f1b", 4, "first", "250 ms").metric("step.time_s");
    EXPECT_GE(cold, run("megatron", "1f1b", 4, "steady", "0 s").metric("step.time_s") + 3 * 0.25);
}

TEST(first_step, alone_sets_connections_up) {
    for (const char* framework : {"megatron", "deepspeed"}) {
        EXPECT_EQ(run(framework, "1f1b", 4, "steady", "250 ms").metric("step.time_s"),
                  run(framework, "1f1b", 4, "steady", "0 s").metric("step.time_s"))
            << framework;
    }
}

// With one stage there is no boundary.
TEST(first_step, without_stages_connects_nothing) {
    EXPECT_EQ(run("megatron", "1f1b", 1, "first", "250 ms").metric("step.time_s"),
              run("megatron", "1f1b", 1, "first", "0 s").metric("step.time_s"));
}

}  // namespace
}  // namespace weft
