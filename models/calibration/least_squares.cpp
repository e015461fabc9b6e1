#include "models/calibration/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double effect_that_counts = 1e-4;
constexpr double independence = 1e-2;  // of a column from those before it, as a share of its length
constexpr double difference = 1e-5;    // in scales
constexpr int most_rounds = 50;

double rms(const Vector& r) { return r.size() == 0 ? 0.0 : std::sqrt(r.squaredNorm() / static_cast<double>(r.size())); }

class Fitter {
  public:
    Fitter(std::span<const FitParameter> parameters, const Residuals& residuals)
        : parameters_(parameters), residuals_(residuals), x_(parameters.size()) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const FitParameter& p = parameters[i];
            WEFT_CHECK(p.scale > 0.0 && p.least <= p.start && p.start <= p.most, "a fit starts outside its bounds");
            x_[static_cast<Index>(i)] = p.start;
        }
        r_ = evaluate(x_);
    }

    Fit run();

  private:
    const FitParameter& parameter(Index i) const { return parameters_[static_cast<std::size_t>(i)]; }
    Vector evaluate(const Vector& x) const;
    Vector column(Index i, double step) const;
    Matrix jacobian() const;
    std::vector<Determination> determine() const;
    bool pushes_out(Index i, double slope) const;
    bool improve();
    Vector step(const Matrix& j, const std::vector<Index>& free) const;
    std::vector<double> deviations(const std::vector<Determination>& what) const;

    std::span<const FitParameter> parameters_;
    const Residuals& residuals_;
    std::vector<Index> fitted_;
    Vector x_, r_;
    double damping_ = 1e-3;
};

Vector Fitter::evaluate(const Vector& x) const {
    const std::vector<double> values = residuals_({x.data(), static_cast<std::size_t>(x.size())});
    Vector r = Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
    WEFT_CHECK(r.allFinite() && (r_.size() == 0 || r.size() == r_.size()), "residuals must be finite, and as many");
    return r;
}

// Change of the residuals per scale of a parameter, by a step of so many scales: upwards if there is room.
Vector Fitter::column(Index i, double step) const {
    const FitParameter& p = parameter(i);
    Vector moved = x_;
    const double up = std::min(p.most, x_[i] + step * p.scale), down = std::max(p.least, x_[i] - step * p.scale);
    moved[i] = up - x_[i] >= x_[i] - down ? up : down;
    if (moved[i] == x_[i]) return Vector::Zero(r_.size());
    return (evaluate(moved) - r_) * (p.scale / (moved[i] - x_[i]));
}

Matrix Fitter::jacobian() const {
    Matrix j = Matrix::Zero(r_.size(), x_.size());
    for (const Index i : fitted_) j.col(i) = column(i, difference);
    return j;
}

// A parameter without effect close by may have one further away, behind the bend of a maximum.
std::vector<Determination> Fitter::determine() const {
    std::vector<Determination> what(parameters_.size(), Determination::determined);
    Matrix basis(r_.size(), 0);
    for (Index i = 0; i < x_.size(); ++i) {
        Vector effect = column(i, difference);
        if (rms(effect) < effect_that_counts) effect = column(i, 1.0);
        Determination& found = what[static_cast<std::size_t>(i)];
        if (rms(effect) < effect_that_counts) {
            found = Determination::without_effect;
            continue;
        }
        const double length = effect.norm();
        for (int pass = 0; pass < 2; ++pass) effect -= basis * (basis.transpose() * effect);  // Gram-Schmidt, twice
        if (effect.norm() < independence * length) {
            found = Determination::not_told_apart;
            continue;
        }
        basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
        basis.rightCols(1) = effect / effect.norm();
    }
    return what;
}

// Whether a parameter is at a bound that less of the sum of squares would take it across.
bool Fitter::pushes_out(Index i, double slope) const {
    return (x_[i] >= parameter(i).most && slope < 0.0) || (x_[i] <= parameter(i).least && slope > 0.0);
}

// In scales, of the free parameters.
Vector Fitter::step(const Matrix& j, const std::vector<Index>& free) const {
    const Matrix part = j(Eigen::all, free);
    Matrix normal = part.transpose() * part;
    normal.diagonal() *= 1.0 + damping_;
    normal.diagonal().array() += 1e-14;  // a column that is zero here
    return normal.ldlt().solve(-(part.transpose() * r_));
}

// One round: takes the first step that helps, ever shorter ones. False if none does, or hardly.
bool Fitter::improve() {
    const Matrix j = jacobian();
    const Vector slope = j.transpose() * r_;
    std::vector<Index> free;
    for (const Index i : fitted_) {
        if (!pushes_out(i, slope[i])) free.push_back(i);
    }
    if (free.empty()) return false;
    for (; damping_ < 1e10; damping_ *= 4.0) {
        const Vector d = step(j, free);
        Vector x = x_;
        for (std::size_t k = 0; k < free.size(); ++k) {
            const FitParameter& p = parameter(free[k]);
            x[free[k]] = std::clamp(x[free[k]] + d[static_cast<Index>(k)] * p.scale, p.least, p.most);
        }
        Vector r = evaluate(x);
        if (!(r.squaredNorm() < r_.squaredNorm())) continue;
        const double gain = 1.0 - r.squaredNorm() / r_.squaredNorm();
        x_ = std::move(x);
        r_ = std::move(r);
        damping_ = std::max(damping_ / 9.0, 1e-12);
        return gain > 1e-6 || (gain > 1e-12 && d.lpNorm<Eigen::Infinity>() > 1e-5);
    }
    return false;
}

std::vector<double> Fitter::deviations(const std::vector<Determination>& what) const {
    std::vector<double> result(parameters_.size(), 0.0);
    std::vector<Index> free;
    for (const Index i : fitted_) {
        if (what[static_cast<std::size_t>(i)] == Determination::determined) free.push_back(i);
    }
    if (free.empty()) return result;
    const double spare = static_cast<double>(r_.size()) - static_cast<double>(free.size());
    const Matrix part = jacobian()(Eigen::all, free);
    const Matrix inverse = (part.transpose() * part).completeOrthogonalDecomposition().pseudoInverse();
    for (std::size_t k = 0; k < free.size(); ++k) {
        const auto i = static_cast<Index>(k);
        result[static_cast<std::size_t>(free[k])] =
            spare > 0.0 ? std::sqrt(r_.squaredNorm() / spare * inverse(i, i)) * parameter(free[k]).scale
                        : std::numeric_limits<double>::infinity();
    }
    return result;
}

Fit Fitter::run() {
    Fit fit;
    fit.rms_before = rms(r_);
    fit.determinations = determine();
    for (Index i = 0; i < x_.size(); ++i) {
        if (fit.determinations[static_cast<std::size_t>(i)] == Determination::determined) fitted_.push_back(i);
    }
    while (fit.rounds < most_rounds && improve()) ++fit.rounds;
    for (const Index i : fitted_) {
        if (x_[i] == parameter(i).least || x_[i] == parameter(i).most) {
            fit.determinations[static_cast<std::size_t>(i)] = Determination::at_limit;
        }
    }
    fit.deviations = deviations(fit.determinations);
    fit.values.assign(x_.data(), x_.data() + x_.size());
    fit.rms_after = rms(r_);
    return fit;
}

}  // namespace

std::string_view text(Determination what) {
    switch (what) {
        case Determination::determined:
            return "fitted";
        case Determination::at_limit:
            return "fitted, at its limit";
        case Determination::without_effect:
            return "left alone: the rows do not depend on it";
        case Determination::not_told_apart:
            return "left alone: not told apart from those above";
    }
    throw LogicError("a Determination outside its enumerators");
}

Fit fit_least_squares(std::span<const FitParameter> parameters, const Residuals& residuals) {
    return Fitter(parameters, residuals).run();
}

}  // namespace weft
