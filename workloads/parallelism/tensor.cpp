// Tensor parallelism (Shoeybi et al., arXiv 1909.08053): heads, MLP columns and vocabulary shared by the ranks.
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    for (const std::string& obstacle : tensor_obstacles(job.model, job.layout.tensor)) {
        errors.push_back({"layout.tensor", obstacle});
    }
}

extern const Scheme tensor;
const Scheme tensor{.axis = "tensor", .size = &Layout::tensor, .ranks = Scheme::Ranks::own, .check = check};

}  // namespace weft::parallelism
