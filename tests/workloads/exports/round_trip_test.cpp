// What is exported and imported again is the same job: it simulates to the same step, to the digit.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

std::optional<std::string> exported(const ExportFormat& format, const Study& study) {
    try {
        return format.job(study);
    } catch (const ConfigError&) {
        return std::nullopt;  // the format cannot say it
    }
}

double step_time(const Study& study) {
    const Simulation run = simulate_step(study, make_plan(study), {});
    return make_report(run).metrics.front().value;
}

void expect_same_job(std::string_view format_name, std::string_view file, const Study& study,
                     const FormatOptions& options = {}) {
    const std::optional<std::string> text = exported(find_export(format_name), study);
    if (!text) return;
    const std::vector<SourceFile> files{{std::string(file), *text}};
    const Import import = import_files(format_of(files, ""), files, options);
    const Study again = read_study(import.object.document(std::string(file)));
    EXPECT_EQ(step_time(again), step_time(study)) << import.object.text();
}

void expect_same_job(std::string_view format_name, std::string_view file, const std::filesystem::path& path) {
    SCOPED_TRACE(path.filename().string());
    expect_same_job(format_name, file, load_study(path));
}

// Megatron-LM has no sequence parallelism with one tensor rank, and an export does not say it.
TEST(round_trip, sequence_parallelism_of_one_tensor_rank_is_none) {
    Document job = Document::parse("job.json", R"({"machine": "dgx-h100", "model": "llama3-8b", "framework": "megatron",
        "precision": "fp8", "layout": {"tensor": 1, "pipeline": 4}, "batch": {"global": 16}, "nodes": 1, "zero": 1})");
    const double without = step_time(read_study(job.copy()));
    job.assign("sequence_parallel=true");
    EXPECT_EQ(step_time(read_study(job.copy())), without);
    expect_same_job("megatron", "run.sh", read_study(job.copy()));
}

// Of every kind of layer that the model has.
std::vector<std::uint64_t> layer_tensors_of(const Transformer& model) {
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
        for (const Module& module : layer_modules(model, layer_kind(model, layer), {}))
            sizes.push_back(module_parameters(module));
    }
    return sizes;
}

std::vector<std::filesystem::path> shipped_jobs() {
    std::vector<std::filesystem::path> jobs;
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/workloads/jobs")) {
        if (entry.path().extension() == ".json") jobs.push_back(entry.path());
    }
    std::ranges::sort(jobs);
    return jobs;
}

TEST(exports, a_script_of_megatron_is_the_job_that_it_was_made_of) {
    for (const auto& job : shipped_jobs()) expect_same_job("megatron", "train.sh", job);
}

TEST(exports, a_batch_script_of_slurm_is_the_job_that_it_was_made_of) {
    for (const auto& job : shipped_jobs()) expect_same_job("slurm", "train.sbatch", job);
}

// Every shipped model that Megatron-LM has, and what it has flags for beside the shipped jobs'.
TEST(exports, models_and_settings_come_back_from_flags_of_megatron) {
    const std::vector<std::string> usual{
        "machine=dgx-h100", "nodes=4",         "framework=megatron", "batch.sequence=2048",
        "batch.global=128", "layout.tensor=4", "precision=bf16",     "sequence_parallel=true"};
    std::size_t exported_models = 0;
    for (const std::string& name : model_names()) {
        SCOPED_TRACE(name);
        std::vector<std::string> overrides = usual;
        overrides.push_back("model=" + name);
        std::optional<Study> study;
        try {
            study = load_study("", overrides);
        } catch (const ConfigError&) {
            continue;  // does not divide so
        }
        const std::optional<std::string> text = exported(find_export("megatron"), *study);
        if (!text) continue;
        ++exported_models;
        const std::vector<SourceFile> files{{"train.sh", *text}};
        const Import import = import_files(format_of(files, ""), files, {});
        const Transformer again = read_study(import.object.document("train.sh")).job.model;
        EXPECT_EQ(parameters(again), parameters(study->job.model)) << import.object.text();
        EXPECT_EQ(active_parameters(again), active_parameters(study->job.model));
        EXPECT_EQ(layer_tensors_of(again), layer_tensors_of(study->job.model));
    }
    EXPECT_GT(exported_models, 5U);
}

// Layers that differ, each as a job says it.
struct UnlikeLayers {
    std::string model;  // members of its object, beside those below
    std::vector<std::string> overrides{};
    std::string said{};  // of the script
    std::string framework = "megatron";
};

Study study_of(const UnlikeLayers& layers) {
    const std::string model = R"({"layers": 8, "hidden": 512, "heads": 8, "vocabulary": 1000, "norm": "rms_norm", )"
                              R"("biases": false, )" +
                              layers.model + "}";
    std::vector<std::string> overrides{"machine=dgx-h100",    "nodes=1",         "framework=" + layers.framework,
                                       "batch.sequence=1024", "batch.global=64", "precision=bf16",
                                       "model=" + model};
    if (layers.framework == "megatron")
        overrides.insert(overrides.end(), {"layout.tensor=2", "sequence_parallel=true", "megatron.version=core-0.19"});
    overrides.insert(overrides.end(), layers.overrides.begin(), layers.overrides.end());
    return load_study("", overrides);
}

const std::string mamba =
    R"("mixer": "mamba2", "recurrence": {"heads": 16, "key_heads": 2, "key_size": 32, "chunk": 128})";
const std::string delta =
    R"("mixer": "gated_delta", "recurrence": {"heads": 16, "key_heads": 4, "key_size": 32, "value_size": 64})";
const std::string alone = R"("feed_forward": "none")", fed = R"("mixer": "none", "feed_forward": )";
const std::string experts =
    R"("experts": {"count": 8, "top_k": 2, "ffn_hidden": 128, "latent": 64, "shared": 1, "shared_gate": true})";
const std::string latent = R"("latent_attention": {"kv_rank": 64, "nope_size": 32, "rope_size": 16, "value_size": 32})";
const std::string indexer = R"("indexer": {"heads": 4, "head_size": 32, "top_k": 256})";
const std::string hybrid = R"("layer_kinds": {"M": {)" + mamba + ", " + alone + R"(}, "G": {)" + delta + ", " + alone +
                           R"(}, "*": {)" + alone + R"(}, "-": {)" + fed + R"("mlp"}, "E": {)" + fed +
                           R"("experts"}}, )" + experts;

TEST(exports, layers_that_differ_come_back_from_flags_of_megatron) {
    const std::vector<UnlikeLayers> all{
        {hybrid + R"(, "layer_pattern": "MEG*M-ME")", {}, "--hybrid-layer-pattern \"MEG*M-ME\""},
        {hybrid + R"(, "layer_pattern": "ME*-", "mtp_layers": 1)",
         {"layout.pipeline=2", "layout.virtual_stages=2", "schedule=interleaved"},
         "\"ME|*-|ME|*-/-\""},
        {hybrid + R"(, "layer_pattern": "ME*-")", {"layout.pipeline=2", "layout.split=Et*3|t*5L"}, "\"ME*|-ME*-\""},
        {hybrid + R"(, "layer_pattern": "ME*-")",
         {"layout.pipeline=2", "megatron.version=core-0.16"},
         "--hybrid-override-pattern \"ME*-ME*-\"\n    --spec megatron.core.models.mamba.mamba_layer_specs "
         "mamba_stack_spec\n    --is-hybrid-model"},
        {latent + R"(, "layer_kinds": {"d": {)" + indexer + ", " + alone + R"(}, "a": {)" + alone + R"(}, "f": {)" +
             fed + R"("mlp"}}, "layer_pattern": "dfaf")",
         {},
         "\"D-+-D-+-\""},
        {R"("attention_gate": "elements", "layer_kinds": {"l": {)" + delta + R"(}, "f": {}}, "layer_pattern": "lllf")",
         {},
         "--linear-attention-freq 4\n"},
        {experts + R"(, "layer_kinds": {"l": {)" + delta +
             R"(}, "d": {"feed_forward": "mlp"}}, "layer_pattern": "ldd")",
         {},
         "--moe-layer-freq \"[1,0,0,1,0,0,1,0]\""},
        {latent + ", " + indexer, {}, "--experimental-attention-variant dsa"},
        {R"("attention_sinks": true, "attention_window": {"tokens": 128, "full_every": 4})",
         {},
         "--window-attn-skip-freq 4\n    --softmax-type learnable\n    --window-size \"(127,0)\""},
        {R"("positions": "rotary", "layer_kinds": {"w": {"attention_window": {"tokens": 64}}, "n": {"positions": "none"}}, )"
         R"("layer_pattern": "wwn")",
         {},
         "--no-rope-freq 3\n    --window-attn-skip-freq 3"}};
    for (const UnlikeLayers& layers : all) {
        SCOPED_TRACE(layers.said);
        const Study study = study_of(layers);
        for (const std::string format : {"megatron", "slurm"}) {
            const std::vector<SourceFile> files{{"train.sh", find_export(format).job(study)}};
            EXPECT_NE(files.front().text.find(layers.said), std::string::npos) << files.front().text;
            const Import import = import_files(format_of(files, ""), files, {});
            const Study again = read_study(import.object.document("train.sh"));
            EXPECT_EQ(layer_tensors_of(again.job.model), layer_tensors_of(study.job.model)) << import.object.text();
            EXPECT_EQ(parameters(again.job.model), parameters(study.job.model));
            EXPECT_EQ(step_time(again), step_time(study)) << import.object.text();
        }
    }
}

TEST(exports, layers_that_a_launcher_has_no_flags_for_are_refused) {
    const auto refusal = [](const std::string& format, const UnlikeLayers& layers) -> std::string {
        try {
            return find_export(format).job(study_of(layers));
        } catch (const ConfigError& error) {
            return error.what();
        }
    };
    const std::string lightning = R"("mixer": "lightning", "recurrence": {"heads": 8, "key_size": 64})";
    for (
        const auto& [layers, message] : std::vector<std::pair<UnlikeLayers, std::string>>{
            {{lightning}, "model.mixer: Megatron-LM has Mamba-2 and gated delta nets"},
            {{mamba}, "Megatron-LM has Mamba-2 as layers of a hybrid pattern, without a feed-forward"},
            {{R"("attention_gate": "heads")", {}}, "model.attention_gate: Megatron-LM's gate weighs elements"},
            {{R"("layer_kinds": {"a": {"kv_heads": 2}, "b": {}}, "layer_pattern": "ab")", {}},
             "model.layer_kinds: Megatron-LM has attention of one shape, and MLPs of one size"},
            {{R"("layer_kinds": {"a": {}, "b": {"attention_window": {"tokens": 64}}, "c": {"attention_window": {"tokens": 128}}}, )"
              R"("layer_pattern": "abc")"},
             "model.layer_kinds: Megatron-LM has attention of one shape"},
            {{hybrid + R"(, "layer_pattern": "ME*-")",
              {"layout.pipeline=2", "layout.virtual_stages=2", "schedule=interleaved", "megatron.version=core-0.16"}},
             "megatron.version: hybrid patterns have parts and prediction modules since core-0.17"}}) {
        const std::string said = refusal("megatron", layers);
        EXPECT_NE(said.find(message), std::string::npos) << said;
    }
    const UnlikeLayers unlike{hybrid + R"(, "layer_pattern": "ME*-")", {}, "", "deepspeed"};
    EXPECT_NE(refusal("neox", unlike).find("model.layer_kinds: the format has no word for it"), std::string::npos);
    const UnlikeLayers sharded{
        hybrid + R"(, "layer_pattern": "ME*-")", {R"(fsdp={"version": 2, "reduce_precision": "fp32"})"}, "", "fsdp"};
    EXPECT_NE(refusal("torchtitan", sharded).find("torchtitan has no model of this shape"), std::string::npos);
}

TEST(exports, settings_come_back_from_flags_of_megatron) {
    const std::vector<std::vector<std::string>> variants{
        {"attention=cudnn_9_13", "precision=fp8"},
        {"dropout=true", "attention=unfused", "recompute=selective"},
        {R"(recompute={"method": "block", "layers": 3})"},
        {R"(recompute={"method": "uniform", "layers": 4})"},
        {R"(recompute={"modules": ["core_attn", "mlp"]})", "megatron.version=core-0.13"},
        {"zero=1", R"(optimizer={"master": "remainders", "momentum": "bf16"})", "megatron.version=core-0.13"},
        {"zero=1", "precision=fp8", "megatron.fp8_parameters=true", "megatron.version=core-0.13"},
        {"offloaded_layers=4"},
        {"recompute=full", "sequence_parallel=false", "megatron.distribute_saved_activations=true"},
        {"layout.pipeline=4", "layout.virtual_stages=2", "schedule=interleaved", "zero=1", "overlap_gradients=true"},
        {"layout.order=tensor,pipeline,data", "layout.pipeline=2", "megatron.gradients=bf16", "blocking_launches=true"},
        {"cuda_graphs=full", "megatron.fused_cross_entropy=true", "precision=fp8", "attention=cudnn"},
        {"megatron.version=2021", "precision=fp16", "megatron.transformer_engine=false", "sequence_parallel=false"},
        {"nodes=1", "layout.data=1", "megatron.overlap_tensor=true"},
        {"zero=1", "overlap_gradients=true", "megatron.version=core-0.13", "megatron.sharding=optim_grads_params"},
        {"layout.context=2", "context_method=all_to_all", "zero=1", "megatron.overlap_parameters=true",
         "overlap_gradients=true", "bucket_elements=2e7"}};
    for (const std::vector<std::string>& variant : variants) {
        std::vector<std::string> overrides{"machine=dgx-h100", "nodes=4",         "framework=megatron",
                                           "model=llama3-8b",  "precision=bf16",  "batch.sequence=2048",
                                           "batch.global=32",  "layout.tensor=4", "sequence_parallel=true"};
        overrides.insert(overrides.end(), variant.begin(), variant.end());
        SCOPED_TRACE(variant.front());
        const Study study = load_study("", overrides);
        for (const char* const format : {"megatron", "slurm"}) {
            const std::vector<SourceFile> files{{"train.sh", find_export(format).job(study)}};
            const Import import = import_files(format_of(files, ""), files, {});
            const Study again = read_study(import.object.document("train.sh"));
            EXPECT_EQ(step_time(again), step_time(study)) << import.object.text();
        }
    }
}

TEST(exports, a_configuration_of_gpt_neox_is_the_job_that_it_was_made_of) {
    for (const auto& job : shipped_jobs()) expect_same_job("neox", "train.yml", job);
}

Study shipped_job(std::string_view name, const std::vector<std::string>& overrides) {
    return load_study(std::filesystem::path(WEFT_SOURCE_DIR "/workloads/jobs") / name, overrides);
}

// Packed documents are no flag of a framework's.
TEST(exports, scripts_say_what_is_packed_into_sequences) {
    const std::string flash = "attention=flash";
    for (const std::string documents :
         {"batch.document=512", R"(batch.documents={"mean": 700, "sigma": 1.5, "cut": "sequence", "seed": 9})",
          R"(batch.documents={"lengths": [100, 3000], "shares": [1, 2]})"}) {
        SCOPED_TRACE(documents);
        const Study study = shipped_job("dgx-a100-gpt-22b.json", {flash, documents});
        ASSERT_TRUE(exported(find_export("megatron"), study));
        EXPECT_LT(step_time(study), step_time(shipped_job("dgx-a100-gpt-22b.json", {flash})));
        expect_same_job("megatron", "train.sh", study);
    }
}

// What DeepSpeed has no keys for is in an object of its own.
TEST(exports, a_configuration_of_deepspeed_is_the_job_that_it_was_made_of) {
    for (const std::string zero : {"1", "2", "3"}) {
        SCOPED_TRACE("stage " + zero);
        const Study study = shipped_job(
            "frontier-gpt-neox-13b-zero3.json",
            {"model=gpt-neox-1.3b", "nodes=2", "layout={}", "batch={\"micro\": 2, \"global\": 64}", "zero=" + zero,
             "recompute=" + std::string(zero == "2" ? "none" : "full"), "attention=flash", "bucket_elements=2e8"});
        ASSERT_TRUE(exported(find_export("deepspeed"), study));
        expect_same_job("deepspeed", "ds_config.json", study);
    }
}

TEST(exports, a_configuration_of_torchtitan_is_the_job_that_it_was_made_of) {
    for (const std::string strategy : {"full_shard", "shard_grad_op", "hybrid_shard"}) {
        SCOPED_TRACE(strategy);
        const Study study =
            shipped_job("dgx-h100-llama3-8b-fsdp.json",
                        {"fsdp={\"version\": 2, \"strategy\": \"" + strategy + "\", \"reduce_precision\": \"fp32\"}"});
        ASSERT_TRUE(exported(find_export("torchtitan"), study));
        expect_same_job("torchtitan", "run.toml", study);
    }
}

TEST(exports, a_configuration_of_torchtitan_keeps_what_is_composed) {
    const std::string fsdp = "fsdp={\"version\": 2, \"reduce_precision\": \"fp32\"}";
    for (const std::vector<std::string>& variant : std::vector<std::vector<std::string>>{
             {"layout={\"tensor\": 4, \"data\": 8}", "sequence_parallel=true", "fsdp.reshard_after_forward=true"},
             {"layout={\"pipeline\": 4, \"data\": 8}", "schedule=zb-v", "batch.global=64"},
             {"layout={\"pipeline\": 2, \"virtual_stages\": 2, \"context\": 2, \"data\": 8, \"split\": \"even\"}",
              "schedule=interleaved", "batch.global=64", "context_method=all_gather"},
             {"layout={\"tensor\": 2, \"data\": 16}", "sequence_parallel=true", "recompute=operations"},
             {"layout={\"context\": 2, \"data\": 16}", "fsdp.strategy=hybrid_shard", "fsdp.shard_ranks=4"}}) {
        SCOPED_TRACE(variant.front());
        std::vector<std::string> overrides = variant;
        overrides.insert(overrides.begin(), fsdp);
        const Study study = shipped_job("dgx-h100-llama3-8b-fsdp.json", overrides);
        ASSERT_TRUE(exported(find_export("torchtitan"), study));
        expect_same_job("torchtitan", "run.toml", study);
    }
}

TEST(exports, torchtitan_has_no_model_of_another_shape) {
    const Study study = shipped_job("dgx-h100-llama3-8b-fsdp.json", {"model=llama2-13b", "fsdp.version=1"});
    const Study other = shipped_job("dgx-h100-llama3-8b-fsdp.json", {"model=pythia-1.4b"});
    EXPECT_FALSE(exported(find_export("torchtitan"), study));
    EXPECT_FALSE(exported(find_export("torchtitan"), other));
}

TEST(exports, what_a_format_cannot_say_is_refused_all_at_once) {
    const Study study = load_study(WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-20b-3d.json");
    try {
        find_export("megatron").job(study);
        FAIL() << "exported";
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("framework: expected megatron"), std::string::npos) << text;
        EXPECT_NE(text.find("model.parallel_residual"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace weft
