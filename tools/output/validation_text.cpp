#include "tools/output/validation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/validate/run.hpp"

namespace weft {
namespace {

struct ScoredErrors {
    std::string name{};
    ErrorStatistics errors;
    std::string bounds{}, verdict{};
};

// Of no rows nothing is known but their number.
ResultTable errors_table(const std::vector<ScoredErrors>& rows) {
    using Row = ScoredErrors;
    const auto known = [](double ErrorStatistics::*part, auto shown) {
        return [=](const Row& row) {
            return row.errors.rows > 0 ? std::optional(decltype(shown){row.errors.*part}) : std::nullopt;
        };
    };
    return table_of<Row>(rows, {{"", "<set", &Row::name},
                                {"rows", "rows", inside(&Row::errors, &ErrorStatistics::rows)},
                                {"mean", "mean", known(&ErrorStatistics::mean, Share{})},
                                {"median", "median", known(&ErrorStatistics::median, Share{})},
                                {"p90", "p90", known(&ErrorStatistics::percentile_90, Share{})},
                                {"max", "max", known(&ErrorStatistics::largest, Share{})},
                                {"bias", "bias", known(&ErrorStatistics::bias, Change{})},
                                {"", "<bound", &Row::bounds},
                                {"", "<verdict", &Row::verdict}});
}

Json errors_json(const ErrorStatistics& errors) { return table_json(errors_table({{.errors = errors}})).front(); }

// `broken`: behind those that are.
std::string bounds_text(const SetScore& score, RowUse use, std::string_view broken = "") {
    return comma_list(score.bounds, [&](const BoundCheck& check) {
        return check.use != use ? ""
                                : fmt::format("{} {}{}", check.what, percent(check.bound), check.holds() ? "" : broken);
    });
}

std::string verdict(const SetScore& score, RowUse use) {
    std::string text;
    for (const BoundCheck& check : score.bounds) {
        if (check.use == use) text = check.holds() && text != "BROKEN" ? "within" : "BROKEN";
    }
    return text;
}

// Their errors and what disturbed them.
std::string disturbed_text(const Validation& v) {
    if (v.card.disturbed.rows == 0) return "";
    std::string text =
        "\nDisturbed measurements, which count in no other figure:\n" + table_text(scores_table(v, RowUse::disturbed));
    std::set<std::string> reasons;
    for (const ValidatedRow& row : v.rows) {
        const std::string& reason = v.sets[row.set].rows[row.row].disturbed;
        if (!reason.empty()) reasons.insert(fmt::format("{}: {}\n", v.sets[row.set].name, reason));
    }
    return text + fmt::format("{}", fmt::join(reasons, ""));
}

std::string table(const Validation& v, RowUse use, std::string_view heading) {
    if (v.card.of(use).rows == 0) return "";
    std::string text = fmt::format(
        "| {} | rows | mean | median | 90 % within | largest | bias | promised |\n"
        "|---|---:|---:|---:|---:|---:|---:|---|\n",
        heading);
    for (std::size_t s = 0; s < v.sets.size(); ++s) {
        const SetScore& score = v.card.sets[s];
        if (score.of(use).rows == 0) continue;
        const ResultTable errors = errors_table({{boost::replace_all_copy(v.sets[s].title, "|", "\\|"),
                                                  score.of(use),
                                                  bounds_text(score, use, " (broken)"),
                                                  {}}});
        text += '|';
        for (std::size_t i = 0; i + 1 < errors.columns.size(); ++i) {
            text += fmt::format(" {} |", errors.columns[i].text(errors.rows.front()[i]));
        }
        text += '\n';
    }
    return text;
}

// Of sets with large errors.
std::string causes_text(const Validation& v, std::string_view mark) {
    std::vector<CauseOfErrors> causes;
    for (std::size_t s = 0; s < v.sets.size(); ++s) {
        const SetScore& score = v.card.sets[s];
        if (score.predict.are_large() || score.fit.are_large()) causes.push_back({v.sets[s].name, v.sets[s].cause});
    }
    if (causes.empty()) return "";
    return "\nA tenth of their rows or more are off by more than 10 %, and why:\n\n" + causes_text(causes, mark);
}

std::string tenths(double value) { return fmt::format("{:.1f}", value); }

Json bounds_json(const ErrorBounds& bounds) {
    using Row = ErrorBounds;
    return table_json(table_of<Row>(std::span(&bounds, 1), {{"mean", {}, &Row::mean},
                                                            {"median", {}, &Row::median},
                                                            {"p90", {}, &Row::percentile_90},
                                                            {"max", {}, &Row::largest}}))
        .front();
}

Json set_json(const ValidationSet& set, const SetScore& score) {
    return {{"name", set.name},
            {"title", set.title},
            {"source", set.source},
            {"assumptions", set.assumptions},
            {"cause", set.cause.empty() ? Json() : Json(set.cause)},
            {"bounds", bounds_json(set.bounds)},
            {"residual_bounds", bounds_json(set.residual_bounds)},
            {"predict", errors_json(score.predict)},
            {"fit", errors_json(score.fit)},
            {"disturbed", errors_json(score.disturbed)},
            {"passed", score.passed()}};
}

// Set, row, quantity, and what was measured and predicted, of any of the rows.
ResultTable validated_table(const Validation& v, std::span<const ValidatedRow> rows) {
    using Row = ValidatedRow;
    const auto set = [&v](const Row& row) -> const ValidationSet& { return v.sets[row.set]; };
    const auto source = [=](const Row& row) -> const ValidationRow& { return set(row).rows[row.row]; };
    const auto filled = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    Columns<Row> columns{
        {"set", "<set", [=](const Row& row) { return set(row).name; }},
        {"name", "<row", [=](const Row& row) { return source(row).name; }},
        {"use", "<use", [=](const Row& row) { return enumerator_name(source(row).use); }},
        {"quantity", "<quantity", &Row::quantity},
        {"", "measured", [](const Row& row) { return quantity_text(row.quantity, row.measured); }},
        {"measured", {}, whole(&Row::measured)},
        {"", "predicted", [](const Row& row) { return quantity_text(row.quantity, row.predicted); }},
        {"predicted", {}, whole(&Row::predicted)},
        {"error", "error", as<Change>(&Row::error)},
        {"fits", {}, &Row::fits, Readers::of_json},
    };
    if (v.convention) {
        for (const auto& [what, value] :
             {std::pair("measured", &Row::measured_tflops), std::pair("predicted", &Row::predicted_tflops)}) {
            const auto rate = where([](const Row& row) { return row.measured_tflops > 0; }, as<Figure<tenths>>(value));
            columns.push_back(
                {fmt::format("{}_tflops", what), fmt::format("{} TFLOP/s", what), rate, Readers::of_json});
            columns.push_back(
                {fmt::format("{}_{}_tflops", what, enumerator_name(*v.convention)), {}, rate, Readers::of_csv});
        }
    }
    columns.push_back({"note", {}, [=](const Row& row) { return filled(source(row).note); }, Readers::of_json});
    columns.push_back(
        {"disturbed", {}, [=](const Row& row) { return filled(source(row).disturbed); }, Readers::of_json});
    return table_of(rows, columns);
}

Json rows_json(const Validation& v) {
    Json json = table_json(validated_table(v, v.rows));
    for (std::size_t i = 0; i < v.rows.size(); ++i) {
        const ValidationSet& set = v.sets[v.rows[i].set];
        json[i]["job"] = Json::parse(row_job(set, set.rows[v.rows[i].row]));
    }
    return json;
}

}  // namespace

ResultTable scores_table(const Validation& v, RowUse use) {
    std::vector<ScoredErrors> rows;
    for (std::size_t s = 0; s < v.sets.size(); ++s) {
        const SetScore& score = v.card.sets[s];
        if (score.of(use).rows == 0) continue;
        rows.push_back({v.sets[s].name, score.of(use), bounds_text(score, use), verdict(score, use)});
    }
    rows.push_back({.name = "all", .errors = v.card.of(use)});
    return errors_table(rows);
}

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
                table_text(scores_table(validation, RowUse::predict));
    }
    if (validation.card.fit.rows > 0) {
        text += fmt::format("{}Rows that constants were fitted to:\n{}", text.empty() ? "" : "\n",
                            table_text(scores_table(validation, RowUse::fit)));
    }
    text += disturbed_text(validation);
    const auto misfits = std::ranges::count(validation.rows, false, &ValidatedRow::fits);
    if (misfits > 0) {
        text +=
            fmt::format("\n{} of {} measurements are of runs that are predicted not to fit in memory (--json: fits)\n",
                        misfits, validation.rows.size());
    }
    const std::vector<std::size_t> places = worst_rows(validation.sets, validation.rows, worst);
    text += causes_text(validation, "  ");
    if (places.empty()) return text;
    const auto rows = list_of<ValidatedRow>(places, [&](std::size_t place) { return validation.rows[place]; });
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
                                validation.sets[s].name, check.what, enumerator_name(check.use), percent(check.actual),
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

std::string validation_markdown(const Validation& validation) {
    std::string text;
    for (const auto& [use, heading] : {std::pair(RowUse::predict, "predicted"), std::pair(RowUse::fit, "fitted to"),
                                       std::pair(RowUse::disturbed, "disturbed, counted nowhere else")}) {
        const std::string part = table(validation, use, heading);
        text += (text.empty() || part.empty() ? "" : "\n") + part;
    }
    return text + causes_text(validation, "- ");
}

std::string validation_json(const Validation& validation) {
    Json json{{"sets", Json::array()}};
    for (std::size_t s = 0; s < validation.sets.size(); ++s) {
        json["sets"].push_back(set_json(validation.sets[s], validation.card.sets[s]));
    }
    json["predict"] = errors_json(validation.card.predict);
    json["fit"] = errors_json(validation.card.fit);
    json["disturbed"] = errors_json(validation.card.disturbed);
    json["passed"] = validation.card.passed();
    if (validation.convention) json["flops"] = enumerator_name(*validation.convention);
    json["rows"] = rows_json(validation);
    return json_text(json);
}

std::string validation_csv(const Validation& validation) {
    return table_csv(validated_table(validation, validation.rows));
}

}  // namespace weft
