#include "sim/fit/least_squares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using testing::ElementsAre;

constexpr FitParameter anything{.start = 0.5, .least = -1e6, .most = 1e6, .scale = 1};

// y = a + b x. Oracle: the textbook's sums. Variances: s^2 / Sxx of the slope, s^2 (1 / n + mean^2 / Sxx) of the other.
RC_GTEST_PROP(least_squares, a_line_is_that_of_the_textbook, ()) {
    const auto n = *rc::gen::inRange<std::size_t>(3, 12);
    std::vector<double> x, y;
    for (std::size_t i = 0; i < n; ++i) {
        x.push_back(static_cast<double>(i) + *rc::gen::inRange(0, 100) * 0.01);
        y.push_back(*rc::gen::inRange(-1000, 1000) * 0.01);
    }
    double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) mean_x += x[i] / double(n), mean_y += y[i] / double(n);
    for (std::size_t i = 0; i < n; ++i) {
        sxx += (x[i] - mean_x) * (x[i] - mean_x);
        sxy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    const double slope = sxy / sxx, offset = mean_y - slope * mean_x;
    for (std::size_t i = 0; i < n; ++i) squares += std::pow(y[i] - offset - slope * x[i], 2);
    const double s2 = squares / (double(n) - 2);

    const Fit fit = fit_least_squares(std::vector{anything, anything}, [&](std::span<const double> p) {
        std::vector<double> r;
        for (std::size_t i = 0; i < n; ++i) r.push_back(p[0] + p[1] * x[i] - y[i]);
        return r;
    });
    RC_ASSERT(std::abs(fit.values[0] - offset) < 1e-5 && std::abs(fit.values[1] - slope) < 1e-5);
    RC_ASSERT(std::abs(fit.deviations[1] - std::sqrt(s2 / sxx)) < 1e-4);
    RC_ASSERT(std::abs(fit.deviations[0] - std::sqrt(s2 * (1 / double(n) + mean_x * mean_x / sxx))) < 1e-4);
    RC_ASSERT(std::abs(fit.rms_after - std::sqrt(squares / double(n))) < 1e-6);
}

// Rosenbrock's valley, 1 - x and 10 (y - x^2): the minimum is at 1, 1 behind a long bend.
TEST(least_squares, follows_a_bent_valley) {
    const FitParameter x{.start = -1.2, .least = -10, .most = 10, .scale = 1}, y{.start = 1, .least = -10, .most = 10};
    const Fit fit = fit_least_squares(std::vector{x, y}, [](std::span<const double> p) {
        return std::vector<double>{1 - p[0], 10 * (p[1] - p[0] * p[0])};
    });
    EXPECT_NEAR(fit.values[0], 1.0, 1e-6);
    EXPECT_NEAR(fit.values[1], 1.0, 1e-6);
    EXPECT_TRUE(std::isinf(fit.deviations[0])) << "as many residuals as values: no idea of the error";
}

// (a - 3)^2 + (b - 2)^2 with a up to 2.5: the best of b does not care.
TEST(least_squares, stays_within_bounds_and_says_so) {
    const FitParameter bounded{.start = 1, .least = 0, .most = 2.5, .scale = 1};
    const Fit fit = fit_least_squares(std::vector{bounded, anything}, [](std::span<const double> p) {
        return std::vector<double>{p[0] - 3, p[1] - 2, p[1] - 2};
    });
    EXPECT_EQ(fit.values[0], 2.5);
    EXPECT_NEAR(fit.values[1], 2.0, 1e-7);
    EXPECT_THAT(fit.determinations, ElementsAre(Determination::at_limit, Determination::determined));
    EXPECT_EQ(fit.deviations[0], 0.0);
}

// At the best point of any straight lines no parameter can go on: the sum is level, or would fall beyond its bound.
RC_GTEST_PROP(least_squares, is_level_but_for_what_bounds_keep, ()) {
    const auto n = *rc::gen::inRange<std::size_t>(1, 5), rows = n + *rc::gen::inRange<std::size_t>(1, 6);
    const auto number = [] { return *rc::gen::inRange(-100, 101) * 0.01; };
    std::vector<std::vector<double>> slopes(rows);
    std::vector<double> measured;
    for (std::vector<double>& row : slopes) {
        for (std::size_t i = 0; i < n; ++i) row.push_back(number());
        measured.push_back(3 * number());
    }
    const auto residuals = [&](std::span<const double> p) {
        std::vector<double> r;
        for (std::size_t k = 0; k < rows; ++k) {
            r.push_back(std::inner_product(p.begin(), p.end(), slopes[k].begin(), -measured[k]));
        }
        return r;
    };
    const std::vector<FitParameter> parameters(n, {.start = *rc::gen::inRange(0, 3) * 0.5, .least = 0, .most = 1});
    const Fit fit = fit_least_squares(parameters, residuals, Alike::shared);
    const std::vector<double> r = residuals(fit.values);
    for (std::size_t i = 0; i < n; ++i) {
        double slope = 0;
        for (std::size_t k = 0; k < rows; ++k) slope += slopes[k][i] * r[k];
        if (fit.values[i] > 0.0) RC_ASSERT(slope < 0.01);
        if (fit.values[i] < 1.0) RC_ASSERT(slope > -0.01);
    }
}

TEST(least_squares, those_not_told_apart_share_what_is_asked_of_them) {
    const auto sum = [](std::span<const double> p) { return std::vector<double>{p[0] + p[1] - 3, 2 * p[2] - 1}; };
    const Fit fit = fit_least_squares(std::vector(3, anything), sum, Alike::shared);
    EXPECT_NEAR(fit.values[0], 1.5, 1e-6);
    EXPECT_NEAR(fit.values[1], 1.5, 1e-6);
    EXPECT_NEAR(fit.values[2], 0.5, 1e-6);
}

TEST(least_squares, leaves_alone_what_the_residuals_do_not_determine) {
    const std::vector<FitParameter> three(3, anything);
    const Fit fit = fit_least_squares(three, [](std::span<const double> p) {
        return std::vector<double>{p[0] + 2 * p[2] - 5, 3 * (p[0] + 2 * p[2]) - 15};  // nothing of p[1]
    });
    EXPECT_THAT(fit.determinations,
                ElementsAre(Determination::determined, Determination::without_effect, Determination::not_told_apart));
    EXPECT_EQ(fit.values[1], 0.5);
    EXPECT_EQ(fit.values[2], 0.5);
    EXPECT_NEAR(fit.values[0], 4.0, 1e-9);
}

TEST(least_squares, without_residuals_nothing_changes) {
    const Fit fit =
        fit_least_squares(std::vector{anything}, [](std::span<const double>) { return std::vector<double>{}; });
    EXPECT_THAT(fit.values, ElementsAre(0.5));
    EXPECT_THAT(fit.determinations, ElementsAre(Determination::without_effect));
}

TEST(least_squares, refuses_what_is_no_number_and_starts_out_of_bounds) {
    const auto bad = [](std::span<const double>) {
        return std::vector<double>{std::numeric_limits<double>::quiet_NaN()};
    };
    EXPECT_THROW(fit_least_squares(std::vector{anything}, bad), LogicError);
    const auto good = [](std::span<const double> p) { return std::vector<double>{p[0]}; };
    EXPECT_THROW(fit_least_squares(std::vector{FitParameter{.start = 2, .least = 0, .most = 1}}, good), LogicError);
}

}  // namespace
}  // namespace weft
