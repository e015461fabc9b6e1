// How a machine is run: what fails how often, where checkpoints go, what its nodes draw. Keys of a machine file, all of
// them optional: a figure that is not known is absent.
//
//   "failures": {                                              // mean times between failures of one
//     "accelerator": { "value": "79100 h", "source": "..." },  // that its node is replaced for
//     "node": ..., "nic": ...,                                 // the same, of a host and of a NIC with its cable
//     "process": ...,                                          // software: the node stays
//     "planned": ...,                                          // stops of a run that were planned; a time, not of one
//     "detection": ..., "launch": ..., "repair": ...           // of a failure; of a job's processes; of a node
//   },
//   "storage": { "write": { "value": "2 TB/s", "source": "..." }, "read": ... },  // by all nodes together
//   "power": { "node": { "value": "2.8 kW", "source": "..." }, "overhead": { "value": 1.1, "source": "..." } }
#pragma once

#include <optional>

#include "sim/io/document.hpp"

namespace weft {

struct FailureFigures {
    // Mean times between failures of one accelerator, node, NIC with its cable, and process.
    std::optional<Seconds> accelerator, node, nic, process;
    std::optional<Seconds> planned;    // between planned stops of a run
    std::optional<Seconds> detection;  // from a failure until the job is stopped
    std::optional<Seconds> launch;     // of processes and communicators, until a checkpoint can be loaded
    std::optional<Seconds> repair;     // until a node is back
};

// Of the file system, by all nodes together.
struct StorageFigures {
    BytesPerSecond write, read;
};

struct NodePower {
    Watts node;             // all but its accelerators, at work or not
    double overhead = 1.0;  // what the site draws for each watt of it: power usage effectiveness
};

struct Operation {
    std::optional<FailureFigures> failures;
    std::optional<StorageFigures> storage;
    std::optional<NodePower> power;
};

// Records every error at its place.
Operation read_operation(Field& machine);

}  // namespace weft
