// A figure of the study as evaluated: a table, and the chart of it.
#pragma once

#include <string>
#include <vector>

#include "tools/output/chart.hpp"
#include "tools/study/study_figures.hpp"

namespace weft {

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
