// What frameworks without model parallelism have in common.
#pragma once

#include <vector>

#include "workloads/framework/framework.hpp"

namespace weft {

struct DataOnly {
    std::string_view name, summary;
    void (*check)(const Job&, std::vector<JobError>&);
    std::unique_ptr<DataParallel> (*data_parallel)(const ShardingInput&);
    StateShares (*shares)(const Job&);
    Bytes (*buffers)(const Job&, double);
    double (*gradient_bytes)(const Job&);
    Bytes (*accumulation)(const Job&);
    Modules (*modules)(const Job&);
};

// A framework whose ranks differ along the data axis only.
Framework data_only_framework(const DataOnly& own);
// Refuses every other axis, and what needs one. Experts are like any parameters: every rank has all of them.
void check_data_only(const Job& job, std::vector<JobError>& errors);

}  // namespace weft
