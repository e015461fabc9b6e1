#include "tools/sweep/sweep.hpp"

#include <algorithm>
#include <utility>

#include "tools/sweep/columns.hpp"
#include "tools/sweep/evaluator.hpp"

namespace weft {
namespace {

std::vector<std::size_t> missing_rows(std::size_t points, SweepShard shard, const RowsByNumber& done) {
    std::vector<std::size_t> rows;
    for (std::size_t row = shard.number - 1; row < points; row += shard.of) {
        if (!done.contains(row)) rows.push_back(row);
    }
    return rows;
}

}  // namespace

SweepRun::SweepRun(const SweepRequest& request)
    : request_(request), points_(points_of(request)), inputs_(inputs_of(request)) {}

SweepRun::Outcome SweepRun::run(Crew& crew, const SweepSettings& settings) const {
    const PointEvaluator evaluator(request_);
    Outcome outcome{.header = {.job = request_.job.path.empty() ? "a job" : request_.job.path.stem().string(),
                               .inputs = inputs_,
                               .points = points_.size(),
                               .shard = settings.shard,
                               .columns = sweep_columns(request_.grid)},
                    .rows = {},
                    .journal = nullptr};
    SweepWork work{
        .rows = {},
        .evaluate =
            [&](std::size_t row) { return row_of(request_.grid, points_[row], evaluator.evaluate(points_[row])); },
        .deliver = {},
        .stopped = settings.stopped,
        .inputs = inputs_.digest()};
    if (crew.leads()) {
        if (settings.out) {
            outcome.journal = std::make_unique<Journal>(*settings.out, outcome.header, settings.resume);
            outcome.rows = outcome.journal->done();
        }
        outcome.resumed = outcome.rows.size();
        work.rows = missing_rows(points_.size(), settings.shard, outcome.rows);
        const std::size_t rows = outcome.rows.size() + work.rows.size();
        if (outcome.resumed > 0) settings.progress(outcome.resumed, rows);
        work.deliver = [&, rows](std::size_t number, Row row) {
            if (outcome.journal) outcome.journal->add(number, row);
            outcome.rows.emplace(number, std::move(row));
            settings.progress(outcome.rows.size(), rows);
        };
    }
    crew.run(work);
    return outcome;
}

std::size_t SweepRun::Outcome::without_result() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const auto& numbered) { return !has_result(numbered.second); }));
}

ResultTable SweepRun::Outcome::table() const {
    ResultTable table{.columns = header.columns, .rows = {}};
    for (const auto& [number, row] : rows) table.rows.push_back(row);
    return table;
}

}  // namespace weft
