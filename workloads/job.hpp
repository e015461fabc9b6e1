// What is asked: a model, a machine, a layout and the settings of the training step. Plain values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "models/device/device.hpp"
#include "models/memory/memory.hpp"
#include "models/transformer/transformer.hpp"
#include "topologies/machine.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/layout/rank_grid.hpp"
#include "workloads/schedule/schedule.hpp"

namespace weft {

enum class Overlap : std::uint8_t { off, on };

// How layers are dealt to pipeline stages.
enum class Split : std::uint8_t {
    framework,  // by the framework's own rule
    even,       // the same number everywhere (Megatron-DeepSpeed's partition by `type:transformer`)
};

struct Layout {
    std::uint32_t tensor = 1;
    std::uint32_t pipeline = 1;
    std::uint32_t data = 1;
    std::vector<std::string> order{"tensor", "data", "pipeline"};  // innermost first
    Split split = Split::framework;

    std::uint32_t ranks() const { return tensor * pipeline * data; }
    RankGrid grid() const;
};

struct Batch {
    std::uint32_t sequence = 2048;  // tokens
    std::uint32_t micro = 1;        // sequences per micro-batch and data rank
    std::uint32_t global = 1;       // sequences per step
};

struct Job {
    std::string name;  // of the file, without folder and extension
    std::uint32_t nodes = 1;
    Transformer model;
    const Framework* framework = nullptr;
    Layout layout;
    Batch batch;
    std::uint32_t zero = 0;  // stage: 0 or 1 (up to 3 for Purpose::equations)
    const Schedule* schedule = nullptr;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::bf16;
    AttentionCore attention = AttentionCore::flash;
    double bucket_elements = 0;               // of a gradient bucket; 0: the framework's own rule
    Overlap gradient_overlap = Overlap::off;  // reduction of gradients under the backward pass

    std::uint32_t micro_batches() const { return batch.global / (batch.micro * layout.data); }
    Shard shard() const;
    // Whether first and last stage each hold the tied embedding matrix, and its elements on one tensor rank.
    bool copies_embedding() const { return model.tied_embeddings && layout.pipeline > 1; }
    std::uint64_t embedding_matrix() const;
    // Layers of each stage; empty, with the reason in `why`, if the layers cannot be dealt so.
    std::vector<std::uint32_t> stage_layers(std::string& why) const;
};

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
    equations,   // volumes on paper: any ZeRO stage, and layouts that could not run
};
Study load_study(const std::filesystem::path& path, std::span<const std::string> overrides = {},
                 Purpose purpose = Purpose::simulation);
Study read_study(Document document, Purpose purpose = Purpose::simulation);

// What is wrong with a job whose keys were all readable, by key path.
struct JobError {
    std::string key;
    std::string message;
};
std::vector<JobError> check_job(const Job& job, const MachineInfo& machine);

}  // namespace weft
