
#include <gtest/gtest.h>

#include <random>

#include "topologies/calibration/gauss_newton.hpp"

namespace weft {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Vector vector(std::initializer_list<double> values) {
    Vector result(static_cast<Eigen::Index>(values.size()));
    Eigen::Index i = 0;
    for (const double value : values) result(i++) = value;
    return result;
}

TEST(nonnegative_least_squares, is_least_squares_where_that_is_positive) {
    Matrix a(3, 2);
    a << 1, 0, 0, 1, 1, 1;
    // x + y = 3.3 besides x = 1 and y = 2: the third equation's 0.3 is shared out, 0.1 each.
    EXPECT_TRUE(nonnegative_least_squares(a, vector({1, 2, 3.3})).isApprox(vector({1.1, 2.1}), 1e-12));
}

TEST(nonnegative_least_squares, stops_at_zero) {
    Matrix a(2, 2);
    a << 1, 1, 0, 1;
    // Freely x = 3, y = -1; with y = 0 the first equation gives x = 2.
    EXPECT_TRUE(nonnegative_least_squares(a, vector({2, -1})).isApprox(vector({2, 0}), 1e-12));
    EXPECT_EQ(nonnegative_least_squares(a, vector({-1, -1})), vector({0, 0}));
}

// The conditions of Karush, Kuhn and Tucker say all: x >= 0, no gradient upwards, and none at all where x > 0.
TEST(nonnegative_least_squares, meets_the_optimality_conditions_of_random_systems) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 300; ++i) {
        const Eigen::Index n = 1 + i % 8, m = 1 + i % 13;
        const Matrix a = Matrix::NullaryExpr(m, n, [&] { return normal(random); });
        const Vector b = Vector::NullaryExpr(m, [&] { return normal(random); });
        const Vector x = nonnegative_least_squares(a, b);
        const Vector gradient = a.transpose() * (b - a * x);
        for (Eigen::Index k = 0; k < n; ++k) {
            EXPECT_GE(x(k), 0.0);
            EXPECT_LE(gradient(k), 1e-9);
            if (x(k) > 0.0) {
                EXPECT_NEAR(gradient(k), 0.0, 1e-9);
            }
        }
    }
}

TEST(best_fit, keeps_to_the_room_there_is) {
    Matrix a(2, 2);
    a << 1, 0, 1, 1;
    // Freely x = 5 and y = 1. With x at most 3, the second equation leaves y = 3.
    const LinearFit fit{.slopes = a, .residual = vector({5, 6}), .now = vector({0, 0}), .room = vector({3, 10})};
    EXPECT_TRUE(best_fit(fit).isApprox(vector({3, 3}), 1e-6));
}

TEST(best_fit, leaves_what_the_rows_cannot_tell_apart) {
    Matrix a(1, 2);
    a << 1, 1;
    const double far = std::numeric_limits<double>::infinity();
    const LinearFit fit{.slopes = a, .residual = vector({2}), .now = vector({1, 5}), .room = vector({far, far})};
    EXPECT_TRUE(best_fit(fit).isApprox(vector({2, 6}), 1e-6));  // the sum grows by 2, shared equally
}

}  // namespace
}  // namespace weft
