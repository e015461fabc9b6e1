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
#include "sim/fit/least_squares.hpp"
#include "sim/io/diagnostics.hpp"
#include "topologies/calibration/linear_model.hpp"

namespace weft {
namespace {

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
    Calibrator(const Machine& machine, const Library& library, const CalibrationTask& task)
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

    // The choice and the fit take turns; the best constants seen count, judged by the choices that they lead to.
    Calibration run() {
        constexpr std::uint32_t most_rounds = 20;
        Calibration result{.library = library_, .constants = {}, .times = {}};
        Library library = library_;
        Assignments assignments = assign(library);
        double least = loss(library, assignments);
        while (result.rounds < most_rounds) {
            ++result.rounds;
            library = fit(std::move(library), assignments);
            Assignments chosen = assign(library);
            const double now = loss(library, chosen);
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

  private:
    using Assignments = std::vector<Assignment>;

    Assignments assign(const Library& library) {
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
            assignments.push_back(
                {choice->algorithm, static_cast<std::size_t>(choice->protocol - library.costs.data())});
        }
        return assignments;
    }

    // Predicted, in seconds.
    std::vector<double> times(const Library& library, const Assignments& assignments) {
        std::vector<double> times;
        for (std::size_t i = 0; i < assignments.size(); ++i) {
            const auto& [algorithm, row] = assignments[i];
            const ProtocolCost& protocol = library.costs[row];
            Costed& known = costed_[{groups_[i], {algorithm, row}}];
            if (known.phases.empty() || known.protocol != protocol || known.launch != library.launch) {
                known = {protocol, library.launch, groups_[i]->costs(library).phases({algorithm, &protocol})};
            }
            times.push_back((task_.rows[i].blocking + time_of(known.phases, task_.rows[i].measured.size)).value);
        }
        return times;
    }

    // Of the fitted rows.
    std::vector<double> relative_errors(const std::vector<double>& times) const {
        return list_of_those<double>(
            numbers_below<std::size_t>(times.size()), [&](std::size_t i) { return !task_.rows[i].is_held; },
            [&](std::size_t i) { return times[i] / measured(i) - 1.0; });
    }

    // The sum of their squares.
    double loss(const Library& library, const Assignments& assignments) {
        return sum_of<double>(relative_errors(times(library, assignments)), [](double error) { return error * error; });
    }

    // By a forward difference, which is exact where the model is linear.
    std::size_t rows_that_notice(const Library& library, const Assignments& assignments, const Unknown& unknown) {
        constexpr double share = 1e-4;
        const double value = value_of(library, unknown), notable = notable_value(library, unknown);
        Library moved = library;
        set_value(moved, unknown, value + share * notable);
        const std::vector<double> now = times(library, assignments), then = times(moved, assignments);
        const auto notices = [&](std::size_t i) {
            return !task_.rows[i].is_held && std::abs(then[i] - now[i]) >= share * noticeable * measured(i);
        };
        return static_cast<std::size_t>(std::ranges::count_if(numbers_below<std::size_t>(now.size()), notices));
    }

    std::vector<Unknown> unknowns(const Assignments& assignments) {
        std::set<std::size_t> costs;
        for (std::size_t i = 0; i < assignments.size(); ++i) {
            if (!task_.rows[i].is_held) costs.insert(assignments[i].cost);
        }
        touched_.insert(costs.begin(), costs.end());
        return unknowns_of(library_, {costs.begin(), costs.end()}, task_.constants);
    }

    FitParameter parameter_of(const Library& library, const Unknown& unknown) const {
        const double before = value_of(library_, unknown),
                     least = std::max(unknown.least(), before / task_.most_change),
                     most = before > 0.0 ? before * task_.most_change : std::numeric_limits<double>::infinity();
        return {.start = std::clamp(value_of(library, unknown), least, most),
                .least = least,
                .most = most,
                .scale = notable_value(library, unknown)};
    }

    // Of the unknowns that the fitted rows can notice; what these are changes with the constants.
    Library fit(Library library, const Assignments& assignments) {
        constexpr int most_fits = 20;
        const std::vector<Unknown> all = unknowns(assignments);
        std::vector<Unknown> noticed, before;
        for (int i = 0; i < most_fits; ++i, before = std::move(noticed)) {
            noticed = list_of_those<Unknown>(
                all, [&](const Unknown& unknown) { return rows_that_notice(library, assignments, unknown) > 0; });
            if (noticed == before) break;
            std::vector<FitParameter> parameters;
            for (const Unknown& unknown : noticed) parameters.push_back(parameter_of(library, unknown));
            const auto with = [&](std::span<const double> values) {
                Library changed = library;
                for (std::size_t k = 0; k < noticed.size(); ++k) set_value(changed, noticed[k], values[k]);
                return changed;
            };
            const auto errors = [&](std::span<const double> values) {
                return relative_errors(times(with(values), assignments));
            };
            library = with(fit_least_squares(parameters, errors, Alike::shared).values);
        }
        return library;
    }

    void report(Calibration& result, const Assignments& assignments) {
        const std::vector<double> before = times(library_, assign(library_));
        const std::vector<double> after = times(result.library, assignments);
        for (std::size_t i = 0; i < after.size(); ++i) {
            const ProtocolCost& cost = result.library.costs[assignments[i].cost];
            result.times.push_back({.before = Seconds{before[i]},
                                    .after = Seconds{after[i]},
                                    .algorithm = assignments[i].algorithm->name,
                                    .protocol = cost.protocol});
        }
        for (const Unknown& unknown : unknowns_of(library_, {touched_.begin(), touched_.end()}, task_.constants)) {
            result.constants.push_back({.name = unknown.name,
                                        .cost = unknown.cost,
                                        .before = stated(unknown, value_of(library_, unknown)),
                                        .after = stated(unknown, value_of(result.library, unknown)),
                                        .rows = rows_that_notice(result.library, assignments, unknown)});
        }
    }

    double measured(std::size_t row) const { return task_.rows[row].measured.time.value; }

    const Library& library_;  // as it was
    const CalibrationTask& task_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<MeasuredGroup>> known_;  // by ranks and nodes
    // What an algorithm cost a group by a row of the table, with the constants that it had when last asked.
    struct Costed {
        ProtocolCost protocol;
        Seconds launch;
        std::vector<PhaseCost> phases;
    };
    std::map<std::pair<MeasuredGroup*, std::pair<const Algorithm*, std::size_t>>, Costed> costed_;
    std::set<std::size_t> touched_;       // costs that any round fitted
    std::vector<MeasuredGroup*> groups_;  // of each row
};

}  // namespace

Calibration calibrate(const Machine& machine, const Library& library, const CalibrationTask& task) {
    WEFT_CHECK(!task.rows.empty(), "something to fit to");
    return Calibrator(machine, library, task).run();
}

}  // namespace weft
