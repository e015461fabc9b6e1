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

}  // namespace weft
