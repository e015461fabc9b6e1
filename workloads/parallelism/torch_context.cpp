#include "workloads/parallelism/torch_context.hpp"

#include "workloads/framework/calls.hpp"

namespace weft {
namespace {

Call rotation(Bytes message, std::string_view label, std::string_view type) {
    return {.op = Collective::send_receive, .group = {"context"}, .message = message, .label = label, .type = type};
}

// Keys and values that later rounds use.
void rotate_keys(const Job& job, Around& around) {
    const Bytes own = own_keys_and_values(job);
    if (job.context_method == ContextMethod::all_gather) {
        around.rounds.front().push_back({.op = Collective::all_gather,
                                         .group = {"context"},
                                         .message = own * job.layout.context,
                                         .label = "all-gather keys and values",
                                         .type = element_name(job)});
        return;
    }
    for (std::size_t round = 0; round + 1 < around.rounds.size(); ++round) {
        around.rounds[round].push_back(rotation(own, "pass keys and values", element_name(job)));
    }
}

// Each round adds its own to what the one before has passed on.
void rotate_gradients(const Job& job, Around& around) {
    constexpr double sum_bytes = 4.0;
    const Bytes sums = own_keys_and_values(job) / element_bytes(job.precision) * sum_bytes;
    const Call call = rotation(sums, "pass key and value gradients", "fp32");
    for (std::size_t round = 1; round < around.rounds.size(); ++round) {
        around.rounds[round].insert(around.rounds[round].begin(), call);
    }
    around.after.push_back(call);
}

}  // namespace

void add_torch_context(const Job& job, Pass pass, Around& around) {
    around.rounds.resize(job.layout.context);
    rotate_keys(job, around);
    if (pass == Pass::backward) rotate_gradients(job, around);
}

}  // namespace weft
