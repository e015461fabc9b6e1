#include "tools/study/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sim/base/check.hpp"
#include "sim/io/shipped.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/refusals.hpp"

namespace weft {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Names of the measured series of which there is anything, in their order.
std::vector<std::string> series_names(const std::vector<StudyRow>& rows) {
    std::vector<const Measured*> first;  // of each name
    for (const StudyRow& row : rows) {
        if (!(row.measured.value > 0)) continue;
        const auto same = [&](const Measured* known) { return known->series == row.measured.series; };
        if (std::ranges::none_of(first, same)) first.push_back(&row.measured);
    }
    std::ranges::stable_sort(first, {}, &Measured::order);
    std::vector<std::string> names;
    for (const Measured* measured : first) names.push_back(measured->series);
    return names;
}

// What was measured of a case. A case that was measured at all has nothing of a series that it does not name: 0 bytes
// of a collective, 0 calls of a size. One that could not run has no value.
double value_of(const std::vector<StudyRow>& rows, std::size_t subject, const std::string& series) {
    bool measured = false;
    for (const StudyRow& row : rows) {
        if (row.subject != subject) continue;
        if (row.measured.series == series) return row.measured.value;
        measured = measured || !std::isnan(row.measured.value);
    }
    return measured ? 0 : none;
}

ChartSeries::Look look_of(const StudyFigure& figure, const std::string& series) {
    return std::ranges::find(figure.references, series) == figure.references.end() ? ChartSeries::Look::solid
                                                                                   : ChartSeries::Look::reference;
}

void bars_of_cases(const StudyFigure& figure, const std::vector<StudyRow>& rows, Chart& chart) {
    for (const StudyCase& subject : figure.cases) chart.categories.push_back({subject.scheme, subject.model});
    for (const std::string& name : series_names(rows)) {
        ChartSeries series{.name = name, .values = {}, .look = look_of(figure, name)};
        for (std::size_t i = 0; i < figure.cases.size(); ++i) series.values.push_back(value_of(rows, i, name));
        chart.series.push_back(std::move(series));
    }
}

void bars_of_series(const StudyFigure& figure, const std::vector<StudyRow>& rows, Chart& chart) {
    for (const std::string& name : series_names(rows)) chart.categories.push_back({name, ""});
    for (std::size_t i = 0; i < figure.cases.size(); ++i) {
        ChartSeries series{.name = figure.cases[i].model, .values = {}};
        for (const ChartCategory& category : chart.categories) {
            series.values.push_back(value_of(rows, i, category.label));
        }
        chart.series.push_back(std::move(series));
    }
}

std::vector<double> positions(const StudyFigure& figure) {
    std::vector<double> all;
    for (const StudyCase& subject : figure.cases) all.push_back(subject.position);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

// The value of the one series that such figures measure; none where no case has it.
double value_at(const StudyFigure& figure, const std::vector<StudyRow>& rows, const std::string& scheme,
                double position) {
    const auto row = std::ranges::find_if(rows, [&](const StudyRow& candidate) {
        const StudyCase& subject = figure.cases[candidate.subject];
        return subject.scheme == scheme && subject.position == position;
    });
    return row == rows.end() ? none : row->measured.value;
}

// In the order of their first case.
std::vector<std::string> schemes(const StudyFigure& figure) {
    std::vector<std::string> names;
    for (const StudyCase& subject : figure.cases) {
        if (std::ranges::find(names, subject.scheme) == names.end()) names.push_back(subject.scheme);
    }
    return names;
}

void bars_of_schemes(const StudyFigure& figure, const std::vector<StudyRow>& rows, Chart& chart) {
    for (const std::string& scheme : schemes(figure)) chart.categories.push_back({scheme, ""});
    for (const double position : positions(figure)) {
        ChartSeries series{.name = number_text(position), .values = {}};
        for (const ChartCategory& category : chart.categories) {
            series.values.push_back(value_at(figure, rows, category.label, position));
        }
        chart.series.push_back(std::move(series));
    }
}

// Schemes of which nothing could run have no line.
void lines(const StudyFigure& figure, const std::vector<StudyRow>& rows, Chart& chart) {
    chart.positions = positions(figure);
    for (const std::string& scheme : schemes(figure)) {
        ChartSeries series{.name = scheme, .values = {}};
        for (const double position : chart.positions) {
            series.values.push_back(value_at(figure, rows, scheme, position));
        }
        const bool empty = std::ranges::all_of(series.values, [](double value) { return std::isnan(value); });
        if (!empty) chart.series.push_back(std::move(series));
    }
}

// What the reader of a picture has to know of values that are missing.
std::string missing_note(const std::vector<StudyRow>& rows) {
    const bool missing = std::ranges::any_of(rows, [](const StudyRow& row) { return std::isnan(row.measured.value); });
    return missing ? "; the table says why some could not run" : "";
}

std::vector<Measured> values_of(const MeasurePart& part, const StudyJob& job) {
    try {
        return part.of(job.read(part.purpose));
    } catch (const ConfigError& error) {
        return {{part.series, none, obstacle(error)}};
    } catch (const RangeError& error) {
        return {{part.series, none, error.what()}};
    }
}

}  // namespace

Study StudyJob::read(Purpose purpose) const {
    Document document = open_shipped(embedded::study(), "study job", name).document;
    for (const std::string& assignment : overrides) document.assign(assignment);
    return read_study(std::move(document), purpose);
}

std::vector<StudyRow> evaluate(const StudyFigure& figure) {
    std::vector<StudyRow> rows;
    for (std::size_t i = 0; i < figure.cases.size(); ++i) {
        const StudyJob job{.name = figure.job, .overrides = figure.cases[i].overrides};
        for (const MeasurePart& part : figure.measure) {
            for (Measured& measured : values_of(part, job)) rows.push_back({i, std::move(measured)});
        }
    }
    return rows;
}

std::string study_csv(const StudyFigure& figure, const std::vector<StudyRow>& rows) {
    std::string out = "figure,model,scheme,position,series,value,unit,note\n";
    for (const StudyRow& row : rows) {
        const StudyCase& subject = figure.cases[row.subject];
        const Measured& measured = row.measured;
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", csv_cell(figure.name),
                       csv_cell(subject.model), csv_cell(subject.scheme),
                       subject.position > 0 ? number_text(subject.position) : "", csv_cell(measured.series),
                       std::isnan(measured.value) ? "" : number_text(measured.value), csv_cell(figure.y.unit),
                       csv_cell(measured.note));
    }
    return out;
}

bool has_values(const std::vector<StudyRow>& rows) {
    return std::ranges::any_of(rows, [](const StudyRow& row) { return row.measured.value > 0; });
}

Chart study_chart(const StudyFigure& figure, const std::vector<StudyRow>& rows) {
    WEFT_CHECK(has_values(rows), "a chart shows something");
    Chart chart{.title = figure.title,
                .subtitle = figure.note + missing_note(rows),
                .kind = figure.kind,
                .x = figure.x,
                .y = figure.y};
    switch (figure.arrangement) {
        case Arrangement::bars_of_cases:
            bars_of_cases(figure, rows, chart);
            break;
        case Arrangement::bars_of_series:
            bars_of_series(figure, rows, chart);
            break;
        case Arrangement::bars_of_schemes:
            bars_of_schemes(figure, rows, chart);
            break;
        case Arrangement::lines:
            lines(figure, rows, chart);
            break;
    }
    return chart;
}

}  // namespace weft
