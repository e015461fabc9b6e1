// What kind of job a step is: enough to tell which measured runs are like it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "workloads/plan/plan.hpp"

namespace weft {

// What matters most comes first.
inline constexpr std::array<std::string_view, 7> trait_names{"device",    "framework", "model",  "layers",
                                                             "precision", "sharding",  "context"};

struct JobTraits {
    std::array<std::string, trait_names.size()> values;  // in words: "a100-80", ..., "optimizer sharded", ...
    double ranks = 1;
};

JobTraits job_traits(const Plan& plan);

}  // namespace weft
