// Fits the constants of a communication library to measured times.
//
// Every call is assigned to the algorithm and protocol that runs it; launch, steps and inverse efficiencies and rates,
// in which time is nearly linear, are fitted by least squares on relative errors; then calls are assigned anew by the
// library's own choice, until nothing changes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

enum class Constant : std::uint8_t { launch, step, efficiency, rate };

struct CalibrationRow {
    CollectiveMeasurement measured;  // ranks and nodes are told, ranks fill the nodes evenly
    Seconds blocking{};              // of the host, in the measured time
    bool is_held = false;            // not fitted, only predicted
};

struct CalibrationTask {
    std::vector<CalibrationRow> rows;
    std::vector<Constant> constants{Constant::launch, Constant::step, Constant::efficiency};
    // A constant changes by at most this factor, so that a few rows cannot make it absurd; 0 may become anything.
    double most_change = 4.0;
    Preference preference{};  // if the measured calls are of one algorithm or protocol
};

// One constant of the library, or of one of its costs.
struct FittedConstant {
    std::string_view name;             // as in a machine file: "step_across"
    std::size_t cost = 0;              // index in Library::costs; Library::costs.size() for the library's own
    double before = 0.0, after = 0.0;  // as in the library: seconds, a share or bytes per second
    std::size_t rows = 0;              // fitted rows that notice it; 0: it is left alone
};

struct FittedTime {
    Seconds before, after;                 // predicted
    std::string_view algorithm, protocol;  // chosen with the constants after
};

struct Calibration {
    Library library;                        // with the constants after
    std::vector<FittedConstant> constants;  // of those asked for, of the costs that any fitted row takes
    std::vector<FittedTime> times;          // of every row
    std::uint32_t rounds = 0;
};

// Throws ConfigError for a measurement that no algorithm of the library can run.
Calibration calibrate(const Machine& machine, const Library& library, const CalibrationTask& task);

}  // namespace weft
