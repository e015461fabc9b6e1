// From a job file to a Study: every key, its default and its meaning.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/transformer/model_synonyms.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/error_at.hpp"
#include "sim/io/shipped.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/fabric_reader.hpp"
#include "workloads/job/faults_reader.hpp"
#include "workloads/job/job.hpp"
#include "workloads/job/job_synonyms.hpp"
#include "workloads/job/layout_reader.hpp"
#include "workloads/job/optimizer_reader.hpp"
#include "workloads/job/recipe_reader.hpp"
#include "workloads/job/recompute_reader.hpp"
#include "workloads/job/settings_reader.hpp"
#include "workloads/job/study_sources.hpp"
#include "workloads/parallelism/balancing.hpp"
#include "workloads/parallelism/dispatch.hpp"

namespace weft {
namespace {

// Loads something the job names, the path of a file from the job's folder or a shipped one; a failure is reported at
// the key that named it.
template <class Load>
auto load_named(Field& field, std::string_view key, std::span<const embedded::File> shipped, std::string_view job,
                Load load) -> std::optional<decltype(load(std::string_view{}))> {
    const std::string name = field.text(key);
    if (name.empty()) {
        if (field.is_text(key)) field.error(key, "expected a name, got \"\"");
        return std::nullopt;
    }
    try {
        return load(meant(shipped, key, name, std::filesystem::path(job).parent_path()));
    } catch (const ConfigError& error) {
        error_at(field, key, error);
        return std::nullopt;
    }
}

std::optional<Device> read_device_of(Field& root, const MachineInfo& machine, const StudySources& sources) {
    try {
        return sources.device(machine.device);
    } catch (const ConfigError& error) {
        error_at(root, "machine", error);
        return std::nullopt;
    }
}

std::optional<Machine> read_machine(Field& root, std::string_view job, const StudySources& sources) {
    if (root.is_object("machine")) {
        const Machine* const machine = sources.machine(root.object("machine"));
        return machine == nullptr ? std::nullopt : std::optional(*machine);
    }
    return load_named(root, "machine", embedded::machines(), job,
                      [&](std::string_view name) { return sources.machine(name); });
}

std::optional<Transformer> read_model(Field& root, std::string_view job, const StudySources& sources) {
    if (root.is_object("model")) {
        const Transformer* const model = sources.model(root.object("model"));
        return model == nullptr ? std::nullopt : std::optional(*model);
    }
    return load_named(root, "model", embedded::catalog(), job,
                      [&](std::string_view name) { return sources.model(name); });
}

Batch read_batch(Field& root) {
    Field field = root.object("batch");
    Batch batch;
    batch.sequence = field.count("sequence", 2048);
    batch.micro = field.count("micro", 1);
    batch.global = field.count("global");
    batch.document = field.whole("document", 0);
    if (field.has("documents")) batch.documents = read_documents(field.object("documents"));
    field.done({{"", job_synonyms()}});
    return batch;
}

void read_step(Field& root, Job& job) {
    const std::vector<std::string> frameworks = framework_names();
    const std::string framework = root.choice("framework", frameworks, "deepspeed");
    job.framework = find_framework(framework);
    if (job.framework == nullptr) job.framework = framework::all().front();
    const std::string plain(plain_schedule);
    const std::string schedule = root.choice("schedule", schedule_keys(), plain);
    job.schedule = find_schedule(schedule);
    if (job.schedule == nullptr) job.schedule = find_schedule(plain);
    job.zero = root.whole("zero", 0);
    if (job.zero > 3) root.error("zero", fmt::format("expected a ZeRO stage from 0 to 3, got {}", job.zero));
    job.recompute = read_recompute(root);
    job.optimizer = read_optimizer(root);
    job.offloaded_layers = root.whole("offloaded_layers", 0);
    const std::string precision = root.choice("precision", {"fp16", "bf16", "fp32", "fp8", "fp4"}, "bf16");
    job.precision = precision == "fp16"   ? Precision::fp16
                    : precision == "fp32" ? Precision::fp32
                    : precision == "fp8"  ? Precision::fp8
                    : precision == "fp4"  ? Precision::fp4
                                          : Precision::bf16;
    read_recipe(root, job);
    const std::string attention = root.choice("attention", {"flash", "cudnn", "triton", "unfused"}, "flash");
    job.attention = attention == "flash"    ? AttentionCore::flash
                    : attention == "cudnn"  ? AttentionCore::cudnn
                    : attention == "triton" ? AttentionCore::triton
                                            : AttentionCore::unfused;
    job.bucket_elements = root.number("bucket_elements", 0.0);
    if (job.bucket_elements < 0) root.error("bucket_elements", "expected a positive number of gradient elements");
    read_settings(root, job.deepspeed);
    const bool overlaps = root.flag("overlap_gradients", job.framework->default_overlap(job) == Setting::on);
    job.gradient_overlap = overlaps ? Setting::on : Setting::off;
    job.sequence_parallel = root.flag("sequence_parallel", false) ? SequenceParallel::on : SequenceParallel::off;
    job.dropout = root.flag("dropout", false) ? Dropout::on : Dropout::off;
    job.communication_units = root.whole("communication_units", 0);
    job.sustained_clock = root.number("sustained_clock", 1.0);
    if (!(job.sustained_clock > 0.0 && job.sustained_clock <= 1.0)) {
        root.error("sustained_clock", fmt::format("expected a share above 0 and up to 1, got {}", job.sustained_clock));
    }
    job.blocking_launches = root.flag("blocking_launches", false) ? Setting::on : Setting::off;
    const std::string graphs =
        root.choice("cuda_graphs", {"none", "layer", "router", "around_experts", "full"}, "none");
    job.cuda_graphs = graphs == "none"             ? CudaGraphs::none
                      : graphs == "layer"          ? CudaGraphs::layer
                      : graphs == "router"         ? CudaGraphs::router
                      : graphs == "around_experts" ? CudaGraphs::around_experts
                                                   : CudaGraphs::full;
    job.compile = root.flag("compile", false) ? Setting::on : Setting::off;
    job.element_wise = root.choice("element_wise", {"fused", "unfused"}, "fused") == "fused" ? ElementWise::fused
                                                                                             : ElementWise::unfused;
    const std::string context = root.choice("context_method", {"ring", "all_gather", "all_to_all"}, "ring");
    job.context_method = context == "ring"         ? ContextMethod::ring
                         : context == "all_gather" ? ContextMethod::all_gather
                                                   : ContextMethod::all_to_all;
    job.step = root.choice("step", {"steady", "first"}, "steady") == "first" ? StepKind::first : StepKind::steady;
    job.first_use = root.duration("first_use", Seconds{});
    for (const std::string& other : frameworks) {
        if (other == job.framework->name || !root.has(other)) continue;
        root.error(other, fmt::format("settings of {}, but the framework is {}; they would have no effect", other,
                                      job.framework->name));
    }
    read_settings(root, job.megatron);
    read_settings(root, job.fsdp);
    read_settings(root, job.ddp);
    read_settings(root, job.experts);
}

// Ranks and nodes follow from each other where only one is given.
void complete_layout(Field& root, Job& job, const MachineInfo& machine, bool data_given,
                     std::optional<std::uint32_t> nodes) {
    const std::uint64_t inner = job.layout.ranks_of_replica();
    if (nodes) job.nodes = *nodes;
    if (!data_given && nodes) {
        const std::uint32_t there = std::min(*nodes, machine.nodes);  // more are reported by check_job()
        const std::uint64_t available = std::uint64_t{there} * machine.accelerators_per_node;
        if (available % inner != 0) {
            root.error("layout",
                       fmt::format("tensor {} x pipeline {} = {} does not divide the {} accelerators of {} nodes",
                                   job.layout.tensor, job.layout.pipeline, inner, available, there));
        }
        job.layout.data = static_cast<std::uint32_t>(std::max<std::uint64_t>(available / inner, 1));
    }
    if (!nodes) {
        const std::uint64_t ranks = inner * job.layout.data;
        const std::uint64_t per_node = machine.accelerators_per_node;
        job.nodes = static_cast<std::uint32_t>(std::min<std::uint64_t>((ranks + per_node - 1) / per_node, 0xffffffffU));
    }
}

// Reports at a dotted path, e.g. "layout.tensor".
void report(Field root, const JobError& error) {
    const std::size_t dot = error.key.find('.');
    if (dot == std::string::npos || !root.is_object(error.key.substr(0, dot))) {
        root.error(dot == std::string::npos ? error.key : error.key.substr(0, dot), error.message);
        return;
    }
    Field inner = root.object(error.key.substr(0, dot));
    inner.error(error.key.substr(dot + 1), error.message);
}

std::string stem(std::string_view path) { return std::filesystem::path(path).stem().string(); }

// The "library" of a job: one that the machine file has. check_calls() asks whether it has what a step calls.
std::string read_library(Field& root, const MachineInfo& machine) {
    const std::string name = root.text("library", "");
    if (name.empty()) return name;
    if (machine.find_library(name) == nullptr) {
        std::vector<std::string> known;
        for (const Library& each : machine.libraries) known.push_back(each.name);
        root.error("library", fmt::format("{} has no library \"{}\"{} (known: {})", machine.name, name,
                                          suggestion(name, known), fmt::join(known, ", ")));
    }
    return name;
}

}  // namespace

Study read_study(Document document, Purpose purpose) {
    return read_study(std::move(document), purpose, StudySources{});
}

Study read_study(Document document, Purpose purpose, const StudySources& sources) {
    Field root = document.root();
    Job job;
    job.name = stem(document.name());
    const std::optional<Machine> machine = read_machine(root, document.name(), sources);
    std::optional<std::uint32_t> nodes;
    if (root.has("nodes")) nodes = root.count("nodes");
    // What was read without a mistake is checked further, so that one run finds as much as it can.
    const bool nodes_readable = !document.has_errors();
    const std::optional<Transformer> model = read_model(root, document.name(), sources);
    const ReadLayout layout = read_layout(root);
    job.layout = layout.layout;
    job.batch = read_batch(root);
    const bool readable = !document.has_errors();
    read_step(root, job);
    const bool has_fabric = root.has("fabric"),
               has_faults = root.has("faults");  // read when machine and nodes are known
    if (machine) {
        job.library = read_library(root, machine->info());
    } else {
        root.text("library", "");
    }
    root.done({{"", job_synonyms()}, {"model", model_synonyms()}});
    if (model) {
        job.model = *model;
        // Without experts there is nothing to cut: groups of expert ranks are then whatever data parallelism has.
        if (model->experts.count == 0 && !layout.expert_tensor_given) job.layout.expert_tensor = 1;
    }
    if (machine) {
        if (nodes_readable) complete_layout(root, job, machine->info(), layout.data_given, nodes);
        if (has_fabric && nodes_readable) {
            job.fabric = read_fabric(root.object("fabric"), machine->info(), job.nodes,
                                     std::filesystem::path(document.name()).parent_path());
        }
        if (has_faults && readable) {
            ReadFaults read = read_faults(root.object("faults"), *machine, job);
            job.faults = std::move(read.faults);
            job.fabric.link_faults = std::move(read.links);
        }
        job.ranks_per_node = machine->info().accelerators_per_node;
        job.layout.shard_ranks = shard_ranks(job);
        job.layout.expert_inner = expert_inner(job);
        if (model) settle_imbalance(job);
        if (model && readable && purpose == Purpose::simulation) {
            for (const JobError& error : check_job(job, machine->info())) report(root, error);
        }
        if (model && !document.has_errors()) job.packing = packed_attention(job);
    }
    std::optional<Device> device;
    if (machine) {
        device = read_device_of(root, machine->info(), sources);
        if (device) {
            check_recipe(root, job, *device, machine->info().name);
            check_units(root, job, *device);
        }
    }
    document.check();
    return {job, *machine, *device};
}

Study load_study(const std::filesystem::path& path, std::span<const std::string> overrides, Purpose purpose) {
    return read_study(open_job(path, overrides).document, purpose);
}

}  // namespace weft
