#include "topologies/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "topologies/calibration/gauss_newton.hpp"
#include "topologies/calibration/linear_model.hpp"

namespace weft {
namespace {

using Index = Eigen::Index;

// The algorithm and the row of the library's table that a measured call takes.
struct Assignment {
    const Algorithm* algorithm = nullptr;
    std::size_t cost = 0;
    bool operator==(const Assignment&) const = default;
};

// A constant that makes up less than this of every measured time cannot be told from noise.
constexpr double noticeable = 0.02;

// Of an unknown that is (nearly) 0 now, so that it can grow again: a time that would be one.
double notable_value(const Library& library, const Unknown& unknown) {
    constexpr double short_time = 1e-7;
    const bool is_time = unknown.kind == Constant::launch || unknown.kind == Constant::step;
    return std::max(value_of(library, unknown), is_time ? short_time : 0.0);
}

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
    std::vector<Unknown> unknowns(const Assignments& assignments);
    // Relative errors by unknowns, counted from their least values.
    struct Linear {
        std::vector<Unknown> unknowns;
        std::vector<double> least;
        LinearFit fit;
    };
    Linear linearise(const Library& library, const Assignments& assignments, const std::vector<double>& now);
    struct Range {
        double least, most;
    };
    Range range_of(const Unknown& unknown) const;
    double improve(Library& library, const Assignments& assignments, std::vector<double>& now);
    Library fit(Library library, const Assignments& assignments);
    void report(Calibration& result, const Assignments& assignments);

    double measured(std::size_t row) const { return task_.rows[row].measured.time.value; }

    const Library& library_;  // as it was
    const CalibrationTask& task_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<MeasuredGroup>> known_;  // by ranks and nodes
    std::set<std::size_t> touched_;       // costs that any round fitted
    std::vector<MeasuredGroup*> groups_;  // of each row
};

Calibrator::Calibrator(const Machine& machine, const Library& library, const CalibrationTask& task)
    : library_(library), task_(task) {
    for (const CalibrationRow& row : task.rows) {
        const CollectiveMeasurement& measured = row.measured;
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
        const CollectiveMeasurement& measured = task_.rows[i].measured;
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

std::vector<Unknown> Calibrator::unknowns(const Assignments& assignments) {
    std::set<std::size_t> costs;
    for (std::size_t i = 0; i < assignments.size(); ++i) {
        if (!task_.rows[i].is_held) costs.insert(assignments[i].cost);
    }
    touched_.insert(costs.begin(), costs.end());
    return unknowns_of(library_, {costs.begin(), costs.end()}, task_.constants);
}

// The values that an unknown may take.
Calibrator::Range Calibrator::range_of(const Unknown& unknown) const {
    const double value = value_of(library_, unknown);
    if (value == 0.0) return {unknown.least(), std::numeric_limits<double>::infinity()};
    return {std::max(unknown.least(), value / task_.most_change), value * task_.most_change};
}

// What the fitted rows say of the unknowns that they can notice.
Calibrator::Linear Calibrator::linearise(const Library& library, const Assignments& assignments,
                                         const std::vector<double>& now) {
    const std::vector<Unknown> all = unknowns(assignments);
    if (all.empty()) return {};
    Eigen::MatrixXd relative = sensitivities(library, assignments, now, all);
    Eigen::VectorXd residual = Eigen::VectorXd::Zero(relative.rows());
    for (Index i = 0; i < relative.rows(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const double weight = task_.rows[row].is_held ? 0.0 : 1.0 / measured(row);
        relative.row(i) *= weight;
        residual(i) = weight * (measured(row) - now[row]);
    }
    std::vector<Index> columns;
    Linear linear;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const double most = relative.col(static_cast<Index>(k)).lpNorm<Eigen::Infinity>();
        if (most * notable_value(library, all[k]) < noticeable) continue;
        columns.push_back(static_cast<Index>(k));
        linear.unknowns.push_back(all[k]);
        linear.least.push_back(range_of(all[k]).least);
    }
    const auto count = static_cast<Index>(columns.size());
    linear.fit = {.slopes = Eigen::MatrixXd(relative.rows(), count),
                  .residual = std::move(residual),
                  .now = Eigen::VectorXd(count),
                  .room = Eigen::VectorXd(count)};
    for (Index k = 0; k < count; ++k) {
        const Unknown& unknown = linear.unknowns[static_cast<std::size_t>(k)];
        const Range range = range_of(unknown);
        linear.fit.slopes.col(k) = relative.col(columns[static_cast<std::size_t>(k)]);
        linear.fit.now(k) = std::max(value_of(library, unknown) - range.least, 0.0);
        linear.fit.room(k) = range.most - range.least;
    }
    return linear;
}

// Goes the Gauss-Newton step, or the largest 2^-n of it that helps. Returns by how much the constant that changed most
// did, relative to its value; 0 if nothing helps.
double Calibrator::improve(Library& library, const Assignments& assignments, std::vector<double>& now) {
    constexpr int most_halvings = 12;
    constexpr double smallest = 1e-12;  // seconds (or s/B): far below any that is not 0
    const Linear linear = linearise(library, assignments, now);
    if (linear.unknowns.empty()) return 0.0;
    const Eigen::VectorXd direction = best_fit(linear.fit) - linear.fit.now;
    for (int halving = 0; halving < most_halvings; ++halving) {
        Library tried = library;
        double moved = 0.0;
        for (Index k = 0; k < direction.size(); ++k) {
            const auto unknown = static_cast<std::size_t>(k);
            const double value = linear.least[unknown] + linear.fit.now(k) + std::ldexp(direction(k), -halving);
            const double old = value_of(library, linear.unknowns[unknown]);
            moved = std::max(moved, std::abs(value - old) / std::max(value, smallest));
            set_value(tried, linear.unknowns[unknown], value);
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
    const std::vector<Unknown> all = unknowns_of(library_, {touched_.begin(), touched_.end()}, task_.constants);
    const Eigen::MatrixXd slopes = sensitivities(result.library, assignments, after, all);
    for (std::size_t k = 0; k < all.size(); ++k) {
        FittedConstant constant{.name = all[k].name,
                                .cost = all[k].cost,
                                .before = stated(all[k], value_of(library_, all[k])),
                                .after = stated(all[k], value_of(result.library, all[k]))};
        for (std::size_t i = 0; i < after.size(); ++i) {
            const double share = std::abs(slopes(static_cast<Index>(i), static_cast<Index>(k))) *
                                 notable_value(result.library, all[k]) / measured(i);
            constant.rows += !task_.rows[i].is_held && share >= noticeable ? 1 : 0;
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
