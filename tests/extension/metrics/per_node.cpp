// Throughput as those who pay by the node ask for it.
#include "workloads/metrics/metric.hpp"

namespace weft::metrics {

extern const MetricTable per_node;
const MetricTable per_node{{
    {"throughput.tokens_per_s_per_node", "tokens/s", "of one node",
     [](const StepFigures& of) { return of.tokens_per_second / of.plan.job.nodes; }},
}};

}  // namespace weft::metrics
