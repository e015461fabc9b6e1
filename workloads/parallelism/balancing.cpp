#include "workloads/parallelism/balancing.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/check.hpp"

namespace weft {
namespace {

double busiest_expert(const Job& job) {
    const Balancing balancing = job.experts.balancing;
    const bool biased = job.model.experts.balancing_bias && balancing != Balancing::even;
    switch (biased ? Balancing::bias : balancing) {
        case Balancing::even:
            return 0.0;
        case Balancing::auxiliary_loss:
        case Balancing::sequence_auxiliary_loss:
        case Balancing::global_auxiliary_loss:
            return 0.52;
        case Balancing::bias:
            return 0.04;
    }
    throw LogicError("a Balancing outside its enumerators");
}

}  // namespace

// Ranks that hold all experts have all tokens that there are.
double usual_imbalance(const Job& job) {
    if (job.layout.expert == 1 || job.model.experts.count == 0 || job.experts.capacity_factor > 0) return 1.0;
    const double own = double(job.model.experts.count) / job.layout.expert;
    return 1.0 + busiest_expert(job) / std::sqrt(own);
}

std::string imbalance_assumption(const Job& job) {
    if (job.experts.imbalance_assumed == Setting::off || job.experts.imbalance == 1.0) return {};
    return fmt::format(
        "imbalance of expert ranks {:.3g} (assumption: 1 + {:g} / sqrt(experts of a rank), the busiest expert as "
        "measured in arXiv 2408.15664)",
        job.experts.imbalance, busiest_expert(job));
}

}  // namespace weft
