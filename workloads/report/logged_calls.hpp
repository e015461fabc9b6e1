// The log that DeepSpeed's communication logger would write of a run: every call of one rank that goes through
// deepspeed.comm, in order, with how long it took. The logger makes each call block, and so does the run.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/job/job.hpp"

namespace weft {

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
