// Pipeline parallelism: consecutive layers form stages; the framework decides how they are dealt.
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    std::string why;
    if (job.stage_layers(why).empty()) {
        errors.push_back({"layout.pipeline", std::string(job.framework->name) + ": " + why});
    }
}

extern const Scheme pipeline;
const Scheme pipeline{.axis = "pipeline", .check = check};

}  // namespace weft::parallelism
