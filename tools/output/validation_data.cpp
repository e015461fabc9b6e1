#include "tools/output/validation_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/validate/row_job.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

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

Json row_json(const Validation& v, const ValidatedRow& row) {
    const ValidationSet& set = v.sets[row.set];
    const ValidationRow& source = set.rows[row.row];
    Json json{{"set", set.name},
              {"name", source.name},
              {"use", name(source.use)},
              {"quantity", row.quantity},
              {"measured", number<Json>(row.measured)},
              {"predicted", number<Json>(row.predicted)},
              {"error", row.error()},
              {"fits", row.fits}};
    if (v.convention && row.measured_tflops > 0) {
        json["measured_tflops"] = row.measured_tflops;
        json["predicted_tflops"] = row.predicted_tflops;
    }
    if (!source.note.empty()) json["note"] = source.note;
    if (!source.disturbed.empty()) json["disturbed"] = source.disturbed;
    json["job"] = Json::parse(row_job(set, source));
    return json;
}

}  // namespace

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
    json["rows"] = Json::array();
    for (const ValidatedRow& row : validation.rows) json["rows"].push_back(row_json(validation, row));
    return json_text(json);
}

std::string validation_csv(const Validation& validation) {
    std::string text = "set,name,use,quantity,measured,predicted,error";
    if (validation.convention) {
        const std::string_view convention = name(*validation.convention);
        text += fmt::format(",measured_{0}_tflops,predicted_{0}_tflops", convention);
    }
    text += '\n';
    for (const ValidatedRow& row : validation.rows) {
        const ValidationSet& set = validation.sets[row.set];
        const ValidationRow& source = set.rows[row.row];
        text += fmt::format("{},{},{},{},{},{},{}", csv_cell(set.name), csv_cell(source.name), name(source.use),
                            csv_cell(row.quantity), number_text(row.measured), number_text(row.predicted),
                            number_text(row.error()));
        if (validation.convention) {
            const bool has = row.measured_tflops > 0;
            text += has ? fmt::format(",{},{}", row.measured_tflops, row.predicted_tflops) : ",,";
        }
        text += '\n';
    }
    return text;
}

}  // namespace weft
