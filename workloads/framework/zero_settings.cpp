// Sources: DeepSpeed 0.14.0 runtime/zero/{config,stage_1_and_2,stage3}.py, runtime/comm/coalesced_collectives.py.
#include "workloads/framework/zero_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "workloads/job/job.hpp"
#include "workloads/layout/placed_groups.hpp"

namespace weft {
namespace {

bool on(Setting setting) { return setting == Setting::on; }

class ZeroSettings {
  public:
    ZeroSettings(const Job& job, std::vector<JobError>& errors)
        : job_(job), settings_(job.deepspeed), errors_(errors) {}

    void reductions() {
        if (!on(settings_.reduce_scatter) && job_.zero == 0) {
            refuse("reduce_scatter", "stage 0 all-reduces gradients whatever it says; needs zero 1 to 3, got zero 0");
        }
        if (settings_.multi_rank_allreduce.value_or(Setting::on) == Setting::on) return;
        if (job_.zero != 1 && job_.zero != 2) {
            refuse("multi_rank_allreduce",
                   fmt::format("is read by ZeRO-1 and ZeRO-2 only; needs zero 1 or 2, got zero {}", job_.zero));
        } else if (!on(settings_.reduce_scatter)) {
            refuse("multi_rank_allreduce", "is not read where reduce_scatter is off: the whole bucket is all-reduced");
        }
    }

    void gathers() {
        if (job_.zero == 3) return;
        using Elements = double DeepSpeedSettings::*;
        static constexpr std::array<std::pair<const char*, Elements>, 5> of_stage_3{
            {{"prefetch_elements", &DeepSpeedSettings::prefetch_elements},
             {"persistence_elements", &DeepSpeedSettings::persistence_elements},
             {"max_live_elements", &DeepSpeedSettings::max_live_elements},
             {"max_reuse_elements", &DeepSpeedSettings::max_reuse_elements},
             {"sub_group_elements", &DeepSpeedSettings::sub_group_elements}}};
        for (const auto& [key, elements] : of_stage_3) {
            if (settings_.*elements == DeepSpeedSettings{}.*elements) continue;
            refuse(key, fmt::format("is read by ZeRO-3 only; needs zero 3, got zero {}", job_.zero));
        }
    }

    // qgZ's first hop is inside a node, its second one among equal places of the nodes. Inside one node nothing is
    // quantised, as DeepSpeed has it.
    void quantized_gradients() {
        if (!on(settings_.quantized_gradients) || job_.zero != 3) return;
        if (!on(settings_.reduce_scatter)) {
            refuse("quantized_gradients", "DeepSpeed quantises gradients only where reduce_scatter is on");
        }
        const Layout& layout = job_.layout;
        const std::uint32_t of_node = data_ranks_of_node(job_);
        if (layout.copies() <= of_node) return;
        if (settings_.hierarchical_ranks > 1 && settings_.hierarchical_ranks != of_node) {
            refuse("hierarchical_ranks",
                   fmt::format("{} ranks of a secondary group are not the {} data ranks of a node, inside which "
                               "quantized_gradients reduces first",
                               settings_.hierarchical_ranks, of_node));
        }
        if (layout.data % of_node != 0) {
            refuse("quantized_gradients",
                   fmt::format("{} data ranks of a node do not divide data {}", of_node, layout.data));
        }
        if (!tensor_is_innermost(layout)) {
            refuse("quantized_gradients",
                   "reduces among the data ranks of a node first; needs tensor innermost in layout.order");
        }
    }

  private:
    void refuse(std::string_view key, std::string why) {
        errors_.push_back({fmt::format("deepspeed.{}", key), std::move(why)});
    }

    const Job& job_;
    const DeepSpeedSettings& settings_;
    std::vector<JobError>& errors_;
};

}  // namespace

void check_zero_settings(const Job& job, std::vector<JobError>& errors) {
    ZeroSettings settings(job, errors);
    settings.reductions();
    settings.gathers();
    settings.quantized_gradients();
}

}  // namespace weft
