// `weft plan` from outside: what it finds, that nothing better is lost, its files and exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

class PlanCommand : public ::testing::Test {
  protected:
    std::string write(const std::string& name, const SortedJson& job) const {
        std::ofstream(folder_.path() / name) << job.dump();
        return file(name);
    }
    std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

    static SortedJson search(const std::string& arguments) {
        const test::Ran ran = test::run_weft("plan " + arguments + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return SortedJson::parse(ran.out);
    }
    static double best_time(const SortedJson& found) { return found.at("best").at(0).at("step").at("time_s"); }

    // 6.7B on two nodes of A100.
    SortedJson small() const {
        return {{"machine", "dgx-a100"},
                {"nodes", 2},
                {"model", "gpt3-6.7b"},
                {"framework", "megatron"},
                {"batch", {{"sequence", 2048}, {"global", 64}}},
                {"precision", "bf16"}};
    }

  private:
    test::TemporaryFolder folder_;
};

TEST_F(PlanCommand, counts_every_candidate_once) {
    const SortedJson found = search(write("job.json", small()) + " --fix layout.context=1 --simulate 4");
    const SortedJson& counts = found.at("candidates");
    EXPECT_EQ(counts.at("all").get<int>(),
              counts.at("refused").get<int>() + counts.at("does_not_fit").get<int>() + counts.at("fits").get<int>());
    int refused = 0;
    for (const SortedJson& reason : found.at("refusals")) refused += reason.at("candidates").get<int>();
    EXPECT_EQ(counts.at("refused"), refused);
    EXPECT_EQ(counts.at("simulated"), 4);
}

TEST_F(PlanCommand, gives_the_same_for_any_number_of_threads) {
    const std::string job = write("job.json", small()) + " --fix layout.context=1 --simulate 4 --out ";
    const test::Ran one = test::run_weft("plan " + job + file("one.csv") + " --jobs 1 --report " + file("one.html"));
    const test::Ran two = test::run_weft("plan " + job + file("two.csv") + " --jobs 2 --report " + file("two.html"));
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(one.out, two.out);
    const std::string page = test::read_file(file("one.html"));
    EXPECT_NE(page.find("Layouts of gpt3-6.7b (6.66B parameters) on dgx-a100</h1>"), std::string::npos);
    EXPECT_NE(page.find("job.json: gpt3-6.7b (6.66B parameters) on dgx-a100: 16 ranks on 2 nodes"), std::string::npos);
    EXPECT_EQ(page, test::read_file(file("two.html")));
    const std::string rows = test::read_file(file("one.csv"));
    EXPECT_EQ(rows, test::read_file(file("two.csv")));
    EXPECT_GT(std::ranges::count(rows, '\n'), 100) << "every candidate is a row";
}

// What a row of the page has to copy is what other options write of it.
TEST_F(PlanCommand, has_the_job_and_the_launch_script_of_each_simulated_row) {
    const std::string job = write("job.json", small()) + " --fix layout.context=1 --fix layout.pipeline=1 --simulate 2";
    const test::Ran ran = test::run_weft("plan " + job + " --launch megatron --write-job " + file("best.json") +
                                         " --report " + file("page.html"));
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string page = test::read_file(file("page.html")), begin = "id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    const SortedJson data = SortedJson::parse(page.substr(from, page.find("</script>", from) - from));
    ASSERT_EQ(data.at("files").size(), 2u);
    EXPECT_EQ(data.at("files").at("0").at("job"), test::read_file(file("best.json")));
    EXPECT_EQ(data.at("files").at("0").at("format"), "megatron");
    EXPECT_EQ(data.at("files").at("0").at("launch"), ran.out);
    EXPECT_EQ(data.at("simulate"), "weft simulate " + file("job.json"));
}

// All that fits is simulated, and nothing is faster than what the search with few simulations found.
TEST_F(PlanCommand, does_not_lose_the_best) {
    const std::string job = write("job.json", small()) +
                            " --fix layout.context=1 --fix recompute=none --fix zero=1 --among layout.tensor=1,2,4,8"
                            " --among schedule=1f1b,gpipe,zb-h1,interleaved --among batch.micro=1,2,4";
    const SortedJson few = search(job + " --modelled --simulate 16"),
                     all = search(job + " --modelled --simulate 100000");
    EXPECT_EQ(all.at("candidates").at("simulated"), all.at("candidates").at("fits"));
    EXPECT_GT(all.at("candidates").at("fits").get<int>(), 60);
    EXPECT_EQ(best_time(few), best_time(all));
    EXPECT_GT(all.at("screening").at("rank_correlation").get<double>(), 0.98);
    EXPECT_LT(all.at("screening").at("mean_error").get<double>(), 0.03);
    EXPECT_LT(all.at("screening").at("largest_error").get<double>(), 0.20);
}

// Devices that work side by side have less of their clock than one alone, also before a layout is chosen.
TEST_F(PlanCommand, screens_at_the_clock_that_a_simulation_has) {
    SortedJson job = small();
    job.merge_patch({{"machine", "dgx-h100"}, {"nodes", 2}});
    job["model"] = {{"layers", 8}, {"hidden", 8192}, {"heads", 64}, {"vocabulary", 50257}};
    const SortedJson found = search(write("job.json", job) + " --fix layout.pipeline=1 --simulate 8");
    EXPECT_LT(found.at("screening").at("mean_error").get<double>(), 0.05);
}

// Whatever bounds rule out: the same layouts, in the same order, with the same front, as where all that fit are timed.
TEST_F(PlanCommand, finds_what_timing_all_that_fit_finds) {
    int ruled_out = 0, jobs = 0;
    for (const std::string framework : {"megatron", "deepspeed", "fsdp"}) {
        for (const std::string machine : {"dgx-a100", "frontier", "dgx-h100"}) {
            for (const int batch : {8, 48, 64, 256}) {
                SortedJson job = small();
                job.merge_patch({{"machine", machine}, {"nodes", 1}, {"framework", framework}});
                job["model"] = {{"layers", 12}, {"hidden", 2048}, {"heads", 16}, {"vocabulary", 50257}};
                job["batch"]["global"] = batch;
                const std::string asked = write("job.json", job) + " --simulate 2";
                SortedJson found = search(asked);
                const SortedJson all = search(asked + " --out " + file("all.csv"));
                ruled_out += found.at("candidates").at("ruled_out_by_bound").get<int>();
                EXPECT_EQ(all.at("candidates").at("ruled_out_by_bound"), 0);
                for (const char* each : {"ruled_out_by_bound", "timed"})
                    found["candidates"][each] = all.at("candidates").at(each);
                EXPECT_EQ(found, all) << framework << " on " << machine << ", " << batch;
                ++jobs;
            }
        }
    }
    EXPECT_EQ(jobs, 36);
    EXPECT_GT(ruled_out, 100);
}

TEST_F(PlanCommand, writes_a_job_that_simulates_as_it_says) {
    const SortedJson found =
        search(write("job.json", small()) + " --fix layout.context=1 --simulate 4 --write-job " + file("best.json"));
    const test::Ran ran = test::run_weft("simulate " + file("best.json") + " --fold stages --json");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson report = SortedJson::parse(ran.out);
    EXPECT_EQ(report.at("step").at("time_s"), found.at("best").at(0).at("step").at("time_s"));
    EXPECT_EQ(report.at("memory").at("peak_bytes"), found.at("best").at(0).at("memory").at("peak_bytes"));
}

// Other keys than the planner's own are searched as well.
TEST_F(PlanCommand, tries_any_key_of_a_job) {
    const SortedJson found =
        search(write("job.json", small()) +
               " --fix layout.context=1 --fix layout.tensor=8 --fix sequence_parallel=true --fix zero=1"
               " --among megatron.fused_cross_entropy=false,true --simulate 200 --top 200");
    bool with = false, without = false;
    for (const SortedJson& one : found.at("best")) {
        (one.at("job").at("megatron").at("fused_cross_entropy").get<bool>() ? with : without) = true;
    }
    EXPECT_TRUE(with && without);
    EXPECT_TRUE(found.at("best").at(0).at("job").at("megatron").at("fused_cross_entropy").get<bool>());
}

// Where more than the first eight may be the best, these are simulated as well, and then none is left.
TEST_F(PlanCommand, goes_on_until_none_can_be_better) {
    const std::string job = "--model llama3-70b --machine dgx-a100 --gpus 64";
    const SortedJson first = search(job + " --simulate 1"), settled = search(job);
    EXPECT_GT(settled.at("candidates").at("simulated").get<int>(), 8);
    EXPECT_EQ(settled.at("screening").at("not_simulated_as_close"), 0);
    EXPECT_LE(best_time(settled), best_time(first));
    const SortedJson shown = search(write("job.json", small()) + " --fix layout.context=1 --top 12");
    EXPECT_EQ(shown.at("best").size(), 12);
}

// What Megatron-core's releases lack is not found, unless it is asked for; the job says of itself that it has it.
TEST_F(PlanCommand, finds_what_can_be_run) {
    const std::string job = write("job.json", small()) + " --fix layout.context=1 --fix layout.pipeline=4 --simulate 4";
    const SortedJson found = search(job + " --top 4"), modelled = search(job + " --modelled --fix schedule=zb-v");
    for (const SortedJson& one : found.at("best")) {
        const std::string schedule = one.at("job").at("schedule");
        EXPECT_TRUE(schedule == "1f1b" || schedule == "interleaved") << schedule;
    }
    EXPECT_EQ(modelled.at("best").at(0).at("job").at("schedule"), "zb-v");
    const test::Ran refused = test::run_weft("plan " + job + " --fix schedule=zb-v");
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.out.find("schedule: zb-v is in no release of Megatron-LM; --modelled searches it all the same"),
              std::string::npos)
        << refused.out;
}

// Reductions and gathers go under computation wherever they may, without being asked for; the job's own word stays.
TEST_F(PlanCommand, searches_overlaps) {
    const std::string options = " --fix layout.context=1 --fix layout.pipeline=1 --fix zero=1 --simulate 2";
    const SortedJson best = search(write("job.json", small()) + options).at("best").at(0).at("job");
    EXPECT_EQ(best.at("overlap_gradients"), true);
    EXPECT_EQ(best.at("megatron").at("overlap_parameters"), true);
    SortedJson without = small();
    without["overlap_gradients"] = false;
    EXPECT_EQ(search(write("job.json", without) + options).at("best").at(0).at("job").at("overlap_gradients"), false);
}

TEST_F(PlanCommand, says_how_far_the_nearest_misses_where_nothing_fits_and_what_would) {
    SortedJson job = small();
    job["nodes"] = 1;
    job["model"] = "gpt3-175b";
    const test::Ran ran = test::run_weft("plan " + write("job.json", job));
    EXPECT_EQ(ran.exit_code, 4);
    EXPECT_NE(ran.out.find("nothing fits; the nearest needs"), std::string::npos) << ran.out;
    const std::size_t at = ran.out.find("  nodes=");
    ASSERT_NE(at, std::string::npos) << ran.out;
    const std::string line = ran.out.substr(at, ran.out.find('\n', at) - at);
    EXPECT_TRUE(line.ends_with(", fits")) << line;
}

TEST_F(PlanCommand, says_what_a_candidate_comes_nearest_with_where_none_is_possible) {
    const test::Ran ran =
        test::run_weft("plan " + write("job.json", small()) + " --fix layout.pipeline=5 --fix schedule=1f1b");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.out.find("no candidate is possible; nearest to it comes layout.tensor="), std::string::npos)
        << ran.out;
    EXPECT_NE(
        ran.out.find("\n  layout.pipeline: megatron: 5 pipeline stages do not divide 32 layers; --set layout.split=["),
        std::string::npos)
        << ran.out;
}

// 126 layers, which embedding and output layer make divisible by powers of two.
TEST_F(PlanCommand, deals_layers_as_they_can_be_dealt) {
    const SortedJson job{{"machine", "meta-roce-h100"},
                         {"nodes", 2048},
                         {"model", "llama3-405b"},
                         {"framework", "megatron"},
                         {"batch", {{"sequence", 8192}, {"global", 2048}}},
                         {"precision", "bf16"}};
    const std::string options =
        " --fix layout.context=1 --fix layout.tensor=8 --fix sequence_parallel=true"
        " --fix zero=1 --fix batch.micro=1 --fix schedule=1f1b --simulate 1";
    const SortedJson found = search(write("job.json", job) + options);
    EXPECT_GT(found.at("candidates").at("fits").get<int>(), 0);
    EXPECT_EQ(found.at("best").at(0).at("job").at("layout").at("split"), "ends");
    SortedJson even = job;
    even["layout"] = {{"split", "even"}};
    EXPECT_EQ(test::run_weft("plan " + write("even.json", even) + options).exit_code, 4) << "the job's own split stays";
}

TEST_F(PlanCommand, places_what_is_missing_at_the_file) {
    SortedJson job = small();
    job.erase("batch");
    const test::Ran ran = test::run_weft("plan " + write("job.json", job));
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("job.json:1:1: error: batch.global: missing"), std::string::npos) << ran.err;
}

// As many nodes, another layout: the ranks of data parallelism follow.
TEST_F(PlanCommand, writes_a_job_of_which_other_layouts_can_be_swept) {
    search(write("job.json", small()) +
           " --fix layout.context=1 --simulate 1 --fix sequence_parallel=false"
           " --write-job " +
           file("best.json"));
    const SortedJson job = SortedJson::parse(test::read_file(file("best.json")));
    EXPECT_EQ(job.at("nodes"), 2);
    EXPECT_FALSE(job.at("layout").contains("data"));
    EXPECT_EQ(job.at("overlap_gradients"), true) << "not Megatron-core's own choice";
    const test::Ran ran = test::run_weft("sweep " + file("best.json") +
                                         " --vary layout.tensor=1,2,4,8 --vary layout.pipeline=1,2 --set schedule=1f1b"
                                         " --set batch.micro=1 --set zero=1 --out " +
                                         file("rows.csv"));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.err.find("8 rows, 0 without result"), std::string::npos) << ran.err;
}

TEST_F(PlanCommand, refuses_what_it_cannot_search) {
    const std::string job = write("job.json", small());
    const auto fails = [&](const std::string& arguments, int code, const std::string& part) {
        const test::Ran ran = test::run_weft("plan " + job + " " + arguments);
        EXPECT_EQ(ran.exit_code, code) << arguments;
        EXPECT_NE((ran.err + ran.out).find(part), std::string::npos) << arguments << '\n' << ran.err << ran.out;
    };
    fails("--fix layout.tensor=x", 2, "expected a whole number of at least 1");
    fails("--among schedule=1f1b,2f2b", 2, "expected one of");
    fails("--fix layout.tensor=2,4", 2, "use --among");
    fails("--set layout.tensor=2", 2, "is what is searched for");
    fails("--fix layout.tensr=2", 3, "tensr");
    fails("--fix layout.tensor=2 --among layout.tensor=4", 2, "given twice");
    fails("--out rows.xls", 2, "rows.xls");
    fails("--simulate 0", 2, "at least 1");
    fails("--fix layout.tensor=3 --fix layout.pipeline=7", 3, "no candidate is possible");
}

// A published recipe is a point of the space, and the search finds one that is at least as fast in simulation.
struct Recipe {
    const char* name;
    SortedJson job;
    std::string published;  // options that leave nothing but the recipe
    std::string searched;   // options that leave it among others
};

// What the authors' code had: no sequence parallelism, full recomputation.
std::vector<Recipe> recipes() {
    const SortedJson a100{
        {"machine", "dgx-a100"},
        {"nodes", 192},
        {"model",
         {{"layers", 80},
          {"hidden", 12288},
          {"heads", 96},
          {"vocabulary", 51200},
          {"tied_embeddings", true},
          {"positions", "learned"},
          {"positions_length", 2048}}},
        {"framework", "megatron"},
        {"batch", {{"sequence", 2048}, {"global", 2304}}},
        {"precision", "fp16"},
        {"attention", "unfused"},
        {"dropout", true},
        {"megatron", {{"overlap_input_reduction", false}, {"fused_accumulation", false}, {"overlap_pipeline", false}}}};
    const SortedJson frontier{{"machine", "frontier"},
                              {"nodes", 128},
                              {"model", "frontier-175b"},
                              {"framework", "deepspeed"},
                              {"layout", {{"split", "even"}}},
                              {"deepspeed", {{"attention_mask", false}}},
                              {"batch", {{"sequence", 2048}, {"global", 5120}}},
                              {"precision", "fp16"},
                              {"dropout", true}};
    const std::string era = " --fix layout.context=1 --fix recompute=full --fix sequence_parallel=false";
    return {{"Narayanan et al. 2021, table 1: 145.6B on 1,536 A100", a100,
             era + " --fix layout.tensor=8 --fix layout.pipeline=8 --fix layout.virtual_stages=2 --fix batch.micro=2"
                   " --fix schedule=interleaved --fix zero=0",
             era + " --among layout.tensor=4,8 --among layout.pipeline=8,16 --among schedule=1f1b,interleaved"},
            {"Dash et al. 2023: 175B on Frontier, scaled to 1,024 dies", frontier,
             era + " --fix layout.tensor=4 --fix layout.pipeline=16 --fix batch.micro=1 --fix schedule=1f1b"
                   " --fix zero=1",
             era + " --among layout.tensor=2,4,8 --among layout.pipeline=8,16,32 --among schedule=1f1b"}};
}

TEST_F(PlanCommand, finds_layouts_at_least_as_fast_as_published_ones) {
    for (const Recipe& recipe : recipes()) {
        const std::string job = write("job.json", recipe.job);
        const SortedJson published = search(job + recipe.published),
                         found = search(job + recipe.searched + " --simulate 6");
        ASSERT_EQ(published.at("candidates").at("fits"), 1) << recipe.name;
        EXPECT_LE(best_time(found), best_time(published)) << recipe.name;
    }
}

}  // namespace
}  // namespace weft
