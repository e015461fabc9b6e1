// A job of the study: a shipped file with overrides, read for one purpose or the other.
#pragma once

#include <string>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

struct StudyJob {
    std::string name;  // workloads/study/<name>.json
    std::vector<std::string> overrides;

    // Throws ConfigError with every mistake: here, layouts that cannot run.
    Study read(Purpose purpose) const;
};

}  // namespace weft
