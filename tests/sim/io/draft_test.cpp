#include "sim/io/draft.hpp"

#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

Draft job() {
    Draft draft;
    draft.set("framework", "megatron", {.file = "runs/train.sh", .line = 3, .key = "--use-mcore-models"});
    draft.object("layout").set("tensor", 8,
                               {.file = "runs/train.sh", .line = 12, .key = "--tensor-model-parallel-size"});
    draft.set("sequence_parallel", true, {});
    return draft;
}

TEST(draft, says_where_each_value_came_from) {
    EXPECT_EQ(job().text(),
              "{\n"
              "    \"framework\": \"megatron\",   // train.sh:3 --use-mcore-models\n"
              "    \"layout\": {\n"
              "        \"tensor\": 8            // train.sh:12 --tensor-model-parallel-size\n"
              "    },\n"
              "    \"sequence_parallel\": true\n"
              "}\n");
    EXPECT_EQ(job().json(), R"({"framework":"megatron","layout":{"tensor":8},"sequence_parallel":true})");
}

TEST(draft, a_value_given_again_takes_the_place_of_the_first) {
    Draft draft = job();
    draft.set("framework", "fsdp", {});
    draft.object("layout").set("tensor", 4, {});
    draft.erase("sequence_parallel");
    EXPECT_EQ(draft.json(), R"({"framework":"fsdp","layout":{"tensor":4}})");
}

TEST(draft, mistakes_are_told_where_the_value_came_from) {
    Document document = job().document("job");
    document.root().object("layout").error("tensor", "does not divide 12 heads");
    try {
        document.check();
        FAIL() << "no mistake";
    } catch (const ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "runs/train.sh:12: error: layout.tensor (--tensor-model-parallel-size): does not divide 12 heads");
    }
}

TEST(draft, comments_end_with_their_line) {
    Draft draft;
    draft.set("name", "x", {.file = {}, .line = 0, .key = "a\nb"});
    EXPECT_EQ(draft.text(), "{\n    \"name\": \"x\"  // a b\n}\n");
}

}  // namespace
}  // namespace weft
