#include "tools/output/validation_markdown.hpp"

#include <fmt/format.h>

#include <utility>

#include "tools/output/figures.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

std::string cell(std::string text) {
    for (std::size_t bar = text.find('|'); bar != text.npos; bar = text.find('|', bar + 2)) text.insert(bar, 1, '\\');
    return text;
}

std::string bounds(const SetScore& score, RowUse use) {
    std::string text;
    for (const BoundCheck& check : score.bounds) {
        if (check.use != use) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", check.what, percent(check.bound));
        if (!check.holds()) text += " (broken)";
    }
    return text;
}

std::string line(const std::string& title, const ErrorStatistics& errors, const std::string& bounds) {
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(title), errors.rows, percent(errors.mean),
                       percent(errors.median), percent(errors.percentile_90), percent(errors.largest),
                       signed_percent_text(errors.bias), bounds);
}

std::string table(const Validation& v, RowUse use, std::string_view heading) {
    if (v.card.of(use).rows == 0) return "";
    std::string text = fmt::format(
        "| {} | rows | mean | median | 90 % within | largest | bias | promised |\n"
        "|---|---:|---:|---:|---:|---:|---:|---|\n",
        heading);
    for (std::size_t s = 0; s < v.sets.size(); ++s) {
        const SetScore& score = v.card.sets[s];
        if (score.of(use).rows > 0) text += line(v.sets[s].title, score.of(use), bounds(score, use));
    }
    return text;
}

}  // namespace

std::string validation_markdown(const Validation& validation) {
    std::string text;
    for (const auto& [use, heading] : {std::pair(RowUse::predict, "predicted"), std::pair(RowUse::fit, "fitted to"),
                                       std::pair(RowUse::disturbed, "disturbed, counted nowhere else")}) {
        const std::string part = table(validation, use, heading);
        text += (text.empty() || part.empty() ? "" : "\n") + part;
    }
    return text;
}

}  // namespace weft
