// A figure of the communication study (arXiv 2408.10197) as a description: which jobs, what of them, and which chart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/chart.hpp"
#include "workloads/job/job.hpp"

namespace weft {

struct StudyCase {
    std::string model;                     // "1.3B"
    std::string scheme;                    // "ZeRO-1", "PP 4"
    double position = 0;                   // along an axis: tokens, nodes; 0 where the figure has none
    std::vector<std::string> overrides{};  // of the figure's job, "key.path=value"
};

// One value of a case.
struct Measured {
    std::string series;  // "all-reduce", "equation 2"; empty: the case itself
    double value;        // NaN: there is none
    std::string note{};  // why not, or what to know about it
    double order = 0;    // series stand in ascending order, equal ones as they first occur
};

// What a figure shows of a job, part by part.
struct MeasurePart {
    std::string series;  // that says why, where the job cannot be read or run
    Purpose purpose;
    std::function<std::vector<Measured>(const Study&)> of;
};
using Measure = std::vector<MeasurePart>;

enum class Arrangement : std::uint8_t {
    bars_of_cases,    // a category per case, grouped by model; the measured series
    bars_of_series,   // a category per measured series; the cases are the series
    bars_of_schemes,  // a category per scheme; the positions are the series
    lines,            // over the positions of the cases; a line per scheme
};

struct StudyFigure {
    std::string name;         // "figure-13a": of its files
    std::uint32_t number;     // 13; 0: of the text, not of a figure
    std::string title, note;  // what it shows; of what
    std::string job;          // workloads/study/<job>.json
    std::vector<StudyCase> cases;
    Measure measure;
    Arrangement arrangement;
    ChartKind kind;
    ChartAxis x, y;
    std::vector<std::string> references{};  // series that are theory: drawn hollow
};

// By its name in figures.json. Where a job cannot run, the value is missing and the note says why.
const Measure& find_measure(std::string_view name);

// Those of figures.json beside this file: by number, those of the text last.
std::vector<StudyFigure> study_figures();
// The job of a case. Throws ConfigError with every mistake: here, layouts that cannot run.
Study study_of(const StudyFigure& figure, const StudyCase& subject, Purpose purpose);

// A figure as evaluated: a table, and the chart of it.
struct StudyRow {
    std::size_t subject;  // index into the figure's cases
    Measured measured;
};

// Every value of every case, in the order of the cases. Cases that cannot run have a row with the reason.
std::vector<StudyRow> evaluate(const StudyFigure& figure);

// Columns figure, model, scheme, position, series, value, unit, note; cells of what there is none are empty.
std::string study_csv(const StudyFigure& figure, const std::vector<StudyRow>& rows);

bool has_values(const std::vector<StudyRow>& rows);                               // above 0
Chart study_chart(const StudyFigure& figure, const std::vector<StudyRow>& rows);  // wants at least one value

}  // namespace weft
