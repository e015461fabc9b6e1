// One step of a bounded least-squares fit.
#pragma once

#include <Eigen/Dense>

namespace weft {

// Unknowns x with 0 <= x <= room; residual = measured - modelled at x = now, slopes the derivatives of the model.
struct LinearFit {
    Eigen::MatrixXd slopes;
    Eigen::VectorXd residual, now, room;  // room may be infinite
};

// The x that makes |slopes (x - now) - residual| least, drawn weakly to `now` so that unknowns that the rows cannot
// tell apart stay where they are.
Eigen::VectorXd best_fit(const LinearFit& fit);

// Least squares under the condition that no unknown is negative.
// The x >= 0 that makes |A x - b| least: the active-set method of Lawson and Hanson, Solving Least Squares Problems,
// SIAM 1995, algorithm NNLS (23.10). `a` has at least one column.
Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace weft
