// Compute units that the program keeps for communication: closed forms of kernels and of interference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

Plan plan_of(const std::vector<std::string>& more) {
    std::vector<std::string> all{"machine=dgx-h100",  "layout.tensor=1", "layout.pipeline=1",  "layout.data=8",
                                 "model.hidden=8192", "model.heads=64",  "batch.sequence=4096"};
    all.insert(all.end(), more.begin(), more.end());
    return make_plan(test::small_study(all));
}

// 33 of 132 units: products and attention take 4/3 as long (launches apart, and rounds of tiles, of which the last is
// seldom full), what memory binds as long as before.
TEST(communication_units, are_missing_where_units_bind) {
    const Plan all = plan_of({}), some = plan_of({"communication_units=33"});
    const auto forward = [](const Plan& plan, Piece piece) {
        for (const PieceCost& own : plan.costs.layer(LayerKind::dense).pieces) {
            if (own.piece == piece) return own.forward.value;
        }
        return 0.0;
    };
    EXPECT_NEAR(forward(some, Piece::core) / forward(all, Piece::core), 4.0 / 3, 0.01);
    EXPECT_NEAR(forward(some, Piece::projection) / forward(all, Piece::projection), 4.0 / 3, 0.1);
    EXPECT_EQ(forward(some, Piece::input_norm), forward(all, Piece::input_norm));
}

// What interference is beyond the units: 1.19 x 112 / 132; none where as many are kept as communication takes.
TEST(communication_units, are_not_taken_once_more_by_interference) {
    const double whole = plan_of({}).device.interference;
    EXPECT_DOUBLE_EQ(plan_of({"communication_units=20"}).device.interference, whole * 112 / 132);
    EXPECT_EQ(plan_of({"communication_units=33"}).device.interference, 1.0);
}

TEST(communication_units, are_fewer_than_there_are_and_in_no_release) {
    EXPECT_NE(test::mistakes("communication_units=1000").find("expected fewer than"), std::string::npos);
    EXPECT_TRUE(lacking_features(plan_of({}).job).empty());
    ASSERT_EQ(lacking_features(plan_of({"communication_units=20"}).job).size(), 1U);
    EXPECT_EQ(lacking_features(plan_of({"communication_units=20"}).job).front().key, "communication_units");
}

}  // namespace
}  // namespace weft
