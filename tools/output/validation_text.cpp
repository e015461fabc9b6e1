#include "tools/output/validation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/text_table.hpp"
#include "tools/validate/quantity.hpp"

namespace weft {

namespace {

std::vector<std::string> error_cells(const ErrorStatistics& errors) {
    std::vector<std::string> cells{fmt::to_string(errors.rows)};
    if (errors.rows == 0) return {"0", "", "", "", "", ""};
    for (const double value : {errors.mean, errors.median, errors.percentile_90, errors.largest}) {
        cells.push_back(percent(value));
    }
    cells.push_back(signed_percent_text(errors.bias));
    return cells;
}

std::string bounds_text(const SetScore& score, RowUse use) {
    std::string text;
    for (const BoundCheck& check : score.bounds) {
        if (check.use != use) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", check.what, percent(check.bound));
    }
    return text;
}

std::string verdict(const SetScore& score, RowUse use) {
    std::string text;
    for (const BoundCheck& check : score.bounds) {
        if (check.use == use) text = check.holds() && text != "BROKEN" ? "within" : "BROKEN";
    }
    return text;
}

void add(TextTable& table, const std::string& name, const ErrorStatistics& errors, const std::string& bounds,
         const std::string& verdict) {
    std::vector<std::string> cells{name};
    for (std::string& cell : error_cells(errors)) cells.push_back(std::move(cell));
    cells.push_back(bounds);
    cells.push_back(verdict);
    table.add(std::move(cells));
}

std::string error_table(const Validation& v, RowUse use) {
    TextTable table({"<set", "rows", "mean", "median", "p90", "max", "bias", "<bound", "<verdict"});
    for (std::size_t s = 0; s < v.sets.size(); ++s) {
        const SetScore& score = v.card.sets[s];
        if (score.of(use).rows == 0) continue;
        add(table, v.sets[s].name, score.of(use), bounds_text(score, use), verdict(score, use));
    }
    add(table, "all", v.card.of(use), "", "");
    return table.text();
}

// Their errors and what disturbed them.
std::string disturbed_text(const Validation& v) {
    if (v.card.disturbed.rows == 0) return "";
    std::string text =
        "\nDisturbed measurements, which count in no other figure:\n" + error_table(v, RowUse::disturbed);
    std::set<std::string> reasons;
    for (const ValidatedRow& row : v.rows) {
        const std::string& reason = v.sets[row.set].rows[row.row].disturbed;
        if (!reason.empty()) reasons.insert(fmt::format("{}: {}\n", v.sets[row.set].name, reason));
    }
    return text + fmt::format("{}", fmt::join(reasons, ""));
}

}  // namespace

std::string quantity_text(std::string_view quantity, double value) {
    const std::string_view unit = quantity_unit(quantity);
    if (unit == "s") return to_text(Seconds{value});
    if (unit == "B") return to_text(Bytes{value});
    return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::string validation_text(const Validation& validation, std::size_t worst) {
    std::string text;
    if (validation.card.predict.rows > 0) {
        text += "Rows that nothing was fitted to (absolute relative errors; bias: mean of the signed ones):\n" +
                error_table(validation, RowUse::predict);
    }
    if (validation.card.fit.rows > 0) {
        text += fmt::format("{}Rows that constants were fitted to:\n{}", text.empty() ? "" : "\n",
                            error_table(validation, RowUse::fit));
    }
    text += disturbed_text(validation);
    const auto misfits = std::ranges::count(validation.rows, false, &ValidatedRow::fits);
    if (misfits > 0) {
        text +=
            fmt::format("\n{} of {} measurements are of runs that are predicted not to fit in memory (--json: fits)\n",
                        misfits, validation.rows.size());
    }
    const std::vector<std::size_t> places = worst_rows(validation.sets, validation.rows, worst);
    if (places.empty()) return text;
    std::vector<ValidatedRow> rows;
    for (const std::size_t place : places) rows.push_back(validation.rows[place]);
    return text + "\nFarthest off:\n" + table_text(validated_table(validation, rows));
}

std::string validation_rows_text(const Validation& validation) {
    return table_text(validated_table(validation, validation.rows));
}

std::string validation_list(std::span<const ValidationSet> sets) {
    TextTable table({"<set", "rows", "<title"});
    for (const ValidationSet& set : sets) table.add({set.name, fmt::to_string(set.rows.size()), set.title});
    return table.text();
}

std::string broken_bounds_text(const Validation& validation) {
    std::string text;
    for (std::size_t s = 0; s < validation.sets.size(); ++s) {
        for (const BoundCheck& check : validation.card.sets[s].bounds) {
            if (check.holds()) continue;
            text += fmt::format("{}: the {} error of rows marked {} is {}, above its bound of {}\n",
                                validation.sets[s].name, check.what, name(check.use), percent(check.actual),
                                percent(check.bound));
        }
    }
    return text;
}

std::string verdict_text(const Validation& validation) {
    const auto unjudged = [&](RowUse use) {
        return std::ranges::count_if(validation.card.sets, [use](const SetScore& score) {
            return score.of(use).rows > 0 && std::ranges::count(score.bounds, use, &BoundCheck::use) == 0;
        });
    };
    const bool judged = std::ranges::any_of(validation.card.sets, [](const SetScore& s) { return !s.bounds.empty(); });
    std::string text = !validation.card.passed() ? "A bound is broken" : judged ? "Every bound holds" : "No bound";
    const auto predicted = unjudged(RowUse::predict), fitted = unjudged(RowUse::fit);
    if (predicted + fitted == 0) return text + ".";
    return text +
           fmt::format("; not judged, having none: predicted rows of {} sets, fitted rows of {}.", predicted, fitted);
}

namespace {

std::string ranks_text(double least, double most) {
    return fmt::format("{}{} ranks", grouped(least), least == most ? "" : " to " + grouped(most));
}

// Of the job's traits, those that no measured run shares.
std::string without(const Evidence& evidence, const JobTraits& job) {
    std::vector<std::string> values;
    for (const std::string_view name : evidence.unlike) {
        const auto place = static_cast<std::size_t>(std::ranges::find(trait_names, name) - trait_names.begin());
        values.push_back(name == "scale" ? ranks_text(job.ranks, job.ranks) : job.values[place]);
    }
    return fmt::format("{}", fmt::join(values, ", "));
}

std::string line(std::string_view answer, const Evidence& evidence, const JobTraits& job) {
    std::string text = fmt::format("  {:<11}", answer);
    if (evidence.errors.rows == 0) return text + fmt::format("not validated: not measured on {}\n", job.values[0]);
    if (!evidence.is_of_the_kind()) text += fmt::format("not validated for {}; nearest: ", without(evidence, job));
    return text + fmt::format("{} of {}, {}: mean error {}, 90 % within {}, bias {}\n", evidence.errors.rows,
                              fmt::join(evidence.sets, ", "), ranks_text(evidence.least_ranks, evidence.most_ranks),
                              percent(evidence.errors.mean), percent(evidence.errors.percentile_90),
                              signed_percent_text(evidence.errors.bias));
}

}  // namespace

std::string memory_validity_text(const Validity& validity) { return line("memory", validity.memory, validity.job); }

std::string validity_text(const Validity& validity) {
    const JobTraits& job = validity.job;
    return fmt::format("measured runs of this kind ({}, {}):\n{}{}", fmt::join(job.values, ", "),
                       ranks_text(job.ranks, job.ranks), line("step time", validity.step_time, job),
                       memory_validity_text(validity));
}

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
    return fmt::format("| {} | {} | {} |\n", cell(title), fmt::join(error_cells(errors), " | "), bounds);
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
