#include "tools/study/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"

namespace weft {

std::vector<StudyRow> evaluate(const StudyFigure& figure) {
    std::vector<StudyRow> rows;
    for (std::size_t i = 0; i < figure.cases.size(); ++i) {
        const StudyJob job{.name = figure.job, .overrides = figure.cases[i].overrides};
        for (Measured& measured : figure.measure(job)) rows.push_back({i, std::move(measured)});
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

}  // namespace weft
