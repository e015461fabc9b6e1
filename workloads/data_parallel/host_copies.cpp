#include "workloads/data_parallel/host_copies.hpp"

#include <algorithm>

namespace weft {

constexpr double fp32_bytes = 4;

ActionId HostCopies::store_gradients(Script& script, double elements, Where where, ActionId reduced) const {
    const bool once = where.micro_batch == Where::whole_step;  // ZeRO-1 adds up on the device
    const bool first = once || where.micro_batch == 0, last = once || where.micro_batch + 1 == input_.micro_batches;
    ActionId ready = reduced;
    if (!first) ready = script.load("fetch gradients", time(elements * input_.element_bytes), where, ready);
    const double bytes = last ? fp32_bytes : input_.element_bytes;
    return script.store("offload gradients", time(elements * bytes), where, ready);
}

void HostCopies::load_parameters(Script& script, double elements) const {
    const double bytes = input_.zero == 3 ? input_.element_bytes : fp32_bytes;
    script.wait(script.load("fetch parameters", time(elements * bytes), {}, script.now()));
}

ActionId HostCopies::fetch_shards(Script& script, double elements, Where where) const {
    const Bytes bytes{elements * input_.element_bytes};
    Seconds duration = bytes / input_.host_link;
    if (input_.deepspeed.parameters == ParametersOn::nvme) duration = std::max(duration, bytes / input_.drives_read);
    return script.load("fetch parameters", duration, where, script.now());
}

void HostCopies::store_parameters(Script& script, double elements) const {
    script.wait(script.store("offload parameters", time(elements * input_.element_bytes), {}, script.now()));
}

}  // namespace weft
