// The table of a job's keys: rows and members find each other, and what is written is read again.
#include "workloads/keys/key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/check.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

// Reads assignments alone, whatever else a job would need.
Job read(const std::vector<std::string>& assignments) {
    Document document = Document::parse("job.json", "{}");
    for (const std::string& assignment : assignments) document.assign(assignment);
    Field root = document.root();
    Job job;
    read_keys(root, "", job);
    for (const char* const object : {"layout", "batch"}) {
        if (!root.has(object)) continue;
        Field field = root.object(object);
        read_keys(field, object, job);
    }
    return job;
}

bool is_plain(const JobKey& key) { return key.get && key.kind != KeyKind::other; }

// Values of a key that differ: all words, on and off, small numbers.
std::vector<double> some_values(const JobKey& key) {
    std::vector<double> values{0, 1};
    if (key.kind == KeyKind::count) values = {1, 2};
    for (std::size_t i = 2; i < key.words.size(); ++i) values.push_back(double(i));
    return values;
}

TEST(keys, of_every_kind_have_a_member_and_every_member_a_row) {
    for (const JobKey& key : all_keys()) {
        const bool own = key.path == "recompute.method";  // read by "recompute"
        EXPECT_EQ(key.kind == KeyKind::other, !key.get && !own) << key.path;
        EXPECT_EQ(bool(key.get), bool(key.set)) << key.path;
        EXPECT_NE(key.meaning, "") << key.path;
    }
    EXPECT_THROW(key_of("layout.tensors"), LogicError);
}

TEST(keys, stand_where_they_were_set) {
    for (const JobKey& key : all_keys()) {
        if (!is_plain(key)) continue;
        std::set<double> seen;
        for (const double value : some_values(key)) {
            Job job;
            key.set(job, value);
            seen.insert(key.get(job));
            EXPECT_EQ(key.get(job) == key.get(Job{}), stands_as_usual(job, key.path)) << key.path;
        }
        EXPECT_GE(seen.size(), 2U) << key.path;
    }
}

// What --set takes, but for what is a mistake in a job of one rank.
TEST(keys, are_read_as_they_are_written) {
    for (const JobKey& key : all_keys()) {
        if (!is_plain(key) || key.path == "batch.global") continue;
        if (key.path == "deepspeed.version") continue;  // 0.10 is a number, too, and another
        for (const double value : some_values(key)) {
            std::vector<std::string> before;
            if (key.path == "fp8_recipe") before.emplace_back("precision=fp8");
            Job job = read(before);
            key.set(job, value);
            if (std::ranges::any_of(key.ranges, [&](const KeyRange& range) { return value < range.least; })) continue;
            before.push_back(key.path + "=" + text_of(job, key.path));
            EXPECT_EQ(key.get(read(before)), key.get(job)) << before.back();
        }
    }
}

TEST(keys, tell_what_they_expect) {
    EXPECT_EQ(test::mistake_at({"sustained_clock=1.5"}, "sustained_clock"),
              "expected a share above 0 and up to 1, got 1.5");
    EXPECT_EQ(test::mistake_at({"sustained_clock=0"}, "sustained_clock"),
              "expected a share above 0 and up to 1, got 0");
    EXPECT_THAT(test::mistakes("zero=4"), testing::HasSubstr("zero: expected a ZeRO stage from 0 to 3, got 4"));
    EXPECT_EQ(test::mistake_at({"attention=flush"}, "attention"),
              "expected one of flash, cudnn, triton, unfused, cudnn_9_13, got \"flush\", did you mean \"flash\"?");
    EXPECT_EQ(test::mistake_at({"layout.tensor=2000000"}, "layout.tensor"),
              "expected at most 1048576 ranks, got 2000000");
}

TEST(keys, with_several_forms_are_written_as_a_job_file_has_them) {
    Job job = read({"recompute={\"modules\":[\"core_attn\",\"mlp\"]}", "layout.split=[3,5]", "optimizer=muon"});
    EXPECT_EQ(json_of(job, "recompute"), R"({"modules":["core_attn","mlp"]})");
    EXPECT_EQ(json_of(job, "layout.split"), "[3,5]");
    EXPECT_EQ(json_of(job, "optimizer"), R"("muon")");
    EXPECT_EQ(text_of(job, "optimizer"), "muon");
    EXPECT_EQ(text_of(read({"first_use=3 ms"}), "first_use"), "\"0.003 s\"");
}

}  // namespace
}  // namespace weft
