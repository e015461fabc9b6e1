// The constants of a library as the unknowns of a linear model: seconds as they are, efficiencies and rates inverted.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sim/cost/library.hpp"
#include "topologies/calibration/calibration.hpp"

namespace weft {

struct Unknown {
    std::string_view name;  // as in a machine file
    Constant kind{};
    std::size_t cost = 0;  // index in Library::costs; costs.size() for the library's own

    double least() const { return kind == Constant::efficiency ? 1.0 : 0.0; }  // an efficiency is at most 1
};

// Those of the given kinds, of the library and of the costs named (ascending). Rates only where there is a limit.
std::vector<Unknown> unknowns_of(const Library& library, const std::vector<std::size_t>& costs,
                                 std::span<const Constant> kinds);

double value_of(const Library& library, const Unknown& unknown);  // of the linear model
void set_value(Library& library, const Unknown& unknown, double value);
double stated(const Unknown& unknown, double value);  // as the machine file has it

}  // namespace weft
