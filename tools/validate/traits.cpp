#include "tools/validate/traits.hpp"

namespace weft {
namespace {

constexpr std::uint32_t long_context = 32768;  // tokens of a sequence

std::string precision_class(Precision precision) {
    return precision == Precision::fp32  ? "32 bit"
           : precision == Precision::fp8 ? "8 bit"
           : precision == Precision::fp4 ? "4 bit"
                                         : "16 bit";
}

std::string sharding_class(const Job& job) {
    const StateShares shares = job.framework->shares(job);
    if (shares.parameters > 1) return "parameters sharded";
    return shares.gradients > 1 || shares.optimizer > 1 ? "optimizer sharded" : "nothing sharded";
}

}  // namespace

JobTraits job_traits(const Plan& plan) {
    const Job& job = plan.job;
    const bool is_long = job.layout.context > 1 || job.batch.sequence >= long_context;
    return {
        .values = {plan.device.die, std::string(job.framework->name), job.model.experts.count > 0 ? "experts" : "dense",
                   plan.host_bound ? "layers at the host's pace" : "layers at the device's pace",
                   precision_class(job.precision), sharding_class(job),
                   is_long ? "long or split context" : "short context"},
        .ranks = static_cast<double>(job.layout.ranks())};
}

}  // namespace weft
