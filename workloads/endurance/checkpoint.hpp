// What a checkpoint holds and how long it takes: parameters and optimizer states, through NICs and the file system.
#pragma once

#include "topologies/operation.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// Written is each state once: what data ranks hold alike, by one of them. Read is all that every rank holds.
struct CheckpointCosts {
    Bytes written;  // by all ranks
    Bytes rank;     // by the rank that writes most
    Bytes read;     // by all ranks
    Seconds write;  // the longer of: all of it into the file system, a node's share out of its NICs
    Seconds load;   // the same of reading
};

CheckpointCosts checkpoint_costs(const Plan& plan, const StorageFigures& storage);

}  // namespace weft
