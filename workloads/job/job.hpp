// What is asked: a model, a machine, a layout and the settings of the training step. Plain values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/device/device.hpp"
#include "models/memory/memory.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/program/program.hpp"
#include "topologies/machine.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/job/documents.hpp"
#include "workloads/job/settings.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/schedule/schedule.hpp"

namespace weft {

class StudySources;

// What is not as it should be with accelerators of the job. (Links are the fabric's matter: topologies/fabric.hpp.)
// Some that follow one another, on which computation takes `factor` times as long as the device file says.
struct SlowRanks {
    RankId first{};
    std::uint32_t count = 1;
    double factor = 1.0;  // at least 1
    bool operator==(const SlowRanks&) const = default;
};

struct Faults {
    std::vector<SlowRanks> slow;
    Jitter jitter;
    double spread = 1.0;  // of what the device file says of chips that differ: 1 all, 0 nothing
    bool operator==(const Faults&) const = default;
};

// By how much every computation of a rank is longer: the product of all that is slow there.
inline double slowness(const Faults& faults, RankId rank) {
    double product = 1.0;
    for (const SlowRanks& slow : faults.slow) {
        if (rank >= slow.first && index(rank) - index(slow.first) < slow.count) product *= slow.factor;
    }
    return product;
}
inline bool has_jitter(const Faults& faults) { return faults.jitter.spread > 0.0; }

struct Batch {
    std::uint32_t sequence = 2048;  // tokens
    std::uint32_t micro = 1;        // sequences per micro-batch and data rank
    std::uint32_t global = 1;       // sequences per step
    std::uint32_t document = 0;     // tokens of each document packed into a sequence; 0: a sequence is one
    Documents documents;            // of different lengths, or none
    std::uint32_t images = 0;       // of a sequence, that the model's encoder makes tokens of
    bool operator==(const Batch&) const = default;
};

struct Job {
    std::string name;  // of the file, without folder and extension
    std::uint32_t nodes = 1;
    std::uint32_t ranks_per_node = 1;  // accelerators of a node
    Transformer model;
    Trained trained;
    const Framework* framework = nullptr;
    Layout layout;
    Batch batch;
    PackedAttention packing;  // as batch and layout have it (packed_attention())
    std::uint32_t zero = 0;   // stage
    const Schedule* schedule = nullptr;
    Recomputation recompute;
    OptimizerSettings optimizer;
    std::uint32_t offloaded_layers = 0;  // of each model part: their activations go to the host
    Precision precision = Precision::bf16;
    Casting recipe = Casting::delayed;    // of products in fp8; in fp4 nvfp4
    Setting names_recipe = Setting::off;  // off: calls for maxima of delayed scaling are left out
    AttentionCore attention = AttentionCore::flash;
    SequenceParallel sequence_parallel = SequenceParallel::off;
    Dropout dropout = Dropout::off;
    ElementWise element_wise = ElementWise::fused;
    ModuleCode modules = ModuleCode::framework;
    std::uint32_t communication_units = 0;     // of the device's compute units that computation never has
    double sustained_clock = 1.0;              // of what the device file says: what this system's power limit leaves
    Setting blocking_launches = Setting::off;  // the host waits for every kernel (CUDA_LAUNCH_BLOCKING=1)
    CudaGraphs cuda_graphs = CudaGraphs::none;
    Compile compile = Compile::off;
    PyTorch pytorch = PyTorch::v2_9;  // of frameworks whose modules are its own
    ContextMethod context_method = ContextMethod::ring;
    double bucket_elements = 0;               // of a gradient bucket; 0: the framework's own rule
    Setting gradient_overlap = Setting::off;  // reduction of gradients under the backward pass
    ExpertSettings experts;
    DeepSpeedSettings deepspeed;
    MegatronSettings megatron;
    FsdpSettings fsdp;
    DdpSettings ddp;
    Fabric fabric;        // with the faults of links
    Faults faults;        // of accelerators
    std::string library;  // communication library; empty: the machine's default
    StepKind step = StepKind::steady;
    Seconds first_use{};                                   // of a connection between two stages, on the first step
    std::map<std::string, double, std::less<>> further{};  // keys that have no member, by path (keys/key.hpp)
    std::vector<std::string> assumed{};  // what the job does not say and its results rest on, a sentence each

    std::uint32_t micro_batches() const {
        return static_cast<std::uint32_t>(batch.global / (std::uint64_t{batch.micro} * layout.data));
    }
    PipelineShape pipeline_shape() const;
    std::uint32_t model_parts() const;  // that the layers are dealt to
    // Where what layers cost is kept: with those of their kind, by LayerKind, or behind these on their own, where
    // experts of each layer have an imbalance of their own.
    std::size_t layer_place(std::uint32_t layer) const;
    std::size_t layer_places() const { return layer_kinds(model) + experts.by_layer.size(); }
    double imbalance_of(std::uint32_t layer) const;  // of its experts
    // The same with a model all of whose layers are of this one's kind, and with the imbalance of its experts.
    Job of_layer(std::uint32_t layer) const;
    Autocast autocast() const;  // of the framework, where products are in 16 bits
    Shard shard() const;
    LayerSplit split() const;  // of parameters over ranks
    // Whether experts' gradients are summed over other ranks than dense ones (Megatron-core 0.8
    // transformer/moe/experts.py marks them where expert > 1; DeepSpeed does for every mixture of experts).
    bool reduces_experts_apart() const;
    // Of the prediction modules: the model part that holds them, and whether it is not the one with the loss.
    std::uint32_t prediction_part() const;
    bool predicts_apart() const;
    // Whether two stages each hold the embedding matrix, because it is tied or because the prediction modules embed
    // tokens, too; and its elements on one tensor rank.
    bool copies_embedding() const;
    std::uint64_t embedding_matrix() const;
    // Layers of each model part, prediction modules among them; empty, with the reason in `why`, if the layers cannot
    // be dealt so.
    std::vector<std::uint32_t> part_layers(std::string& why) const;

    bool operator==(const Job&) const = default;
};

// How large the program of a step will be: operations of one rank of every stage, those of every micro-batch, about a
// dozen per layer, two more per step of a context ring, a dozen around experts, and what stages hand over.
double expected_operations(const Job& job);

// Data ranks that share a node when tensor and context ranks are innermost.
std::uint32_t data_ranks_of_node(const Job& job);

// What follows from the rest of a job: Layout::shard_ranks and expert_inner, and how unevenly experts are loaded.
void settle_groups(Job& job);

// A job that was read and checked, with what it refers to.
struct Study {
    Job job;
    Machine machine;
    Device device;
};

// Reads a job file, applies "key.path=value" overrides and checks it against model and machine: unknown, missing and
// mistyped keys, indivisible layouts, more ranks than the machine has. Throws ConfigError with every mistake found.
enum class Purpose : std::uint8_t {
    simulation,  // everything must be possible
    equations,   // volumes on paper: layouts that could not run, too
};
Study load_study(const std::filesystem::path& path, std::span<const std::string> overrides = {},
                 Purpose purpose = Purpose::simulation);
Study read_study(Document document, Purpose purpose = Purpose::simulation);
// What the job names comes from `sources`: of many jobs, a machine file is then read once.
Study read_study(Document document, Purpose purpose, const StudySources& sources);

// What a job that does not say has: PyTorch's own, operator by operator, where those are known.
ModuleCode usual_modules(const Job& job);

// What is wrong with a job whose keys were all readable, by key path.
struct JobError {
    std::string key;
    std::string message;
    std::string remedy{};  // what this one job could say instead; empty: nothing is known
};
// All of it, or what is found first and perhaps some of the rest, which takes less time.
enum class Mistakes : std::uint8_t { all, first };
std::vector<JobError> check_job(const Job& job, const MachineInfo& machine, Mistakes asked = Mistakes::all);
// Appends what of the optimizer the framework, or this version of it, cannot do.
void check_optimizer(const Job& job, const MachineInfo& machine, const Refusals& refuse);
// What of a job without such errors its framework's version has not, though weft models it; empty: it can be run.
std::vector<JobError> lacking_features(const Job& job);

}  // namespace weft
