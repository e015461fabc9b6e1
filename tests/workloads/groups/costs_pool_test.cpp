// Groups that are others moved cost what they cost laid and routed one by one, to the bit.
#include "workloads/groups/families.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {
namespace {

// Ranks of a stage in the order tensor, data; a job's tensor groups, data groups, both at once, and boundaries.
struct PoolLayout {
    std::uint32_t tensor, data, stages;
    std::uint32_t per_stage() const { return tensor * data; }
};

std::vector<GroupMembers> families_of(const PoolLayout& layout) {
    std::vector<GroupMembers> families;
    const auto rank = [&](std::uint32_t stage, std::uint32_t data, std::uint32_t tensor) {
        return RankId{stage * layout.per_stage() + data * layout.tensor + tensor};
    };
    GroupMembers models{.size = layout.tensor * layout.stages};
    for (std::uint32_t d = 0; d < layout.data; ++d) {
        for (std::uint32_t i = 0; i < models.size; ++i) {
            models.ranks.push_back(rank(i / layout.tensor, d, i % layout.tensor));
        }
    }
    families.push_back(std::move(models));
    for (std::uint32_t stage = 0; stage < layout.stages; ++stage) {
        GroupMembers tensor{.size = layout.tensor}, data{.size = layout.data}, boundary{.size = 2};
        for (std::uint32_t d = 0; d < layout.data; ++d) {
            for (std::uint32_t t = 0; t < layout.tensor; ++t) {
                tensor.ranks.push_back(rank(stage, d, t));
                boundary.ranks.push_back(rank(stage, d, t));
                boundary.ranks.push_back(rank((stage + 1) % layout.stages, d, t));
            }
        }
        for (std::uint32_t t = 0; t < layout.tensor; ++t) {
            for (std::uint32_t d = 0; d < layout.data; ++d) data.ranks.push_back(rank(stage, d, t));
        }
        for (GroupMembers* const each : {&tensor, &data, &boundary}) {
            if (each->size > 1) families.push_back(std::move(*each));
        }
    }
    return families;
}

GroupCosts one_by_one(const Topology& topology, const Library& library, const GroupMembers& groups,
                      ChannelPlanner& planner, GroupCosts* whole = nullptr) {
    return {topology, library, shape_of(topology, groups[0]),
            [&groups, &planner](Order order) {
                std::vector<Communicator> communicators;
                for (std::size_t i = 0; i < groups.groups(); ++i) {
                    communicators.push_back(planner.lay({groups[i].begin(), groups[i].end()}, order));
                }
                return communicators;
            },
            whole};
}

void expect_equal(const std::vector<PhaseCost>& found, const std::vector<PhaseCost>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].pattern, expected[i].pattern);
        EXPECT_EQ(found[i].path, expected[i].path);
        EXPECT_EQ(found[i].launch, expected[i].launch);
        EXPECT_EQ(found[i].detoured, expected[i].detoured);
        EXPECT_EQ(found[i].phases, expected[i].phases);
    }
}

void expect_same_costs(const Machine& machine, Routing routing, const PoolLayout& layout) {
    const Topology topology = machine.topology(
        layout.per_stage() * layout.stages / machine.info().accelerators_per_node, {.routing = routing});
    CostsPool pool(topology, machine.info().library());
    const Library& library = pool.library();
    ChannelPlanner planner(topology);
    for (const GroupMembers& family : families_of(layout)) {
        GroupCosts expected = one_by_one(topology, library, family, planner);
        GroupCosts& found = pool.find(family);
        GroupMembers part{.size = family.size, .ranks = {family.ranks.end() - family.size, family.ranks.end()}};
        GroupCosts expected_part = one_by_one(topology, library, part, planner, &expected),
                   found_part = pool.part(part, found);
        for (const Collective op : {Collective::all_reduce, Collective::all_to_all, Collective::send_receive}) {
            if (op == Collective::send_receive && family.size != 2) continue;
            if (op == Collective::all_to_all && family.size > 64) continue;  // costs time, and tells nothing new
            for (const Choice& choice : expected.candidates(op)) {
                SCOPED_TRACE(choice.protocol->algorithm + " " + choice.protocol->protocol);
                expect_equal(found.phases(choice), expected.phases(choice));
                for (std::size_t i = 0; i < expected.phases(choice).size(); ++i) {
                    EXPECT_EQ(found.pattern(choice, i), expected.phases(choice)[i].pattern);
                }
                expect_equal(found_part.phases(choice), expected_part.phases(choice));
            }
            for (const double bytes : {1e3, 1e6, 1e9}) {
                EXPECT_EQ(found.choose(op, Bytes{bytes}), expected.choose(op, Bytes{bytes}));
            }
            if (testing::Test::HasFailure()) return;
        }
    }
}

class costs_pool : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(machines, costs_pool, testing::ValuesIn(machine_names()));

TEST_P(costs_pool, finds_what_groups_cost_one_by_one) {
    const Machine machine = Machine::load(GetParam());
    const std::uint32_t local = machine.info().accelerators_per_node, nodes = std::min(machine.info().nodes, 48U);
    for (const Routing routing : {Routing::minimal, Routing::ecmp, Routing::valiant, Routing::adaptive}) {
        for (const std::uint32_t tensor : {local, local > 1 && local % 2 == 0 ? local / 2 : 1}) {
            const std::uint32_t stages = nodes % 3 == 0 ? 3 : 2;
            SCOPED_TRACE(static_cast<int>(routing));
            expect_same_costs(machine, routing, {tensor, nodes / stages * local / tensor, stages});
        }
    }
}

// Boundaries inside one pod and between two; stages that begin at leaves, and that do not.
TEST(costs_pool, finds_what_groups_cost_across_pods) {
    const Machine machine = Machine::load("spectrum-x-h100");
    expect_same_costs(machine, Routing::valiant, {8, 2112, 2});
    expect_same_costs(machine, Routing::adaptive, {8, 96, 4});
}

}  // namespace
}  // namespace weft
