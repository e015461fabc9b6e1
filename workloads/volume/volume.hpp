// What is communicated, as rows: by the equations of arXiv 2408.10197 (paper) or by the calls of the program
// (framework).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"

namespace weft {

struct VolumeRow {
    std::string op;         // "all_reduce", "send", ...
    std::string dimension;  // "data", "tensor", "pipeline", "model", ...
    std::uint32_t group_size = 1;
    double calls = 0;     // per `when`; a fraction where the equations have L / p
    Bytes message;        // full tensor of one call
    Bytes volume;         // per rank, of all `calls` together (the paper's pipeline rows: over all stages)
    std::string when;     // "start-up", "first-step", "step", "micro-batch"
    std::string type{};   // of the elements: "fp16", "int64", ...; empty: not known
    std::string label{};  // what the message is, for people
    double logged = -1;   // bytes that DeepSpeed's logger shows for one call; negative: it does not see the call
};

struct VolumeTable {
    std::vector<VolumeRow> rows;
    std::uint32_t micro_batches = 1;  // how often rows tagged "micro-batch" repeat in a step
    Bytes total() const;              // one steady step
};

// Bytes that one rank of n puts on the wire: all-reduce 2 m (n-1)/n; all-gather, reduce-scatter, reduce and all-to-all
// m (n-1)/n; broadcast and point-to-point m. A group of one sends nothing.
Bytes wire_volume(Collective op, Bytes message, std::uint32_t n);

// Equations 1-5 verbatim: one micro-batch, P with the position term s h and 8 h of vectors per layer, V padded for one
// tensor rank, ZeRO-1/2 as reduce-scatter and all-gather, ZeRO-3 with a second all-gather, 12 L + 2 tensor-parallel
// units with L -> L / p, and the sends of all stages together.
VolumeTable paper_volume(const Job& job);

// The calls of `rank` as its script has them: once per run, in one steady step (per micro-batch where all micro-batches
// are equal), and in the first step wherever that differs: the kinds of calls (dimension, op, label) whose counts or
// sizes are not those of a steady step, in full.
VolumeTable framework_volume(const Plan& plan, RankId rank);

// The framework's calls that go through deepspeed.comm, by the names that its logger knows: "all_gather_into_tensor",
// "reduce_scatter_tensor", ...
VolumeTable logger_volume(const Plan& plan, RankId rank);

// The function of deepspeed.comm behind a call, and the size that its logger shows: the shard of a gather, the whole
// of other tensors.
std::string_view logged_name(const Call& call);
Bytes logged_size(const Call& call, std::uint32_t group_size);

}  // namespace weft
