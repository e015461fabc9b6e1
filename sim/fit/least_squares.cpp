#include "sim/fit/least_squares.hpp"

#include <ceres/ceres.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double effect_that_counts = 1e-4;
constexpr int most_rounds = 50;
constexpr double independence = 1e-2;  // of a column from those before it, as a share of its length

double rms(const Vector& r) { return r.size() == 0 ? 0.0 : std::sqrt(r.squaredNorm() / static_cast<double>(r.size())); }

// A parameter in scales, and back; to the digit where it starts and at its bounds.
struct Scaled {
    FitParameter given;
    double start = given.start / given.scale, least = given.least / given.scale, most = given.most / given.scale;

    bool is_at_limit(double x) const { return x <= least || x >= most; }
    double value(double x) const {
        if (x == start) return given.start;
        if (is_at_limit(x)) return x <= least ? given.least : given.most;
        return std::clamp(x * given.scale, given.least, given.most);
    }
};

// The residuals as Ceres asks for them: each parameter is a block, so that one that is held costs nothing.
class Model : public ceres::CostFunction {
  public:
    Model(std::span<const FitParameter> parameters, const Residuals& residuals) : residuals_(residuals) {
        for (const FitParameter& p : parameters) {
            WEFT_CHECK(p.scale > 0.0 && p.least <= p.start && p.start <= p.most, "a fit starts outside its bounds");
            parameters_.push_back({p});
            x_.push_back(parameters_.back().start);
            mutable_parameter_block_sizes()->push_back(1);
        }
        r_ = evaluate(x_);
        slopes_.resize(x_.size());
        set_num_residuals(static_cast<int>(r_.size()));
    }

    const std::vector<Scaled>& parameters() const { return parameters_; }
    const Vector& residuals() const { return r_; }  // at the point evaluated last

    // Change of the residuals per scale of a parameter; known once per point.
    const Vector& slope(std::size_t i) const {
        if (slopes_[i].size() == 0) slopes_[i] = change(i, 1e-5);
        return slopes_[i];
    }
    // The same by a step of so many scales: upwards if there is room.
    Vector change(std::size_t i, double step) const {
        const Scaled& p = parameters_[i];
        std::vector<double> moved = x_;
        const double up = std::min(p.most, x_[i] + step), down = std::max(p.least, x_[i] - step);
        moved[i] = up - x_[i] >= x_[i] - down ? up : down;
        if (moved[i] == x_[i]) return Vector::Zero(r_.size());
        return (evaluate(moved) - r_) / (moved[i] - x_[i]);
    }

    bool Evaluate(const double* const* blocks, double* residuals, double** jacobians) const override {
        std::vector<double> x;
        for (std::size_t i = 0; i < x_.size(); ++i) x.push_back(*blocks[i]);
        if (x != x_) {
            r_ = evaluate(x);
            x_ = std::move(x);
            slopes_.assign(x_.size(), {});
        }
        if (residuals != nullptr) std::ranges::copy(r_, residuals);
        for (std::size_t i = 0; jacobians != nullptr && i < x_.size(); ++i) {
            if (jacobians[i] != nullptr) std::ranges::copy(slope(i), jacobians[i]);
        }
        return true;
    }

  private:
    Vector evaluate(const std::vector<double>& x) const {
        std::vector<double> values;
        for (std::size_t i = 0; i < x.size(); ++i) values.push_back(parameters_[i].value(x[i]));
        const std::vector<double> result = residuals_(values);
        Vector r = Eigen::Map<const Vector>(result.data(), static_cast<Index>(result.size()));
        WEFT_CHECK(r.allFinite() && (r_.size() == 0 || r.size() == r_.size()), "residuals must be finite, and as many");
        return r;
    }

    const Residuals& residuals_;
    std::vector<Scaled> parameters_;
    mutable std::vector<double> x_;  // evaluated last
    mutable Vector r_;
    mutable std::vector<Vector> slopes_;
};

// A parameter without effect close by may have one further away, behind the bend of a maximum.
Determination determination(const Model& model, std::size_t parameter, Alike alike, Matrix& known) {
    Vector effect = model.slope(parameter);
    if (rms(effect) < effect_that_counts) effect = model.change(parameter, 1.0);
    if (rms(effect) < effect_that_counts) return Determination::without_effect;
    if (alike == Alike::shared) return Determination::determined;
    const double length = effect.norm();
    for (int pass = 0; pass < 2; ++pass) effect -= known * (known.transpose() * effect);  // Gram-Schmidt, twice
    if (effect.norm() < independence * length) return Determination::not_told_apart;
    known.conservativeResize(Eigen::NoChange, known.cols() + 1);
    known.rightCols(1) = effect / effect.norm();
    return Determination::determined;
}

ceres::Problem::Options borrowing() {
    ceres::Problem::Options options;
    options.cost_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
    return options;
}

// Ceres shortens a step that crosses a bound, which is right for those at their bounds alone. So those that less of the
// sum would take across are held, and found anew whenever one reaches a bound.
class Fitter : ceres::IterationCallback {
  public:
    Fitter(std::span<const FitParameter> parameters, const Residuals& residuals, Alike alike)
        : model_(parameters, residuals), problem_(borrowing()) {
        Matrix known(model_.residuals().size(), 0);
        for (const Scaled& p : model_.parameters()) {
            fit_.determinations.push_back(determination(model_, x_.size(), alike, known));
            x_.push_back(p.start);
        }
        for (double& x : x_) blocks_.push_back(&x);
        fit_.deviations.resize(x_.size());
    }

    Fit run() {
        if (std::ranges::count(fit_.determinations, Determination::determined) > 0) {
            pose();
            for (bool goes_on = true; (hold_those_that_push_out() || goes_on) && fit_.rounds < most_rounds;) {
                goes_on = solve();
            }
            note_limits();
            add_deviations();
        }
        for (std::size_t i = 0; i < x_.size(); ++i) fit_.values.push_back(model_.parameters()[i].value(x_[i]));
        fit_.rms_after = rms(model_.residuals());
        return std::move(fit_);
    }

  private:
    bool is_determined(std::size_t i) const { return fit_.determinations[i] == Determination::determined; }
    bool is_at_limit(std::size_t i) const { return model_.parameters()[i].is_at_limit(x_[i]); }

    void pose() {
        problem_.AddResidualBlock(&model_, nullptr, blocks_);
        for (std::size_t i = 0; i < x_.size(); ++i) {
            if (!is_determined(i)) problem_.SetParameterBlockConstant(&x_[i]);
            problem_.SetParameterLowerBound(&x_[i], 0, model_.parameters()[i].least);
            problem_.SetParameterUpperBound(&x_[i], 0, model_.parameters()[i].most);
        }
    }

    // Whether they are others than before.
    bool hold_those_that_push_out() {
        bool changes = false;
        for (std::size_t i = 0; i < x_.size(); ++i) {
            if (!is_determined(i)) continue;
            const double slope = model_.slope(i).dot(model_.residuals());
            const Scaled& p = model_.parameters()[i];
            const bool holds = (x_[i] >= p.most && slope < 0.0) || (x_[i] <= p.least && slope > 0.0);
            changes = changes || holds != problem_.IsParameterBlockConstant(&x_[i]);
            holds ? problem_.SetParameterBlockConstant(&x_[i]) : problem_.SetParameterBlockVariable(&x_[i]);
        }
        return changes;
    }

    ceres::CallbackReturnType operator()(const ceres::IterationSummary& step) override {
        for (std::size_t i = 0; step.iteration > 0 && step.step_is_successful && i < x_.size(); ++i) {
            if (is_at_limit(i) && !problem_.IsParameterBlockConstant(&x_[i]))
                return ceres::SOLVER_TERMINATE_SUCCESSFULLY;
        }
        return ceres::SOLVER_CONTINUE;
    }

    // Whether one of them has reached a bound.
    bool solve() {
        ceres::Solver::Options options;
        options.linear_solver_type = ceres::DENSE_QR;
        options.logging_type = ceres::SILENT;
        options.callbacks = {this};
        options.update_state_every_iteration = true;
        options.max_num_line_search_step_size_iterations = 0;
        options.min_relative_decrease = 0;
        options.initial_trust_region_radius = 1e8;
        options.function_tolerance = 1e-7;
        options.parameter_tolerance = 1e-10;
        ceres::Solver::Summary summary;
        ceres::Solve(options, &problem_, &summary);
        WEFT_CHECK(summary.IsSolutionUsable(), "Ceres: " + summary.message);
        model_.Evaluate(blocks_.data(), nullptr, nullptr);             // it may have looked further
        fit_.rounds += std::max(0, summary.num_successful_steps - 1);  // the first is where it starts
        return summary.termination_type == ceres::USER_SUCCESS;
    }

    void note_limits() {
        for (std::size_t i = 0; i < x_.size(); ++i) {
            if (!is_determined(i) || !is_at_limit(i)) continue;
            fit_.determinations[i] = Determination::at_limit;
            problem_.SetParameterBlockConstant(&x_[i]);
        }
    }

    void add_deviations() {
        std::vector<std::pair<const double*, const double*>> free;
        for (const double& x : x_) {
            if (!problem_.IsParameterBlockConstant(&x)) free.emplace_back(&x, &x);
        }
        if (free.empty()) return;
        ceres::Covariance::Options options;
        options.algorithm_type = ceres::DENSE_SVD;
        options.null_space_rank = -1;
        ceres::Covariance covariance(options);
        WEFT_CHECK(covariance.Compute(free, &problem_), "no covariance of a fit");
        const double spare = static_cast<double>(model_.num_residuals()) - static_cast<double>(free.size());
        for (const auto& [x, same] : free) {
            double variance = 0;
            covariance.GetCovarianceBlock(x, x, &variance);
            const auto i = static_cast<std::size_t>(x - x_.data());
            fit_.deviations[i] = spare > 0.0 ? std::sqrt(model_.residuals().squaredNorm() / spare * variance) *
                                                   model_.parameters()[i].given.scale
                                             : std::numeric_limits<double>::infinity();
        }
    }

    Model model_;
    ceres::Problem problem_;
    std::vector<double> x_;
    std::vector<double*> blocks_;
    Fit fit_;
};

}  // namespace

std::string_view text(Determination what) {
    constexpr std::array<std::string_view, 4> texts{"fitted", "fitted, at its limit",
                                                    "left alone: the rows do not depend on it",
                                                    "left alone: not told apart from those above"};
    return texts.at(static_cast<std::size_t>(what));
}

Fit fit_least_squares(std::span<const FitParameter> parameters, const Residuals& residuals, Alike alike) {
    return Fitter(parameters, residuals, alike).run();
}

}  // namespace weft
