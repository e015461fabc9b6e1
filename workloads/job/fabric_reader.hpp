// The "fabric" and "faults" sections of a job file. Nodes and ranks of faults are those of the job, counted from 0.
//
//   "fabric": { "routing": "adaptive", "placement": "scatter:4", "load": 0.1,
//               "background": { "slingshot.global": 0.3 } }
//   "faults": {
//     "slow_gpus": [ { "rank": 17, "factor": 1.2 }, { "node": 3, "factor": 1.05 } ],
//     "links": [ { "node": 3, "nic": 1, "bandwidth": 0.5 },
//                { "from": 8, "to": 40, "class": "slingshot.global", "bandwidth": 0 } ],
//     "jitter": { "spread": 0.02, "seed": 7 }
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sim/io/document.hpp"
#include "topologies/machine.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// Records every error at its place. Paths are meant from `folder`.
Fabric read_fabric(Field section, const MachineInfo& machine, std::uint32_t nodes, const std::filesystem::path& folder);

struct ReadFaults {
    Faults faults;
    std::vector<LinkFault> links;  // for the fabric
};

// Records every error at its place. Of `job`, nodes, layout and fabric are known.
ReadFaults read_faults(Field section, const Machine& machine, const Job& job);

}  // namespace weft
