// Expert parallelism: the ranks of a group hold different experts of each layer and exchange tokens by all-to-all
// (GShard, Lepikhin et al. 2006.16668). The group is cut out of tensor x context x data.
#include <fmt/format.h>

#include "workloads/layout/groups_of_ranks.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const Layout& layout = job.layout;
    const auto refuse = [&](std::string why) { errors.push_back({"layout.expert", std::move(why)}); };
    if (job.model.experts.count == 0) {
        if (layout.expert > 1) {
            refuse(fmt::format("{} has no experts to share by {} ranks", job.model.name, layout.expert));
        }
        if (layout.expert_tensor > 1) {
            errors.push_back({"layout.expert_tensor", fmt::format("{} has no experts to cut", job.model.name)});
        }
        if (job.experts.imbalance != 1 || job.experts.capacity_factor != 0) {
            errors.push_back({"experts", fmt::format("{} has no experts to send tokens to", job.model.name)});
        }
        return;
    }
    if (job.experts.imbalance != 1 && job.experts.capacity_factor > 0) {
        errors.push_back({"experts.imbalance",
                          "with a capacity_factor every expert is sent as many slots as any other; give one of them"});
    }
    if (layout.expert_tensor > 1 && !tensor_is_innermost(layout)) {
        errors.push_back(
            {"layout.order", fmt::format("the {} ranks of an expert are neighbours in the tensor group; experts need "
                                         "tensor innermost",
                                         layout.expert_tensor)});
    }
    for (const std::string& obstacle : expert_obstacles(job.model, job.split())) refuse(obstacle);
    const std::string obstacle = expert_layout_obstacle(layout);
    if (!obstacle.empty()) refuse(obstacle);
    if (layout.expert_tensor != 1 && layout.expert_tensor != layout.tensor) {
        errors.push_back({"layout.expert_tensor",
                          fmt::format("expected 1 or tensor ({}), got {}", layout.tensor, layout.expert_tensor)});
    }
}

extern const Scheme expert;
const Scheme expert{.axis = "expert", .size = &Layout::expert, .ranks = Scheme::Ranks::shared, .check = check};

}  // namespace weft::parallelism
