// The figures of the communication study as a page: its statements beside what weft says, and every figure with its
// values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/study/statements.hpp"
#include "tools/study/study_table.hpp"

namespace weft {

struct EvaluatedFigure {
    StudyFigure figure;
    std::vector<StudyRow> rows;
};

// Of the statements, those about the figures.
std::string study_page(std::span<const EvaluatedFigure> figures, const StudyText& text, const std::string& command);

}  // namespace weft
