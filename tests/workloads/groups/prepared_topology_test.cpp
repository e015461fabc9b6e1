// A simulation finds the same, to the bit, whatever was simulated on its topology before.
#include "workloads/groups/prepared_topology.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Empty where they are equal.
std::string difference(const Simulation& a, const Simulation& b) {
    const Program &x = a.step.program, &y = b.step.program;
    if (x.patterns.size() != y.patterns.size() || x.legs.size() != y.legs.size()) return "size of the program";
    for (PatternId id{}; id != x.patterns.end_id(); id = next(id)) {
        if (x.patterns[id] != y.patterns[id]) return "pattern " + std::to_string(index(id));
    }
    for (std::size_t i = 0; i < x.legs.size(); ++i) {
        const Leg &leg = x.legs[i], &other = y.legs[i];
        if (leg.pattern != other.pattern || leg.latency != other.latency || leg.bytes != other.bytes) {
            return "leg " + std::to_string(i);
        }
    }
    if (a.timeline.end != b.timeline.end) return "end";
    const Report one = make_report(a), two = make_report(b);
    for (const Metric& metric : one.metrics) {
        if (metric.value != two.metric(metric.key)) return std::string(metric.key);
    }
    return {};
}

// Simulates a study on a topology that others used, and on a fresh one.
class Visitor {
  public:
    explicit Visitor(const Study& first) : prepared_(prepare(first)) {}

    std::string visit(const Study& study, Folding folding = Folding::stages) {
        const SimulationOptions options{.folding = folding};
        Simulation run = simulate_step(make_plan(study), options, std::move(prepared_));
        const std::string text = difference(run, simulate_step(study, make_plan(study), options));
        prepared_ = std::move(run.prepared);
        return text;
    }

  private:
    std::unique_ptr<PreparedTopology> prepared_;
};

struct Axes {
    std::uint32_t tensor, pipeline, data;
};

// With calls that block and calls that do not.
void visit_all(std::initializer_list<Axes> layouts, const Settings& place) {
    std::vector<Study> studies;
    for (const Axes& axes : layouts) {
        for (const Settings& more :
             {Settings{"framework=megatron"}, Settings{"framework=megatron", "batch.micro=2"},
              Settings{"framework=deepspeed", "zero=1"}, Settings{"framework=deepspeed", "zero=1", "recompute=full"},
              Settings{"framework=deepspeed", "zero=1", "deepspeed.log_calls=true"}}) {
            Settings settings{test::key("layout.tensor", axes.tensor), test::key("layout.pipeline", axes.pipeline),
                              test::key("layout.data", axes.data), "batch.global=64"};
            settings.insert(settings.end(), more.begin(), more.end());
            settings.insert(settings.end(), place.begin(), place.end());
            studies.push_back(test::small_study(settings));
        }
    }
    Visitor visitor(studies.front());
    for (const Folding folding : {Folding::stages, Folding::exact}) {
        for (const Study& study : studies) EXPECT_EQ(visitor.visit(study, folding), "") << axes(study.job.layout);
    }
}

TEST(prepared_topology, changes_no_step) {
    const std::initializer_list<Axes> layouts{{2, 1, 8}, {4, 2, 2}, {2, 4, 2}, {1, 2, 8}, {8, 2, 1}};
    for (const char* machine : {"frontier", "dgx-a100"}) visit_all(layouts, {std::string("machine=") + machine});
    visit_all(layouts, {"fabric.placement=scatter:2", "fabric.routing=adaptive"});
}

// Where channels depend on the groups that were laid before: of the node beside the crippled one, whether it met it.
TEST(prepared_topology, changes_no_step_around_a_dead_link) {
    for (const char* machine : {"frontier", "dgx-a100"}) {
        visit_all({{1, 2, 16}, {1, 1, 32}, {2, 2, 8}, {2, 1, 16}},
                  {std::string("machine=") + machine, R"(faults={"links": [{"node": 1, "nic": 0, "bandwidth": 0}]})"});
    }
}

TEST(prepared_topology, keeps_the_costs_of_a_library_apart_and_together) {
    const Plan plan = make_plan(test::small_study({"framework=deepspeed"})),
               logged = make_plan(test::small_study({"framework=deepspeed", "deepspeed.log_calls=true"}));
    const std::unique_ptr<PreparedTopology> prepared = prepare(test::small_study());
    CostsPool& pool = prepared->costs(plan);
    EXPECT_NE(&prepared->costs(logged), &pool);
    EXPECT_EQ(&prepared->costs(plan), &pool);
    GroupMembers groups{.size = 2, .ranks = {RankId{0}, RankId{1}, RankId{2}, RankId{3}}};
    GroupCosts& costs = pool.find(groups);
    EXPECT_EQ(&pool.find(groups), &costs);
    groups.size = 4;
    EXPECT_NE(&pool.find(groups), &costs);
    std::swap(groups.ranks.front(), groups.ranks.back());
    groups.size = 2;
    EXPECT_NE(&pool.find(groups), &costs);
}

RC_GTEST_PROP(prepared_topology, changes_no_step_of_any_job, ()) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Visitor> visitors;  // by nodes, and ranks on each
    const std::string machine = "machine=" + *rc::gen::elementOf(machine_names());
    for (int i = 0; i < 6; ++i) {
        Settings settings = test::random_job();
        settings.push_back(machine);
        RC_LOG() << testing::PrintToString(settings);
        try {
            const Study study = test::small_study(settings);
            const auto [visitor, is_new] = visitors.try_emplace({study.job.nodes, study.job.ranks_per_node}, study);
            RC_TAG(is_new ? "alone" : "after others");
            RC_ASSERT(visitor->second.visit(study) == "");
        } catch (const ConfigError&) {  // not every mix of settings is a job
        }
    }
}

}  // namespace
}  // namespace weft
