// Which member of a job each key is, in the order in which they are read.
#include <fmt/format.h>

#include <functional>

#include "workloads/job/documents.hpp"
#include "workloads/keys/bind.hpp"

namespace weft {
namespace {

// An object whose keys are bound by themselves.
void read_object(Field& root, std::string_view name, Job& job) {
    if (!root.has(name)) return;
    Field field = root.object(name);
    read_keys(field, name, job);
    field.done();
}

// One of the things that a registry knows by their names.
template <class Thing>
void bind_registered(JobKey& key, const Thing* Job::*member, std::span<const Thing* const> things,
                     std::vector<std::string> names, const Thing* usual) {
    key.kind = KeyKind::word;
    key.words = std::move(names);
    key.get = [=](const Job& job) {
        const Thing* const own = job.*member == nullptr ? usual : job.*member;
        return double(std::ranges::find(things, own) - things.begin());
    };
    key.set = [=](Job& job, double place) { job.*member = things[static_cast<std::size_t>(place)]; };
}

void read_recipe(Field& root, std::string_view name, Job& job) {
    if (job.precision == Precision::fp4) job.recipe = Casting::nvfp4;
    if (!root.has(name)) return;
    const JobKey& key = key_of(name);
    const double word = read_word(root, name, key);
    if (job.precision != Precision::fp8) {
        root.error(name, "names how products in fp8 are scaled; set precision to fp8");
        return;
    }
    job.names_recipe = Setting::on;
    key.set(job, word);
}

void read_optimizer(Field& root, std::string_view name, Job& job) {
    if (root.is_object(name)) return read_object(root, name, job);
    const JobKey& rule = key_of("optimizer.rule");
    rule.set(job, read_word(root, name, rule));
}

std::string optimizer_json(const Job& job) {
    const OptimizerSettings& own = job.optimizer;
    std::vector<std::string> names{"rule"};
    if (own.leave_device()) names.emplace_back("states");
    if (own.leave_device() && own.fraction < 1.0) names.emplace_back("fraction");
    if (!own.leave_device() && is_precision_aware(own)) names.insert(names.end(), {"master", "momentum", "variance"});
    if (names.size() == 1) return json_of(job, "optimizer.rule");
    for (std::string& name : names) name = fmt::format("\"{}\":{}", name, json_of(job, "optimizer." + name));
    return fmt::format("{{{}}}", fmt::join(names, ","));
}

// A word; or true or false, as programs have it.
void read_compile(Field& root, std::string_view name, Job& job) {
    if (!root.has(name)) return;
    const JobKey& key = key_of(name);
    const auto flag = [&] { return root.flag(name) ? Compile::all : Compile::off; };
    root.is_text(name) ? key.set(job, read_word(root, name, key)) : key.set(job, static_cast<double>(flag()));
}

void bind_step(KeyRows& rows) {
    Section own(rows, "", std::identity());
    bind_registered(own("framework", {}), &Job::framework, framework::all(), framework_names(),
                    find_framework("deepspeed"));
    bind_registered(own("schedule", {}), &Job::schedule, schedule::all(), schedule_keys(),
                    find_schedule(plain_schedule));
    own("zero", &Job::zero);
    bind_recompute(own("recompute", {}));
    own("optimizer", read_optimizer).json = optimizer_json;
    own("offloaded_layers", &Job::offloaded_layers);
    own("precision", &Job::precision);
    own("fp8_recipe", &Job::recipe).read = read_recipe;
    own("attention", &Job::attention);
    own("bucket_elements", &Job::bucket_elements);
    own("deepspeed", read_object);
    own("overlap_gradients", &Job::gradient_overlap).before = [](Job& job) {
        job.gradient_overlap = job.framework->default_overlap(job);
    };
    own("sequence_parallel", &Job::sequence_parallel);
    own("dropout", &Job::dropout);
    own("communication_units", &Job::communication_units);
    own("sustained_clock", &Job::sustained_clock);
    own("blocking_launches", &Job::blocking_launches);
    own("cuda_graphs", &Job::cuda_graphs);
    JobKey& compile = own("compile", &Job::compile);
    compile.read = read_compile;
    compile.json = [](const Job& job) -> std::string {
        return job.compile == Compile::blocks ? "\"blocks\"" : job.compile == Compile::all ? "true" : "false";
    };
    own("pytorch", &Job::pytorch);
    own("element_wise", &Job::element_wise);
    own("modules", &Job::modules).before = [](Job& job) { job.modules = usual_modules(job); };
    own("context_method", &Job::context_method);
    own("step", &Job::step);
    own("first_use", &Job::first_use);
    for (const char* const name : {"megatron", "fsdp", "ddp", "experts"}) own(name, read_object);
}

void bind_batch(KeyRows& rows) {
    Section own(rows, "batch", &Job::batch);
    own("sequence", &Batch::sequence);
    own("micro", &Batch::micro);
    own("global", &Batch::global);
    own("document", &Batch::document);
    own("images", &Batch::images).before = [](Job& job) { job.batch.images = job.model.encoder.layers > 0 ? 1 : 0; };
    JobKey& documents = own("documents", [](Field& batch, std::string_view name, Job& job) {
        if (batch.has(name)) job.batch.documents = read_documents(batch.object(name));
    });
    documents.json = [](const Job& job) { return documents_json(job.batch.documents); };
}

void bind_optimizer(KeyRows& rows) {
    Section own(rows, "optimizer", &Job::optimizer);
    own("rule", &OptimizerSettings::rule);
    own("master", &OptimizerSettings::master);
    own("momentum", &OptimizerSettings::momentum);
    own("variance", &OptimizerSettings::variance);
    own("states", &OptimizerSettings::states);
    own("fraction", &OptimizerSettings::fraction);
}

// A framework's version (job/settings.hpp), as text or, where that is the same, as a number.
template <class Versions, class Settings>
void bind_version(JobKey& key, const Versions& versions, Settings Job::*own) {
    key.kind = KeyKind::word;
    for (const auto& each : versions) key.words.emplace_back(each.name);
    key.get = [&versions, own](const Job& job) {
        return double(std::ranges::find(versions, (job.*own).version) - versions.begin());
    };
    key.set = [&versions, own](Job& job, double place) {
        (job.*own).version = versions[static_cast<std::size_t>(place)];
    };
    key.read = [&versions, own](Field& object, std::string_view name, Job& job) {
        const std::vector<std::string>& words = key_of(object.path() + "." + std::string(name)).words;
        std::string given;
        if (!object.is_number(name)) {
            given = object.choice(name, words, (job.*own).version.name);
        } else {
            given = fmt::format("{:g}", object.number(name));
            if (std::ranges::find(words, given) == words.end())
                object.error(name, "expected one of {}, got {}", fmt::join(words, ", "), given);
        }
        (job.*own).version = version_of(versions, given);
    };
}

// true or false; or the word `round`.
void read_accumulation(Field& field, std::string_view name, Accumulate& accumulate) {
    if (!field.has(name)) return;
    if (field.is_text(name)) {
        field.choice(name, {"round"}, "round");
        accumulate = Accumulate::round;
    } else {
        accumulate = field.flag(name) ? Accumulate::step : Accumulate::never;
    }
}

// As fully_shard takes it: a flag, or ranks that share a layer between forward and backward.
void read_reshard(Field& field, std::string_view name, Job& job) {
    if (!field.has(name)) return;
    if (field.is_number(name)) {
        job.fsdp.reshard = Reshard::over_few;
        job.fsdp.reshard_ranks = field.count(name);
    } else {
        job.fsdp.reshard = field.flag(name) ? Reshard::always : Reshard::never;
    }
}

void bind_deepspeed(KeyRows& rows) {
    using Own = DeepSpeedSettings;
    Section own(rows, "deepspeed", &Job::deepspeed);
    bind_version(own("version", {}), deepspeed_versions, &Job::deepspeed);
    own("offload_parameters", &Own::parameters);
    own("reduce_scatter", &Own::reduce_scatter);
    own("multi_rank_allreduce", &Own::multi_rank_allreduce);
    own("prefetch_elements", &Own::prefetch_elements);
    own("persistence_elements", &Own::persistence_elements);
    own("max_live_elements", &Own::max_live_elements);
    own("max_reuse_elements", &Own::max_reuse_elements);
    own("sub_group_elements", &Own::sub_group_elements);
    own("quantized_weights", &Own::quantized_weights);
    own("hierarchical_ranks", &Own::hierarchical_ranks);
    own("quantized_gradients", &Own::quantized_gradients);
    own("pipe_partitioned", &Own::pipe_partitioned);
    own("grad_partitioned", &Own::grad_partitioned);
    own("partition_activations", &Own::partition_activations);
    own("attention_mask", &Own::attention_mask);
    own("log_calls", &Own::log_calls);
    own("synchronize_each_layer", &Own::synchronize_each_layer);
    own("wall_clock_breakdown", &Own::wall_clock_breakdown);
}

void bind_megatron(KeyRows& rows) {
    using Own = MegatronSettings;
    Section own(rows, "megatron", &Job::megatron);
    JobKey& version = own("version", {});
    bind_version(version, megatron_versions, &Job::megatron);
    // A release sets the defaults of what changed with it.
    version.read = [read = version.read](Field& field, std::string_view name, Job& job) {
        const Setting names_version = field.has(name) ? Setting::on : Setting::off;
        read(field, name, job);
        job.megatron = {.version = job.megatron.version, .names_version = names_version};
    };
    own("overlap_parameters", &Own::overlap_parameters);
    own("distribute_saved_activations", &Own::distribute_saved_activations);
    own("overlap_tensor", &Own::overlap_tensor);
    own("gradients", &Own::gradient_bytes);
    own("fp8_parameters", &Own::eighth_parameters);
    own("fp8_output", &Own::eighth_output);
    own("fp8_attention", &Own::eighth_attention);
    own("fused_cross_entropy", &Own::fused_cross_entropy);
    own("variable_sequence", &Own::variable_sequence);
    own("overlap_input_reduction", &Own::overlap_input_reduction);
    own("sharding", &Own::sharding);
    JobKey& fused = own("fused_accumulation", &Own::fused_accumulation);
    fused.before = [](Job& job) {  // which Megatron-FSDP asks for
        if (job.megatron.sharding != MegatronSharding::none) job.megatron.fused_accumulation = Fusion::none;
    };
    fused.set = [](Job& job, double on) { job.megatron.fused_accumulation = on != 0 ? Fusion::all : Fusion::none; };
    own("overlap_pipeline", &Own::overlap_pipeline);
    own("transformer_engine", &Own::transformer_engine);
    own("check_for_nan", &Own::check_for_nan);
    own("accumulate_locally",
        [](Field& field, std::string_view name, Job& job) { read_accumulation(field, name, job.megatron.accumulate); });
}

void bind_torch(KeyRows& rows) {
    using Own = FsdpSettings;
    Section own(rows, "fsdp", &Job::fsdp);
    own("version", &Own::version);
    own("strategy", &Own::strategy);
    own("shard_ranks", &Own::shard_ranks);
    own("backward_prefetch", &Own::backward_prefetch);
    own("forward_prefetch", &Own::forward_prefetch);
    own("limit_all_gathers", &Own::limit_all_gathers);
    own("fused_cross_entropy", &Own::fused_cross_entropy);
    own("reduce_precision", &Own::reduce_bytes);
    own("accumulate_locally",
        [](Field& field, std::string_view name, Job& job) { read_accumulation(field, name, job.fsdp.accumulate); });
    own("reshard_after_forward", read_reshard);
    Section ddp(rows, "ddp", &Job::ddp);
    ddp("first_bucket_mib", &DdpSettings::first_bucket_mib);
    ddp("bucket_mib", &DdpSettings::bucket_mib);
}

}  // namespace

void bind_members(KeyRows& rows) {
    for (const auto bind : {bind_step, bind_trained, bind_layout, bind_batch, bind_optimizer, bind_deepspeed,
                            bind_megatron, bind_torch, bind_experts}) {
        bind(rows);
    }
}

}  // namespace weft
