// Statistics by hand.
#include "tools/validate/scorecard.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

// Sizes 0.1, 0.2, 0.3, 0.4: the 90th percentile lies at place 0.9 x 3 = 2.7, between 0.3 and 0.4.
TEST(error_statistics, are_those_of_absolute_errors_and_a_signed_bias) {
    const ErrorStatistics errors = error_statistics({-0.1, 0.4, 0.2, -0.3});
    EXPECT_EQ(errors.rows, 4U);
    EXPECT_DOUBLE_EQ(errors.mean, 0.25);
    EXPECT_DOUBLE_EQ(errors.median, 0.25);
    EXPECT_DOUBLE_EQ(errors.percentile_90, 0.37);
    EXPECT_DOUBLE_EQ(errors.largest, 0.4);
    EXPECT_DOUBLE_EQ(errors.bias, 0.05);
}

TEST(error_statistics, of_one_error_are_its_size) {
    const ErrorStatistics errors = error_statistics({-0.2});
    EXPECT_DOUBLE_EQ(errors.mean, 0.2);
    EXPECT_DOUBLE_EQ(errors.median, 0.2);
    EXPECT_DOUBLE_EQ(errors.percentile_90, 0.2);
    EXPECT_DOUBLE_EQ(errors.bias, -0.2);
}

TEST(error_statistics, of_nothing_count_nothing) { EXPECT_EQ(error_statistics({}).rows, 0U); }

class scorecard : public testing::Test {
  protected:
    static ValidationRow row(const char* name, RowUse use) {
        ValidationRow row;
        row.name = name;
        row.use = use;
        return row;
    }
    static ValidatedRow validated(std::size_t place, double predicted) {
        return {.set = 0, .row = place, .quantity = "step_s", .measured = 1.0, .predicted = predicted};
    }
    scorecard() {
        sets_.resize(1);
        sets_[0].rows = {row("a", RowUse::predict), row("b", RowUse::fit), row("c", RowUse::predict)};
        rows_ = {validated(0, 1.1), validated(1, 3.0), validated(2, 0.7)};
    }
    std::vector<ValidationSet> sets_;
    std::vector<ValidatedRow> rows_;
};

TEST_F(scorecard, keeps_fitted_rows_apart) {
    const Scorecard card = make_scorecard(sets_, rows_, Coverage::whole);
    EXPECT_EQ(card.sets[0].predict.rows, 2U);
    EXPECT_NEAR(card.sets[0].predict.mean, 0.2, 1e-12);
    EXPECT_NEAR(card.predict.bias, -0.1, 1e-12);
    EXPECT_NEAR(card.sets[0].fit.largest, 2.0, 1e-12);
}

TEST_F(scorecard, counts_disturbed_rows_nowhere_else) {
    sets_[0].rows[2].use = RowUse::disturbed;
    sets_[0].bounds.largest = 0.11;
    const Scorecard card = make_scorecard(sets_, rows_, Coverage::whole);
    EXPECT_TRUE(card.passed());
    EXPECT_EQ(card.predict.rows, 1U);
    EXPECT_EQ(card.fit.rows, 1U);
    EXPECT_NEAR(card.sets[0].disturbed.bias, -0.3, 1e-12);
    EXPECT_EQ(worst_rows(sets_, rows_, 5), (std::vector<std::size_t>{0}));
}

TEST_F(scorecard, judges_bounds_by_the_predicted_rows_alone) {
    sets_[0].bounds.mean = 0.21;
    sets_[0].bounds.largest = 0.29;
    const SetScore score = make_scorecard(sets_, rows_, Coverage::whole).sets[0];
    ASSERT_EQ(score.bounds.size(), 2U);
    EXPECT_TRUE(score.bounds[0].holds());
    EXPECT_FALSE(score.bounds[1].holds());
    EXPECT_FALSE(score.passed());
}

TEST_F(scorecard, judges_residual_bounds_by_the_fitted_rows) {
    sets_[0].residual_bounds.largest = 1.9;
    const SetScore score = make_scorecard(sets_, rows_, Coverage::whole).sets[0];
    ASSERT_EQ(score.bounds.size(), 1U);
    EXPECT_EQ(score.bounds[0].use, RowUse::fit);
    EXPECT_NEAR(score.bounds[0].actual, 2.0, 1e-12);
    EXPECT_FALSE(score.passed());
}

TEST_F(scorecard, judges_nothing_by_some_of_the_rows) {
    sets_[0].bounds.largest = 0.01;
    EXPECT_TRUE(make_scorecard(sets_, rows_, Coverage::filtered).passed());
}

TEST_F(scorecard, ranks_predicted_rows_by_their_error) {
    EXPECT_EQ(worst_rows(sets_, rows_, 5), (std::vector<std::size_t>{2, 0}));
    EXPECT_EQ(worst_rows(sets_, rows_, 1), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace weft
