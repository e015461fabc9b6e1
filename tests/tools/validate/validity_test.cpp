// What measured runs say of an answer: which of them are nearest, and what they do not share with the job.
#include "tools/validate/scorecard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/algorithm/string/replace.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/output/report_text.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view record =
    "# a comment\n"
    "set,answer,device,framework,model,layers,precision,sharding,context,ranks,errors\n"
    "near,step time,h100,megatron,dense,long layers,16 bit,nothing sharded,short context,16,-10.0 30.0\n"
    "far,step time,h100,megatron,dense,long layers,16 bit,nothing sharded,short context,1024,-5.0\n"
    "eighth,step time,h100,megatron,dense,long layers,8 bit,nothing sharded,short context,16,50.0\n"
    "sizes,memory,h100,deepspeed,dense,long layers,16 bit,nothing sharded,short context,16,2.0\n";

JobTraits job(double ranks, const char* framework = "megatron", const char* model = "dense") {
    return {.values = {"h100", framework, model, "long layers", "16 bit", "nothing sharded", "short context"},
            .ranks = ranks};
}

// Ranks of 8 to 64 are within a factor of 4 of 16 or 32.
TEST(validity, counts_the_runs_that_share_every_trait) {
    const Evidence found = validity_of(job(32), record).step_time;
    EXPECT_TRUE(found.is_of_the_kind());
    EXPECT_THAT(found.sets, ElementsAre("near"));
    EXPECT_EQ(found.errors.rows, 2U);
    EXPECT_DOUBLE_EQ(found.errors.mean, 0.2);
    EXPECT_DOUBLE_EQ(found.errors.bias, 0.1);
    EXPECT_THAT(validity_of(job(4096), record).step_time.sets, ElementsAre("far"));
}

TEST(validity, says_that_no_run_is_of_this_scale) {
    const Validity validity = validity_of(job(100'000), record);
    EXPECT_FALSE(validity.step_time.is_of_the_kind());
    EXPECT_THAT(validity.step_time.unlike, ElementsAre("scale"));
    EXPECT_EQ(validity.step_time.errors.rows, 3U) << "all of them, as none is nearer in kind";
    EXPECT_THAT(validity_text(validity),
                HasSubstr("step time  not validated for 100,000 ranks; nearest: 3 of far, near, 16 to 1,024 ranks: "
                          "mean error 15.0 %"));
}

TEST(validity, prefers_runs_that_share_the_traits_that_matter_most) {
    const Validity validity = validity_of(job(16, "fsdp", "experts"), record);
    EXPECT_THAT(validity.step_time.unlike, ElementsAre("framework", "model"));
    EXPECT_THAT(validity.step_time.sets, ElementsAre("near"));
    EXPECT_THAT(validity_text(validity), HasSubstr("memory     not validated for fsdp, experts; nearest: 1 of sizes"));
}

// Of a shipped set its cause, and of one that says none that nobody knows.
TEST(validity, says_why_where_errors_are_large) {
    const std::string told = "gpt-oss-bridge: " + load_validation_set("gpt-oss-bridge").cause + "\n";
    std::string other(record);
    boost::replace_all(other, "far,", "gpt-oss-bridge,");
    boost::replace_all(other, ",-5.0", ",-11.0");
    EXPECT_THAT(validity_text(validity_of(job(1024), other)), HasSubstr("bias -11.0 %\n             " + told));
    EXPECT_THAT(validity_text(validity_of(job(16), record)), HasSubstr("\n             near: why is not known\n"));
    EXPECT_THAT(validity_text(validity_of(job(1024), record)), testing::Not(HasSubstr("why")));
    EXPECT_THAT(evidence_json(validity_of(job(16), record).step_time).at("causes").at("near"), Json());
}

TEST(validity, has_nothing_to_say_of_a_device_without_runs) {
    JobTraits other = job(16);
    other.values[0] = "abacus";
    const Validity validity = validity_of(other, record);
    EXPECT_EQ(validity.step_time.errors.rows, 0U);
    EXPECT_FALSE(validity.step_time.is_of_the_kind());
    EXPECT_THAT(validity_text(validity), HasSubstr("step time  not validated: not measured on abacus\n"));
}

JobTraits traits(const std::string& keys) {
    const std::string text = R"({"machine": "dgx-a100", "model": "gpt3-125m", "batch": {"global": 64})" + keys + "}";
    return job_traits(make_plan(read_study(Document::parse("job.json", text))));
}

TEST(job_traits, follow_from_the_plan) {
    const JobTraits plain = traits(R"(, "framework": "megatron", "layout": {"data": 8}, "precision": "fp16")");
    EXPECT_THAT(plain.values, ElementsAre("a100-80", "megatron", "dense", "layers at the host's pace", "16 bit",
                                          "nothing sharded", "short context"));
    EXPECT_EQ(plain.ranks, 8);
    const JobTraits zero3 = traits(R"(, "framework": "deepspeed", "layout": {"data": 16}, "nodes": 2, "zero": 3)");
    EXPECT_THAT(zero3.values,
                ElementsAre("a100-80", "deepspeed", "dense", testing::_, "16 bit", "parameters sharded", testing::_));
    EXPECT_EQ(zero3.ranks, 16);
    const JobTraits split = traits(R"(, "framework": "megatron", "layout": {"data": 4, "context": 2}, "zero": 1)");
    EXPECT_EQ(split.values[5], "optimizer sharded");
    EXPECT_EQ(split.values[6], "long or split context");
    EXPECT_EQ(traits(R"(, "precision": "fp32")").values[4], "32 bit");
}

// A set of two rows and what came out: 10 % too slow, and a rate 20 % too low, which is a time 25 % too long.
TEST(error_record, is_read_as_it_was_written) {
    ValidationSet set;
    set.name = "runs";
    set.rows.resize(3);
    set.rows[2].use = RowUse::fit;
    const auto row = [](std::size_t place, const char* quantity, double predicted) {
        return ValidatedRow{.row = place, .quantity = quantity, .measured = 1, .predicted = predicted, .job = job(16)};
    };
    const std::vector<ValidatedRow> rows{row(0, "step_s", 1.1), row(1, "model_tflops", 0.8), row(2, "step_s", 9),
                                         row(0, "layer_forward_s", 5), row(1, "peak_bytes", 1.02)};
    const Validity validity = validity_of(job(16), error_record({&set, 1}, rows));
    EXPECT_EQ(validity.step_time.errors.rows, 2U) << "neither fitted rows nor parts of a step";
    EXPECT_NEAR(validity.step_time.errors.bias, (0.1 + 0.25) / 2, 1e-9);
    EXPECT_NEAR(validity.memory.errors.mean, 0.02, 1e-9);
}

}  // namespace
}  // namespace weft
