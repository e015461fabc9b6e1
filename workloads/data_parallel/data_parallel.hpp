// Data parallelism as a participant of a stage's step: it is told what is about to be computed and what has been, and
// adds its calls to the script: parameters gathered before use, gradients reduced after, what surrounds the optimizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// A module of a stage that owns parameters: a norm, a linear map, an embedding, the experts of a layer.
struct StageModule {
    // "input norm", "qkv", ...; "embedding", "positions", "final norm", "output layer" and
    // "tied embedding" are those that belong to no layer.
    std::string_view name;
    std::uint32_t layer = 0;             // of the model; embedding: first layer of the stage, head: one past the last
    std::uint32_t chunk = 0;             // of the stage (virtual pipeline stages)
    bool expert = false;                 // reduced over expert_data instead of data
    std::vector<std::uint64_t> tensors;  // elements of each on this rank, in registration order
    std::vector<bool> vector;            // of each: one-dimensional (a bias or norm: no weight decay)
    std::vector<std::vector<std::uint64_t>> rows{};  // as Module has them; may be empty: each element is a row
    std::uint64_t slices = 0;
    bool recomputed = false;  // its layer runs forward again, whole, before its backward
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

}  // namespace weft
