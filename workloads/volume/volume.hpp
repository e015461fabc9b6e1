// What is communicated, as rows: by the equations of arXiv 2408.10197 (paper) or by the calls of the program
// (framework).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"
#include "workloads/job/job.hpp"
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

// The log that DeepSpeed's communication logger would write of a run: every call of one rank that goes through
// deepspeed.comm, in order, with how long it took. The logger makes each call block, and so does the run.
struct LoggedCall {
    std::string_view name;  // function of deepspeed.comm: "all_reduce", "all_gather_into_tensor", ...
    Bytes size;             // as the logger has it: the shard of a gather, the whole of other tensors
    Seconds latency;        // from the call to its end, waiting for others included
};

// Of one step, the first of a run or a later one. A call in a group of one sends nothing and lasts the library's
// launch. Of ranks of one stage, which run together, all have the log of the slowest. Does not ask whether the job fits
// in memory. LogicError unless the framework is DeepSpeed.
std::vector<LoggedCall> logged_step(const Study& study, RankId rank, StepKind kind);

// Of `steps` steps: 1 is a steady one; more are a run from its start, with start-up and the first step.
std::vector<LoggedCall> logged_calls(const Study& study, RankId rank, std::uint32_t steps);

}  // namespace weft
