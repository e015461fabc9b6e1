#include "topologies/calibration/gauss_newton.hpp"

#include <vector>

#include "topologies/calibration/nnls.hpp"

namespace weft {
namespace {

using Index = Eigen::Index;

// Of the columns named, without upper bounds; `residual` is what they have to explain besides.
Eigen::VectorXd unbounded(const LinearFit& fit, const std::vector<Index>& columns, const Eigen::VectorXd& residual) {
    constexpr double pull = 1e-4;  // of a column's own length
    const auto count = static_cast<Index>(columns.size());
    const Index rows = fit.slopes.rows();
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(rows + count, count);
    Eigen::VectorXd goal = Eigen::VectorXd::Zero(rows + count);
    goal.head(rows) = residual;
    Eigen::VectorXd scale(count);
    for (Index i = 0; i < count; ++i) {
        const Index column = columns[static_cast<std::size_t>(i)];
        const Eigen::VectorXd slope = fit.slopes.col(column);
        system.col(i).head(rows) = slope;
        system(rows + i, i) = pull * slope.norm();
        goal.head(rows) += slope * fit.now(column);
        goal(rows + i) = system(rows + i, i) * fit.now(column);
        // Columns of length 1, so that no unit decides what counts as 0.
        scale(i) = system.col(i).norm();
        system.col(i) /= scale(i);
    }
    return nonnegative_least_squares(system, goal).cwiseQuotient(scale);
}

}  // namespace

Eigen::VectorXd best_fit(const LinearFit& fit) {
    Eigen::VectorXd best = fit.now, residual = fit.residual;
    std::vector<Index> free;
    for (Index i = 0; i < fit.now.size(); ++i) free.push_back(i);
    while (!free.empty()) {  // those that leave their room stay at its end, and the others are fitted again
        const Eigen::VectorXd goal = unbounded(fit, free, residual);
        std::vector<Index> inside;
        for (std::size_t i = 0; i < free.size(); ++i) {
            const Index column = free[i];
            best(column) = std::min(goal(static_cast<Index>(i)), fit.room(column));
            if (best(column) < fit.room(column)) {
                inside.push_back(column);
            } else {
                residual -= fit.slopes.col(column) * (best(column) - fit.now(column));
            }
        }
        if (inside.size() == free.size()) break;
        free = std::move(inside);
    }
    return best;
}

}  // namespace weft
