// Data parallelism: replicas share the global batch.
#include <fmt/format.h>

#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const std::uint64_t together = std::uint64_t{job.batch.micro} * job.layout.data;
    if (job.batch.global % together != 0) {
        errors.push_back(
            {"batch.global", fmt::format("{} sequences cannot be dealt to {} data ranks in micro-batches of "
                                         "{}: {} x {} = {} does not divide {}",
                                         job.batch.global, job.layout.data, job.batch.micro, job.layout.data,
                                         job.batch.micro, together, job.batch.global)});
    }
}

extern const Scheme data;
const Scheme data{.axis = "data",
                  .ranks = Scheme::Ranks::rest,
                  .holds = Scheme::Holds::copies,
                  .place = 2,
                  .size = &Layout::data,
                  .check = check};

}  // namespace weft::parallelism
