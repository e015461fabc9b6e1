// How long one transformer layer takes inside a step, as layer benchmarks measure it.
#pragma once

#include "workloads/report/simulation.hpp"

namespace weft {

struct LayerTime {
    Seconds forward, backward;  // full recomputation belongs to backward
};

// Of the first micro-batch in the second layer of the first stage (its only layer, if there is one): from the begin of
// the pass's first operation to the end of its last, calls of tensor, context and expert parallelism included; neither
// embedding and head nor the reduction of gradients. Throws RangeError if the pass did not happen.
LayerTime layer_time(const Simulation& run);

}  // namespace weft
