#include "tools/output/validation_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/output/columns.hpp"
#include "tools/validate/row_job.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string tenths(double value) { return fmt::format("{:.1f}", value); }

Json errors_json(const ErrorStatistics& errors) {
    Json json{{"rows", errors.rows}};
    if (errors.rows == 0) return json;
    json.update({{"mean", errors.mean},
                 {"median", errors.median},
                 {"p90", errors.percentile_90},
                 {"max", errors.largest},
                 {"bias", errors.bias}});
    return json;
}

Json bounds_json(const ErrorBounds& bounds) {
    Json json = Json::object();
    if (bounds.mean) json["mean"] = *bounds.mean;
    if (bounds.median) json["median"] = *bounds.median;
    if (bounds.percentile_90) json["p90"] = *bounds.percentile_90;
    if (bounds.largest) json["max"] = *bounds.largest;
    return json;
}

Json set_json(const ValidationSet& set, const SetScore& score) {
    return {{"name", set.name},
            {"title", set.title},
            {"source", set.source},
            {"assumptions", set.assumptions},
            {"bounds", bounds_json(set.bounds)},
            {"residual_bounds", bounds_json(set.residual_bounds)},
            {"predict", errors_json(score.predict)},
            {"fit", errors_json(score.fit)},
            {"disturbed", errors_json(score.disturbed)},
            {"passed", score.passed()}};
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

ResultTable validated_table(const Validation& v, std::span<const ValidatedRow> rows) {
    using Row = ValidatedRow;
    const auto set = [&v](const Row& row) -> const ValidationSet& { return v.sets[row.set]; };
    const auto source = [=](const Row& row) -> const ValidationRow& { return set(row).rows[row.row]; };
    const auto filled = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    Columns<Row> columns{
        {"set", "<set", [=](const Row& row) { return set(row).name; }},
        {"name", "<row", [=](const Row& row) { return source(row).name; }},
        {"use", "<use", [=](const Row& row) { return name(source(row).use); }},
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
            const auto rate = [value = value](const Row& row) {
                return row.measured_tflops > 0 ? std::optional(Figure<tenths>{row.*value}) : std::nullopt;
            };
            columns.push_back(
                {fmt::format("{}_tflops", what), fmt::format("{} TFLOP/s", what), rate, Readers::of_json});
            columns.push_back({fmt::format("{}_{}_tflops", what, name(*v.convention)), {}, rate, Readers::of_csv});
        }
    }
    columns.push_back({"note", {}, [=](const Row& row) { return filled(source(row).note); }, Readers::of_json});
    columns.push_back(
        {"disturbed", {}, [=](const Row& row) { return filled(source(row).disturbed); }, Readers::of_json});
    return table_of(rows, columns);
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
    if (validation.convention) json["flops"] = name(*validation.convention);
    json["rows"] = rows_json(validation);
    return json_text(json);
}

std::string validation_csv(const Validation& validation) {
    return table_csv(validated_table(validation, validation.rows));
}

}  // namespace weft
