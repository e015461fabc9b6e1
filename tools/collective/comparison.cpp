#include "tools/collective/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

std::string described(const CollectiveMeasurement& row) {
    std::string text(name(row.op));
    if (row.ranks > 0) text += fmt::format(" among {} ranks", row.ranks);
    if (row.nodes > 0) text += fmt::format(" on {} node{}", row.nodes, row.nodes == 1 ? "" : "s");
    return text;
}

// At most this many in a message.
constexpr std::size_t listed = 12;

std::string list(const std::set<std::string>& texts) {
    const auto end = std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), listed)));
    return fmt::format("{}{}", fmt::join(texts.begin(), end, "; "), texts.size() > listed ? "; ..." : "");
}

double nearest_rank(const std::vector<double>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

ErrorSummary summarize(std::vector<double> errors) {
    if (errors.empty()) return {};
    ErrorSummary summary{.rows = errors.size(), .bias = median(errors)};
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    summary.median = median(errors);
    summary.percentile_90 = nearest_rank(errors, 0.9);
    summary.largest = errors.back();
    return summary;
}

std::vector<CollectiveMeasurement> matching(const MeasurementTable& table, const CollectiveRequest& request) {
    std::vector<CollectiveMeasurement> rows;
    std::set<std::string> there;
    for (const CollectiveMeasurement& row : table.rows) {
        there.insert(described(row));
        const bool same_ranks = row.ranks == 0 || row.ranks == request.layout.members();
        const bool same_nodes = row.nodes == 0 || row.nodes == request.layout.nodes();
        if (row.op == request.op && same_ranks && same_nodes) rows.push_back(row);
    }
    if (rows.empty()) {
        std::string message =
            fmt::format("nothing measured of {} among {} ranks on {} nodes; the table has: {}", name(request.op),
                        request.layout.members(), request.layout.nodes(), list(there));
        throw ConfigError({{.file = table.file, .line = 0, .column = 0, .key = {}, .message = std::move(message)}});
    }
    return of_one_kind(table, std::move(rows), request.library->name);
}

Comparison compare(std::span<const CollectiveMeasurement> measurements, std::span<const CollectiveRow> rows) {
    Comparison comparison;
    std::vector<double> errors;
    for (const CollectiveMeasurement& measured : measurements) {
        const auto row = std::ranges::find(rows, measured.size, &CollectiveRow::message);
        WEFT_CHECK(row != rows.end(), "every size measured is predicted");
        comparison.rows.push_back({.message = measured.size,
                                   .measured = measured.time,
                                   .predicted = row->time,
                                   .algorithm = row->algorithm,
                                   .protocol = row->protocol,
                                   .line = measured.line});
        errors.push_back(comparison.rows.back().error());
    }
    comparison.summary = summarize(std::move(errors));
    return comparison;
}

}  // namespace weft
