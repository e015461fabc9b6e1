// Pipeline parallelism: consecutive layers form stages; the framework decides how they are dealt.
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    std::string why;
    if (job.stage_layers(why).empty()) {
        errors.push_back({"layout.pipeline", std::string(job.framework->name) + ": " + why});
    }
    if (job.layout.pipeline > 1 && job.model.tied_embeddings) {
        errors.push_back(
            {"layout.pipeline", "tied embeddings need a copy on the last stage, which is not simulated yet"});
    }
}

extern const Scheme pipeline;
const Scheme pipeline{.axis = "pipeline", .check = check};

}  // namespace weft::parallelism
