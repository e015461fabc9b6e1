// The classes in which recorded and simulated kernels meet: what bounds them and which constant of a device they tell.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/transformer/kernels.hpp"

namespace weft {

enum class WorkClass : std::uint8_t {
    attention_products,  // maps around attention
    mlp_products,
    expert_products,
    router_products,
    logits,
    other_products,  // recorded, of shapes that the job has not
    scores,          // products and softmax of attention that is not fused
    recurrence,      // products of a recurrent mixer's chunks
    attention,       // fused
    element_wise,    // passes, as PassClass
    strided,
    broadcast,
    norm,
    reduction,
    softmax,
    gathered,
    fused,
    optimizer,
    parameters,     // casts and copies of parameters and gradients by data parallelism
    communication,  // kernels of a communication library
    host_copies,    // between the memories of host and device
    other,
};
constexpr std::size_t work_classes = 22;
// For people; and what traces of simulated steps call a kernel of the class and the operation that launches it.
struct WorkClassNames {
    std::string_view name, operation, kernel;
};
const WorkClassNames& names_of(WorkClass what);
inline std::string_view name(WorkClass what) { return names_of(what).name; }

constexpr bool is_pass(WorkClass what) { return what >= WorkClass::element_wise && what <= WorkClass::fused; }

enum class WorkPass : std::uint8_t { forward, recomputation, backward, data_parallel, optimizer };
std::string_view name(WorkPass pass);

// Of a kernel that the simulator counts.
WorkClass work_class(const Kernel& kernel);

// A recorded kernel by its name, and by the names of what launched it.
struct Launched {
    std::string_view kernel;
    std::string_view operation;  // the innermost: "aten::mm"
    std::string_view dims;       // of its inputs: HostEvent::dims
    bool is_copy = false, is_fill = false;
};
// Products are other_products: their shapes tell more. Those of a library of communication, of an optimizer and of data
// parallelism that only annotations tell are not known here.
WorkClass work_class(const Launched& kernel);

}  // namespace weft
