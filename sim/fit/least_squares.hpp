// Least squares of a function that is known only by its values: Levenberg and Marquardt's method (Marquardt 1963,
// doi:10.1137/0111030) between bounds, as Ceres has it, with a Jacobian by differences. Parameters that the residuals
// do not determine are found out and left as they were.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

struct FitParameter {
    double start = 0;
    double least = 0, most = 0;  // may be infinite
    double scale = 1;            // a change of it that matters; above 0
};

enum class Determination : std::uint8_t {
    determined,
    at_limit,        // the best value is a bound
    without_effect,  // a change by its scale moves residuals by less than 1e-4, root mean square
    not_told_apart,  // others, earlier in the list, move the residuals by as much
};
std::string_view text(Determination what);

struct Fit {
    std::vector<double> values{};
    // Standard deviation of each value by the covariance s^2 (J^T J)^-1, s^2 = sum of squares / (residuals - values
    // determined); 0 for what is not determined, infinite where there are no more residuals than values.
    std::vector<double> deviations{};
    std::vector<Determination> determinations{};
    double rms_after = 0;  // of the residuals
    int rounds = 0;
};

using Residuals = std::function<std::vector<double>(std::span<const double> values)>;

// What becomes of parameters that are not told apart from others: they stay, or all change, in scales by as much.
enum class Alike : std::uint8_t { left_alone, shared };

// `residuals` returns the same number for any values within bounds, all finite: LogicError otherwise, or if a start is
// out of its bounds.
Fit fit_least_squares(std::span<const FitParameter> parameters, const Residuals& residuals,
                      Alike alike = Alike::left_alone);

}  // namespace weft
