#include "tools/study/statements.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>

#include <cctype>

#include "sim/base/check.hpp"
#include "sim/io/embedded.hpp"

namespace weft {
namespace {

std::vector<std::string> parts_of(const std::string& text, const char* separators) {
    std::vector<std::string> parts;
    boost::split(parts, text, boost::is_any_of(separators));
    for (std::string& part : parts) boost::trim(part);
    return parts;
}

bool is_rule(const std::string& line) { return line.find_first_not_of("|-: ") == std::string::npos; }

// "| a | b | c | d |"
StudyStatement statement_of(const std::string& line) {
    std::vector<std::string> cells = parts_of(line, "|");
    WEFT_CHECK(cells.size() == 6, "a statement of the study has other than four columns: " + line);
    return {.topic = cells[1], .stated = cells[2], .found = cells[3], .verdict = cells[4]};
}

// "(a) Time depends ..."
bool begins_note(const std::string& line) {
    return line.size() > 4 && line[0] == '(' && std::islower(static_cast<unsigned char>(line[1])) != 0 &&
           line[2] == ')' && line[3] == ' ';
}

}  // namespace

bool StudyStatement::is_about(const StudyFigure& figure) const {
    bool has_number = false;
    for (const std::string& part : parts_of(topic.substr(0, topic.find(':')), ",")) {
        if (part.empty() || std::isdigit(static_cast<unsigned char>(part.front())) == 0) continue;
        has_number = true;
        if (part == fmt::to_string(figure.number) || figure.name == "figure-" + part) return true;
    }
    return !has_number && figure.number == 0;  // of the text, not of a figure
}

StudyText read_study_text(std::string_view markdown) {
    std::vector<std::string> lines;
    boost::split(lines, markdown, boost::is_any_of("\n"));
    StudyText text;
    bool in_table = false, in_note = false;
    for (const std::string& line : lines) {
        if (line.starts_with('|')) {
            if (in_table) text.statements.push_back(statement_of(line));
            in_table = in_table || is_rule(line);  // above the rule is the heading
        } else if (begins_note(line)) {
            text.notes.push_back({line[1], line.substr(4)});
            in_note = true;
        } else if (line.empty() || line.starts_with('#')) {
            in_note = false;
        } else if (in_note) {
            text.notes.back().text += ' ' + line;
        }
    }
    return text;
}

StudyText study_text() {
    const auto files = embedded::study_pages();
    WEFT_CHECK(files.size() == 1, "the study has one page");
    return read_study_text(files.front().text);
}

}  // namespace weft
