// Which format a file is of, what is said of those that weft does not read, and how the user's words go into what is
// made.
#include "workloads/formats/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/refusal.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/formats/seeds.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string refusal(const std::vector<SourceFile>& files, std::string_view from = "",
                    const FormatOptions& options = {}) {
    return test::refusal_of([&] { import_files(format_of(files, from), files, options); });
}

// What is recognised to be refused by name.
struct Unread {
    std::string_view format, text, word;
};
std::ostream& operator<<(std::ostream& out, const Unread& each) { return out << each.format; }
const Unread unread[] = {
    {"simai", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n1\n", "a SimAI workload"},
    {"simai", "MICRO\n1\n", "a SimAI workload"},
    {"aicb", "comm_type,comm_group,comm_group_size\nCommType.all_reduce,dp,8\n", "a list of calls of AICB"},
    {"msccl", "<algo name=\"ring\" nchunksperloop=\"8\">\n<gpu id=\"0\">\n", "an algorithm of MSCCL"},
    {"hwloc", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object type=\"Machine\"/>\n</topology>\n",
     "an hwloc topology: give NCCL's topology file, or what nvidia-smi topo -m prints"},
    {"simgrid", "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform/>\n",
     "a SimGrid platform: weft has machine files of its own"},
    {"astra-sim", "topology: [ Ring, Switch ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 200, 50 ]\n",
     "a network of ASTRA-sim: weft has machine files of its own"},
};

class unread_format : public ::testing::TestWithParam<Unread> {};
TEST_P(unread_format, is_refused_by_name) {
    const Unread& each = GetParam();
    const std::vector<SourceFile> files{{"some.file", std::string(each.text)}};
    ASSERT_NE(find_format(files.front()), nullptr);
    EXPECT_EQ(find_format(files.front())->name, each.format);
    EXPECT_THAT(refusal(files), HasSubstr("some.file: error: is " + std::string(each.word)));
    EXPECT_THAT(refusal(files, each.format), HasSubstr(std::string(each.word)));
}
INSTANTIATE_TEST_SUITE_P(formats, unread_format, ::testing::ValuesIn(unread));

TEST(format, a_file_of_none_is_answered_with_all_that_are_known) {
    const std::string text = refusal({{"notes.txt", "buy milk\n"}});
    EXPECT_THAT(text, HasSubstr("notes.txt: error: is of no known format; --from NAME says which: "));
    for (const Format* const known : formats::all()) EXPECT_THAT(text, HasSubstr(std::string(known->name) + " ("));
    EXPECT_THAT(refusal({{"notes.txt", "buy milk\n"}}, "magatron"), HasSubstr("did you mean \"megatron\""));
    EXPECT_THAT(refusal({}), HasSubstr("no file to import"));
}

TEST(format, files_together_are_of_one) {
    const auto seeds = test::format_seeds();
    const test::FormatSeed& first = seeds.front();
    const auto other = std::ranges::find_if(seeds, [&](const auto& seed) { return seed.format != first.format; });
    EXPECT_THAT(refusal({first.file, other->file}), HasSubstr("the files before are of another format"));
    const std::vector<SourceFile> twice{first.file, first.file};
    EXPECT_EQ(format_of(twice, "").name, first.format->name);
}

// Each says so of the second file, in its words.
TEST(format, a_second_file_is_refused_where_one_is_read) {
    std::size_t single = 0;
    for (const auto& [format, file] : test::format_seeds()) {
        if (format->refusal.empty()) continue;
        ++single;
        EXPECT_THAT(refusal({file, {"second", file.text}}, format->name, test::seed_options()),
                    HasSubstr("second: error: " + std::string(format->refusal)));
    }
    EXPECT_GE(single, 8U);
}

TEST(format, files_are_read_unless_they_hold_nothing) {
    const test::TemporaryFolder folder;
    const auto written = [&](const std::string& name, const std::string& text) {
        const std::string path = (folder.path() / name).string();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    };
    const std::vector<std::string> good{written("a", "x"), written("b", std::string("\0y", 2))};
    const std::vector<SourceFile> files = read_sources(good);
    EXPECT_EQ(files[0].text, "x");
    EXPECT_EQ(files[1].name(), "b");
    for (const auto& [text, word] : {std::pair<std::string, std::string>{"", "is empty"},
                                     {std::string(9, '\0'), "holds nothing but NUL characters"}}) {
        const std::vector<std::string> bad{written("bad", text)};
        EXPECT_THAT(test::refusal_of([&] { read_sources(bad); }), HasSubstr(word));
    }
}

// What is made of a file is one of weft's own: it reads again, as itself, with nothing to note.
TEST(format, what_is_made_reads_as_a_file_of_wefts) {
    std::size_t jobs = 0, machines = 0;
    for (const auto& [format, file] : test::format_seeds()) {
        SCOPED_TRACE(file.path);
        const Import import = import_files(*format, std::array{file}, test::seed_options());
        const std::string text = import.object.text();
        EXPECT_EQ(Document::parse("own.json", text).text(), import.object.document("own.json").text());
        EXPECT_EQ(find_format({"own.json", import.object.json()}), nullptr);
        if (import.kind == FormatKind::job) {
            ++jobs;
            EXPECT_EQ(Document::parse("own.json", text).root().count("nodes"), 2U);
        } else if (import.kind == FormatKind::machine) {
            ++machines;
            EXPECT_GE(Machine::read(Document::parse("own.json", text)).info().accelerators_per_node, 1U);
        }
    }
    EXPECT_GE(jobs, 4U);
    EXPECT_GE(machines, 4U);
}

TEST(format, kinds_and_formats_have_names_of_their_own) {
    for (const auto& [kind, word] : {std::pair{FormatKind::model, "model"},
                                     {FormatKind::job, "job"},
                                     {FormatKind::machine, "machine"},
                                     {FormatKind::trace, "trace"}})
        EXPECT_EQ(to_text(kind), word);
    std::vector<std::string_view> names;
    for (const Format* const each : formats::all()) {
        names.push_back(each->name);
        EXPECT_FALSE(each->title.empty()) << each->name;
        EXPECT_EQ(each->read == nullptr, !each->instead.empty()) << each->name;
    }
    EXPECT_TRUE(std::ranges::is_sorted(names));
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// A configuration that says nothing of machine and model.
const std::string neox =
    "{\"pipe_parallel_size\": 0, \"model_parallel_size\": 1, \"num_layers\": 4, \"hidden_size\": 64, "
    "\"num_attention_heads\": 4, \"seq_length\": 128, \"max_position_embeddings\": 128, "
    "\"train_micro_batch_size_per_gpu\": 1, \"train_batch_size\": 32, \"gradient_accumulation_steps\": 2}";

json made(const std::string& text, const FormatOptions& options) {
    const std::vector<SourceFile> files{{"neox.yml", text}};
    return json::parse(import_files(format_of(files, ""), files, options).object.json());
}

TEST(format, what_only_the_user_can_say_is_asked_for) {
    FormatOptions counted;
    counted.vocabulary = 1000;
    EXPECT_THAT(refusal({{"neox.yml", neox}}, "neox"), HasSubstr("give --vocabulary N"));
    EXPECT_THAT(refusal({{"neox.yml", neox}}, "neox", counted),
                HasSubstr("machine: the input does not say it; give --machine"));
    const json job = made(neox, {.machine = "frontier", .nodes = 2, .vocabulary = 1000});
    EXPECT_EQ(job["machine"], "frontier");
    EXPECT_EQ(job["nodes"], 2);
    EXPECT_EQ(job["model"]["layers"], 4);
}

TEST(format, what_the_user_says_counts_before_what_a_file_adds) {
    const std::string own =
        "# weft: machine=lumi-g\n# weft: nodes=4\n# weft: model.vocabulary=500\n"
        "# weft: layout.split=even\n" +
        neox;
    const json job = made(own, {});
    EXPECT_EQ(job["machine"], "lumi-g");
    EXPECT_EQ(job["nodes"], 4);
    EXPECT_EQ(job["model"]["vocabulary"], 500);
    EXPECT_EQ(job["layout"]["split"], "even");
    const json said =
        made(own, {.machine = "frontier", .nodes = 2, .vocabulary = 1000, .overrides = {"layout.split=framework"}});
    EXPECT_EQ(said["machine"], "frontier");
    EXPECT_EQ(said["nodes"], 2);
    EXPECT_EQ(said["model"]["vocabulary"], 1000);
    EXPECT_EQ(said["layout"]["split"], "framework");
}

TEST(format, a_model_of_another_tool_stands_in_the_job) {
    const test::TemporaryFolder folder;
    const std::string config = (folder.path() / "tiny.json").string();
    std::ofstream(config) << R"({"model_type": "llama", "hidden_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 256, "vocab_size": 1000, "rope_feature_x": 1, "odd_key": 2})";
    const json job = made(neox, {.machine = "frontier", .nodes = 2, .model = config, .vocabulary = 2000});
    EXPECT_EQ(job["model"]["name"], "tiny");
    EXPECT_EQ(job["model"]["hidden"], 128);
    EXPECT_EQ(job["model"]["vocabulary"], 2000);
    EXPECT_EQ(load_model(config).hidden, 128U);
    const json named = made(neox, {.machine = "frontier", .nodes = 2, .model = "meta-llama/Llama-3.1-8B"});
    EXPECT_EQ(named["model"], "llama3-8b");
    std::ofstream(config) << test::format_seeds().front().file.text;  // DeepSpeed's
    EXPECT_NE(test::refusal_of([&] { load_model(config); }), "");
}

TEST(format, overrides_are_values_at_paths) {
    const std::vector<std::string> said{"machine=frontier",   "nodes=3",       "nodes=x", "model=gpt2",
                                        "model.vocabulary=7", "batch.micro=2", "alone"};
    const FormatOptions options = format_options(said);
    EXPECT_EQ(options.machine, "frontier");
    EXPECT_EQ(options.nodes, 3U);
    EXPECT_EQ(options.model, "gpt2");
    EXPECT_EQ(options.vocabulary, 7U);
    EXPECT_EQ(options.overrides, (std::vector<std::string>{"nodes=x", "batch.micro=2", "alone"}));
    Document set = Document::parse("set", R"({"layout.tensor": 8, "schedule": "gpipe"})");
    EXPECT_EQ(overrides_in(set.root()), (std::vector<std::string>{"layout.tensor=8", "schedule=\"gpipe\""}));
}

TEST(format, without_a_job_a_common_run_is_assumed_and_noted) {
    const std::vector<std::string> said{"machine=dgx-h100", "model=llama3-8b", "precision=fp16"};
    OpenedJob job = open_job({}, said);
    EXPECT_EQ(job.notes.size(), 3U);
    EXPECT_THAT(job.notes.front().message, HasSubstr("megatron is assumed; --set framework=megatron says another"));
    EXPECT_EQ(job.document.root().text("precision"), "fp16");
    EXPECT_EQ(job.document.root().object("batch").count("global"), 1024U);
    EXPECT_EQ(job.document.root().object("batch").count("sequence"), 4096U);
    const std::vector<std::string> of_few_positions{"machine=dgx-a100", "model=megatron-22b"};
    job = open_job({}, of_few_positions);
    EXPECT_EQ(job.document.root().object("batch").count("sequence"), 2048U);
}

}  // namespace
}  // namespace weft
