#include "topologies/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "topologies/calibration/constants.hpp"
#include "topologies/calibration/measured_group.hpp"
#include "topologies/calibration/nnls.hpp"

namespace weft {
namespace {

using Index = Eigen::Index;

// The algorithm and the row of the library's table that a measured call takes.
struct Assignment {
    const Algorithm* algorithm = nullptr;
    std::size_t cost = 0;
    bool operator==(const Assignment&) const = default;
};

class Calibrator {
  public:
    Calibrator(const Machine& machine, const Library& library, const CalibrationTask& task);
    Calibration run();

  private:
    using Assignments = std::vector<Assignment>;

    Assignments assign(const Library& library);
    // Predicted times, in seconds, of the rows that `cost` serves (all.size() of the library's costs: of all rows).
    std::vector<double> times(const Library& library, const Assignments& assignments, std::size_t cost);
    std::vector<double> times(const Library& library, const Assignments& assignments) {
        return times(library, assignments, library.costs.size());
    }
    double loss(const std::vector<double>& times) const;  // sum of squares of relative errors of the fitted rows
    Eigen::MatrixXd sensitivities(const Library& library, const Assignments& assignments,
                                  const std::vector<double>& now, const std::vector<Unknown>& unknowns);
    std::vector<Unknown> unknowns(const Assignments& assignments) const;
    // Of relative errors, by unknowns above their least values.
    struct LinearModel {
        std::vector<Unknown> unknowns;
        Eigen::MatrixXd slopes;
        Eigen::VectorXd residual, above;
    };
    LinearModel linearise(const Library& library, const Assignments& assignments, const std::vector<double>& now);
    double improve(Library& library, const Assignments& assignments, std::vector<double>& now);
    Library fit(Library library, const Assignments& assignments);
    void report(Calibration& result, const Assignments& assignments);

    double measured(std::size_t row) const { return task_.rows[row].measured.time.value; }

    const Library& library_;  // as it was
    const CalibrationTask& task_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<MeasuredGroup>> known_;  // by ranks and nodes
    std::vector<MeasuredGroup*> groups_;                                                       // of each row
};

Calibrator::Calibrator(const Machine& machine, const Library& library, const CalibrationTask& task)
    : library_(library), task_(task) {
    for (const CalibrationRow& row : task.rows) {
        const Measurement& measured = row.measured;
        std::unique_ptr<MeasuredGroup>& group = known_[{measured.ranks, measured.nodes}];
        if (!group) {
            const SetLayout layout{.ranks = measured.ranks, .ranks_per_node = measured.ranks / measured.nodes};
            group = std::make_unique<MeasuredGroup>(machine.topology(measured.nodes), library, layout);
        }
        groups_.push_back(group.get());
    }
}

std::vector<Assignment> Calibrator::assign(const Library& library) {
    std::map<const MeasuredGroup*, GroupCosts> costs;
    Assignments assignments;
    for (std::size_t i = 0; i < task_.rows.size(); ++i) {
        const Measurement& measured = task_.rows[i].measured;
        const auto known = costs.try_emplace(groups_[i], groups_[i]->costs(library)).first;
        const auto choice = known->second.choose(measured.op, measured.size, task_.preference);
        if (!choice) {
            throw ConfigError({{.file = {},
                                .line = measured.line,
                                .column = 0,
                                .key = {},
                                .message = fmt::format(
                                    "{} has nothing to run {} of {:.0f} B among {} ranks on {} nodes", library.name,
                                    name(measured.op), measured.size.value, measured.ranks, measured.nodes)}});
        }
        assignments.push_back({choice->algorithm, static_cast<std::size_t>(choice->protocol - library.costs.data())});
    }
    return assignments;
}

std::vector<double> Calibrator::times(const Library& library, const Assignments& assignments, std::size_t cost) {
    std::map<std::pair<const MeasuredGroup*, std::pair<const Algorithm*, std::size_t>>, std::vector<PhaseCost>> known;
    std::vector<double> times;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        const auto& [algorithm, row] = assignments[i];
        if (cost != library.costs.size() && cost != row) continue;
        const auto [phases, fresh] = known.try_emplace({groups_[i], {algorithm, row}});
        if (fresh) phases->second = groups_[i]->cost(*algorithm, library, library.costs[row]);
        times.push_back((task_.blocking + time_of(phases->second, task_.rows[i].measured.size)).value);
    }
    return times;
}

double Calibrator::loss(const std::vector<double>& times) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (!task_.rows[i].is_held) sum += std::pow(times[i] / measured(i) - 1.0, 2);
    }
    return sum;
}

// Derivatives of the times of all rows; by forward differences, which are exact where the model is linear.
Eigen::MatrixXd Calibrator::sensitivities(const Library& library, const Assignments& assignments,
                                          const std::vector<double>& now, const std::vector<Unknown>& unknowns) {
    constexpr double share = 1e-4;
    const double least_step = 1e-10;  // seconds, of a constant that is 0 now
    Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(static_cast<Index>(now.size()), static_cast<Index>(unknowns.size()));
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
        const Unknown& unknown = unknowns[k];
        const double value = value_of(library, unknown);
        const double step = value > 0.0 ? share * value : least_step;
        Library moved = library;
        set_value(moved, unknown, value + step);
        const std::vector<double> then = times(moved, assignments, unknown.cost);
        std::size_t next = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (unknown.cost != library.costs.size() && unknown.cost != assignments[i].cost) continue;
            slopes(static_cast<Index>(i), static_cast<Index>(k)) = (then[next++] - now[i]) / step;
        }
    }
    return slopes;
}

std::vector<Unknown> Calibrator::unknowns(const Assignments& assignments) const {
    std::vector<std::size_t> costs;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        if (!task_.rows[i].is_held) costs.push_back(assignments[i].cost);
    }
    std::sort(costs.begin(), costs.end());
    costs.erase(std::unique(costs.begin(), costs.end()), costs.end());
    return unknowns_of(library_, costs, task_.constants);
}

// Where the linear model has its least error. Rows: relative errors of the fitted times; then one per unknown that
// draws it weakly to where it is, so that those that the measurements cannot tell apart stay.
Eigen::VectorXd gauss_newton_goal(const Eigen::MatrixXd& a, const Eigen::VectorXd& residual,
                                  const Eigen::VectorXd& above) {
    constexpr double pull = 1e-4;
    const Index m = a.rows(), k = a.cols();
    const Eigen::VectorXd strength = pull * a.colwise().norm().transpose();
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(m + k, k);
    Eigen::VectorXd goal(m + k);
    system.topRows(m) = a;
    system.bottomRows(k) = strength.asDiagonal();
    goal.head(m) = residual + a * above;
    goal.tail(k) = strength.cwiseProduct(above);
    // Columns of like size, so that no unit decides what counts as 0.
    const Eigen::VectorXd scale = system.colwise().norm().transpose();
    for (Index i = 0; i < k; ++i) system.col(i) /= scale(i);
    return nonnegative_least_squares(system, goal).cwiseQuotient(scale);
}

// What the fitted rows say of the unknowns that have any influence on them.
Calibrator::LinearModel Calibrator::linearise(const Library& library, const Assignments& assignments,
                                              const std::vector<double>& now) {
    const std::vector<Unknown> all = unknowns(assignments);
    Eigen::MatrixXd relative = sensitivities(library, assignments, now, all);
    LinearModel model{.unknowns = {}, .slopes = {}, .residual = Eigen::VectorXd::Zero(relative.rows()), .above = {}};
    for (Index i = 0; i < relative.rows(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const double weight = task_.rows[row].is_held ? 0.0 : 1.0 / measured(row);
        relative.row(i) *= weight;
        model.residual(i) = weight * (measured(row) - now[row]);
    }
    std::vector<Index> columns;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (relative.col(static_cast<Index>(k)).norm() == 0.0) continue;
        columns.push_back(static_cast<Index>(k));
        model.unknowns.push_back(all[k]);
    }
    const auto count = static_cast<Index>(columns.size());
    model.slopes.resize(relative.rows(), count);
    model.above.resize(count);
    for (Index k = 0; k < count; ++k) {
        const auto unknown = static_cast<std::size_t>(k);
        model.slopes.col(k) = relative.col(columns[unknown]);
        model.above(k) = value_of(library, model.unknowns[unknown]) - model.unknowns[unknown].least();
    }
    return model;
}

// Goes the Gauss-Newton step, or the largest 2^-n of it that helps. Returns by how much the constant that changed most
// did, relative to its value; 0 if nothing helps.
double Calibrator::improve(Library& library, const Assignments& assignments, std::vector<double>& now) {
    constexpr int most_halvings = 12;
    constexpr double smallest = 1e-12;  // seconds (or s/B): far below any that is not 0
    const LinearModel model = linearise(library, assignments, now);
    if (model.unknowns.empty()) return 0.0;
    const Eigen::VectorXd direction = gauss_newton_goal(model.slopes, model.residual, model.above) - model.above;
    for (int halving = 0; halving < most_halvings; ++halving) {
        Library tried = library;
        double moved = 0.0;
        for (Index k = 0; k < direction.size(); ++k) {
            const Unknown& unknown = model.unknowns[static_cast<std::size_t>(k)];
            const double value = unknown.least() + std::max(model.above(k) + std::ldexp(direction(k), -halving), 0.0);
            if (unknown.kind == Constant::rate && value == 0.0) continue;  // no limit at all: the file has one
            moved = std::max(moved, std::abs(value - value_of(library, unknown)) / std::max(value, smallest));
            set_value(tried, unknown, value);
        }
        std::vector<double> then = times(tried, assignments);
        if (!(loss(then) < loss(now))) continue;
        library = std::move(tried);
        now = std::move(then);
        return moved;
    }
    return 0.0;
}

Library Calibrator::fit(Library library, const Assignments& assignments) {
    constexpr int most_steps = 100;
    constexpr double small_enough = 1e-11;
    std::vector<double> now = times(library, assignments);
    for (int step = 0; step < most_steps; ++step) {
        if (improve(library, assignments, now) < small_enough) break;
    }
    return library;
}

void Calibrator::report(Calibration& result, const Assignments& assignments) {
    const std::vector<double> before = times(library_, assign(library_));
    const std::vector<double> after = times(result.library, assignments);
    for (std::size_t i = 0; i < after.size(); ++i) {
        const ProtocolCost& cost = result.library.costs[assignments[i].cost];
        result.times.push_back({.before = Seconds{before[i]},
                                .after = Seconds{after[i]},
                                .algorithm = assignments[i].algorithm->name,
                                .protocol = cost.protocol});
    }
    const std::vector<Unknown> all = unknowns(assignments);
    const Eigen::MatrixXd slopes = sensitivities(result.library, assignments, after, all);
    for (std::size_t k = 0; k < all.size(); ++k) {
        FittedConstant constant{.name = all[k].name,
                                .cost = all[k].cost,
                                .before = stated(all[k], value_of(library_, all[k])),
                                .after = stated(all[k], value_of(result.library, all[k]))};
        for (std::size_t i = 0; i < after.size(); ++i) {
            const bool counts = !task_.rows[i].is_held && slopes(static_cast<Index>(i), static_cast<Index>(k)) != 0.0;
            constant.rows += counts ? 1 : 0;
        }
        result.constants.push_back(constant);
    }
}

// The choice and the fit take turns; the best constants seen count, judged by the choices that they lead to.
Calibration Calibrator::run() {
    constexpr std::uint32_t most_rounds = 20;
    Calibration result{.library = library_, .constants = {}, .times = {}};
    Library library = library_;
    Assignments assignments = assign(library);
    double least = loss(times(library, assignments));
    while (result.rounds < most_rounds) {
        ++result.rounds;
        library = fit(std::move(library), assignments);
        Assignments chosen = assign(library);
        const double now = loss(times(library, chosen));
        if (now < least) {
            least = now;
            result.library = library;
        }
        if (chosen == assignments) break;
        assignments = std::move(chosen);
    }
    report(result, assign(result.library));
    return result;
}

}  // namespace

Calibration calibrate(const Machine& machine, const Library& library, const CalibrationTask& task) {
    WEFT_CHECK(!task.rows.empty(), "something to fit to");
    return Calibrator(machine, library, task).run();
}

}  // namespace weft
