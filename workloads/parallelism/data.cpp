// Data parallelism: replicas share the global batch.
#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check_data(const Job& job, const MachineInfo&, const Refusals& refuse) {
    const Batch& batch = job.batch;
    const std::uint64_t together = std::uint64_t{batch.micro} * job.layout.data;
    refuse.when(batch.global % together != 0, "batch.global",
                "{} sequences cannot be dealt to {} data ranks in micro-batches of {}: {} x {} = {} does not divide {}",
                batch.global, job.layout.data, batch.micro, job.layout.data, batch.micro, together, batch.global);
}

extern const Scheme data{.axis = "data",
                         .ranks = Scheme::Ranks::rest,
                         .holds = Scheme::Holds::copies,
                         .place = 2,
                         .size = &Layout::data,
                         .check = check_data};

}  // namespace weft::parallelism
