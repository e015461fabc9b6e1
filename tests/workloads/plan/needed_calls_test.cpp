#include "workloads/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "topologies/machine.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

// A plan whose default library has no costs for `lost`.
Plan without(Plan plan, Collective lost) {
    for (ProtocolCost& cost : plan.machine.libraries.front().costs) {
        std::vector<Collective> kept;
        std::ranges::copy_if(every_collective, std::back_inserter(kept),
                             [&](Collective op) { return cost.serves(op) && op != lost; });
        cost.ops = kept.empty() ? std::vector{Collective::send_receive} : kept;
    }
    return plan;
}

std::string refusal(const Plan& plan) {
    return test::refusal_of([&] { check_calls(plan); });
}

TEST(needed_calls, follow_from_layout_and_framework) {
    const auto ops = [](const std::vector<std::string>& overrides) {
        return collectives_of(make_plan(test::small_study(overrides)));
    };
    EXPECT_TRUE(ops({}).contains(Collective::all_reduce));
    EXPECT_FALSE(ops({}).contains(Collective::reduce_scatter));
    EXPECT_TRUE(ops({"sequence_parallel=true"}).contains(Collective::reduce_scatter));
    EXPECT_TRUE(ops({"sequence_parallel=true", "layout.expert=2", R"(model.experts={"count": 2, "top_k": 1})"})
                    .contains(Collective::all_to_all));
}

TEST(needed_calls, that_the_library_lacks_are_refused_by_name_with_what_could_stand_in) {
    const Study study = test::small_study();
    const Plan plan = make_plan(study);
    EXPECT_EQ(refusal(plan), "");
    EXPECT_EQ(refusal(without(plan, Collective::all_to_all)), "") << "which this job does not call";
    const Plan lacking = without(plan, Collective::all_reduce);
    const std::string text = refusal(lacking);
    for (const char* part :
         {"megatron calls all_reduce", "rccl on frontier has no costs", "\"costs\" in the machine",
          "\"algorithm\" collnet or halving_doubling or ", "\"library\": \"cray-mpich\", which has it"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
    EXPECT_THROW(simulate_step(study, lacking), ConfigError);
}

}  // namespace
}  // namespace weft
