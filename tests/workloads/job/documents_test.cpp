// Documents packed into sequences: the pairs that their attention has, on whom, and what a step makes of it.
#include "workloads/job/documents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

const AttentionWindow everything;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Token by token: who has the query, and how many keys of its document it meets.
std::vector<double> naive_pairs(const std::vector<int>& documents, int tokens, int context, DocumentCut cut,
                                int window) {
    std::vector<double> pairs(static_cast<std::size_t>(context));
    int token = 0;
    for (const int length : documents) {
        for (int place = 0; place < length; ++place, ++token) {
            const int whole = cut == DocumentCut::document ? length : tokens;
            const int at = cut == DocumentCut::document ? place : token;
            const int piece = at * 2 * context / whole;
            const int rank = cut == DocumentCut::contiguous ? piece / 2 : std::min(piece, 2 * context - 1 - piece);
            pairs[static_cast<std::size_t>(rank)] += 2 * (window > 0 ? std::min(place + 1, window) : place + 1) - 1;
        }
    }
    return pairs;
}

TEST(documents, pairs_are_those_counted_token_by_token) {
    const std::vector<int> documents{64, 8, 136, 16, 32};
    const std::vector<double> lengths(documents.begin(), documents.end());
    for (const int context : {1, 2, 4}) {
        for (const DocumentCut cut : {DocumentCut::document, DocumentCut::sequence, DocumentCut::contiguous}) {
            EXPECT_EQ(pairs_of_ranks(lengths, 256, static_cast<std::uint32_t>(context), cut, everything),
                      naive_pairs(documents, 256, context, cut, 0))
                << context << " ranks, cut " << int(cut);
        }
    }
    // In a window the twin differs by the diagonal, of which pairs in full have one and a window's share more.
    const auto windowed = pairs_of_ranks(lengths, 256, 4, DocumentCut::sequence, {.tokens = 32});
    const auto counted = naive_pairs(documents, 256, 4, DocumentCut::sequence, 32);
    for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(windowed[rank] / counted[rank], 1.0, 1.0 / 32);
}

// Causal attention of one document: the last of c contiguous pieces has c^2 - (c - 1)^2 of c^2 pairs.
TEST(documents, contiguous_pieces_leave_the_last_rank_nearly_twice_the_mean) {
    for (const std::uint32_t context : {2U, 8U, 64U}) {
        const auto contiguous = pairs_of_ranks({8192}, 8192, context, DocumentCut::contiguous, everything);
        EXPECT_DOUBLE_EQ(contiguous.back() / sum(contiguous) * context, 2.0 - 1.0 / context);
        const auto early_and_late = pairs_of_ranks({8192}, 8192, context, DocumentCut::sequence, everything);
        EXPECT_DOUBLE_EQ(std::ranges::max(early_and_late), std::ranges::min(early_and_late));
    }
}

// E[(2 / E[l]) (S l a - (S + l) a^2 / 2 + a^3 / 3)], a = min(l, S).
double expected_pairs(const std::vector<double>& lengths, const std::vector<double>& shares, double s) {
    double pairs = 0, mean = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const double l = lengths[i], a = std::min(l, s);
        pairs += 2 * shares[i] * (s * l * a - (s + l) * a * a / 2 + a * a * a / 3);
        mean += shares[i] * l;
    }
    return pairs / mean;
}

double mean_drawn_pairs(const Documents& documents, double s, std::uint64_t sequences) {
    double pairs = 0;
    for (std::uint64_t i = 0; i < sequences; ++i) {
        const std::vector<double> drawn = drawn_documents(documents, s, i);
        EXPECT_NEAR(sum(drawn), s, 1e-6);
        pairs += std::inner_product(drawn.begin(), drawn.end(), drawn.begin(), 0.0);
    }
    return pairs / static_cast<double>(sequences);
}

TEST(documents, drawn_sequences_have_the_pairs_that_the_closed_form_expects) {
    Documents histogram;
    histogram.lengths = {200, 1500, 20000};  // the last ones are longer than the sequence
    histogram.shares = {6, 3, 0.5};
    EXPECT_NEAR(mean_drawn_pairs(histogram, 8192, 20000) / expected_pairs(histogram.lengths, histogram.shares, 8192),
                1.0, 0.01);

    Documents normal;
    normal.mean = 1200;
    normal.sigma = 1.1;
    std::vector<double> lengths, shares;
    for (double z = -8; z <= 8; z += 0.01) {
        lengths.push_back(normal.mean * std::exp(normal.sigma * z - normal.sigma * normal.sigma / 2));
        shares.push_back(std::exp(-z * z / 2));
    }
    EXPECT_NEAR(mean_drawn_pairs(normal, 8192, 20000) / expected_pairs(lengths, shares, 8192), 1.0, 0.01);
}

Study packed(std::vector<std::string> more) {
    more.insert(more.begin(), {"batch.sequence=4096", "attention=flash",
                               R"(batch.documents={"lengths": [256, 3000], "shares": [5, 1], "seed": 3})"});
    return test::small_study(more);
}

// By hand for one micro-batch a rank: the slowest is the one with the most pairs.
TEST(documents, the_slowest_data_rank_decides) {
    const Study study = packed({"layout.tensor=1", "layout.pipeline=1", "layout.data=8", "batch.global=8"});
    std::vector<double> pairs;
    for (std::uint64_t rank = 0; rank < 8; ++rank) {
        const auto drawn = drawn_documents(study.job.batch.documents, 4096, rank);
        pairs.push_back(std::inner_product(drawn.begin(), drawn.end(), drawn.begin(), 0.0));
    }
    EXPECT_DOUBLE_EQ(study.job.packing.share, sum(pairs) / 8 / 4096 / 4096);
    EXPECT_DOUBLE_EQ(study.job.packing.slowest, std::ranges::max(pairs) / sum(pairs) * 8);
}

// Stages that take the time of a micro-batch's attention each, one micro-batch after another.
TEST(documents, a_long_micro_batch_holds_up_a_pipeline) {
    const Study study = packed({"layout.tensor=1", "layout.pipeline=4", "layout.data=1", "batch.global=6"});
    std::vector<double> over(4);  // when each stage is free
    double all = 0;
    for (std::uint64_t micro_batch = 0; micro_batch < 6; ++micro_batch) {
        const auto drawn = drawn_documents(study.job.batch.documents, 4096, micro_batch);
        const double pairs = std::inner_product(drawn.begin(), drawn.end(), drawn.begin(), 0.0);
        double before = 0;
        for (double& stage : over) before = stage = std::max(stage, before) + pairs;
        all += pairs;
    }
    EXPECT_DOUBLE_EQ(study.job.packing.slowest, over.back() / (6 + 4 - 1) / (all / 6));
}

// Over many micro-batches ranks come closer to one another, unless they meet in each.
TEST(documents, ranks_that_gather_parameters_wait_in_every_pass) {
    const auto slowest = [](std::vector<std::string> more) {
        more.insert(more.end(), {"layout.tensor=1", "layout.pipeline=1", "layout.data=8", "batch.global=128"});
        return packed(more).job.packing.slowest;
    };
    const double apart = slowest({"framework=deepspeed", "zero=1"}),
                 together = slowest({"framework=deepspeed", "zero=3"});
    EXPECT_GT(apart, 1.0);
    EXPECT_GT(together, 1.5 * (apart - 1.0) + 1.0);
    EXPECT_EQ(slowest({"framework=fsdp"}), together);
}

TEST(documents, cuts_of_frameworks) {
    const auto slowest = [](std::vector<std::string> more) {
        more.insert(more.end(),
                    {"layout.tensor=1", "layout.pipeline=1", "layout.data=1", "layout.context=8", "batch.global=1"});
        return packed(more).job.packing.slowest;
    };
    EXPECT_DOUBLE_EQ(slowest({}), 1.0) << "Transformer Engine cuts each document";
    const double torch = slowest({"framework=fsdp", "fsdp.version=2"});
    EXPECT_GT(torch, 1.2) << "PyTorch cuts the sequence";
    EXPECT_EQ(slowest({"batch.documents.cut=sequence"}), torch);
    EXPECT_GT(slowest({"batch.documents.cut=contiguous"}), 1.2);
    EXPECT_DOUBLE_EQ(slowest({"batch.documents.cut=contiguous", "context_method=all_to_all"}), 1.0)
        << "heads are divided";
}

TEST(documents, kernels_do_the_pairs_and_last_as_long_as_the_slowest) {
    const auto core = [](const Study& study) { return make_plan(study).costs.layer(LayerKind::dense).pieces[2]; };
    Study drawn = packed({}), even = drawn;
    even.job.packing.slowest = 1.0;
    const Study whole = test::small_study({"batch.sequence=4096", "attention=flash"});
    EXPECT_GT(drawn.job.packing.slowest, 1.1);
    EXPECT_GT(core(drawn).forward.value, core(even).forward.value);
    EXPECT_LT(core(drawn).forward.value, core(whole).forward.value);
    EXPECT_EQ(make_plan(drawn).hardware_flops.value, make_plan(even).hardware_flops.value);
    EXPECT_THAT(planned_report(make_plan(drawn), NetworkKind::flow).batch, HasSubstr("attention of the slowest rank"));
}

// Documents that are all as long as the sequence, or a whole part of it, without a random place to begin.
TEST(documents, equal_documents_are_what_one_number_says) {
    const Study study = test::small_study({"batch.sequence=4096", "batch.document=1024"});
    EXPECT_EQ(study.job.packing.share, 0.25);
    EXPECT_EQ(study.job.packing.slowest, 1.0);
}

TEST(documents, mistakes_are_told) {
    const auto mistakes = [](const char* documents) {
        return test::mistakes(std::string("batch.documents=") + documents);
    };
    EXPECT_THAT(mistakes(R"({"lengths": [100, 200], "shares": [1]})"), HasSubstr("as many as there are lengths, 2"));
    EXPECT_THAT(mistakes(R"({"lengths": [0], "shares": [1]})"), HasSubstr("at least 1"));
    EXPECT_THAT(mistakes(R"({"lengths": [5], "shares": [1], "mean": 5})"), HasSubstr("give either this or lengths"));
    EXPECT_THAT(mistakes(R"({"mean": 0.5})"), HasSubstr("at least 1"));
    EXPECT_THAT(mistakes(R"({"mean": 500, "cut": "half"})"), HasSubstr("contiguous"));
    EXPECT_THAT(
        test::mistakes(R"(batch={"global": 32, "sequence": 1024, "document": 512, "documents": {"mean": 500}})"),
        HasSubstr("give either"));
    EXPECT_THAT(test::mistakes(R"(batch={"global": 3000000, "sequence": 1024, "documents": {"mean": 2}})"),
                HasSubstr("are drawn"));
}

}  // namespace
}  // namespace weft
