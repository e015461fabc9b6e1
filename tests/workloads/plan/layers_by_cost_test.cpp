#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

// Layers of a state-space mixer and of attention by turns, one kind as long as the other is not.
std::vector<std::string> hybrid(const std::string& pattern, std::uint32_t stages) {
    return {
        R"(model={"layers": )" + std::to_string(pattern.size()) +
            R"(, "hidden": 1024, "heads": 16, "vocabulary": 50257, "biases": false, "layer_kinds": {"M": {"mixer": "mamba2",)"
            R"( "recurrence": {"heads": 16, "key_heads": 2, "key_size": 64, "value_size": 64}, "feed_forward": "none"},)"
            R"( "*": {"feed_forward": "none"}}, "layer_pattern": ")" +
            pattern + "\"}",
        "precision=bf16",
        "megatron.version=core-0.19",
        "layout.split=cost",
        "layout.tensor=1",
        "layout.data=4",
        "layout.pipeline=" + std::to_string(stages)};
}

// Of a way to deal layers: what its heaviest part takes, and the sum of squares over parts.
using Way = std::pair<std::int64_t, std::int64_t>;

// The best of all ways to deal layers from `begin` on, by trying them.
Way best_way(const std::vector<std::int64_t>& times, std::size_t begin, std::size_t parts, Way before = {}) {
    Way best{std::numeric_limits<std::int64_t>::max(), 0};
    std::int64_t own = 0;
    for (std::size_t end = begin + 1; end + parts - 1 <= times.size(); ++end) {
        own += times[end - 1];
        if (parts == 1 && end < times.size()) continue;
        const Way with{std::max(before.first, own), before.second + own * own};
        best = std::min(best, parts == 1 ? with : best_way(times, end, parts - 1, with));
    }
    return best;
}

RC_GTEST_PROP(layers_by_cost, are_dealt_as_the_best_of_all_ways, ()) {
    const auto layers = *rc::gen::inRange<std::size_t>(4, 11);
    const auto stages = *rc::gen::element<std::uint32_t>(2, 4);
    std::string pattern;
    for (std::size_t i = 0; i < layers; ++i) pattern += *rc::gen::element('M', '*');
    const Study study = test::small_study(hybrid(pattern, stages));
    PartCosts costs;
    costs.layers.resize(study.job.layer_places());
    for (LayerCosts& layer : costs.layers) {
        const auto time = [] { return Seconds{*rc::gen::inRange(1, 6) * 1e-3}; };  // many ways are equally good
        layer.pieces = {{.piece = Piece::core,
                         .module = "",
                         .forward = time(),
                         .input_backward = time(),
                         .weight_backward = time()}};
    }
    costs.embedding_forward = Seconds{*rc::gen::inRange(0, 10) * 1e-3};
    costs.head_forward = Seconds{*rc::gen::inRange(0, 30) * 1e-3};
    costs.head_weight_backward = Seconds{*rc::gen::inRange(0, 30) * 1e-3};
    const auto milliseconds = [](Seconds time) { return std::int64_t{std::llround(time.value * 1e3)}; };
    std::vector<std::int64_t> times;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        const PieceCost& piece = costs.layers[study.job.layer_place(layer)].pieces.front();
        times.push_back(milliseconds(piece.forward + piece.input_backward + piece.weight_backward));
    }
    times.front() += milliseconds(costs.embedding_forward);
    times.back() += milliseconds(costs.head_forward + costs.head_weight_backward);
    const std::vector<std::uint32_t> dealt = layers_by_cost(study.job, costs);
    RC_ASSERT(dealt.size() == stages);
    RC_ASSERT(std::accumulate(dealt.begin(), dealt.end(), 0U) == layers);
    Way way;
    for (std::size_t part = 0, begin = 0; part < stages; begin += dealt[part++]) {
        RC_ASSERT(dealt[part] > 0);
        const auto from = times.begin() + std::ptrdiff_t(begin);
        const std::int64_t own = std::accumulate(from, from + dealt[part], std::int64_t{0});
        way = {std::max(way.first, own), way.second + own * own};
    }
    RC_ASSERT(way == best_way(times, 0, stages));
}

TEST(layers_by_cost, layers_alike_are_dealt_alike) {
    const Plan plan = make_plan(test::small_study({"layout.split=cost", "model.layers=64", "megatron.version=core-0.14",
                                                   "model.vocabulary=128", "layout.pipeline=4"}));
    EXPECT_EQ(plan.job.layout.by_hand.layers, (std::vector<std::uint32_t>(4, 16)));
}

// What a plan decided is a job of its own, which comes to the same.
TEST(layers_by_cost, are_those_of_a_list) {
    const std::vector<std::string> settings = hybrid("MM*MMMMM*M**", 4);
    const Plan plan = make_plan(test::small_study(settings));
    ASSERT_EQ(plan.job.layout.split, StageSplit::by_hand);
    std::vector<std::string> listed = settings;
    std::string list;
    for (const std::uint32_t layers : plan.job.layout.by_hand.layers)
        list += (list.empty() ? "[" : ", ") + std::to_string(layers);
    listed.push_back("layout.split=" + list + "]");
    const Plan same = make_plan(test::small_study(listed));
    for (std::size_t stage = 0; stage < 4; ++stage)
        EXPECT_EQ(plan.stages[stage].memory.total(), same.stages[stage].memory.total());
}

TEST(layers_by_cost, are_refused_where_nobody_deals_them_so) {
    EXPECT_NE(
        test::mistake_at({"framework=deepspeed", "layout.split=cost"}, "layout.split").find("takes no layout by hand"),
        std::string::npos);
    EXPECT_NE(test::mistake_at({"megatron.version=core-0.14", "layout.split=cost", "model.layers=3"}, "layout.pipeline")
                  .find("too few"),
              std::string::npos);
}

}  // namespace
}  // namespace weft
