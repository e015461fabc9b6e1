// Context parallelism: the ranks of a group share every sequence, and attention brings keys and values together
// (ring: Liu et al. 2310.01889, cut causally balanced in 2 cp chunks; all-to-all: DeepSpeed-Ulysses 2309.14509).
#include <fmt/format.h>

#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const std::uint32_t context = job.layout.context;
    if (context == 1) return;
    const auto refuse = [&](std::string why) { errors.push_back({"layout.context", std::move(why)}); };
    const std::uint32_t pieces = job.context_method == ContextMethod::ring ? 2 * context : context;
    if (job.batch.sequence % pieces != 0) {
        refuse(fmt::format("{} tokens cannot be cut into {} equal pieces for {} context ranks", job.batch.sequence,
                           pieces, context));
    }
    if (job.context_method != ContextMethod::all_to_all) return;
    for (const auto& [heads, what] :
         {std::pair{job.model.heads, "attention heads"}, {job.model.kv_heads, "key-value heads"}}) {
        if (heads % (job.layout.tensor * context) == 0) continue;
        refuse(fmt::format("{} {} cannot be dealt by all-to-all to tensor {} x context {} = {} ranks", heads, what,
                           job.layout.tensor, context, job.layout.tensor * context));
        if (job.model.heads == job.model.kv_heads) break;
    }
}

extern const Scheme context;
const Scheme context{.axis = "context", .size = &Layout::context, .ranks = Scheme::Ranks::own, .check = check};

}  // namespace weft::parallelism
