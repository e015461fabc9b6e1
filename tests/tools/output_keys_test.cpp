// Programs that read weft's JSON go by its keys: tests/tools/output_keys.golden lists those of every output. A key that
// goes or is called otherwise asks for another schema (tools/output/json_text.hpp); one that comes is added with
// WEFT_UPDATE_GOLDEN=1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/tools/program.hpp"
#include "tools/output/json_text.hpp"

namespace weft {
namespace {

using nlohmann::json;
using Keys = std::set<std::string>;

constexpr const char* keys_file = WEFT_TEST_DATA "/tools/output_keys.golden";

void add_keys(const json& value, const std::string& path, Keys& keys) {
    if (value.is_array()) {
        for (const json& element : value) add_keys(element, path + "[]", keys);
    } else if (value.is_object()) {
        for (const auto& [key, member] : value.items()) {
            const std::string inner = path.empty() ? key : path + "." + key;
            keys.insert(inner);
            add_keys(member, inner, keys);
        }
    }
}

struct Output {
    std::string name;       // in the golden file
    std::string arguments;  // of weft
};

class output_keys : public ::testing::Test {
  protected:
    output_keys() {
        write("job.json", R"({"machine": "dgx-h100", "nodes": 1, "model": "gpt-neox-125m", "framework": "deepspeed",
            "layout": {"tensor": 2, "pipeline": 2, "data": 2}, "batch": {"sequence": 512, "micro": 1, "global": 8},
            "zero": 1, "schedule": "1f1b", "recompute": "none"})");
        write("large.json", R"({"machine": "dgx-h100", "nodes": 1, "model": "llama3-70b", "layout": {"tensor": 8},
            "batch": {"sequence": 8192, "micro": 1, "global": 8}})");
        write("ds_config.json", R"({"train_batch_size": 64, "zero_optimization": {"stage": 1}, "wandb": {}})");
        write("kernels.csv", "kind,bytes,seconds\nmemory,1e6,3e-6\nmemory,1e8,4e-5\nmemory,1e9,4e-4\n");
        write("crossing.json",
              R"({"machine": "frontier", "nodes": 2, "model": "gpt-neox-125m", "batch": {"global": 16}})");
        write("sharing.json", R"({"jobs": [{"job": "crossing.json", "placement": "nodes:0,128"},
            {"job": "crossing.json", "name": "b", "placement": "nodes:1,129"}]})");
        write("two.goal",
              "num_ranks 2\nrank 0 { a: calc 5 b: send 8b to 1 b requires a }\nrank 1 { recv 8b from 0 }\n");
        std::filesystem::copy_file(WEFT_TEST_DATA "/workloads/formats/seeds/kineto.json",
                                   folder_.path() / "kineto.json");
        write("wrong.json", R"({"machine": "dgx-h10", "layuot": {}})");
        write("measured.csv",
              "collective,ranks,nnodes,size_bytes,time_us\nall_reduce,8,1,1048576,40\n"
              "all_reduce,8,1,16777216,110\nall_reduce,8,1,268435456,1300\n");
    }

    void write(const std::string& name, const std::string& text) { std::ofstream(folder_.path() / name) << text; }

    // Of each line where there are several, all together. Every document says its schema.
    Keys keys_of(const Output& output) {
        const test::Ran ran = test::run_weft(output.arguments, folder_.path());
        Keys keys;
        std::istringstream lines(ran.out);
        const auto add = [&](const json& document) {
            EXPECT_EQ(document.value("schema", 0), output_schema) << output.arguments;
            add_keys(document, "", keys);
        };
        if (json::accept(ran.out)) {
            add(json::parse(ran.out));
        } else {
            for (std::string line; std::getline(lines, line);) add(json::parse(line));
        }
        EXPECT_GT(keys.size(), 3U) << output.arguments << "\n" << ran.err;
        return keys;
    }

    static std::string listed(const std::string& name, const Keys& keys) {
        std::string text;
        for (const std::string& key : keys) text += name + ": " + key + "\n";
        return text;
    }

    test::TemporaryFolder folder_;
};

TEST_F(output_keys, stay_what_they_were) {
    const std::vector<Output> outputs{
        {"simulate", "simulate job.json --json"},
        {"simulate, does not fit", "simulate large.json --json"},
        {"simulate --dry-run", "simulate job.json --dry-run --json"},
        {"simulate --compare", "simulate job.json --compare --json"},
        {"explain", "explain job.json --json --jobs 1"},
        {"compare", "compare job.json --set batch.micro=2 --json"},
        {"compare of a trace", "compare job.json kineto.json --json"},
        {"share", "share sharing.json --json"},
        {"run", "run job.json --steps 100 --samples 3 --json"},
        {"plan",
         "plan job.json --fix layout.tensor=2 --fix layout.pipeline=1 --fix layout.context=1 --simulate 1 --json"},
        {"sweep", "sweep job.json --vary batch.micro=1,2 --vary layout.tensor=2,3 --json"},
        {"volume", "volume job.json --histogram --json"},
        {"volume --view logger", "volume job.json --view logger --json"},
        {"collective", "collective all_reduce --machine dgx-h100 --ranks 8 --compare measured.csv --explain --json"},
        {"collective --samples",
         "collective all_reduce --machine megascale --ranks 16 --sizes 1M --load 0.5 --samples 10 --json"},
        {"traffic", "traffic shift --machine dgx-h100 --ranks 16 --load 0.5 --json"},
        {"replay", "replay two.goal --machine dgx-h100 --json"},
        {"topology", "topology dgx-h100 --nodes 2 --json"},
        {"topology --route", "topology dgx-h100 --nodes 2 --route 0,9 --json"},
        {"check of a job", "check job.json --json"},
        {"check of mistakes", "check wrong.json --json"},
        {"check of a machine", "check dgx-h100 --json"},
        {"check of a model", "check gpt-neox-125m --json"},
        {"validate", "validate --set llama3-405b --json"},
        {"import", "import ds_config.json --model llama2-7b --machine frontier --nodes 4 --json"},
        {"calibrate --device", "calibrate kernels.csv --device h100 --json"},
        {"calibrate", "calibrate measured.csv --machine dgx-h100 --json"},
    };
    std::string now;
    for (const Output& output : outputs) now += listed(output.name, keys_of(output));
    if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr) std::ofstream(keys_file) << now;
    std::istringstream golden(test::read_file(keys_file));
    const std::string padded = "\n" + now;
    std::size_t count = 0;
    for (std::string line; std::getline(golden, line); ++count) {
        EXPECT_NE(padded.find("\n" + line + "\n"), padded.npos) << "gone: " << line;
    }
    EXPECT_EQ(count, static_cast<std::size_t>(std::count(now.begin(), now.end(), '\n')))
        << "a key came, or is not listed: see the head of this file";
}

}  // namespace
}  // namespace weft
