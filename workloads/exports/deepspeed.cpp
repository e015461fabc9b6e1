// DeepSpeed's configuration file of a job with data parallelism alone: all that it has keys for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "workloads/exports/deepspeed_keys.hpp"
#include "workloads/job/own_keys.hpp"
#include "workloads/job/recompute_reader.hpp"

namespace weft::exports {
namespace {

constexpr std::array<std::string_view, 4> attention_words{"unfused", "flash", "cudnn", "triton"};

// What the script that it goes with says of the job, as --set takes it: DeepSpeed asks for no such key, import_files()
// does.
void add_rest(Draft& config, const Study& study) {
    const Job& job = study.job;
    Draft& rest = config.object("weft");
    for (const std::string& assignment : own_assignments(own_keys(study, "deepspeed"))) {
        const std::size_t equals = assignment.find('=');
        rest.set(assignment.substr(0, equals), assignment.substr(equals + 1), {});
    }
    const std::vector<std::string> shipped = model_names();
    if (std::ranges::binary_search(shipped, job.model.name)) {
        rest.erase("model.name");
        rest.erase("model.vocabulary");
        rest.set("model", job.model.name, {});
    }
    rest.set("batch.sequence", std::to_string(job.batch.sequence), {});
    const nlohmann::ordered_json recompute = recompute_json(job.recompute);
    rest.set("recompute", recompute.is_string() ? recompute.get<std::string>() : recompute.dump(), {});
    rest.set("attention", attention_words.at(static_cast<std::size_t>(job.attention)), {});
    rest.set("dropout", job.dropout == Dropout::on ? "true" : "false", {});
    rest.set("element_wise", job.element_wise == ElementWise::fused ? "fused" : "unfused", {});
}

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
    if (settings.wall_clock_breakdown == Setting::on) config.set("wall_clock_breakdown", true, {});
    config.set("steps_per_print", 10, {});
    add_rest(config, study);
    return config.text();
}

}  // namespace

extern const ExportFormat deepspeed;
const ExportFormat deepspeed{"deepspeed", "DeepSpeed configuration", write, nullptr};

}  // namespace weft::exports
