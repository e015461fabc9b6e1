// What every registered parallelism scheme must obey: a new one is tested without touching this file.
#include "workloads/parallelism/scheme.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/search/plan_result.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

class every_scheme : public testing::TestWithParam<const Scheme*> {
  protected:
    const Scheme& scheme_ = *GetParam();
    const bool shared_ = scheme_.ranks == Scheme::Ranks::shared;

    // A job of 4 data ranks with so many along the scheme's axis.
    std::vector<std::string> settings(std::uint32_t ranks) const {
        std::vector<std::string> all{"layout.tensor=1", "layout.pipeline=1", "layout.data=4", "layout.expert_tensor=1"};
        if (shared_) all.push_back("model.experts.count=4");
        all.push_back(fmt::format("layout.{}={}", scheme_.axis, ranks));
        return all;
    }
    Study study(std::uint32_t ranks) const { return test::small_study(settings(ranks)); }
    double parameters(std::uint32_t ranks) const { return make_plan(study(ranks)).stages.front().parameters(); }
    // Data ranks meet those of all axes that hold copies, stages at boundaries.
    bool has_group() const { return scheme_.ranks != Scheme::Ranks::rest && scheme_.axis != "pipeline"; }
    RankGroups group() const { return {scheme_.axis}; }
};
INSTANTIATE_TEST_SUITE_P(registered, every_scheme,
                         testing::ValuesIn(parallelism::all().begin(), parallelism::all().end()),
                         [](const auto& test) { return std::string(test.param->axis); });

TEST_P(every_scheme, is_an_axis_of_the_job_file_and_of_the_search) {
    EXPECT_EQ(study(2).job.layout.size(scheme_.axis), 2U);
    const std::vector<Knob> knobs = search_knobs();
    EXPECT_NE(std::ranges::find(knobs, fmt::format("layout.{}", scheme_.axis), &Knob::key), knobs.end());
    const std::vector<std::string> order = usual_order();
    EXPECT_EQ(std::ranges::count(order, scheme_.axis), shared_ ? 0 : 1);
}

TEST_P(every_scheme, runs_jobs_that_add_up) {
    for (const char* const context : {"layout.context=1", "layout.context=2"}) {
        std::vector<std::string> both = settings(2);
        if (scheme_.axis != "context") both.push_back(context);
        EXPECT_EQ(test::unsoundness(test::small_study(both)), "") << context;
        EXPECT_EQ(test::unsoundness(test::small_study(both), Folding::none), "") << context;
    }
}

TEST_P(every_scheme, multiplies_the_ranks_or_is_cut_out_of_them) {
    const std::uint32_t one = study(1).job.layout.ranks(), two = study(2).job.layout.ranks();
    EXPECT_EQ(two, shared_ ? one : 2 * one);
}

// Gradients are summed over ranks with the same parameters, and over no others.
TEST_P(every_scheme, holds_what_it_says) {
    const double whole = parameters(1), share = parameters(2);
    const Layout one = study(1).job.layout, two = study(2).job.layout;
    const auto data = [](const Layout& layout) { return group_size(copy_axes(), layout, RankId{0}); };
    const auto model = [](const Layout& layout) { return group_size(part_axes(), layout, RankId{0}); };
    const bool copies = scheme_.holds == Scheme::Holds::copies;
    EXPECT_EQ(data(two), copies ? 2 * data(one) : data(one));
    EXPECT_EQ(model(two), copies || shared_ ? model(one) : 2 * model(one));
    if (copies) {
        EXPECT_EQ(share, whole);
    } else {
        EXPECT_LT(share, 0.8 * whole);
    }
}

// What a layer computes is divided by the ranks that share it, and by no more.
TEST_P(every_scheme, divides_the_work_of_a_layer_without_loss) {
    const auto flops = [&](std::uint32_t ranks) {
        const Job job = study(ranks).job;
        const LayerKind kind = shared_ ? LayerKind::expert : LayerKind::dense;
        double sum = 0;
        for (const LayerPiece& piece : layer_pieces(job.model, kind, job.shard())) {
            for (const Kernel& kernel : piece.forward) sum += kernel.flops.value;
        }
        return sum * job.layout.ranks_of_stage() / job.layout.data;
    };
    EXPECT_NEAR(flops(2), flops(1), 1e-9 * flops(1));
}

TEST_P(every_scheme, has_groups_that_hold_every_rank_once) {
    if (!has_group()) return;
    const Layout layout = study(2).job.layout;
    std::multiset<RankId> seen;
    for (RankId rank{}; index(rank) < layout.ranks(); rank = next(rank)) {
        const std::vector<RankId> members = PlacedGroups(group(), layout).members(rank);
        EXPECT_EQ(members.size(), 2U);
        if (members.front() == rank) seen.insert(members.begin(), members.end());
    }
    EXPECT_EQ(seen.size(), layout.ranks());
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), layout.ranks());
}

TEST_P(every_scheme, communicates_in_its_groups_when_they_have_members) {
    if (!has_group()) return;
    const auto volume = [&](std::uint32_t ranks) {
        double sum = 0;
        for (const VolumeRow& row : framework_volume(make_plan(study(ranks)), RankId{0}).rows) {
            if (row.dimension == scheme_.axis) sum += row.volume.value;
        }
        return sum;
    };
    EXPECT_EQ(volume(1), 0);
    EXPECT_GT(volume(2), 0);
}

TEST_P(every_scheme, refuses_what_does_not_divide_with_the_number) {
    if (scheme_.check == nullptr) return;
    try {
        test::small_study(settings(7));
        ADD_FAILURE() << "7 ranks share what they cannot";
    } catch (const ConfigError& error) {
        const std::vector<Diagnostic>& all = error.diagnostics();
        EXPECT_TRUE(std::ranges::any_of(all, [](const Diagnostic& one) {
            return one.message.find('7') != one.message.npos;
        })) << error.what();
    }
}

}  // namespace
}  // namespace weft
