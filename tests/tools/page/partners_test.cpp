#include "tools/page/simulation_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/tools/page/small_runs.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

// What all ranks put on the wire, by dimension, from the program. Messages between stages count where they are sent.
std::map<std::string, double> sent(const Simulation& run) {
    std::map<std::string, double> bytes;
    const Program& program = run.step.program;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::exchange || (lanes::is_pipeline(op.lane) && !lanes::is_send(op.lane))) continue;
            const Communication& call = program.communications[program.exchanges[ExchangeId(op.subject)].communication];
            bytes[lanes::dimension_name(op.lane)] +=
                rank_class.weight * wire_volume(call.op, call.message, call.group_size).value;
        }
    }
    return bytes;
}

TEST(partners, all_that_is_sent_goes_to_somebody_else) {
    for (const Simulation& run : {test::dense_run(), test::expert_run()}) {
        const Partners all = partners(run);
        ASSERT_EQ(all.cells, 128u);
        ASSERT_EQ(all.ranks_per_cell, 1u);
        const std::map<std::string, double> expected = sent(run);
        EXPECT_EQ(all.dimensions.size(), expected.size());
        for (const PartnerBytes& dimension : all.dimensions) {
            double sum = 0;
            for (std::uint32_t rank = 0; rank < all.cells; ++rank) {
                EXPECT_EQ(dimension.bytes[rank * all.cells + rank], 0.0) << dimension.dimension;
            }
            for (const double bytes : dimension.bytes) sum += bytes;
            EXPECT_NEAR(sum, expected.at(dimension.dimension), 1e-9 * sum) << dimension.dimension;
        }
    }
}

TEST(partners, of_a_rank_are_the_members_of_its_groups) {
    const Simulation run = test::dense_run();
    const Partners all = partners(run);
    const PlacedGroups tensor({"tensor"}, run.plan.job.layout);
    for (const PartnerBytes& dimension : all.dimensions) {
        if (dimension.dimension != "tensor") continue;
        for (std::uint32_t from = 0; from < all.cells; ++from) {
            const std::vector<RankId> members = tensor.members(RankId{from});
            for (std::uint32_t to = 0; to < all.cells; ++to) {
                const bool is_partner = from != to && std::ranges::find(members, RankId{to}) != members.end();
                EXPECT_EQ(dimension.bytes[from * all.cells + to] > 0, is_partner);
            }
        }
        return;
    }
    FAIL() << "no tensor groups";
}

// Layout tensor, data, pipeline: the neighbour stages of rank 40 (stage 1) are 32 ranks away.
TEST(partners, of_a_stage_are_its_neighbours) {
    const Partners all = partners(test::dense_run());
    const auto pipeline = std::ranges::find(all.dimensions, "pipeline", &PartnerBytes::dimension);
    ASSERT_NE(pipeline, all.dimensions.end());
    const auto bytes = [&](std::uint32_t from, std::uint32_t to) { return pipeline->bytes[from * all.cells + to]; };
    EXPECT_GT(bytes(40, 72), 1e6);
    EXPECT_GT(bytes(40, 8), 1e6);
    EXPECT_EQ(bytes(40, 41), 0.0);
    EXPECT_LT(bytes(40, 104), 1e3) << "two stages away: only what all stages share";
}

// Where there are more ranks than cells, the sums of blocks of nodes.
TEST(partners, fold_by_node) {
    const Simulation run = test::small_run("frontier-gpt-neox-20b-3d.json",
                                           {"nodes=64", "layout.data=32", "batch.global=256", "batch.micro=2"});
    const Partners all = partners(run);
    EXPECT_EQ(all.ranks_per_cell, 8u);
    EXPECT_EQ(all.cells, 64u);
    const std::map<std::string, double> expected = sent(run);
    for (const PartnerBytes& dimension : all.dimensions) {
        double sum = 0;
        for (const double bytes : dimension.bytes) sum += bytes;
        EXPECT_NEAR(sum, expected.at(dimension.dimension), 1e-9 * sum) << dimension.dimension;
    }
}

}  // namespace
}  // namespace weft
