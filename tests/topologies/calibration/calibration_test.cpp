#include "topologies/calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "topologies/calibration/linear_model.hpp"

namespace weft {
namespace {

struct Group {
    Collective op;
    std::uint32_t ranks, nodes;
};

// What the model itself gives for `library`: 8 B to 1 GiB, each size four times the one before.
std::vector<CalibrationRow> modelled(const Machine& machine, const Library& library, const std::vector<Group>& groups) {
    std::vector<CalibrationRow> rows;
    for (const Group& each : groups) {
        MeasuredGroup group(machine.topology(each.nodes), library,
                            {.ranks = each.ranks, .ranks_per_node = each.ranks / each.nodes});
        GroupCosts costs = group.costs(library);
        for (Bytes size = 8_B; size <= 1_GiB; size *= 4.0) {
            const Choice choice = *costs.choose(each.op, size);
            rows.push_back({.measured = {.op = each.op,
                                         .ranks = each.ranks,
                                         .nodes = each.nodes,
                                         .size = size,
                                         .time = costs.idle_time(choice, size)}});
        }
    }
    return rows;
}

const std::vector<Group> shapes{{Collective::all_reduce, 8, 1},
                                {Collective::all_gather, 4, 1},
                                {Collective::all_reduce, 32, 4},
                                {Collective::reduce_scatter, 16, 2}};

Library ring_only(const Machine& machine) {
    Library library = machine.info().library();
    std::erase_if(library.costs, [](const ProtocolCost& cost) { return cost.algorithm != "ring"; });
    return library;
}

// Every constant off by up to 30 %.
Library disturbed(Library library) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> factor(0.77, 1.3);
    library.launch *= factor(random);
    for (ProtocolCost& cost : library.costs) {
        cost.step_in_node *= factor(random);
        cost.step_across *= factor(random);
        cost.efficiency_in_node = std::min(cost.efficiency_in_node * factor(random), 1.0);
        cost.efficiency_across = std::min(cost.efficiency_across * factor(random), 1.0);
        cost.efficiency_shared = cost.efficiency_across;
    }
    return library;
}

double& constant(Library& library, const FittedConstant& which) {
    if (which.cost == library.costs.size()) return library.launch.value;
    ProtocolCost& cost = library.costs[which.cost];
    if (which.name == "step_in_node") return cost.step_in_node.value;
    if (which.name == "step_across") return cost.step_across.value;
    return which.name == "efficiency_in_node" ? cost.efficiency_in_node : cost.efficiency_across;
}

// Whether a change of the constant, up or down, changes any time: not where other links are the bottleneck.
bool matters(const Machine& machine, const Library& truth, const FittedConstant& which, const CalibrationTask& task) {
    for (const double factor : {1.02, 0.98}) {
        Library moved = truth;
        constant(moved, which) *= factor;
        const Calibration unfitted = calibrate(machine, moved, {.rows = task.rows, .constants = {}});
        double most = 0.0;
        for (std::size_t i = 0; i < task.rows.size(); ++i) {
            most = std::max(most, std::abs(unfitted.times[i].after / task.rows[i].measured.time - 1.0));
        }
        if (most < 1e-4) return false;
    }
    return true;
}

TEST(calibration, finds_the_constants_that_made_the_times) {
    const Machine machine = Machine::load("dgx-a100");
    Library truth = ring_only(machine);
    const CalibrationTask task{.rows = modelled(machine, truth, shapes)};
    const Calibration found = calibrate(machine, disturbed(truth), task);
    for (std::size_t i = 0; i < task.rows.size(); ++i) {
        EXPECT_NEAR(found.times[i].after / task.rows[i].measured.time, 1.0, 1e-6) << i;
    }
    std::size_t noticed = 0;
    for (const FittedConstant& each : found.constants) {
        if (each.rows == 0 || !matters(machine, truth, each, task)) continue;
        ++noticed;
        EXPECT_NEAR(each.after / constant(truth, each), 1.0, 1e-6)
            << truth.costs.at(each.cost % truth.costs.size()).protocol << ' ' << each.name;
    }
    EXPECT_GE(noticed, 8U);
}

TEST(calibration, finds_them_within_the_noise_of_the_times) {
    const Machine machine = Machine::load("dgx-a100");
    const Library truth = ring_only(machine);
    CalibrationTask task{.rows = modelled(machine, truth, shapes)};
    std::mt19937 random(5);
    std::normal_distribution<double> noise(1.0, 0.05);
    for (CalibrationRow& row : task.rows) row.measured.time *= noise(random);
    const Calibration found = calibrate(machine, disturbed(truth), task);
    const std::vector<CalibrationRow> clean = modelled(machine, truth, shapes);
    double squares = 0.0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
        squares += std::pow(found.times[i].after / clean[i].measured.time - 1.0, 2);
    }
    EXPECT_LT(std::sqrt(squares / static_cast<double>(clean.size())), 0.05);
}

// Latency that hides behind bytes makes the model nonlinear: Frontier's ring has overlap 2.5.
TEST(calibration, finds_steps_and_efficiencies_under_overlap) {
    const Machine machine = Machine::load("frontier");
    const Library truth = ring_only(machine);
    CalibrationTask task{
        .rows = modelled(machine, truth, {{Collective::all_gather, 8, 1}, {Collective::all_gather, 64, 8}})};
    const Calibration found = calibrate(machine, disturbed(truth), task);
    for (std::size_t i = 0; i < task.rows.size(); ++i) {
        EXPECT_NEAR(found.times[i].after / task.rows[i].measured.time, 1.0, 1e-4) << i;
    }
}

TEST(calibration, holds_rows_back_and_leaves_what_no_row_notices) {
    const Machine machine = Machine::load("dgx-a100");
    const Library truth = ring_only(machine);
    CalibrationTask task{
        .rows = modelled(machine, truth, {{Collective::all_reduce, 8, 1}, {Collective::all_reduce, 32, 4}})};
    for (CalibrationRow& row : task.rows) row.is_held = row.measured.nodes == 4;
    const Library start = disturbed(truth);
    const Calibration found = calibrate(machine, start, task);
    for (const FittedConstant& each : found.constants) {
        if (each.name != "step_across" && each.name != "efficiency_across") continue;
        EXPECT_EQ(each.rows, 0U);
        EXPECT_EQ(each.after, each.before);
    }
    EXPECT_EQ(found.times.size(), task.rows.size());  // held rows are predicted all the same
}

TEST(calibration, changes_a_constant_by_the_factor_allowed_at_most) {
    const Machine machine = Machine::load("dgx-a100");
    const Library truth = ring_only(machine);
    CalibrationTask task{.rows = modelled(machine, truth, shapes), .most_change = 1.05};
    for (CalibrationRow& row : task.rows) row.measured.time *= 3.0;
    for (const FittedConstant& each : calibrate(machine, truth, task).constants) {
        EXPECT_LE(each.after / each.before, 1.05 * (1 + 1e-9));
        EXPECT_GE(each.after / each.before, (1 - 1e-9) / 1.05);
    }
}

TEST(calibration, fits_only_what_is_asked_for) {
    const Machine machine = Machine::load("dgx-a100");
    const Library truth = ring_only(machine);
    const CalibrationTask task{.rows = modelled(machine, truth, shapes), .constants = {Constant::launch}};
    const Calibration found = calibrate(machine, disturbed(truth), task);
    ASSERT_EQ(found.constants.size(), 1U);
    EXPECT_EQ(found.constants.front().name, "launch");
}

}  // namespace
}  // namespace weft
