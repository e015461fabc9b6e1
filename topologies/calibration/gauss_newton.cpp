#include "topologies/calibration/gauss_newton.hpp"

#include <vector>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using Index = Eigen::Index;

// Least squares over the columns in use; 0 elsewhere.
Eigen::VectorXd solve_free(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const std::vector<char>& in_use) {
    std::vector<Index> columns;
    for (Index i = 0; i < a.cols(); ++i) {
        if (in_use[static_cast<std::size_t>(i)] != 0) columns.push_back(i);
    }
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    if (columns.empty()) return x;
    Eigen::MatrixXd part(a.rows(), static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) part.col(static_cast<Index>(i)) = a.col(columns[i]);
    const Eigen::VectorXd solution = part.completeOrthogonalDecomposition().solve(b);
    for (std::size_t i = 0; i < columns.size(); ++i) x(columns[i]) = solution(static_cast<Index>(i));
    return x;
}

// The unknown out of use whose growth helps most; none if none helps noticeably.
Index most_promising(const Eigen::VectorXd& gradient, const Eigen::VectorXd& noticeable,
                     const std::vector<char>& in_use) {
    Index best = -1;
    for (Index i = 0; i < gradient.size(); ++i) {
        const bool helps = in_use[static_cast<std::size_t>(i)] == 0 && gradient(i) > noticeable(i);
        if (helps && (best < 0 || gradient(i) > gradient(best))) best = i;
    }
    return best;
}

// Moves x towards `goal` until an unknown reaches 0, and takes those at 0 out of use.
void step_to_border(Eigen::VectorXd& x, const Eigen::VectorXd& goal, std::vector<char>& in_use) {
    double share = 1.0;
    Index stopped = -1;
    for (Index i = 0; i < x.size(); ++i) {
        if (in_use[static_cast<std::size_t>(i)] == 0 || goal(i) > 0.0) continue;
        const double reach = x(i) / (x(i) - goal(i));
        if (stopped >= 0 && reach >= share) continue;
        share = reach;
        stopped = i;
    }
    x += share * (goal - x);
    if (stopped >= 0) x(stopped) = 0.0;
    for (Index i = 0; i < x.size(); ++i) {
        if (x(i) > 0.0) continue;
        x(i) = 0.0;
        in_use[static_cast<std::size_t>(i)] = 0;
    }
}

bool all_positive(const Eigen::VectorXd& x, const std::vector<char>& in_use) {
    for (Index i = 0; i < x.size(); ++i) {
        if (in_use[static_cast<std::size_t>(i)] != 0 && !(x(i) > 0.0)) return false;
    }
    return true;
}

}  // namespace

Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
    WEFT_CHECK(a.cols() > 0 && a.rows() == b.size(), "a system with unknowns");
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    std::vector<char> in_use(static_cast<std::size_t>(a.cols()), 0);
    // What rounding alone can make of a gradient, by column.
    const Eigen::VectorXd noticeable = 1e-13 * b.norm() * a.colwise().norm().transpose();
    const Index most_rounds = 10 * a.cols() + 10;  // 3 n suffices in practice (Lawson and Hanson)
    for (Index round = 0; round < most_rounds; ++round) {
        const Index fresh = most_promising(a.transpose() * (b - a * x), noticeable, in_use);
        if (fresh < 0) break;
        in_use[static_cast<std::size_t>(fresh)] = 1;
        Eigen::VectorXd goal = solve_free(a, b, in_use);
        if (!(goal(fresh) > 0.0)) break;  // its gradient was rounding
        while (!all_positive(goal, in_use)) {
            step_to_border(x, goal, in_use);
            goal = solve_free(a, b, in_use);
        }
        x = goal;
    }
    return x;
}

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
