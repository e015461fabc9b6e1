#include "tools/serve/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using testing::HasSubstr;

constexpr const char* small_job =
    "machine=dgx-h100&nodes=1&model=llama3-8b&framework=megatron&layout.tensor=4&batch.micro=1&batch.global=8&zero=1";

const Site& site() {
    static const Site made{.port = 4242, .choices = form_choices()};
    return made;
}

HttpRequest get(const std::string& target) {
    return {.method = "GET", .target = target, .body = "", .host = "localhost:4242"};
}

HttpResponse answer_to(const std::string& target) { return answer(site(), get(target)); }

SortedJson told(const HttpResponse& answer) {
    EXPECT_EQ(answer.type, "application/json");
    return SortedJson::parse(answer.body);
}

// One page, whoever makes it.
TEST(site, pages_are_the_commands_to_the_byte) {
    const test::TemporaryFolder folder;
    const std::string job = answer_to(std::string("/job.json?") + small_job).body;
    std::ofstream(folder.path() / "job.json") << job;
    for (const std::string command : {"simulate", "explain", "plan"}) {
        const test::Ran ran = test::run_weft(command + " job.json --report page.html", folder.path());
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
        const std::string page = test::read_file(folder.path() / "page.html");
        const HttpResponse asked = answer_to("/" + command + "?" + small_job);
        EXPECT_EQ(asked.status, 200u);
        EXPECT_EQ(asked.type, "text/html; charset=utf-8");
        EXPECT_TRUE(asked.body == page) << command;
        const HttpResponse posted =
            answer(site(), {.method = "POST", .target = "/" + command, .body = job, .host = "127.0.0.1:4242"});
        EXPECT_TRUE(posted.body == page) << command;
    }
}

TEST(site, saves_the_job) {
    const HttpResponse saved = answer_to("/job.json?machine=frontier&layout.tensor=4");
    EXPECT_EQ(saved.body, "{\n  \"machine\": \"frontier\",\n  \"layout\": {\n    \"tensor\": 4\n  }\n}\n");
    EXPECT_EQ(saved.fields.front().second, "attachment; filename=\"job.json\"");
}

TEST(site, tells_mistakes_by_key_to_programs_and_to_people) {
    HttpRequest request = get("/simulate?machine=dgx-h10&model=llama3-8b&nodes=1&batch.global=8&precison=bf16");
    const HttpResponse answered = answer(site(), request);
    EXPECT_EQ(answered.status, 422u);
    const SortedJson diagnostics = told(answered).at("diagnostics");
    ASSERT_EQ(diagnostics.size(), 2u);
    EXPECT_EQ(diagnostics[0].at("key"), "machine");
    EXPECT_EQ(diagnostics[0].at("suggestion"), "dgx-h100");
    EXPECT_EQ(diagnostics[1].at("key"), "precison");
    EXPECT_EQ(diagnostics[1].at("suggestion"), "precision");
    request.accept = "text/html,*/*";
    const HttpResponse page = answer(site(), request);
    EXPECT_EQ(page.status, 422u);
    EXPECT_THAT(page.body, HasSubstr("<li><code>machine</code>: unknown machine &quot;dgx-h10&quot;"));
}

TEST(site, refuses_what_does_not_fit_with_what_would) {
    const HttpResponse answered = answer_to("/simulate?machine=dgx-h100&model=llama3-70b&nodes=1&batch.global=8");
    EXPECT_EQ(answered.status, 422u);
    EXPECT_THAT(told(answered).at("error").get<std::string>(), HasSubstr("does not fit in memory: stage 0 needs"));
    EXPECT_THAT(told(answered).at("text").get<std::string>(), HasSubstr("largest part of stage 0"));
}

TEST(site, refuses_jobs_too_large_for_a_page_with_the_numbers) {
    const auto refused = [](const std::string& target) { return told(answer_to(target)).at("diagnostics").at(0); };
    const SortedJson of_step = refused(
        "/simulate?machine=frontier&model=gpt-neox-20b&nodes=16&layout.tensor=4&"
        "layout.pipeline=4&zero=1&recompute=full&batch.micro=1&batch.global=160000");
    EXPECT_EQ(of_step.at("key"), "batch.global");
    EXPECT_EQ(of_step.at("message"),
              "20,000 micro-batches through 44 layers are about 1.4e+07 operations; a page takes 1e+07; weft simulate "
              "job.json "
              "takes more");
    const SortedJson of_search = refused("/plan?machine=frontier&model=gpt-neox-20b&nodes=1&batch.global=4000000000");
    EXPECT_EQ(of_search.at("message"),
              "4,000,000,000 sequences are more than the 1,000,000 of a page; weft plan job.json takes more");
}

TEST(site, knows_its_paths_and_methods) {
    EXPECT_EQ(answer_to("/nowhere").status, 404u);
    EXPECT_EQ(answer_to("/../etc/passwd").status, 404u);
    EXPECT_EQ(answer_to("http://elsewhere/").status, 400u);
    EXPECT_EQ(answer_to("*").status, 400u);
    EXPECT_EQ(answer_to("/simulate?machine=%").status, 400u);
    for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
        HttpRequest request = get("/simulate");
        request.method = method;
        const HttpResponse answered = answer(site(), request);
        EXPECT_EQ(answered.status, 405u) << method;
        EXPECT_EQ(answered.fields.front(), (std::pair<std::string, std::string>{"Allow", "GET, HEAD, POST"}));
    }
    EXPECT_EQ(answer(site(), {.method = "POST", .target = "/", .body = "pasted=%", .host = "localhost:4242"}).status,
              400u);
    EXPECT_EQ(
        answer(site(), {.method = "POST", .target = "/plan", .body = "{\"a\": \"\xff\"}", .host = "localhost:4242"})
            .status,
        400u);
    EXPECT_EQ(answer(site(), {.method = "HEAD", .target = "/", .body = "", .host = "localhost:4242"}).status, 200u);
}

constexpr const char* script =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --bf16 "
    "--seq-length 256 --max-position-embeddings 256 --micro-batch-size 2 --global-batch-size 64 --vocab-size 999\n";

TEST(site, takes_what_other_tools_launch) {
    const auto posted = [](const std::string& target, const std::string& body) {
        return answer(site(), {.method = "POST", .target = target, .body = body, .host = "localhost:4242"});
    };
    const HttpResponse page = posted("/simulate?machine=dgx-h100&zero=1", script);
    EXPECT_EQ(page.status, 200u) << page.body;
    EXPECT_THAT(page.body, HasSubstr("--vocab-size: is taken for the tokenizer"));
    const SortedJson job = SortedJson::parse(posted("/job.json?machine=dgx-h100&zero=1", script).body);
    EXPECT_EQ(job.at("batch").at("global"), 64);
    EXPECT_EQ(job.at("zero"), 1);
    EXPECT_THAT(told(posted("/simulate", script)).at("diagnostics").at(0).at("key"), "machine");
    EXPECT_EQ(SortedJson::parse(posted("/job.json?nodes=2", R"({"machine": "frontier"})").body).at("nodes"), 2);
    const std::string config = R"({"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4,
        "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1024})";
    EXPECT_EQ(posted("/simulate?machine=dgx-h100&nodes=1&batch.global=64", config).status, 200u);
    EXPECT_EQ(told(posted("/simulate?machine=dgx-h100", "no file of anything")).at("error"), "The job has mistakes");
}

TEST(site, reads_what_is_pasted_into_its_form) {
    const auto pasted = [](const Parameters& form) {
        return answer(site(), {.method = "POST", .target = "/", .body = query_of(form), .host = "localhost:4242"});
    };
    const HttpResponse page = pasted({{"machine", "dgx-h100"}, {"nodes", ""}, {"pasted", script}});
    EXPECT_EQ(page.status, 200u) << page.body;
    EXPECT_THAT(page.body, HasSubstr("value=\"64\""));
    EXPECT_THAT(page.body, HasSubstr("notes on what was read"));
    EXPECT_THAT(answer_to("/").body, HasSubstr("<textarea name=\"pasted\""));
    EXPECT_EQ(pasted({{"pasted", script}}).status, 422u) << "without a machine";
}

TEST(site, questions_of_few_words_are_jobs) {
    const HttpResponse page = answer_to("/ask?model=llama3-8b&machine=dgx-h100&gpus=16");
    ASSERT_EQ(page.status, 200u) << page.body;
    EXPECT_THAT(page.body, HasSubstr("<option value=\"dgx-h100\" selected>"));
    EXPECT_THAT(page.body, HasSubstr("layouts that weft plan tries is taken: layout.tensor="));
    EXPECT_THAT(page.body, HasSubstr("batch.global: 1024 is assumed"));
    EXPECT_THAT(page.body, HasSubstr("id=\"of-layout.data\""));
    EXPECT_THAT(answer_to("/ask?model=llama3-70b&machine=dgx-h100&gpus=8").body, HasSubstr("none can run"));
    EXPECT_EQ(answer_to("/ask?model=llama3-8b&machine=dgx-h100&gpus=64000000").status, 422u);
    EXPECT_EQ(answer_to("/ask?model=llama3-8b&gpus=64").status, 422u);
    EXPECT_EQ(answer_to("/ask?model=/etc/passwd&machine=dgx-h100&gpus=64").status, 422u);
    EXPECT_EQ(work_of("/ask?gpus=8"), AnswerWork::many_simulations);
}

TEST(site, a_shipped_job_goes_by_its_name) {
    EXPECT_EQ(answer_to("/?job=lumi-gpt-175b").body,
              answer_to("/?" + query_of(site().choices.jobs.back().parameters)).body);
    EXPECT_EQ(answer_to("/?job=nobodys").body, answer_to("/").body);
}

TEST(site, searches_are_told_from_simulations) {
    EXPECT_EQ(work_of("/plan?nodes=1"), AnswerWork::many_simulations);
    EXPECT_EQ(work_of("/%65xplain"), AnswerWork::many_simulations);
    EXPECT_EQ(work_of("/simulate"), AnswerWork::one_simulation);
    EXPECT_EQ(work_of("/%"), AnswerWork::one_simulation);
}

TEST(site, ends_searches_that_nobody_waits_for) {
    std::stop_source left;
    left.request_stop();
    for (const std::string path : {"/plan?", "/explain?"}) {
        HttpRequest request = get(path + small_job);
        request.left = left.get_token();
        EXPECT_EQ(answer(site(), request).status, 503u) << path;
    }
}

TEST(site, answers_this_machine_alone) {
    const auto with = [](auto change) {
        HttpRequest request = get("/");
        change(request);
        return answer(site(), request).status;
    };
    for (const char* host : {"localhost:4242", "LOCALHOST:4242", "127.0.0.1:4242", "[::1]:4242"}) {
        EXPECT_EQ(with([&](HttpRequest& request) { request.host = host; }), 200u) << host;
    }
    for (const char* host :
         {"evil.example:4242", "localhost", "localhost:80", "127.0.0.1.evil.example:4242", "::1:4242"}) {
        EXPECT_EQ(with([&](HttpRequest& request) { request.host = host; }), 421u) << host;
    }
    EXPECT_EQ(with([](HttpRequest& request) { request.host = ""; }), 400u);
    EXPECT_EQ(with([](HttpRequest& request) { request.origin = "http://localhost:4242"; }), 200u);
    EXPECT_EQ(with([](HttpRequest& request) { request.origin = "https://evil.example"; }), 403u);
    EXPECT_EQ(with([](HttpRequest& request) { request.origin = "null"; }), 403u);
    EXPECT_EQ(with([](HttpRequest& request) { request.fetch_site = "cross-site", request.fetch_mode = "no-cors"; }),
              403u);
    EXPECT_EQ(with([](HttpRequest& request) { request.fetch_site = "cross-site", request.fetch_mode = "navigate"; }),
              200u);
}

TEST(check_page_size, takes_what_is_usual) {
    for (const char* job : {"frontier-gpt-1t-3d.json", "dgx-h100-llama3-70b.json"}) {
        const Study study = load_study(std::string(WEFT_SOURCE_DIR "/workloads/jobs/") + job);
        EXPECT_NO_THROW(check_page_size(study.job)) << job;
    }
}

}  // namespace
}  // namespace weft
