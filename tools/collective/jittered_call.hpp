// What of a call varies with jitter.
#pragma once

#include <vector>

#include "tools/collective/jitter.hpp"
#include "topologies/collective_set.hpp"

namespace weft {

struct JitteredCall {
    Seconds fixed;  // launches
    std::vector<JitteredRounds> rounds{};
};

// Together what CollectiveSet::time() gives: the time of a stretch falls equally on its rounds.
JitteredCall jittered_call(CollectiveSet& set, const Topology& topology, const Choice& choice, Bytes message);

}  // namespace weft
