// What was decided: stages with their layers, costs and memory. A pure function of a study; `weft plan` stops here.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// A piece of a layer for one micro-batch on one rank.
struct PieceCost {
    Piece piece{};
    std::string_view module;  // whose parameters it uses; empty: none
    Seconds forward, input_backward, weight_backward;
    Seconds forward_product, input_product;  // of forward and input_backward: products with parameters
    Seconds discarded;    // of forward: what makes the output that selective recomputation may give back
    HostOperations host;  // issued one by one; under graphs those that are not replayed, and the replay
};

// Pieces that backward runs forward again, by their places in LayerCosts::pieces: first to last, or of these what makes
// a discarded output.
struct PieceRepeat {
    enum class Of : std::uint8_t { pieces, discarded };

    std::size_t before = 0;  // whose backward
    std::size_t first = 0, last = 0;
    Of of = Of::pieces;
};

struct LayerCosts {
    std::vector<PieceCost> pieces;  // in forward order
    HostOperations host;            // that the host issues for a pass of it: of pieces, repeats and checkpoints
    HostOperations checkpoints;     // of these what no piece has: checkpoints, and outputs made again
    Flops forward, backward;
    std::vector<PieceRepeat> repeats;  // under selective recomputation
    Flops repeated;
    bool forward_alone = false;    // nothing is trained here or before
    std::size_t checkpointed = 0;  // pieces, the first ones, that run again where the layer does
    Flops forward_again;           // of these

    // Of all pieces for one micro-batch, each once.
    Seconds forward_time() const;
    Seconds backward_time() const;
};

struct PartCosts {
    std::vector<LayerCosts> layers;                 // by Job::layer_place()
    Seconds embedding_forward, embedding_backward;  // with the ends of an encoder
    Flops embedding_flops;                          // of these
    Seconds final_norm_forward, final_norm_backward;
    Seconds head_forward, head_input_backward, head_weight_backward;  // logits and loss
    Flops head_forward_flops, head_backward_flops;
    // Of a prediction module, what makes its layer's input out of the last hidden state and an embedding.
    Seconds prediction_forward, prediction_input_backward, prediction_weight_backward;
    Flops prediction_flops;  // forward

    const LayerCosts& layer(LayerKind kind) const { return layers[static_cast<std::size_t>(kind)]; }
};

// A model part on a stage: consecutive layers, perhaps with the embedding before and the head after them.
struct Chunk {
    std::uint32_t part = 0;  // position on a micro-batch's path
    std::uint32_t first_layer = 0;
    std::uint32_t layers = 0;       // prediction modules, which come last, among them
    std::uint32_t predictions = 0;  // how many are such
    enum class Ends : std::uint8_t { none = 0, embedding = 1, head = 2, both = 3 } ends = Ends::none;
    std::size_t first_module = 0;           // into Stage::modules
    std::vector<std::size_t> layer_module;  // first module of each layer
    std::size_t head_module = 0;            // final norm, then the output layer if it has one
    std::size_t embedding_copy = 0;         // of prediction modules away from the embedding
    Bytes activations;                      // kept per micro-batch
    Bytes head_activations;  // of them those of final norm, logits and loss, the first that backward frees

    bool has_embedding() const { return (static_cast<unsigned>(ends) & 1U) != 0; }
    bool has_head() const { return (static_cast<unsigned>(ends) & 2U) != 0; }
};

struct Stage {
    std::vector<Chunk> chunks;
    std::vector<Slot> slots;
    std::vector<StageModule> modules;  // in forward order, chunk by chunk
    double dense = 0, expert = 0;      // parameters of this rank
    double trained_dense = 0, trained_expert = 0;
    double matrix_shapes = 0;  // elements of its layers' trained matrices, one of each module's shapes
    Seconds optimizer;
    MemoryUse memory;

    std::uint32_t layers() const;
    double parameters() const { return dense + expert; }
    double trained() const { return trained_dense + trained_expert; }
    bool has_embedding() const;
    bool has_head() const;
};

struct Plan {
    Job job;
    Device device;
    MachineInfo machine;
    PartCosts costs;
    std::vector<Stage> stages;
    Flops model_flops;     // of a step: matrix products of forward and backward
    Flops hardware_flops;  // what the devices really compute: padding and recomputation included
    // The host takes longer to launch the kernels of some pass than the device to run them, or nearly so.
    bool host_bound = false;

    bool fits() const;                  // the fullest stage, at least, within the device's memory
    std::size_t fullest_stage() const;  // by the memory that is expected
    // What PyTorch's allocator has of the fullest stage's device at the most: less than it would where that is full.
    Bytes reserved() const;
};

Plan make_plan(const Study& study);

// The machine's, with the caller's wait for every call where calls block.
Library library_of(const Plan& plan);

// What data parallelism needs to know of a stage. Refers to plan.stages[stage].modules.
ShardingInput sharding_input(const Plan& plan, std::uint32_t stage, StepKind step);

// What a plan is made of, one by one: for make_plan, and for a search over many plans that have parts in common.

// Job, device as the job drives it, and machine with the library that the job asks for. Nothing decided but how many
// layers model parts have, where these are dealt by what they cost: the plan's job has a list of them then.
Plan empty_plan(const Study& study);

// From job and device of the plan. Depends on Job::shard(), the precision, recomputation, the framework's
// accumulation(), the ZeRO stage and whether there is a pipeline alone.
PartCosts part_costs(const Plan& plan);
// So that the part whose kernels take the longest takes as little as it can; the most alike of such (the least sum of
// squares). Calls and the host do not count.
std::vector<std::uint32_t> layers_by_cost(const Job& job, const PartCosts& costs);
// As a list that the job says; of jobs whose split is StageSplit::cost.
void deal_by_cost(Job& job, const PartCosts& costs);
// Another sum over lists of kernels, in place of their times.
using KernelSum = std::function<Seconds(std::span<const Kernel>)>;
PartCosts part_costs(const Plan& plan, const KernelSum& sum);

// The model parts of every stage, without modules and activations. LogicError if the layers cannot be dealt.
std::vector<std::vector<Chunk>> stage_chunks(const Job& job);
// A stage of these parts without its slots and memory: modules, activations, parameters, optimizer.
Stage make_stage(const Plan& plan, std::vector<Chunk> chunks);

// Plan::host_bound, from the costs.
bool host_bound(const Plan& plan);

// Which collectives a job calls, and whether the library that it runs on has costs for them.

std::set<Collective> collectives_of(const Plan& plan);  // in the scripts of a step, of all stages

// Throws ConfigError: a collective that the library has no costs for, with what the machine file lacks.
void check_calls(const Plan& plan);

// What to change about a job that does not fit in memory, tried and not guessed.

// Settings changed together, and what the fullest stage then needs.
struct MemoryAdvice {
    std::vector<std::string> changes;  // "recompute=selective", ...: as --set takes them
    Bytes peak;
    Bytes saved;        // against the job as it is
    bool fits = false;  // as expected, not only at the least
};

// Single changes that help, those that suffice first, then by what they cost a step: recomputation after layouts, full
// recomputation last. If none suffices, a combination follows that was made by taking the best change again and again.
// Every one passes check_job; data ranks make room for tensor and pipeline ranks, so that the ranks stay the same.
std::vector<MemoryAdvice> memory_advice(const Study& study);

// The largest part of what a rank of the stage holds: its name, as the report has it, and its bytes.
struct LargestPart {
    std::string_view name;
    Bytes bytes;
};
LargestPart largest_part(const MemoryUse& use);

}  // namespace weft
