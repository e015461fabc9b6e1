// One communication call of a framework, as one rank issues it. Described, not executed.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "workloads/layout/rank_groups.hpp"

namespace weft {

// Which library function the framework calls: DeepSpeed's logger sees only what goes through deepspeed.comm.
enum class Through : std::uint8_t { torch, deepspeed };

enum class Direction : std::uint8_t { none, send, receive };

// Of calls in a list: after the one before is done, or with it, by one kernel that does both.
enum class Start : std::uint8_t { after_previous, with_previous };

struct Call {
    Collective op{};
    RankGroups group;          // who takes part
    Bytes message{};           // full tensor of one call, as `type` elements
    std::string_view label{};  // static text: what it is, for people
    std::string_view type{};   // "fp16", "fp32", "int64", "uint8", ...
    Through through = Through::torch;
    Start start = Start::after_previous;
    Direction direction = Direction::none;  // of a point-to-point call
    std::uint32_t peer = 0;                 // stage it is exchanged with
    std::uint32_t port = 0;                 // calls of one (sender, receiver, port) match in order
    Seconds first_use{};                    // of a connection that is set up by this call

    bool crosses_boundary() const { return group == RankGroups::boundary(); }
    bool operator==(const Call&) const = default;
};

}  // namespace weft
