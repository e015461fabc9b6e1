// torchtitan's TOML: flavours, degrees, where keys stood before, and what FSDP alone cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/workloads/formats/key_change.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/torchtitan/torchtitan.hpp"

namespace weft {
namespace {

using nlohmann::json;

std::string titan_run(const std::string& flavour, const std::string& more) {
    return "[model]\nname = \"llama3\"\nflavor = \"" + flavour + "\"\n" + more + "\n[lr_scheduler]\nwarmup_steps = 2\n";
}

FormatOptions titan_nodes() { return {.machine = "dgx-h100", .nodes = 2}; }

Import titan_import(const std::string& text, const FormatOptions& options = titan_nodes()) {
    const std::vector<SourceFile> files{{"run.toml", text}};
    return import_files(format_of(files, ""), files, options);
}

json titan_object(const std::string& more) { return json::parse(titan_import(titan_run("8B", more)).object.json()); }

std::string titan_refusal(const std::string& text, const FormatOptions& options = titan_nodes()) {
    try {
        titan_import(text, options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(torchtitan, a_flavour_is_a_model_under_version_2_of_fsdp) {
    const json job = titan_object("[training]\nlocal_batch_size = 2\nseq_len = 4096\n");
    EXPECT_EQ(job["framework"], "fsdp");
    EXPECT_EQ(job["model"]["ffn_hidden"], 14336);
    EXPECT_EQ(job["fsdp"], json({{"version", 2}, {"reduce_precision", "fp32"}}));
    EXPECT_EQ(job["batch"], json({{"sequence", 4096}, {"micro", 2}, {"global", 32}}));
    EXPECT_EQ(job["precision"], "bf16");
}

TEST(torchtitan, degrees_make_the_strategy) {
    const json hybrid = titan_object("[training]\n[parallelism]\ndata_parallel_replicate_degree = 2\n");
    EXPECT_EQ(hybrid["fsdp"]["strategy"], "hybrid_shard");
    EXPECT_EQ(hybrid["fsdp"]["shard_ranks"], 8);
    const json kept = titan_object("[training]\n[parallelism]\nfsdp_reshard_after_forward = \"never\"\n");
    EXPECT_EQ(kept["fsdp"]["strategy"], "shard_grad_op");
    const json said =
        titan_object("[training]\nlocal_batch_size = 1\n[parallelism]\ndata_parallel_shard_degree = 16\n");
    EXPECT_EQ(said["layout"]["data"], 16);
    EXPECT_EQ(said["batch"]["global"], 16);
}

TEST(torchtitan, products_are_in_8_bits_where_a_converter_makes_them) {
    const Import import = titan_import(titan_run("8B", "converters = [\"float8\"]\n[training]\n"));
    EXPECT_EQ(json::parse(import.object.json())["precision"], "fp8");
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return note.origin.key == "model.converters" && note.message.starts_with("weights are gathered in 16 bits");
    }));
}

TEST(torchtitan, selective_recomputation_is_left_out_aloud) {
    const std::string selective = "[training]\n[activation_checkpoint]\nmode = \"selective\"\n";
    EXPECT_EQ(json::parse(titan_import(titan_run("8B", selective)).object.json())["recompute"],
              json::parse(R"({"method": "every", "layers": 2})"));
    const std::string op = selective + "selective_ac_option = \"op\"\n";
    EXPECT_EQ(json::parse(titan_import(titan_run("8B", op)).object.json())["recompute"], "operations");
    const Import import = titan_import(titan_run("8B", op + "[parallelism]\ncontext_parallel_degree = 2\n"));
    EXPECT_TRUE(std::ranges::any_of(import.notes, [](const FormatNote& note) {
        return note.severity == FormatNote::Severity::warning && note.origin.key == "activation_checkpoint.mode";
    }));
}

TEST(torchtitan, degrees_of_all_kinds_compose) {
    const json job = titan_object(
        "[training]\nlocal_batch_size = 8\nseq_len = 4096\n[parallelism]\ntensor_parallel_degree = 2\n"
        "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"\n"
        "context_parallel_degree = 2\nfsdp_reshard_after_forward = \"always\"\n");
    EXPECT_EQ(job["layout"], json({{"tensor", 2}, {"pipeline", 2}, {"context", 2}, {"virtual_stages", 2}}));
    EXPECT_EQ(job["sequence_parallel"], true);
    EXPECT_EQ(job["context_method"], "all_gather");
    EXPECT_EQ(job["schedule"], "interleaved");
    EXPECT_EQ(job["fsdp"]["reshard_after_forward"], true);
    EXPECT_EQ(job["batch"], json({{"sequence", 4096}, {"micro", 1}, {"global", 16}})) << "2 data ranks of 16 ranks";
    const json experts =
        json::parse(titan_import("[model]\nname = \"qwen3\"\nflavor = \"30B-A3B\"\n[training]\n[lr_scheduler]\n"
                                 "[parallelism]\nexpert_parallel_degree = 8\n")
                        .object.json());
    EXPECT_EQ(experts["layout"]["expert"], 8);
}

json titan_experts(const std::string& degrees) {
    return json::parse(titan_import("[model]\nname = \"llama4\"\nflavor = \"17bx16e\"\n[training]\n[lr_scheduler]\n"
                                    "[parallelism]\n" +
                                        degrees,
                                    {.machine = "dgx-h100", .nodes = 8})
                           .object.json());
}

// torchtitan's default is whole experts on tensor ranks, and cut ones where no ranks share them, whatever it says.
TEST(torchtitan, experts_are_whole_or_cut_as_tensor_ranks_share_them) {
    const json recipe = titan_experts("tensor_parallel_degree = 8\nexpert_tensor_parallel_degree = 8\n");
    EXPECT_FALSE(recipe["layout"].contains("expert_tensor"));
    EXPECT_EQ(recipe["model"]["experts"]["balancing_bias"], true);
    const std::string shared = "tensor_parallel_degree = 8\nexpert_parallel_degree = 8\n";
    EXPECT_EQ(titan_experts(shared)["layout"]["expert_tensor"], 1);
    EXPECT_EQ(titan_experts(shared + "expert_tensor_parallel_degree = 8\n")["layout"]["expert_tensor"], 8);
    const json hybrid = titan_experts("data_parallel_replicate_degree = 2\nexpert_parallel_degree = 16\n");
    EXPECT_EQ(hybrid["fsdp"]["strategy"], "hybrid_shard");
    EXPECT_EQ(hybrid["fsdp"]["shard_ranks"], 32);
    EXPECT_EQ(hybrid["layout"]["expert"], 16);
}

TEST(torchtitan, keys_and_values_rotate_as_it_says) {
    const std::string context = "[training]\n[parallelism]\ncontext_parallel_degree = 2\n";
    EXPECT_EQ(titan_object(context)["context_method"], "all_gather");
    EXPECT_EQ(titan_object(context + "context_parallel_rotate_method = \"alltoall\"\n")["context_method"], "ring");
}

TEST(torchtitan, parts_of_so_many_layers_make_virtual_stages) {
    const json job = titan_object(
        "[training]\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = "
        "\"Interleaved1F1B\"\npipeline_parallel_layers_per_stage = 8\n"
        "pipeline_parallel_first_stage_less_layers = 0\npipeline_parallel_last_stage_less_layers = 0\n");
    EXPECT_EQ(job["layout"]["virtual_stages"], 2);
    EXPECT_EQ(job["layout"]["split"], "even");
}

TEST(torchtitan, what_is_not_simulated_is_refused_by_name) {
    for (const auto& [more, word] : std::vector<std::pair<std::string, std::string>>{
             {"[training]\n[parallelism]\npipeline_parallel_degree = 2\npipeline_parallel_schedule = \"DualPipeV\"\n",
              "does not have the schedule DualPipeV"},
             {"[training]\n[parallelism]\npipeline_parallel_degree = 2\n"
              "pipeline_parallel_first_stage_less_layers = 2\n",
              "one layer less"},
             {"[training]\n[parallelism]\nexpert_parallel_degree = 2\nexpert_parallel_comm_backend = \"deepep\"\n",
              "which is \"standard\""},
             {"[training]\nenable_cpu_offload = true\n", "offloading"},
             {"converters = [\"mx\"]\n[training]\n", "weft has no \"mx\""},
             {"[training]\nlocal_batch_size = -1\n", "training.local_batch_size"},
             {"[training]\n[parallelism]\ndata_parallel_shard_degree = -3\n", "data_parallel_shard_degree"},
         }) {
        const std::string refusal = titan_refusal(titan_run("8B", more));
        EXPECT_NE(refusal.find(word), std::string::npos) << more << ": " << refusal;
    }
    const std::string unknown = titan_refusal(titan_run("9B", "[training]\n"));
    EXPECT_NE(unknown.find("llama3 8B"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("run.toml:3"), std::string::npos) << unknown;
}

// Of every flavour what is read is the model that was counted; mask and kernel of attention make no other model.
TEST(torchtitan, flavours_are_read_as_their_shapes) {
    for (const TorchtitanFlavour& each : torchtitan_flavours()) {
        const auto run = [&](const std::string& ending) {
            return titan_import("[model]\nname = \"" + each.model + "\"\nflavor = \"" + each.flavour + ending +
                                    "\"\n[training]\n[lr_scheduler]\n",
                                {.machine = "dgx-h100", .nodes = 2});
        };
        const json model = json::parse(run("").object.json())["model"];
        EXPECT_EQ(model["layers"], each.shape.layers);
        EXPECT_EQ(model["vocabulary"], each.shape.vocabulary);
        EXPECT_EQ(model.value("tied_embeddings", false), each.shape.tied_embeddings);
        EXPECT_EQ(model.contains("experts"), each.shape.experts.count > 0);
        EXPECT_EQ(model.contains("latent_attention"), each.shape.has_latent_attention());
        EXPECT_EQ(json::parse(run("_flex_attn").object.json())["model"], model);
        EXPECT_EQ(find_torchtitan_flavour(each.model, each.flavour + "_varlen"), &each);
    }
    EXPECT_EQ(find_torchtitan_flavour("llama3", "9B"), nullptr);
    Transformer other = torchtitan_flavours().front().shape;
    ++other.ffn_hidden;
    EXPECT_EQ(torchtitan_flavour_of(other), nullptr);
}

bool titan_warns(const std::string& more, std::string_view key) {
    const Import import = titan_import(titan_run("8B", more));
    return std::ranges::any_of(import.notes, [&](const FormatNote& note) {
        return note.severity == FormatNote::Severity::warning && note.origin.key == key;
    });
}

TEST(torchtitan, what_is_simulated_otherwise_is_warned_of_by_its_key) {
    for (const auto& [more, key] : std::vector<std::pair<std::string, std::string>>{
             {"[training]\n[optimizer]\nname = \"Muon\"\n", "optimizer.name"},
             {"[training]\n[optimizer]\nearly_step_in_backward = true\n", "optimizer.early_step_in_backward"},
             {"[training]\n[optimizer]\nimplementation = \"foreach\"\n", "optimizer.implementation"},
             {"[training]\ndtype = \"bfloat16\"\n", "training.dtype"},
             {"[training]\n[parallelism]\ntensor_parallel_degree = 2\ndisable_loss_parallel = true\n",
              "parallelism.disable_loss_parallel"},
             {"[training]\n[parallelism]\ntensor_parallel_degree = 2\nenable_async_tensor_parallel = true\n",
              "parallelism.enable_async_tensor_parallel"},
             {"[training]\n[activation_checkpoint]\nmode = \"memory_budget\"\n", "activation_checkpoint.mode"},
             {"[training]\nlocal_batch_size = 4\nglobal_batch_size = 128\n[parallelism]\npipeline_parallel_degree = "
              "2\n",
              "training.global_batch_size"},
         })
        EXPECT_TRUE(titan_warns(more, key)) << more;
    EXPECT_FALSE(titan_warns("[training]\n[optimizer]\nname = \"AdamW\"\n", "optimizer.name"));
}

TEST(torchtitan, schedules_and_compilation_are_those_of_the_job) {
    for (const auto& [said, schedule] : {std::pair{"1F1B", "1f1b"}, {"GPipe", "gpipe"}, {"ZBVZeroBubble", "zb-v"}})
        EXPECT_EQ(
            titan_object(std::string("[training]\nlocal_batch_size = 8\n[parallelism]\npipeline_parallel_degree = "
                                     "2\npipeline_parallel_schedule = \"") +
                         said + "\"\n")["schedule"],
            schedule);
    const std::string compile = "[training]\n[compile]\nenable = true\n";
    EXPECT_EQ(titan_object(compile)["compile"], true);
    EXPECT_FALSE(titan_object(compile + "components = [\"loss\"]\n").contains("compile"));
    EXPECT_EQ(titan_object(compile + "components = [\"model\", \"loss\"]\n")["compile"], true);
    EXPECT_EQ(titan_object(compile + "components = [\"model\"]\n")["compile"], "blocks");
    EXPECT_NE(titan_refusal(titan_run("8B", "[training]\n"), {}).find("batch.global"), std::string::npos);
}

// The models' own reports and the weights released: 8.03, 70.55 and 405.85 billion; 0.75 and 32.76; 671.03 without the
// module for several tokens.
TEST(torchtitan, flavours_have_the_parameters_of_their_models) {
    const auto count = [](std::string_view model, std::string_view flavour) {
        return parameters(find_torchtitan_flavour(model, flavour)->shape);
    };
    EXPECT_EQ(count("llama3", "8B"), 8030261248U);
    EXPECT_EQ(count("llama3", "70B"), 70553706496U);
    EXPECT_EQ(count("llama3", "405B"), 405853388800U);
    EXPECT_EQ(count("llama2", "7B"), 6738415616U);
    EXPECT_EQ(count("qwen3", "0.6B"), 596049920U);
    EXPECT_EQ(count("qwen3", "32B"), 32762123264U);
    EXPECT_EQ(count("qwen3", "30B-A3B"), 30532122624U);
    EXPECT_EQ(count("deepseek_v3", "671B"), 671026404352U);
    for (const TorchtitanFlavour& each : torchtitan_flavours())
        EXPECT_EQ(torchtitan_flavour_of(each.shape), &each) << each.model << " " << each.flavour;
}

// Lines of "[training]", with "; " between them.
std::string training_of(std::string lines) {
    for (std::size_t at = lines.find("; "); at != std::string::npos; at = lines.find("; ")) lines.replace(at, 2, "\n");
    return "[training]\n" + lines + "\n";
}

class torchtitan_key : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(torchtitan_key, changes_the_job_so_and_no_more) {
    test::expect_change(titan_import(titan_run("8B", training_of(GetParam().said))), titan_object(training_of("")),
                        GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    torchtitan, torchtitan_key,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {"seq_len = 1024", R"({"batch": {"sequence": 1024}})"},
        {"local_batch_size = 4", R"({"batch": {"micro": 4, "global": 64}})"},
        {"batch_size = 4", "{}", "training.batch_size: not known to weft, and left out"},
        {"global_batch_size = 256", R"({"batch": {"global": 256}})"},
        {R"(mixed_precision_param = "float32")", R"({"precision": "fp32"})"},
        {R"(mixed_precision_param = "float16")", R"({"precision": "fp16"})"},
        {R"(mixed_precision_reduce = "bfloat16")", R"({"fsdp": {"reduce_precision": null}})"},
        {R"(dtype = "bfloat16")", "{}", "training.dtype: states are simulated in fp32, as by default, not in bfloat16"},
        {"compile = true", "{}", "training.compile: not known to weft, and left out"},
        {"[parallelism]; tensor_parallel_degree = 2",
         R"({"layout": {"tensor": 2}, "sequence_parallel": true, "batch": {"global": 64}})"},
        {"[parallelism]; tensor_parallel_degree = 2; data_parallel_shard_degree = 8",
         R"({"layout": {"tensor": 2, "data": 8}, "sequence_parallel": true, "batch": {"global": 64}})"},
        {"[parallelism]; context_parallel_degree = 2",
         R"({"layout": {"context": 2}, "context_method": "all_gather", "batch": {"global": 64}})"},
        {R"([parallelism]; context_parallel_degree = 2; context_parallel_rotate_method = "alltoall")",
         R"({"layout": {"context": 2}, "context_method": "ring", "batch": {"global": 64}})"},
        {R"([parallelism]; context_parallel_degree = 2; context_parallel_load_balancer = "ptrr")",
         R"({"layout": {"context": 2}, "context_method": "all_gather", "batch": {"global": 64}})",
         "parallelism.context_parallel_load_balancer: attention is simulated as evenly shared, with head and tail of a "
         "sequence on each rank"},
        {"[parallelism]; pipeline_parallel_degree = 2",
         R"({"layout": {"pipeline": 2}, "schedule": "1f1b", "batch": {"micro": 1, "global": 64}})"},
        {R"([parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_schedule = "Interleaved1F1B")",
         R"({"layout": {"pipeline": 2, "virtual_stages": 2}, "schedule": "interleaved", "batch": {"micro": 1, "global": 64}})"},
        {"[parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_microbatch_size = 2",
         R"({"layout": {"pipeline": 2}, "schedule": "1f1b", "batch": {"micro": 2, "global": 64}})"},
        {"[parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_first_stage_less_layers = 0; "
         "pipeline_parallel_last_stage_less_layers = 0",
         R"({"layout": {"pipeline": 2, "split": "even"}, "schedule": "1f1b", "batch": {"micro": 1, "global": 64}})"},
        {R"([parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_schedule_csv = "")",
         R"({"layout": {"pipeline": 2}, "schedule": "1f1b", "batch": {"micro": 1, "global": 64}})"},
        {"[parallelism]; data_parallel_replicate_degree = 2",
         R"({"fsdp": {"strategy": "hybrid_shard", "shard_ranks": 8}})"},
        {R"([parallelism]; data_parallel_replicate_degree = 2; fsdp_reshard_after_forward = "never")",
         R"({"fsdp": {"strategy": "hybrid_shard_zero2", "shard_ranks": 8}})"},
        {R"([parallelism]; fsdp_reshard_after_forward = "always")", R"({"fsdp": {"reshard_after_forward": true}})"},
        {R"([parallelism]; fsdp_reshard_after_forward = "never")", R"({"fsdp": {"strategy": "shard_grad_op"}})"},
        {"[parallelism]; odd = 1", "{}", "parallelism.odd: not known to weft, and left out"},
        {R"([activation_checkpoint]; mode = "none")", R"({"recompute": "none"})"},
        {R"([activation_checkpoint]; mode = "full")", R"({"recompute": "full"})"},
        {R"([activation_checkpoint]; selective_ac_option = "1")", R"({"recompute": "full"})"},
        {R"([activation_checkpoint]; selective_ac_option = "3")", R"({"recompute": {"layers": 3}})"},
        {R"([activation_checkpoint]; selective_ac_option = "op")", R"({"recompute": "operations"})"},
        {R"([activation_checkpoint]; mode = "memory_budget")", R"({"recompute": "none"})",
         "activation_checkpoint.mode: memory_budget recomputes what a compiler chooses, which weft cannot; nothing is "
         "recomputed in the simulation, which is faster and takes more memory; --set recompute=full is the other end"},
        {R"([experimental]; custom_import = "x")", "{}"},
        {"[profiling]; enable = true", "{}"},
        {"[odd]; a = 1", "{}", "odd: not known to weft, and left out"},
        {"[compile]; enable = true", R"({"compile": true})"},
        {R"([optimizer]; name = "AdamW")", "{}"},
    }));

class torchtitan_refused : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(torchtitan_refused, is_told_by_the_key) {
    const std::string refusal = titan_refusal(titan_run("8B", training_of(GetParam().said)));
    EXPECT_NE(refusal.find("error: " + GetParam().patch), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(
    torchtitan, torchtitan_refused,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {R"(mixed_precision_param = "int8")",
         R"(training.mixed_precision_param: expected bfloat16 or float32, got "int8")"},
        {"enable_cpu_offload = true", "training.enable_cpu_offload: weft has no offloading of states to the host"},
        {R"([parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_schedule = "LoopedBFS")",
         "parallelism.pipeline_parallel_schedule: weft does not have the schedule LoopedBFS"},
        {"[parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_first_stage_less_layers = 2",
         "parallelism.pipeline_parallel_first_stage_less_layers: weft knows first and last stages with one layer less, "
         "or with none"},
        {R"([parallelism]; pipeline_parallel_degree = 2; pipeline_parallel_schedule_csv = "s.csv")",
         "parallelism.pipeline_parallel_schedule_csv: weft deals layers to stages by torchtitan's own rule"},
        {"[parallelism]; data_parallel_replicate_degree = 16; data_parallel_shard_degree = 1",
         "parallelism.data_parallel_replicate_degree: replicas that share nothing run under DDP with autocast, which "
         "weft does not simulate"},
        {"[parallelism]; data_parallel_shard_degree = 0",
         "parallelism.data_parallel_shard_degree: expected -1 (all that are left) or at least 1"},
        {R"([parallelism]; expert_parallel_degree = 2; expert_parallel_comm_backend = "deepep")",
         R"(parallelism.expert_parallel_comm_backend: weft has torchtitan's all-to-all alone, which is "standard")"},
        {R"([activation_checkpoint]; mode = "some")",
         R"(activation_checkpoint.mode: expected none, selective or full, got "some")"},
        {"[fault_tolerance]; enable = true", "fault_tolerance.enable: weft has no replicas that come and go"},
    }));

}  // namespace
}  // namespace weft
