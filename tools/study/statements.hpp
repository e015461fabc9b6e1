// What the communication study states and what weft says to it, as workloads/study/README.md has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/study/study_table.hpp"

namespace weft {

// Texts may have `code` of Markdown.
struct StudyStatement {
    std::string topic;    // "7, 8: broadcast"
    std::string stated;   // by the study; empty: the topic says it
    std::string found;    // by weft
    std::string verdict;  // "explained (b)"
    bool is_about(const StudyFigure& figure) const;
};

struct StudyNote {
    char letter;  // as verdicts refer to it
    std::string text;
};

struct StudyText {
    std::vector<StudyStatement> statements;
    std::vector<StudyNote> notes;
};

StudyText study_text();
// Of a page in Markdown: its table of four columns, and its paragraphs that begin with a letter in brackets. LogicError
// for a table of other columns.
StudyText read_study_text(std::string_view markdown);

}  // namespace weft
