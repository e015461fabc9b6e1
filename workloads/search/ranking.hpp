// Orders and compares what a search found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

struct TimeAndMemory {
    Seconds time;
    Bytes memory;
};

// Numbers of those points that no other one beats or equals in both, but for equal points of which the first stays; the
// fastest first.
std::vector<std::size_t> pareto_front(std::span<const TimeAndMemory> points);

// Spearman's: the correlation of ranks, of equal values the mean rank. From -1 to 1; 1 for fewer than two values, or
// where one side is all equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

// A message without its numbers, so that refusals for one reason are counted as one: "# heads for # ranks".
std::string without_numbers(std::string_view message);

// What a step is made of, mean over ranks: time is the sum.
struct StepParts {
    Seconds compute;    // without the optimizer
    Seconds optimizer;  // the update of the parameters
    Seconds exposed;
    Seconds bubble;
    Seconds imbalance;
    Seconds time() const { return compute + optimizer + exposed + bubble + imbalance; }
};

// A part of which one step has more than another.
struct Difference {
    std::string_view part;  // "compute", "optimizer", "exposed communication", "pipeline bubble", "stage imbalance"
    Seconds more;
};

// Of `slower` over `faster`, the largest first; parts of which it has less come last.
std::vector<Difference> differences(const StepParts& slower, const StepParts& faster);

}  // namespace weft
