// A training framework: which communication calls it really issues, and how it cuts a model into stages. One file per
// framework. Calls are described, not executed: script/ writes them down in order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/memory/memory.hpp"
#include "models/transformer/kernels.hpp"
#include "sim/base/quantity.hpp"
#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/schedule/schedule.hpp"
#include "workloads/script/script.hpp"

namespace weft {

struct Job;
class Refusals;

// Memory traffic of what frameworks do to gradients and parameters beside the products: passes bound by bytes, which
// weigh most where micro-batches are small or few. Once per step, in bytes per parameter.
struct UpdateTraffic {
    double held = 0;     // of those whose gradients the rank holds
    double updated = 0;  // of those whose optimizer states it holds
};

// Megatron-LM's Float16OptimizerWithFloat16Params and, with zero 1, DistributedOptimizer; DeepSpeed's ZeRO and bf16
// optimizers do the same passes in another order. See the list in framework.cpp.
UpdateTraffic mixed_precision_update(const Job& job);
// Fused Adam on fp32 shards, the gradients' norm and clipping (torch.optim, torch.nn.utils.clip_grad_norm_).
UpdateTraffic fused_update(const Job& job);

// Per element of a weight's gradient and micro-batch: the product writes the gradient in the training precision, and a
// pass adds it to the accumulated one.
// Where one micro-batch's gradient is not simply kept.
Bytes repeated_accumulation(const Job& job);
// Megatron's: none where the product itself accumulates (--gradient-accumulation-fusion; off under Megatron-FSDP).
Bytes megatron_accumulation(const Job& job);

// What the host issues for a layer, one by one: calls of modules and functions of autograd in Python, kernels, copies
// and hooks. More than the kernels that a device is kept busy by, and what small layers go at the pace of.

// Whose modules a layer is made of.
enum class Modules : std::uint8_t {
    transformer_engine,  // Megatron-core's default
    megatron,            // Megatron-LM's own, and what was made of it: Megatron-DeepSpeed, GPT-NeoX
    pytorch,             // plain torch.nn, as Hugging Face and llm-foundry have it
    pytorch_units,       // the same, every layer a unit of FSDP
};
constexpr bool is_plain(Modules modules) { return modules == Modules::pytorch || modules == Modules::pytorch_units; }

// CUDA graphs replay what was issued once: every pass of a layer; of its router (Megatron-core's scope "moe_router
// moe_preprocess"), or of all of it but its experts and what sends tokens to them ("attn moe_router moe_preprocess");
// or of all layers of a stage.
enum class CudaGraphs : std::uint8_t { none, layer, router, around_experts, full };

struct HostOperations {
    double forward = 0, input_backward = 0, weight_backward = 0;

    HostOperations& operator+=(const HostOperations& other);
};

// Of one piece of a layer, communication calls apart.
HostOperations host_operations(const Job& job, Piece piece);
HostOperations host_operations(const Job& job, const LayerPiece& piece);  // as the job trains it
// The same where every operator is a kernel (Job::modules), of a piece's own and of what data parallelism does for the
// layer, in its first piece.
HostOperations eager_operations(const Job& job, LayerKind kind, const LayerPiece& piece);
// Of the same in clipping and updating what a stage has.
double update_operations(const Job& job, std::span<const StageModule> modules);
// Whether experts add biases and bound what their activation takes in passes of their own; whether they are one
// operation, whose products cast and activate as they write; and whether they copy rows to places of a size that narrow
// products take, and back.
bool runs_expert_passes_apart(const Job& job);
bool fuses_experts(const Job& job);
bool pads_rows_of_experts(const Job& job);
// Whether a graph has the piece.
bool is_replayed(const Job& job, Piece piece);
// Whether one has all of a layer.
bool replays_all(const Job& job);
// What the host issues in place of all of the layer's pieces that are replayed.
HostOperations replay(const Job& job);

// How the sends and receives between two slots of a stage are ordered, under a schedule with blocking hand-over.
enum class Handover : std::uint8_t {
    sequential,  // blocking calls one after another; in a forward-to-backward turn the receive comes first
    paired,      // one batch of asynchronous send and receive, awaited together
};

// Where the input-gradient reduction of a column-parallel map runs.
enum class InputReduction : std::uint8_t { after_backward, under_weight_gradient };

// Whether the gradients of experts are reduced apart from the others': always, or where ranks share the experts.
enum class ExpertGradients : std::uint8_t { apart_if_shared, apart };

// Where tensor ranks that share tokens sum what each has of the gradients of norms: all together before the optimizer,
// or one by one as data parallelism reduces them.
enum class NormGradients : std::uint8_t { together, apart };

// Whose calls bring keys and values of context ranks together (parallelism/context.cpp).
enum class ContextCalls : std::uint8_t { megatron, torch };

// Ranks that share one copy of each part of the model states; 1: every rank has its own. And bytes per element of what
// gradients need beside those that are kept:
struct StateShares {
    double parameters = 1, gradients = 1, optimizer = 1;
    double replicas = 1;       // groups of ranks that each hold all of what is shared
    double passing_bytes = 0;  // of those that autograd makes, before they are added to the kept ones
    double freed_bytes = 0;    // of those whose memory goes back to the allocator after every step
    double update_bytes = 0;   // of copies that only the optimizer's step holds, of the elements that it updates
};

// What comes and goes along a step, of parameters and gradients: bytes per element that the rank has whole, by unit: a
// layer, or the root, which is all that is outside of layers. Where autograd makes every gradient anew and modules
// compute with copies of their parameters (PyTorch's FSDP and DDP, zero_grad to None) some do; elsewhere nothing does.
struct PassingStates {
    enum class Units : bool { layers, tensors };

    double parameters = 4;        // of its share of the parameters
    double gradients = 4;         // of its share of the gradients
    bool in_place = true;         // the optimizer updates the parameters themselves, not a master copy
    bool anew = true;             // gradients are there from a unit's reduction to the optimizer, not from step to step
    double resident = 0;          // copies of layers that stay
    double gathered = 0;          // copies of a layer, while it runs
    double root = 0;              // copies of the root, until it is reduced
    double saved = 0;             // copies of matrices, from their forward to their backward
    Units units = Units::layers;  // what is reduced together
    double made = 0;              // gradients as autograd makes them, until they are reduced
    double reduced = 0;           // the buffer that is reduced, until the next unit comes to it

    bool stay() const { return !anew && resident + gathered + root + saved + made + reduced == 0; }
};

PassingStates states_stay(const Job& job);
inline std::vector<Call> no_calls(const Job&) { return {}; }
inline std::vector<Call> no_stage_calls(const Job&, std::uint32_t) { return {}; }
inline Bytes no_buffers(const Job&, double) { return {}; }
inline InputReduction reduced_after_backward(const Job&) { return InputReduction::after_backward; }
inline Setting always_overlaps(const Job&) { return Setting::on; }

// Had been reserved 1.028 to 1.093 times what was allocated, mean 1.048, over the 43 runs of SimuMax's table on B200
// (docs/b200/b200_release_v1.2_summary.json, real_reserved_gib over real_alloc_gib).
constexpr double usual_fragmentation = 0.048, most_fragmentation = 0.093;

// It calls nothing where it does not say what.
struct Framework {
    std::string_view name;
    std::string_view summary;
    ScheduleNeeds offers{};  // of what schedules need
    Handover handover{};
    InputReduction (*input_reduction)(const Job& job) = reduced_after_backward;
    Setting (*overlaps_pipeline)(const Job& job) =
        always_overlaps;  // what interleaved stages hand over, with computation
    Through exchanges{};  // whose all-to-all sends tokens to experts and heads to context ranks
    ExpertGradients expert_gradients{};
    WeightGradients weight_gradients{};
    ExpertWeights expert_weights{};
    MapInputs map_inputs{};
    NormGradients norm_gradients{};
    TokenRouting routing{};
    ContextCalls context_calls{};
    Modules (*modules)(const Job& job);
    // Layers of each model part; empty if the framework cannot split so. `why` then says it.
    std::vector<std::uint32_t> (*split)(std::uint32_t layers, std::uint32_t parts, std::string& why);
    Setting (*default_overlap)(const Job& job) = always_overlaps;  // of gradient reduction with the backward pass
    // Appends what the framework cannot do.
    void (*check)(const Job& job, const Refusals& refuse);
    // Appends what the framework's version has not, though weft models it; nullptr: it has all that `check` lets pass.
    void (*lacking)(const Job& job, const Refusals& lacks) = nullptr;

    // Once per run, on this stage, apart from what data parallelism does.
    std::vector<Call> (*start_up)(const Job& job, std::uint32_t stage) = no_stage_calls;

    // Per micro-batch.
    std::vector<Call> (*load_batch)(const Job& job, std::uint32_t stage) = no_stage_calls;  // first and last stage
    std::vector<Call> (*loss)(const Job& job) = no_calls;                                   // after the logits
    // Before a layer is recomputed: its stored input.
    std::vector<Call> (*checkpoint_gather)(const Job& job) = no_calls;
    std::vector<Call> (*expert_counts)(const Job& job) = no_calls;  // before tokens are dispatched to experts

    // Pipeline: calls per micro-batch and boundary, in order; direction and peer are filled in by the writer.
    std::vector<Call> (*shapes)(const Job& job) = no_calls;  // before the first activation of the first step
    std::vector<Call> (*activation)(const Job& job) = no_calls;
    std::vector<Call> (*gradient)(const Job& job) = no_calls;
    std::vector<Call> (*gather_received_activation)(const Job& job) = no_calls;  // receiver, before its forward
    // Sender of the activation, before its backward.
    std::vector<Call> (*gather_before_backward)(const Job& job) = no_calls;

    // Once per step, after what data parallelism does.
    std::vector<Call> (*step_end)(const Job& job, std::uint32_t stage) = no_stage_calls;

    std::unique_ptr<DataParallel> (*data_parallel)(const ShardingInput& input);
    StateShares (*shares)(const Job& job);
    PassingStates (*passing)(const Job& job) = states_stay;
    Autocast autocast{};
    // Of what is allocated at the most, how much PyTorch's allocator reserves beyond, where the device has room.
    double fragmentation = usual_fragmentation;
    // Beyond the rank's share of the states: buckets and gathered parameters. `parameters`: of this rank, unsharded.
    Bytes (*buffers)(const Job& job, double parameters) = no_buffers;
    double (*gradient_bytes)(const Job& job);  // per element, as stored
    UpdateTraffic (*update_traffic)(const Job& job);
    Bytes (*accumulation)(const Job& job);  // of a weight's gradient, per element and micro-batch
};

namespace framework {
std::span<const Framework* const> all();
}

const Framework* find_framework(std::string_view name);  // nullptr if unknown
std::vector<std::string> framework_names();

// Calls that every framework derived from Megatron-LM's parallelism issues.

double tokens(const Job& job);       // of a micro-batch that a rank has: b s over those sharing sequences
bool shares_tokens(const Job& job);  // sequence parallelism among tensor ranks
// Whether tensor ranks each keep a share of the inputs of checkpointed layers: DeepSpeed's partition_activations
// (activation_checkpointing.py), Megatron-LM's --distribute-saved-activations (core/tensor_parallel/random.py).
bool shares_checkpoints(const Job& job);
bool gathers_before_routing(const Job& job);  // whether those then all route all tokens of a layer with experts
Bytes state_between_stages(const Job& job);
Bytes hidden_state(const Job& job);             // b s h elements: the activation between layers and stages, whole
std::string_view element_name(const Job& job);  // "fp16", ...

// The hidden state over the tensor group: summed whole; under sequence parallelism summed and dealt out by tokens, or
// gathered.
Call reduce_hidden(const Job& job, std::string_view label);
Call scatter_hidden(const Job& job, std::string_view label);
Call gather_hidden(const Job& job, std::string_view label);
// What a layer's products take, gathered in the precision that they run in: each rank casts its share first
// (TransformerEngine, module/layernorm_linear.py and module/base.py, grad_output_preprocess), where scales are of whole
// tensors after agreement on the maximum. `all`: both forms that products take it in (recipes.hpp); `saved`: kept cast.
enum class OperandForms : std::uint8_t { one, saved, all };
void gather_operand(const Job& job, std::string_view label, OperandForms forms, std::vector<Call>& calls);

// Delayed scaling: the maxima of input, weight and output of each of so many products at the end of a forward pass, and
// of both gradients at the end of a backward pass, over tensor x context x data ranks (Transformer Engine,
// FP8GlobalStateManager.reduce_and_update_fp8_tensors; Megatron-core, get_amax_reduction_group). Only where the job
// names the recipe.
std::vector<Call> reductions_of_maxima(const Job& job, std::size_t products, Pass pass);

// Vocabulary-parallel cross entropy: maximum, target logit and sum of exponentials, b s fp32 each.
std::vector<Call> loss_reductions(const Job& job);

// Of this rank's share of the sequence.
Bytes own_keys_and_values(const Job& job);
Bytes own_queries(const Job& job);

// Point to point between neighbouring stages; direction and peer are the writer's.
Call boundary_call(Bytes message, std::string_view label, std::string_view type);

// fp32 where bf16 training accumulates gradients in fp32, else the training precision.
double accumulated_gradient_bytes(const Job& job);

// How the layers of a model are dealt to pipeline stages.

// Transformer layers per stage as GPT-NeoX and DeepSpeed 0.14 split `layers` by `type:transformer|mlp`, over at most
// layers + 2 stages. The pattern also matches the two reshaping functions before and after the layers, so these weigh
// as much as a layer. DeepSpeed's balanced partition keeps, for each prefix, the cut with the smallest difference
// between the heaviest and the lightest part, the latest of equals: of equal items the first parts then hold one more.
std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages);

// The same number of layers on every stage; empty, with the reason in `why`, where stages do not divide layers.
std::vector<std::uint32_t> even_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// Embedding and output layer count as a layer each, so the first and the last stage hold one fewer: Megatron's
// --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split, DeepSpeed's
// `type:transformer|embedding`. Empty, with the reason in `why`, where stages do not divide layers + 2.
std::vector<std::uint32_t> ends_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// As even as can be, the first stages with one more: what stands for StageSplit::cost until a plan has costs.
std::vector<std::uint32_t> nearly_even_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// Layers of model parts where the job says them (Layout::by_hand), or DeepSpeed counts other things than layers.

// Layers of each model part, without prediction modules; empty, with the reason in `why`, if they cannot be so.
//
// By hand: as many parts as the job has, and together the model's layers. By first and last counts: those are of
// pipeline stages, whose parts share them evenly, as the middle stages do the rest (Megatron-core 0.9 to 0.19,
// core/transformer/transformer_config.py, transformer_block.py get_num_layers_to_build).
std::vector<std::uint32_t> by_hand(const Job& job, std::string& why);

// What a layout by hand asks of framework, version and schedule, and the model has not.
void check_by_hand(const Job& job, const Refusals& refuse);

// DeepSpeed's `uniform` and `parameters` over GPT-NeoX's items: embedding, reshape, layers, reshape, norm, output layer
// (runtime/pipe/module.py _partition_layers; runtime/utils.py partition_uniform, partition_balanced).
std::vector<std::uint32_t> items_split(const Job& job, std::string& why);

}  // namespace weft
