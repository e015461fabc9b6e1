#include "tools/validate/scorecard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

RowUse use_of(std::span<const ValidationSet> sets, const ValidatedRow& row) { return sets[row.set].rows[row.row].use; }

void add_checks(RowUse use, const ErrorBounds& bounds, const ErrorStatistics& errors, std::vector<BoundCheck>& checks) {
    const auto add = [&](const char* what, const std::optional<double>& bound, double actual) {
        if (bound) checks.push_back({use, what, *bound, actual});
    };
    add("mean", bounds.mean, errors.mean);
    add("median", bounds.median, errors.median);
    add("p90", bounds.percentile_90, errors.percentile_90);
    add("max", bounds.largest, errors.largest);
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

ErrorStatistics error_statistics(const std::vector<double>& errors) {
    if (errors.empty()) return {};
    std::vector<double> sizes;
    for (const double error : errors) sizes.push_back(std::abs(error));
    std::ranges::sort(sizes);
    return {.rows = errors.size(),
            .mean = mean(sizes),
            .median = quantile(sizes, 0.5),
            .percentile_90 = quantile(sizes, 0.9),
            .largest = sizes.back(),
            .bias = mean(errors)};
}

const ErrorStatistics& ErrorsByUse::of(RowUse use) const {
    return use == RowUse::predict ? predict : use == RowUse::fit ? fit : disturbed;
}

bool SetScore::passed() const { return std::ranges::all_of(bounds, &BoundCheck::holds); }

bool Scorecard::passed() const { return std::ranges::all_of(sets, &SetScore::passed); }

Scorecard make_scorecard(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows, Coverage coverage) {
    using Errors = std::array<std::vector<double>, 3>;  // by RowUse
    std::vector<Errors> of_set(sets.size());
    Errors all;
    for (const ValidatedRow& row : rows) {
        const auto use = static_cast<std::size_t>(use_of(sets, row));
        of_set[row.set][use].push_back(row.error());
        all[use].push_back(row.error());
    }
    const auto statistics = [](const Errors& errors) {
        return ErrorsByUse{error_statistics(errors[0]), error_statistics(errors[1]), error_statistics(errors[2])};
    };
    Scorecard card{statistics(all), {}};
    for (std::size_t s = 0; s < sets.size(); ++s) {
        SetScore score{statistics(of_set[s]), {}};
        if (coverage == Coverage::whole) {
            add_checks(RowUse::predict, sets[s].bounds, score.predict, score.bounds);
            add_checks(RowUse::fit, sets[s].residual_bounds, score.fit, score.bounds);
        }
        card.sets.push_back(std::move(score));
    }
    return card;
}

std::vector<std::size_t> worst_rows(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows,
                                    std::size_t count) {
    std::vector<std::size_t> places(rows.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::erase_if(places, [&](std::size_t i) { return use_of(sets, rows[i]) != RowUse::predict; });
    std::ranges::stable_sort(places, std::ranges::greater{}, [&](std::size_t i) { return std::abs(rows[i].error()); });
    places.resize(std::min(places.size(), count));
    return places;
}

}  // namespace weft
