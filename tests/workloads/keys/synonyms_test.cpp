// Words of other tools in a job are answered with the key that is meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/transformer/transformer.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string answer(const std::string& key, const std::string& meant) {
    return key + ": unknown key, did you mean \"" + meant + "\"?";
}

TEST(job_synonyms, stand_for_keys_that_a_job_has) {
    for (const Synonym& synonym : job_synonyms()) {
        const std::string word(synonym.word), key(synonym.key);
        EXPECT_THAT(test::mistakes(word + "=8"), HasSubstr(answer(word, key)));
        EXPECT_THAT(test::mistakes(key + "=[]"), Not(HasSubstr("unknown key"))) << key;
    }
}

TEST(job_synonyms, are_understood_wherever_they_are_written) {
    EXPECT_THAT(test::mistakes("layout.tp=8"), HasSubstr(answer("layout.tp", "layout.tensor")));
    EXPECT_THAT(test::mistakes("batch.global_batch_size=8"),
                HasSubstr(answer("batch.global_batch_size", "batch.global")));
    EXPECT_THAT(test::mistakes("tensor-model-parallel-size=8"),
                HasSubstr(answer("tensor-model-parallel-size", "layout.tensor")));
    EXPECT_THAT(test::mistakes("TP=8"), HasSubstr(answer("TP", "layout.tensor")));
    EXPECT_THAT(test::mistakes("num_layers=8"), HasSubstr(answer("num_layers", "model.layers")));
    EXPECT_THAT(test::mistakes("model.num_attention_heads=8"),
                HasSubstr(answer("model.num_attention_heads", "model.heads")));
}

TEST(job_synonyms, leave_mistyped_keys_to_their_nearest) {
    EXPECT_THAT(test::mistakes("layout.pipline=8"),
                HasSubstr("layout.pipline: unknown key, did you mean \"pipeline\"?"));
    EXPECT_EQ(key_meant("", job_synonyms()), "");
    EXPECT_EQ(key_meant("--", job_synonyms()), "");
    EXPECT_EQ(key_meant("--tp", job_synonyms()), "layout.tensor");
}

}  // namespace
}  // namespace weft
