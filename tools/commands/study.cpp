// `weft study`: the content of the communication study's figures, as tables and pictures.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/chart.hpp"
#include "tools/output/result_table.hpp"
#include "tools/study/study_table.hpp"

namespace weft::commands {
namespace {

std::vector<StudyFigure> chosen_figures(const po::variables_map& arguments) {
    std::vector<StudyFigure> figures = study_figures();
    if (!arguments.count("figure")) return figures;
    const auto& wanted = arguments["figure"].as<std::vector<std::string>>();
    const auto is_called = [](const StudyFigure& figure, const std::string& name) {
        return figure.name == name || (figure.number > 0 && fmt::to_string(figure.number) == name);
    };
    for (const std::string& name : wanted) {
        if (std::ranges::none_of(figures, [&](const StudyFigure& figure) { return is_called(figure, name); })) {
            throw OptionError("--figure: there is no figure {} here; --list shows those there are", name);
        }
    }
    std::erase_if(figures, [&](const StudyFigure& figure) {
        return std::ranges::none_of(wanted, [&](const std::string& name) { return is_called(figure, name); });
    });
    return figures;
}

std::string list_text(const std::vector<StudyFigure>& figures) {
    TextTable table({"<figure", "cases", "<what"});
    for (const StudyFigure& figure : figures) {
        table.add({figure.name, fmt::to_string(figure.cases.size()), figure.title + "; " + figure.note});
    }
    return table.text();
}

// Tells which files it wrote; a figure without any value has no picture.
void write_figure(const StudyFigure& figure, const std::filesystem::path& folder) {
    const std::vector<StudyRow> rows = evaluate(figure);
    const std::filesystem::path base = folder / figure.name;
    write_file_atomically(base.string() + ".csv", study_csv(figure, rows));
    fmt::print("{}.csv\n", base.string());
    if (!has_values(rows)) {
        fmt::print(stderr, "{}: nothing to draw: {}\n", figure.name, rows.empty() ? "" : rows.front().measured.note);
        return;
    }
    write_file_atomically(base.string() + ".svg", chart_svg(study_chart(figure, rows)));
    fmt::print("{}.svg\n", base.string());
}

Answer run_study(const po::variables_map& arguments) {
    const std::vector<StudyFigure> figures = chosen_figures(arguments);
    if (given(arguments, "list")) return {list_text(figures)};
    const std::filesystem::path folder = arguments["out"].as<std::string>();
    std::filesystem::create_directories(folder);
    for (const StudyFigure& figure : figures) write_figure(figure, folder);
    return {};
}

}  // namespace

extern const Command study{.name = "study", .run = run_study, .group = CommandGroup::run};

}  // namespace weft::commands
