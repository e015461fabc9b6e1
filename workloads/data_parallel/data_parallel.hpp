// Data parallelism as a participant of a stage's step: it is told what is about to be computed and what has been, and
// adds its calls to the script: parameters gathered before use, gradients reduced after, what surrounds the optimizer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "sim/base/quantity.hpp"
#include "workloads/job/settings.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// A module of a stage that owns parameters: a norm, a linear map, an embedding, the experts of a layer. `expert`:
// reduced over expert_data instead of data; `rows` may be empty: each element is a row.
struct StageModule : Module {
    std::uint32_t layer = 0;     // of the model; embedding: first layer of the stage, head: one past the last
    std::uint32_t chunk = 0;     // of the stage (virtual pipeline stages)
    bool recomputed = false;     // its layer runs forward again, whole, before its backward
    bool forward_alone = false;  // its layer has no backward

    // Whether it belongs to no layer.
    bool is_before_layers() const {
        return name == "embedding" || name == "positions" || name == "embedding norm" || name == "patch embedding" ||
               name == "projector" || name == "teacher embedding";
    }
    bool is_after_layers() const {
        return name == "final norm" || name == "output layer" || name == "tied embedding" || name == "teacher head";
    }
};

enum class StepKind : std::uint8_t { first, steady };  // the first step of a run records, connects and gathers more

enum class Pass : std::uint8_t { forward, recompute, backward };
// Whether more backward passes of the chunk come in this step: at once, after those of other chunks, or none.
enum class Accumulation : std::uint8_t { continues, pauses, complete };

// The pass that is being written.
struct PassAt {
    Pass pass{};
    Where where;  // micro_batch is set; layer is that of the module
    std::uint32_t chunk = 0;
    Accumulation accumulation = Accumulation::continues;
};

class DataParallel {
  public:
    virtual ~DataParallel() = default;

    // Once per run, before any step.
    virtual void start_up(Script&) {}
    virtual void begin_step(Script&) {}
    // A micro-batch enters and leaves a chunk of the stage, forward or backward (recomputation is within backward).
    virtual void begin_pass(Script&, const PassAt&) {}
    virtual void end_pass(Script&, const PassAt&) {}
    // Around the computation of module `index` (into the stage's modules, which stand in forward order, chunk by
    // chunk). After Pass::backward the gradients of the module are complete for this micro-batch.
    virtual void before(Script&, const PassAt&, std::size_t /*index*/) {}
    virtual void after(Script&, const PassAt&, std::size_t /*index*/) {}
    // Whether none of the above would write or remember anything in the pass that begins so, with its recomputation: it
    // then reads as any other idle one, but for the micro-batch. False where that is not known.
    virtual bool idle(const PassAt& /*at*/) const { return false; }
    // After the last backward of the step: what must be reduced before the optimizer may run.
    virtual void finish_gradients(Script&) {}
    virtual void before_optimizer(Script&) {}  // overflow flags, gradient norms
    virtual void after_optimizer(Script&) {}   // updated parameters
};

// What a data-parallel engine has to know about the job and its stage, as plain values.

enum class LossScaling : std::uint8_t { none, dynamic };       // dynamic: fp16, overflows are looked for
enum class EmbeddingTie : std::uint8_t { none, over_stages };  // over_stages: first and last stage hold a copy each
// Which layers run forward again before their backward; marked: those of modules that are `recomputed`.
enum class Checkpointing : std::uint8_t { none, every_layer, marked_layers };
constexpr bool runs_again(Checkpointing checkpointing, const StageModule& module) {
    return checkpointing == Checkpointing::every_layer ||
           (checkpointing == Checkpointing::marked_layers && module.recomputed);
}

struct ShardingInput {
    std::span<const StageModule> modules{};  // forward order, chunk by chunk; must outlive the engine
    StepKind step = StepKind::steady;
    std::uint32_t stage = 0;
    std::uint32_t stages = 1;
    std::uint32_t micro_batches = 1;

    std::uint32_t ranks = 1;               // of copy_axes()
    std::uint32_t sequence_ranks = 1;      // of those in `ranks`, the ones that share each sequence
    std::uint32_t expert_ranks = 1;        // of {"expert_data"}
    std::uint32_t inner_ranks = 1;         // of RankGroups::inner(copy_axes()); 1 or `ranks`: not used
    std::uint32_t expert_inner_ranks = 1;  // of inner({"expert_data"}), where inner_ranks share dense parameters
    std::uint32_t node_ranks = 1;          // of copy_axes() that share a node
    std::uint32_t model_ranks = 1;         // of part_axes()
    std::uint32_t tensor_ranks = 1;
    std::uint32_t sharing_experts = 1;  // of {"expert"}

    const Device* device = nullptr;  // that runs passes over buffers; nullptr: they take no time

    bool autocast = false;  // parameters are in fp32, and cast where they are used

    double element_bytes = 2;   // of a parameter
    double gradient_bytes = 2;  // of an accumulated gradient
    std::string_view element_type = "fp16";
    std::string_view gradient_type = "fp16";

    std::uint32_t zero = 0;  // stage of ZeRO
    Setting gradient_overlap = Setting::off;
    double bucket_elements = 0;  // 0: the framework's default
    LossScaling loss_scaling = LossScaling::none;
    EmbeddingTie embedding_tie = EmbeddingTie::none;
    Checkpointing checkpointing = Checkpointing::none;
    OptimizerSettings optimizer{};
    BytesPerSecond host_link{};    // of this rank to its node's host, each direction; 0: not known
    BytesPerSecond drives_read{};  // its share of its node's drives; 0: not known

    DeepSpeedSettings deepspeed{};
    MegatronSettings megatron{};
    FsdpSettings fsdp{};
    DdpSettings ddp{};
};

// The data-parallel engines. Each writes the calls that its framework's sources issue, as one rank of a stage sees
// them.

// DeepSpeed 0.14.0. Stage 0 with bf16 is its BF16_Optimizer, which shards optimizer states as stage 1 does.
std::unique_ptr<DataParallel> make_deepspeed_stage0(const ShardingInput& input);
std::unique_ptr<DataParallel> make_deepspeed_zero12(const ShardingInput& input);  // input.zero is 1 or 2
std::unique_ptr<DataParallel> make_deepspeed_zero3(const ShardingInput& input);   // with ZeRO++ as its settings say
std::unique_ptr<DataParallel> make_torch_ddp(const ShardingInput& input);
std::unique_ptr<DataParallel> make_fsdp(const ShardingInput& input);          // version 1
std::unique_ptr<DataParallel> make_fully_shard(const ShardingInput& input);   // version 2, Megatron-FSDP
std::unique_ptr<DataParallel> make_megatron_ddp(const ShardingInput& input);  // zero 1: the distributed optimizer

// The parameter tensors of a stage one by one, and what every engine does with them.

struct StageTensor {
    std::uint64_t elements = 0;
    std::uint32_t module = 0;  // index into the stage's modules
    std::uint32_t layer = 0;
    std::uint32_t chunk = 0;
    bool vector = false;
    bool expert = false;
    bool trained = true;
};

// In registration order.
std::vector<StageTensor> stage_tensors(std::span<const StageModule> modules);

// Index of the first tensor of each module, and one past the last tensor of all.
std::vector<std::size_t> first_tensors(std::span<const StageModule> modules);

// Embeddings, the output layer and the router stay in 16 bits.
bool has_narrow_products(const StageModule& module);

// The group over which a tensor's gradient is summed, and its size.
inline RankGroups group_of(const StageTensor& tensor) {
    return tensor.expert ? RankGroups{"expert_data"} : copy_axes();
}
// Those of dense tensors, and those of experts.
inline std::array<RankGroups, 2> reducing_groups() { return {copy_axes(), RankGroups{"expert_data"}}; }
constexpr std::uint32_t ranks_of(const ShardingInput& input, RankGroups group) {
    return group == RankGroups{"expert_data"} ? input.expert_ranks : input.ranks;
}

constexpr double round_up(double value, double multiple) {
    const double quotient = value / multiple;
    const auto whole = static_cast<double>(static_cast<std::uint64_t>(quotient));
    return (whole < quotient ? whole + 1 : whole) * multiple;
}

// Sums the gradients of a tied embedding over its copies on the first and the last stage; nothing if there is no copy
// or this stage has none.
void reduce_tied_embedding(Script& script, const ShardingInput& input, Through through);

// A float over each of these groups: the norm of all gradients, and before it, with fp16, whether any is infinite.
void reduce_overflow_and_norm(Script& script, const ShardingInput& input, const std::vector<RankGroups>& groups);

// The flat gradient buffers of Megatron-core's DistributedDataParallel, and their buckets.

struct MegatronBucket {
    RankGroups group{};
    std::uint32_t chunk = 0;
    double elements = 0;                 // padded where the optimizer is distributed
    std::vector<std::size_t> tensors{};  // indices into stage_tensors, in backward order
};

// Buckets in the order in which backward fills them: chunk by chunk, in each the dense buffer and then the experts'.
std::vector<MegatronBucket> megatron_buckets(const ShardingInput& input);

}  // namespace weft
