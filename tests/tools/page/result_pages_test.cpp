#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"
#include "tools/page/pages.hpp"
#include "tools/page/result_data.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

ResultTable table() {
    return {.columns = {{"batch.sequence", "", "", ColumnKind::key},
                        {"schedule", "", "", ColumnKind::key},
                        {"step_time_s", "s", "a step"},
                        {"memory_peak_bytes", "B", "the fullest"},
                        {"memory_fits", "", ""},
                        {"reason", "", "why", ColumnKind::note}},
            .rows = {{std::int64_t{512}, std::string("1f1b"), 2.5, std::int64_t{300}, true, {}},
                     {std::int64_t{1024}, std::string("1f1b"), 2.0, std::int64_t{500}, true, {}},
                     {std::int64_t{2048}, std::string("gpipe"), {}, {}, {}, std::string("</script> too long")}}};
}

const ResultPageText text{.title = "Sweep of <job>", .command = "weft sweep a.json --vary x=\"1\"", .summary = "a & b"};

TEST(result_data, has_columns_with_their_values) {
    const SortedJson data = SortedJson::parse(data_text(result_json(table())));
    EXPECT_EQ(data["columns"][2],
              (SortedJson{{"name", "step_time_s"}, {"unit", "s"}, {"meaning", "a step"}, {"kind", "metric"}}));
    EXPECT_EQ(data["values"][0], SortedJson::parse("[512, 1024, 2048]"));
    EXPECT_EQ(data["values"][2], SortedJson::parse("[2.5, 2.0, null]"));
    EXPECT_EQ(data["values"][4], SortedJson::parse("[true, true, null]"));
    EXPECT_EQ(data["values"][5][2], "</script> too long");
}

TEST(result_data, refuses_rows_of_other_lengths) {
    ResultTable bad = table();
    bad.rows[1].pop_back();
    EXPECT_THROW(result_json(bad), LogicError);
}

TEST(result_data, finds_extremes_as_a_naive_search_does) {
    rc::check([](const std::vector<int>& values) {
        ResultTable one{.columns = {{"x", "", ""}}, .rows = {}};
        std::optional<ExtremeRow> least, greatest;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool is_missing = values[i] % 5 == 0;
            one.rows.push_back({is_missing ? ResultCell() : ResultCell(std::int64_t{values[i]})});
            if (!is_missing && (!least || values[i] < least->value)) least = {i, double(values[i])};
            if (!is_missing && (!greatest || values[i] > greatest->value)) greatest = {i, double(values[i])};
        }
        const auto row = [](const std::optional<ExtremeRow>& found) { return found ? int(found->row) : -1; };
        RC_ASSERT(row(extreme_row(one, "x", Extreme::least)) == row(least));
        RC_ASSERT(row(extreme_row(one, "x", Extreme::greatest)) == row(greatest));
        RC_ASSERT(!extreme_row(one, "y", Extreme::least));
    });
}

TEST(result_data, names_keys_as_they_were_given) {
    const std::vector<std::size_t> both{0, 1};
    EXPECT_EQ(keys_text(table(), both, 2), "batch.sequence 2048, schedule gpipe");
    EXPECT_EQ(rows_with_result(table()), 2u);
}

TEST(sweep_page, has_figures_and_sections_for_what_there_is) {
    const std::string page = sweep_page(text, table());
    for (const char* part : {"Sweep of &lt;job&gt;", "a &amp; b", "--vary</span> <span>x=&quot;1&quot;", "2.00 s",
                             "batch.sequence 1024</dd>", "1 without a result", "id=\"map\"", "id=\"reasons\""}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    ResultTable whole = table();
    whole.rows.pop_back();
    whole.columns.erase(whole.columns.begin() + 1);
    for (auto& row : whole.rows) row.erase(row.begin() + 1);
    const std::string plain = sweep_page(text, whole);
    EXPECT_EQ(plain.find("id=\"map\""), std::string::npos) << "one key has no map";
    EXPECT_EQ(plain.find("id=\"reasons\""), std::string::npos);
    EXPECT_NE(plain.find("all with a result"), std::string::npos);
}

TEST(sweep_page, stands_a_table_without_results) {
    ResultTable none = table();
    none.rows = {none.rows.back()};
    EXPECT_NE(sweep_page(text, none).find("1 without a result"), std::string::npos);
    none.rows.clear();
    EXPECT_NE(sweep_page(text, none).find("id=\"rows\""), std::string::npos);
}

// Refused, too large, screened, simulated.
ResultTable candidates(std::size_t screened) {
    ResultTable plan{.columns = {{"layout.tensor", "", "", ColumnKind::key},
                                 {"verdict", "", "", ColumnKind::note},
                                 {"memory_peak_bytes", "B", ""},
                                 {"screened_time_s", "s", ""},
                                 {"step_time_s", "s", ""},
                                 {"reason", "", "", ColumnKind::note}},
                     .rows = {}};
    for (const std::int64_t tensor : {3, 5, 16}) {
        plan.rows.push_back({tensor,
                             std::string("refused"),
                             {},
                             {},
                             {},
                             "64 heads cannot be shared by " + std::to_string(tensor) + " ranks"});
    }
    plan.rows.push_back({std::int64_t{1}, std::string("does not fit"), 1e12, {}, {}, {}});
    for (std::size_t i = 0; i < screened; ++i) {
        plan.rows.push_back({std::int64_t{2}, std::string("fits"), 2e10, 9.0 + double(i), {}, {}});
    }
    plan.rows.push_back({std::int64_t{4}, std::string("fits"), 3e10, 8.5, 12.5, {}});
    return plan;
}

SortedJson data_of(const std::string& page) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return SortedJson::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(plan_page, counts_verdicts_and_tells_reasons) {
    const ResultTable reasons{.columns = {{.name = "reason", .unit = "", .meaning = "", .heading = "<because"}},
                              .rows = {{std::string("64 heads cannot be <shared>")}}};
    const std::string page = plan_page(text, candidates(2), {.simulate = "", .files = {}, .reasons = reasons});
    for (const char* part : {"3 refused, 1 does not fit, 3 fits", "64 heads cannot be &lt;shared&gt;", "12.5 s",
                             "The 3 with the shortest steps, of 7"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(plan_page(text, candidates(2), {}).find("Refused"), std::string::npos);
}

TEST(plan_page, keeps_simulated_candidates_first_and_the_best_of_the_others) {
    const SortedJson data = data_of(plan_page(text, candidates(most_kept_candidates + 50), {}));
    ASSERT_EQ(data["values"][0].size(), most_kept_candidates);
    EXPECT_EQ(data["values"][4][0], 12.5);
    EXPECT_EQ(data["values"][3][1], 9.0);
    EXPECT_EQ(data["values"][3][most_kept_candidates - 1], 9.0 + double(most_kept_candidates - 2));
}

// Rows are kept in another order than they come.
TEST(plan_page, gives_each_row_its_own_files) {
    const ResultTable table = candidates(2);
    PlanPageFacts facts{.simulate = "weft simulate a.json", .mean_error = 0.04, .largest_error = 0.1, .files = {}};
    facts.files[table.rows.size() - 1] = {.job = "{}", .format = "megatron", .launch = "torchrun </script>"};
    const SortedJson data = data_of(plan_page(text, table, facts));
    EXPECT_EQ(data["simulate"], "weft simulate a.json");
    EXPECT_EQ(data["screening"]["largest_error"], 0.1);
    ASSERT_EQ(data["files"].size(), 1u);
    EXPECT_EQ(data["values"][4][0], 12.5) << "the simulated one comes first";
    EXPECT_EQ(data["files"]["0"]["launch"], "torchrun </script>");
}

TEST(plan_page, stands_a_search_that_found_nothing) {
    ResultTable none = candidates(0);
    none.rows.pop_back();
    EXPECT_EQ(data_of(plan_page(text, none, {}))["values"][0].size(), 0u);
    none.rows.clear();
    EXPECT_NE(plan_page(text, none, {}).find("id=\"front\""), std::string::npos);
}

}  // namespace
}  // namespace weft
