// DeepSpeed's configuration file of a job with data parallelism alone: all that it has keys for.
#include <fmt/format.h>

#include "workloads/exports/deepspeed_keys.hpp"

namespace weft::exports {
namespace {

std::string write(const Study& study) {
    Unsayable unsayable(study);
    const Layout& layout = study.job.layout;
    unsayable.unless(layout.ranks() == layout.data, "layout",
                     fmt::format("DeepSpeed's configuration says nothing of {}; --format neox does", axes(layout)));
    Draft config = deepspeed_keys(study, unsayable);
    unsayable.check();
    const DeepSpeedSettings& settings = study.job.deepspeed;
    if (settings.partition_activations == Setting::on || settings.synchronize_each_layer == Setting::on) {
        Draft& checkpointing = config.object("activation_checkpointing");
        checkpointing.set("partition_activations", settings.partition_activations == Setting::on, {});
        checkpointing.set("synchronize_checkpoint_boundary", settings.synchronize_each_layer == Setting::on, {});
    }
    config.set("steps_per_print", 10, {});
    return config.text();
}

}  // namespace

extern const ExportFormat deepspeed;
const ExportFormat deepspeed{"deepspeed", "DeepSpeed configuration", write, nullptr};

}  // namespace weft::exports
