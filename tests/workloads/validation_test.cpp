// Published step times against predictions: one set of constants per device and machine, nothing fitted per row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/csv.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

Study study_of(const test::CsvRow& row) {
    const auto at = [&](const char* key) { return row.at(key); };
    const std::string text = fmt::format(
        R"({{"machine": "{}", "framework": "{}", "zero": {}, "precision": "{}", "recompute": "full", "attention": "unfused",
            "model": {{"layers": {}, "hidden": {}, "heads": {}, "vocabulary": 51200, "vocabulary_multiple": 1, "tied_embeddings": true,
                       "positions": "{}"{}}},
            "layout": {{"tensor": {}, "pipeline": {}, "data": {}}},
            "batch": {{"sequence": 2048, "micro": {}, "global": {}}}}})",
        at("machine"), at("framework"), at("zero"), at("precision"), at("layers"), at("hidden"), at("heads"),
        at("positions"), at("positions") == "learned" ? ", \"positions_length\": 2048" : "", at("tensor"),
        at("pipeline"), at("data"), at("micro"), at("global"));
    return read_study(Document::parse(row.at("name"), text));
}

class published_steps : public testing::TestWithParam<test::CsvRow> {};

TEST_P(published_steps, are_predicted_within_their_bound) {
    const test::CsvRow& row = GetParam();
    const Study study = study_of(row);
    const double predicted = since_start(simulate_step(study, make_plan(study)).timeline.end).value;
    const double error = predicted / std::stod(row.at("measured_s")) - 1;
    fmt::print("{:<26} {:<8} measured {:>7} s  predicted {:>7.2f} s  {:+.1f} %\n", row.at("name"), row.at("role"),
               row.at("measured_s"), predicted, 100 * error);
    EXPECT_LE(std::abs(error), std::stod(row.at("bound")));
}

INSTANTIATE_TEST_SUITE_P(all, published_steps,
                         testing::ValuesIn(test::read_csv(WEFT_TEST_DATA "/validation/steps.csv")));

}  // namespace
}  // namespace weft
