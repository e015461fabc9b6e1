// The candidates of a search, against nested loops; what is refused, against the job reader.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "tests/refusal.hpp"
#include "tests/workloads/candidates.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// What small_study() is, as a job file whose layout is open: 16 accelerators.
std::vector<std::string> open_layout(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"layout.tensor=1", "layout.pipeline=1", "layout.data=16", "nodes=2"});
    return more;
}

SearchSpace small_space(const std::vector<Among>& among, const std::vector<std::string>& more = {}) {
    return SearchSpace({test::small_study(open_layout(more), Purpose::equations)}, among);
}

std::uint32_t number_of(std::string_view key, std::string_view text) {
    for (const Knob& knob : search_knobs()) {
        if (knob.key == key) return knob.parse(text).value();
    }
    ADD_FAILURE() << key;
    return 0;
}

// (tensor, context, pipeline, data, micro, recompute, sequence parallel, zero)
using Tuple = std::array<std::uint32_t, 8>;

// Every way to share 16 ranks, and 32 sequences among data ranks in micro-batches of a power of two.
TEST(search_space, is_what_nested_loops_find) {
    const SearchSpace space =
        small_space({{"schedule", {number_of("schedule", "1f1b")}}, {"megatron.overlap_tensor", {0}}});
    std::vector<Tuple> found, expected;
    for (const Candidate& one : space.candidates()) {
        const auto at = [&](std::string_view key) { return test::chosen(space, one, key); };
        found.push_back({at("layout.tensor"), at("layout.context"), at("layout.pipeline"), at("layout.data"),
                         at("batch.micro"), at("recompute"), at("sequence_parallel"), at("zero")});
    }
    for (std::uint32_t tensor = 1; tensor <= 16; ++tensor) {
        for (std::uint32_t context = 1; context <= 16; ++context) {
            for (std::uint32_t pipeline = 1; pipeline <= 16; ++pipeline) {
                for (std::uint32_t data = 1; data <= 16; ++data) {
                    if (tensor * context * pipeline * data != 16) continue;
                    for (std::uint32_t micro = 1; micro <= 16; ++micro) {
                        if (32 % (data * micro) != 0) continue;
                        for (const std::uint32_t recompute : {0U, 2U}) {
                            for (std::uint32_t shared = 0; shared < (tensor > 1 ? 2U : 1U); ++shared) {
                                for (std::uint32_t zero = 0; zero < (data * context > 1 ? 4U : 1U); ++zero) {
                                    expected.push_back(
                                        {tensor, context, pipeline, data, micro, recompute, shared, zero});
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
}

TEST(search_space, tries_every_registered_schedule_and_dealing) {
    const SearchSpace space = small_space({{"layout.pipeline", {4}}, {"layout.tensor", {1}}, {"zero", {0}}});
    std::vector<std::uint32_t> schedules, interleaved;
    for (const Candidate& one : space.candidates()) {
        schedules.push_back(test::chosen(space, one, "schedule"));
        if (schedules.back() == number_of("schedule", "interleaved")) {
            interleaved.push_back(test::chosen(space, one, "layout.virtual_stages"));
        }
    }
    for (std::uint32_t i = 0; i < schedule_keys().size(); ++i) EXPECT_THAT(schedules, Contains(i));
    std::ranges::sort(interleaved);
    interleaved.erase(std::unique(interleaved.begin(), interleaved.end()), interleaved.end());
    EXPECT_THAT(interleaved, ElementsAre(2)) << "8 layers on 4 stages";
}

// 14 layers: Megatron deals them evenly to 1 or 2 stages, as embedding and output layer are two more, to 4, 8 or 16.
TEST(search_space, deals_layers_otherwise_only_where_the_framework_cannot) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> plain, interleaved;
    const SearchSpace space = small_space({{"layout.tensor", {1}}}, {"model.layers=14"});
    for (const Candidate& one : space.candidates()) {
        const std::pair dealt{test::chosen(space, one, "layout.pipeline"), test::chosen(space, one, "layout.split")};
        if (test::chosen(space, one, "schedule") == number_of("schedule", "1f1b")) plain.insert(dealt);
        if (test::chosen(space, one, "schedule") == number_of("schedule", "interleaved")) interleaved.insert(dealt);
        if (space.study(one).job.schedule->key == "1f1b") {
            std::string why;
            EXPECT_FALSE(space.study(one).job.part_layers(why).empty()) << why;
        }
    }
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    const std::uint32_t ends = number_of("layout.split", "ends");
    EXPECT_THAT(plain, ElementsAre(Pair{1, 0}, Pair{2, 0}, Pair{4, ends}, Pair{8, ends}, Pair{16, ends}));
    EXPECT_THAT(interleaved, ElementsAre(Pair{2, 0}, Pair{4, ends}, Pair{8, 0}, Pair{16, 0}));
}

TEST(search_space, tries_selective_recomputation_where_scores_are_kept) {
    const auto recomputations = [](const std::string& attention) {
        std::set<std::uint32_t> found;
        const SearchSpace space = small_space({}, {"attention=" + attention});
        for (const Candidate& one : space.candidates()) found.insert(test::chosen(space, one, "recompute"));
        return found;
    };
    EXPECT_THAT(recomputations("unfused"), ElementsAre(0, 1, 2));
    EXPECT_THAT(recomputations("flash"), ElementsAre(0, 2));
}

// A fixed axis makes room: nothing is tried that could not be had with it.
TEST(search_space, leaves_ranks_to_what_is_fixed) {
    const SearchSpace space = small_space({{"layout.pipeline", {8}}});
    const auto candidates = space.candidates();
    ASSERT_FALSE(candidates.empty());
    for (const Candidate& one : candidates) EXPECT_EQ(space.study(one).job.layout.ranks(), 16);
}

TEST(search_space, takes_what_is_given_as_it_is) {
    const SearchSpace space = small_space({{"layout.tensor", {3}}, {"layout.context", {1}}, {"layout.pipeline", {1}}});
    for (const Candidate& one : space.candidates()) EXPECT_EQ(test::chosen(space, one, "layout.data"), 5);
}

TEST(search_space, deals_experts_where_there_are_some) {
    const SearchSpace space = small_space({{"layout.tensor", {2}}, {"layout.pipeline", {1}}},
                                          {"model.experts.count=4", "layout.expert_tensor=1"});
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (const Candidate& one : space.candidates()) {
        found.emplace_back(test::chosen(space, one, "layout.expert"), test::chosen(space, one, "layout.expert_tensor"));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    EXPECT_THAT(found, ElementsAre(Pair{1, 1}, Pair{1, 2}, Pair{2, 1}, Pair{2, 2}, Pair{4, 1}, Pair{4, 2}));
}

TEST(search_space, refuses_keys_that_no_knob_has) { EXPECT_THROW(small_space({{"layout.tensors", {1}}}), LogicError); }

std::string refusal(const std::vector<std::string>& assignments) {
    return test::refusal_of([&] { test::small_study(assignments); });
}

// A candidate is refused exactly if a job file that says the same is, and gives the same job if not.
RC_GTEST_PROP(search_space_property, agrees_with_the_job_reader, ()) {
    const auto framework = *rc::gen::elementOf(std::vector<std::string>{"megatron", "deepspeed", "fsdp", "ddp"});
    std::vector<std::string> more{"framework=" + framework};
    if (*rc::gen::arbitrary<bool>()) more.push_back("model.experts.count=4");
    if (framework == "deepspeed") more.emplace_back("context_method=all_to_all");
    std::vector<Among> among;
    if (*rc::gen::arbitrary<bool>()) among.push_back({"layout.tensor", {1, 2, 3, 32}});
    std::vector<std::string> base = open_layout(more);
    const SearchSpace space({test::small_study(base, Purpose::equations)}, among);
    const auto candidates = space.candidates();
    for (int tries = 0; tries < 12; ++tries) {
        const Candidate& one = *rc::gen::elementOf(candidates);
        const Study study = space.study(one);
        std::vector<std::string> assignments = base;
        for (const std::string& own : space.assignments(one)) assignments.push_back(own);
        const bool possible = check_job(study.job, study.machine.info()).empty();
        const std::string why = refusal(assignments);
        RC_ASSERT(possible == why.empty());
        if (!possible) continue;
        const Study read = test::small_study(assignments);
        const Plan mine = make_plan(study), theirs = make_plan(read);
        RC_ASSERT(axes(mine.job.layout) == axes(theirs.job.layout));
        RC_ASSERT(mine.job.layout.shard_ranks == theirs.job.layout.shard_ranks);
        RC_ASSERT(mine.job.layout.expert_tensor == theirs.job.layout.expert_tensor);
        RC_ASSERT(mine.job.gradient_overlap == theirs.job.gradient_overlap);
        for (std::size_t s = 0; s < mine.stages.size(); ++s) {
            RC_ASSERT(mine.stages[s].memory.total() == theirs.stages[s].memory.total());
            RC_ASSERT(mine.stages[s].optimizer == theirs.stages[s].optimizer);
        }
    }
}

// Which is told, whether all of them are asked for or the first.
TEST(objections, begin_with_the_first) {
    const SearchSpace space = small_space({});
    std::size_t several = 0;
    for (const Candidate& one : space.candidates()) {
        const Study study = space.study(one);
        const auto all = objections(study.job, space.machine(), Searched::runnable);
        const auto first = objections(study.job, space.machine(), Searched::runnable, Mistakes::first);
        ASSERT_EQ(all.empty(), first.empty());
        if (all.empty()) continue;
        several += all.size() > 1 ? 1 : 0;
        EXPECT_EQ(all.front().key, first.front().key);
        EXPECT_EQ(all.front().message, first.front().message);
    }
    EXPECT_GT(several, 0U);
}

}  // namespace
}  // namespace weft
