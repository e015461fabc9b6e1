// Gradient buckets against the plans of the frameworks' own code.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/csv.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan.hpp"

namespace weft {
namespace {

std::vector<double> byte_list(const std::string& text) {  // "412090368 201433088x24"
    std::vector<double> bytes;
    std::istringstream stream(text);
    for (std::string item; stream >> item;) {
        const std::size_t times = item.find('x');
        const std::size_t repeat = times == std::string::npos ? 1 : std::stoul(item.substr(times + 1));
        bytes.insert(bytes.end(), repeat, std::stod(item.substr(0, times)));
    }
    return bytes;
}

std::string catalog_name(const std::string& model) {
    std::string name = "gpt-neox-" + model;
    name.back() = static_cast<char>(std::tolower(name.back()));
    return name;
}

Plan plan_of(const std::string& model, std::vector<std::string> settings) {
    settings.insert(settings.begin(), {"model=" + catalog_name(model), "layout.tensor=1", "layout.pipeline=1",
                                       "layout.data=16", "batch.global=16"});
    return make_plan(test::small_study(settings));
}

std::vector<double> message_bytes(const Plan& plan) {
    std::vector<double> bytes;
    for (const Bucket& bucket : plan.stages.front().buckets) {
        bytes.push_back(plan.job.framework->reduce_bucket(plan.job, bucket.elements).message.value);
    }
    return bytes;
}

void compare(const std::string& scheme, const std::vector<std::string>& settings, const std::string& setting_20b) {
    int compared = 0;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/bucket_plans.csv")) {
        if (row.at("scheme").find(scheme) == std::string::npos) continue;
        std::vector<std::string> own = settings;
        if (row.at("model") == "20B") own.push_back(setting_20b);
        EXPECT_EQ(message_bytes(plan_of(row.at("model"), own)), byte_list(row.at("bytes_per_call(compressed list)")))
            << row.at("model") << ", " << scheme;
        ++compared;
    }
    EXPECT_GE(compared, 4);
}

TEST(buckets, deepspeed_stage_0_flushes_in_forward_order_past_the_limit) {
    compare("deepspeed stage0", {"framework=deepspeed", "zero=0"}, "bucket_elements=5e8");
}

TEST(buckets, deepspeed_zero_1_reduces_in_backward_order_before_the_limit) {
    compare("deepspeed ZeRO IPG", {"framework=deepspeed", "zero=1"}, "bucket_elements=1.26e9");
}

TEST(buckets, megatron_closes_a_bucket_of_fp32_gradients_once_full) {
    compare("megatron-core DDP", {"framework=megatron", "precision=bf16", "overlap_gradients=true"}, "zero=0");
}

TEST(buckets, hold_every_gradient_once_on_every_stage) {
    for (const char* framework : {"deepspeed", "megatron"}) {
        const Plan plan =
            make_plan(test::small_study({std::string("framework=") + framework, "bucket_elements=3e6", "zero=1"}));
        for (const Stage& stage : plan.stages) {
            double sum = 0;
            for (const Bucket& bucket : stage.buckets) sum += bucket.elements;
            EXPECT_EQ(sum, stage.parameters()) << framework;
        }
    }
}

}  // namespace
}  // namespace weft
