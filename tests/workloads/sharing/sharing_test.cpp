// Jobs that share a machine, beside each of them alone: `simulate_step` of the same nodes, rank by rank.
#include "workloads/sharing/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

// Two nodes of Frontier, or of a small dragonfly: two chassis of two nodes in each of four groups.
PlacedJob placed(const std::string& name, const std::string& nodes, std::vector<std::string> overrides = {}) {
    overrides.push_back("fabric.placement=nodes:" + nodes);
    return {name, test::small_study(overrides)};
}
PlacedJob small_job(const std::string& name, const std::string& nodes, std::vector<std::string> overrides = {}) {
    for (const char* const key :
         {"nodes=16", "network.nodes_per_group=4", "network.nodes_per_chassis=2", "network.switches_per_group=8"}) {
        overrides.push_back(std::string("machine.") + key);
    }
    return placed(name, nodes, std::move(overrides));
}

const std::string minimal = "fabric.routing=minimal";
// Sixteen data ranks send gradients far.
const std::vector<std::string> all_data{"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "batch.global=16"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
    overrides.push_back(more);
    return overrides;
}

Simulation alone(const PlacedJob& job) {
    return simulate_step(job.study, make_plan(job.study), {.folding = Folding::none});
}

void expect_same(const PlacedStep& a, const PlacedStep& b) {
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.compute, b.compute);
    EXPECT_EQ(a.exposed, b.exposed);
}

TEST(sharing, a_job_alone_takes_what_simulate_says) {
    for (const PlacedJob& one : {placed("near", "3,4"), placed("far", "130,7"), placed("data", "0,200", all_data),
                                 placed("jitter", "5,6", {"faults.jitter={\"spread\": 0.1}"}),
                                 small_job("small", "2,9", with(all_data, "fabric.routing=adaptive"))}) {
        const Simulation step = alone(one);
        const PlacedReport job = share({one}).jobs.front();
        EXPECT_EQ(job.alone.time, since_start(step.timeline.end)) << one.name;
        EXPECT_EQ(job.alone.exposed.value, make_report(step).metric("step.exposed_communication_s")) << one.name;
        EXPECT_EQ(job.steps, 1U);
        expect_same(job.together, job.alone);
    }
}

// Fat tree, dragonfly+, torus: on links of all jobs the second finds what it finds by itself.
TEST(sharing, a_job_behind_others_takes_alone_what_simulate_says) {
    for (const std::string machine : {"dgx-h100", "leonardo", "tpu-v4"}) {
        const std::vector<std::string> on{"machine=" + machine, "nodes=4", "layout.data=null", "layout.pipeline=2"};
        const PlacedJob first = placed("first", "2,3,9,12", on), second = placed("second", "5,0,8,11", on);
        const Sharing sharing = share({first, second});
        EXPECT_EQ(sharing.jobs[0].alone.time, since_start(alone(first).timeline.end)) << machine;
        EXPECT_EQ(sharing.jobs[1].alone.time, since_start(alone(second).timeline.end)) << machine;
        EXPECT_GT(sharing.jobs[1].slowdown(), machine == "tpu-v4" ? 1.1 : 0.99);  // messages pass the other's nodes
    }
}

TEST(sharing, jobs_that_share_no_link_do_not_feel_each_other) {
    const PlacedJob longer = small_job("longer", "0,1", with(all_data, minimal));
    const PlacedJob shorter = small_job("shorter", "4,10", {minimal, "batch.global=8"});
    const Sharing sharing = share({longer, shorter}, {.steps = 2});
    EXPECT_TRUE(sharing.links.empty());
    for (std::size_t i = 0; i < 2; ++i) {
        const PlacedReport& job = sharing.jobs[i];
        EXPECT_EQ(job.alone.time, since_start(alone(i == 0 ? longer : shorter).timeline.end));
        EXPECT_GE(job.steps, 2U);
        expect_same(job.together, job.alone);
    }
    const auto [slow, fast] = std::minmax(sharing.jobs[0].alone.time, sharing.jobs[1].alone.time);
    EXPECT_EQ(sharing.begin, Seconds{});
    EXPECT_NEAR(sharing.end.value, 2 * std::max(slow, fast).value, 1e-12);
}

// Said by rank of the second job, and by node of the first.
TEST(sharing, faults_of_links_are_there_for_all_jobs) {
    const std::string dead = R"(faults.links=[{"node": 1, "nic": 2, "bandwidth": 0}])";
    const std::string slow = R"(faults.links=[{"from": 0, "to": 8, "class": "slingshot.local", "bandwidth": 0.1}])";
    const PlacedJob first = small_job("first", "0,1", with(with(all_data, minimal), dead));
    const PlacedJob second = small_job("second", "4,10", with(with(all_data, minimal), slow));
    const Sharing sharing = share({second, first});
    EXPECT_EQ(sharing.jobs[0].alone.time, since_start(alone(second).timeline.end));
    EXPECT_EQ(sharing.jobs[1].alone.time, since_start(alone(first).timeline.end));
    const PlacedJob sound = small_job("sound", "0,1", with(all_data, minimal));
    EXPECT_GT(sharing.jobs[1].alone.time, 1.02 * share({sound}).jobs.front().alone.time);
    const auto has = [&](std::string_view name) {
        return std::ranges::any_of(sharing.topology.classes, [&](const LinkClass& each) { return each.name == name; });
    };
    EXPECT_TRUE(has("slingshot.nic (dead)") && has("slingshot.local (x 0.1)"));
}

// Bytes by link class.
std::vector<double> carried_bytes(const Timeline& timeline, const Topology& topology) {
    std::vector<double> bytes;
    const Table<LinkClassId, std::uint32_t> links = topology.links_of_class();
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        bytes.push_back(timeline.utilization[id] * links[id] * topology.classes[id].bandwidth.value *
                        since_start(timeline.end).value);
    }
    return bytes;
}

// Both cross from one group to another, over the same four cables and no other links.
TEST(sharing, jobs_slow_each_other_down_where_they_meet_and_lose_no_byte) {
    const std::vector<PlacedJob> jobs{placed("a", "0,128", with(all_data, minimal)),
                                      placed("b", "17,145", with(all_data, minimal))};
    const Sharing sharing = share(jobs);
    std::vector<double> sum(sharing.topology.classes.size());
    double crossing = 0.0;  // in a step of each
    for (std::size_t i = 0; i < 2; ++i) {
        const PlacedReport& job = sharing.jobs[i];
        EXPECT_GT(job.slowdown(), 1.02);
        EXPECT_GT(job.together.exposed, job.alone.exposed);
        const Simulation step = alone(jobs[i]);
        const std::vector<double> bytes = carried_bytes(step.timeline, step.topology());
        for (std::size_t c = 0; c < sum.size(); ++c) {
            sum[c] += job.runs * bytes[c];
            if (sharing.topology.classes[LinkClassId(c)].name == "slingshot.global") crossing += bytes[c];
        }
    }
    const std::vector<double> together = carried_bytes(sharing.timeline, sharing.topology);
    for (std::size_t c = 0; c < sum.size(); ++c) EXPECT_NEAR(together[c], sum[c], 1e-9 * sum[c]);
    EXPECT_EQ(sharing.links.size(), 8U);
    double met = 0.0;
    for (const SharedLink& link : sharing.links) {
        EXPECT_EQ(sharing.topology.link(link.link).name, "slingshot.global");
        EXPECT_GT(std::ranges::min(link.bytes), Bytes{});
        EXPECT_LE(link.busy, 1.0);
        met += link.bytes[0].value + link.bytes[1].value;
    }
    EXPECT_NEAR(met, crossing, 1e-9 * crossing);
}

TEST(sharing, the_order_of_jobs_does_not_matter) {
    const PlacedJob a = small_job("a", "0,9", all_data), b = small_job("b", "3,8", {"batch.global=8"});
    PlacedJob c = small_job("c", "2,14");
    c.start = {0.01};
    const Sharing one = share({a, b, c}), other = share({c, a, b});
    for (const auto& [i, j] : {std::pair{0U, 1U}, {1U, 2U}, {2U, 0U}}) {
        EXPECT_EQ(one.jobs[i].name, other.jobs[j].name);
        EXPECT_EQ(one.jobs[i].steps, other.jobs[j].steps);
        EXPECT_EQ(one.jobs[i].runs, other.jobs[j].runs);
        expect_same(one.jobs[i].together, other.jobs[j].together);
    }
    ASSERT_EQ(one.links.size(), other.links.size());
    for (std::size_t i = 0; i < one.links.size(); ++i) {
        EXPECT_EQ(one.links[i].bytes[0], other.links[i].bytes[1]);
    }
}

// A step under way when the last job starts is not counted, nor one that the end of the window cuts.
TEST(sharing, steps_count_that_lie_in_the_window) {
    const PlacedJob a = small_job("a", "0,1", {minimal});
    const Seconds step = since_start(alone(a).timeline.end);
    PlacedJob b = small_job("b", "6,7", {minimal, "batch.global=64"});
    b.start = step * 2.5;
    const Seconds other = since_start(alone(b).timeline.end);
    const Sharing sharing = share({a, b});
    EXPECT_EQ(sharing.jobs[0].steps, static_cast<std::uint32_t>((other - step * 0.5) / step));
    EXPECT_EQ(sharing.jobs[1].steps, 1U);
    EXPECT_NEAR(sharing.begin.value, b.start.value, 1e-15);
    EXPECT_NEAR(sharing.end.value, (b.start + other).value, 1e-12);
}

TEST(sharing, tells_how_large_it_becomes_and_may_be_refused) {
    std::vector<std::uint64_t> ops;
    share({small_job("a", "0,1"), small_job("b", "2,3")},
          {.steps = 3, .on_size = [&](const StepSize& size) { ops.push_back(size.ops); }});
    ASSERT_EQ(ops.size(), 3U);
    EXPECT_EQ(ops[1], 2 * ops[0]);
    EXPECT_EQ(ops[2], 8 * ops[0]);
    EXPECT_THROW(share({small_job("a", "0,1"), small_job("b", "1,2")}), RangeError);
}

}  // namespace
}  // namespace weft
