// Runs under failures against closed forms.
#include "sim/endurance/long_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft {
namespace {

constexpr Seconds hour{3600.0};

Seconds mean_wall(const LongRun& run, std::uint64_t samples) {
    Seconds sum;
    for (std::uint64_t i = 0; i < samples; ++i) sum += sample_run(run, 7, i).wall;
    return sum / static_cast<double>(samples);
}

double sum_of_parts(const RunSample& sample) {
    return (sample.worked + sample.stalled + sample.down + sample.waiting).value;
}

// 100 h of work in steps of 10 s, a checkpoint of 60 s every 20 min, 5 h between failures, 10 min for a restart.
LongRun daly_case() {
    return {.stretches = {{.steps = 36000, .step = {10.0}, .between = 120}},
            .stall = {60.0},
            .write = {60.0},
            .software = 5 * hour,
            .launch = {600.0}};
}

TEST(long_run, without_failures_takes_steps_times_time) {
    const LongRun run{.stretches = {{.steps = 1000, .step = {3.0}}, {.steps = 500, .step = {7.0}}}};
    const RunSample sample = sample_run(run, 1, 0);
    EXPECT_EQ(sample.wall, Seconds{1000 * 3.0 + 500 * 7.0});
    EXPECT_EQ(sample.goodput(), 1.0);
    EXPECT_EQ(sample.lost(), Seconds{});
    EXPECT_EQ(sample.steps, 1500U);
}

TEST(long_run, checkpoints_alone_add_their_stalls_and_the_last_one_whole) {
    LongRun run{.stretches = {{.steps = 100, .step = {1.0}, .between = 10}}, .stall = {0.5}, .write = {2.0}};
    EXPECT_NEAR(sample_run(run, 1, 0).wall.value, 100 + 9 * 0.5 + 2.0, 1e-9);
    run.write = {20.0};  // longer than there is from one to the next: each waits for the one before
    EXPECT_NEAR(sample_run(run, 1, 0).wall.value, 10 + 10 * 20.0, 1e-9);
}

TEST(long_run, takes_as_long_on_average_as_daly_expects) {
    const LongRun run = daly_case();
    const Seconds expected = daly_run_time(100 * hour, {1200.0}, run.write, run.launch, run.software);
    EXPECT_NEAR(mean_wall(run, 4000) / expected, 1.0, 0.003);
    EXPECT_GT(expected, 110 * hour);
}

TEST(long_run, wall_time_is_the_sum_of_its_parts_and_failures_come_as_often_as_they_should) {
    LongRun run = daly_case();
    run.hardware = 10 * hour;
    run.planned = 50 * hour;
    run.spares = 1;
    run.repair = 8 * hour;
    double hardware = 0, exposed = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
        const RunSample sample = sample_run(run, 3, i);
        EXPECT_NEAR(sample.wall.value, sum_of_parts(sample), 1e-6 * sample.wall.value);
        EXPECT_NEAR(sample.productive.value, 360000.0, 1e-6);
        EXPECT_GE(sample.lost().value, -1e-6);
        hardware += sample.hardware;
        exposed += (sample.wall - sample.waiting) / run.hardware;
    }
    EXPECT_NEAR(hardware / exposed, 1.0, 0.05);  // nothing fails while the run waits
}

TEST(long_run, loses_least_near_the_intervals_of_young_and_daly) {
    EXPECT_NEAR(young_interval({60.0}, 5 * hour).value, std::sqrt(2 * 60.0 * 18000.0), 1e-9);
    const Seconds best = daly_interval({60.0}, 5 * hour);
    const auto time = [](double interval) { return daly_run_time(100 * hour, {interval}, {60.0}, {}, 5 * hour).value; };
    for (const double factor : {0.9, 0.97, 1.03, 1.1}) EXPECT_LT(time(best.value), time(best.value * factor));
    EXPECT_EQ(daly_interval({60.0}, endless), endless);
    EXPECT_EQ(daly_interval({60.0}, {20.0}), Seconds{20.0});
    // To first order a share of sqrt(2 write / M) is lost at the optimum: half to checkpoints, half to lost work.
    const double goodput = 100 * hour / daly_run_time(100 * hour, young_interval({1.0}, 5 * hour), {1.0}, {}, 5 * hour);
    EXPECT_NEAR(1 - goodput, std::sqrt(2 * 1.0 / 18000.0), 2e-4);
}

TEST(long_run, waits_for_repair_once_the_spares_are_gone) {
    LongRun run = daly_case();
    run.software = endless;
    run.hardware = 20 * hour;
    run.repair = 1000 * hour;  // none comes back in time
    for (const std::uint32_t spares : {0U, 2U, 100U}) {
        run.spares = spares;
        const RunSample sample = sample_run(run, 5, 1);
        EXPECT_GT(sample.hardware, 0U);
        EXPECT_EQ(sample.waiting > Seconds{}, sample.hardware > spares);
    }
    run.spares = 0;
    run.repair = hour;
    const RunSample sample = sample_run(run, 5, 1);
    EXPECT_NEAR(sample.waiting / hour, sample.hardware, 1e-6);
}

TEST(long_run, a_checkpoint_that_is_still_written_when_it_strikes_is_no_use) {
    LongRun run = daly_case();
    run.stall = {};
    run.write = {1200.0};
    const double late = mean_wall(run, 1000).value;
    run.write = {1.0};
    // Each failure loses the 20 minutes more that a checkpoint takes.
    EXPECT_NEAR(late - mean_wall(run, 1000).value, 1200.0 * 100 / 5 * 1.1, 3600.0);
}

// Rounds that nothing disturbs are a formula; steps of the same length in stretches of a round each are played one by
// one. Same random numbers, same run.
TEST(long_run, leaps_over_rounds_as_it_would_walk_them) {
    for (const double write : {60.0, 900.0}) {
        LongRun leaping = daly_case();
        leaping.write = {write};
        leaping.planned = 30 * hour;
        leaping.stop = {300.0};
        LongRun walking = leaping;
        walking.stretches.assign(300, {.steps = 120, .step = {10.0}, .between = 120});
        for (std::uint64_t number = 0; number < 200; ++number) {
            const RunSample a = sample_run(leaping, 11, number), b = sample_run(walking, 11, number);
            EXPECT_NEAR(a.wall.value, b.wall.value, 1e-6);
            EXPECT_NEAR(a.worked.value, b.worked.value, 1e-6);
            EXPECT_NEAR(a.stalled.value, b.stalled.value, 1e-6);
            EXPECT_EQ(a.interruptions(), b.interruptions());
        }
    }
}

// 10^12 steps in a moment: as long as Daly expects.
TEST(long_run, of_very_many_steps_is_played_by_its_interruptions) {
    LongRun run = daly_case();
    run.stretches = {{.steps = 1'000'000'000'000, .step = {1e-4}, .between = 12'000'000}};
    EXPECT_NEAR(pieces_of(run), 1e8 / 18000, 1);
    const Seconds expected = daly_run_time({1e8}, {1200.0}, run.write, run.launch, run.software);
    EXPECT_NEAR(sample_run(run, 1, 0).wall / expected, 1.0, 0.01);
    run.write = {1300.0};  // each waits for the one before
    EXPECT_NEAR(pieces_of(run), 1e8 / 18000 + 1e12 / 12e6, 1);
}

// The last checkpoint waits 100 s for the one before, in which something strikes in one of forty runs: they go on all
// the same.
TEST(long_run, ends_though_it_is_struck_while_a_checkpoint_waits_for_the_one_before) {
    const LongRun run{.stretches = {{.steps = 240, .step = {10.0}, .between = 120}},
                      .write = {1300.0},
                      .software = hour,
                      .launch = {60.0}};
    for (std::uint64_t number = 0; number < 1000; ++number) {
        const RunSample sample = sample_run(run, 7, number);
        EXPECT_EQ(sample.steps, 240U);
        EXPECT_NEAR(sum_of_parts(sample), sample.wall.value, 1e-6);
        EXPECT_GE(sample.wall.value, 1200.0 + 2 * run.write.value - 1e-6);
    }
}

TEST(long_run, planned_stops_lose_a_step_at_most) {
    LongRun run = daly_case();
    run.software = endless;
    run.planned = 2 * hour;
    const RunSample sample = sample_run(run, 1, 1);
    EXPECT_GT(sample.planned, 20U);
    EXPECT_LE(sample.lost(), Seconds{10.0} * sample.planned);
    run.stop = {300.0};
    const RunSample longer = sample_run(run, 1, 1);
    EXPECT_LE(longer.down.value, 900.0 * longer.planned + 1e-6);
    EXPECT_GT(longer.down.value, 800.0 * longer.planned) << "but for stops that others cut short";
}

TEST(long_run, ends_at_its_horizon) {
    LongRun run = daly_case();
    run.horizon = 50 * hour;
    const RunSample sample = sample_run(run, 1, 0);
    EXPECT_EQ(sample.wall, run.horizon);
    EXPECT_NEAR(sum_of_parts(sample), run.horizon.value, 1e-6);
    EXPECT_LT(sample.steps, 18000U);
    EXPECT_GT(sample.steps, 12000U);
}

TEST(long_run, a_sample_is_a_function_of_seed_and_number) {
    const LongRun run = daly_case();
    const RunSample first = sample_run(run, 1, 5);
    static_cast<void>(sample_run(run, 2, 9));
    EXPECT_EQ(sample_run(run, 1, 5).wall, first.wall);
    EXPECT_NE(sample_run(run, 2, 5).wall, first.wall);
    EXPECT_NE(sample_run(run, 1, 6).wall, first.wall);
}

}  // namespace
}  // namespace weft
