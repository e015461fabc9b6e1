// One communication call of a framework, as one rank issues it. Described, not executed.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"

namespace weft {

// Who takes part in a call.
enum class GroupKind : std::uint8_t {
    tensor,             // the tensor ranks of one replica
    context,            // the ranks that share one sequence
    data,               // the ranks that hold the same dense parameters: data x context
    data_inner,         // Layout::shard_ranks consecutive data ranks, and all that share their sequences (hybrid
                        // sharding, hpZ, qgZ inside a node)
    data_outer,         // those with the same place in their data_inner group
    expert,             // the ranks that share the experts of a layer
    expert_inner,       // consecutive ones of them, Layout::expert_inner each: those of a node
    expert_outer,       // those with the same place in their expert_inner group
    expert_and_tensor,  // the ranks of an expert group and of its experts' tensor ranks
    expert_tensor,      // the tensor ranks of one expert
    expert_data,        // the ranks that hold the same experts
    expert_data_inner,  // those of them whose data ranks share a data_inner group (experts under hybrid sharding)
    expert_data_outer,  // those with the same place in their expert_data_inner group
    tensor_context,     // the ranks that have the tokens of one sequence: tensor x context
    stage,              // all ranks of a stage: tensor x context x data
    // From here on, ranks of several stages take part.
    model,      // all ranks of one data index
    pipeline,   // one rank of every stage
    embedding,  // the first and the last stage, which share a tied embedding
    mirror,     // stages i and p - 1 - i, which hold the same layers under a bidirectional schedule
    boundary,   // a sender and a receiver on two stages
    // And of one stage again.
    further,  // and the values after it: ranks that differ along an axis beyond those of Layout
};
inline constexpr std::size_t most_further_axes = 3;
inline constexpr std::size_t group_kinds = static_cast<std::size_t>(GroupKind::further) + most_further_axes;
constexpr GroupKind further_group(std::size_t number) {
    return static_cast<GroupKind>(static_cast<std::size_t>(GroupKind::further) + number);
}

// Whether all who take part are ranks of one stage.
constexpr bool keeps_to_stage(GroupKind kind) { return kind < GroupKind::model || kind >= GroupKind::further; }

// Which library function the framework calls: DeepSpeed's logger sees only what goes through deepspeed.comm.
enum class Through : std::uint8_t { torch, deepspeed };

enum class Direction : std::uint8_t { none, send, receive };

// Of calls in a list: after the one before is done, or with it, by one kernel that does both.
enum class Start : std::uint8_t { after_previous, with_previous };

struct Call {
    Collective op{};
    GroupKind group{};
    Bytes message{};           // full tensor of one call, as `type` elements
    std::string_view label{};  // static text: what it is, for people
    std::string_view type{};   // "fp16", "fp32", "int64", "uint8", ...
    Through through = Through::torch;
    Start start = Start::after_previous;
    Direction direction = Direction::none;  // of a point-to-point call
    std::uint32_t peer = 0;                 // stage it is exchanged with
    std::uint32_t port = 0;                 // calls of one (sender, receiver, port) match in order
    Seconds first_use{};                    // of a connection that is set up by this call

    bool operator==(const Call&) const = default;
};

}  // namespace weft
