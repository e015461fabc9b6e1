// Least squares under the condition that no unknown is negative.
#pragma once

#include <Eigen/Dense>

namespace weft {

// The x >= 0 that makes |A x - b| least: the active-set method of Lawson and Hanson, Solving Least Squares Problems,
// SIAM 1995, algorithm NNLS (23.10). `a` has at least one column.
Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace weft
