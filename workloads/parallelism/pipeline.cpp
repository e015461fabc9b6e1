// Pipeline parallelism: consecutive layers form stages; the framework decides how they are dealt, the schedule in which
// order micro-batches pass.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

// A list that Megatron-core takes where stages do not divide layers: parts at the ends, which have embedding and output
// layer, hold one layer less where some do.
static std::string list_instead(const Job& job) {
    const std::uint32_t layers = job.model.own_layers(), parts = job.model_parts(), each = layers / parts;
    if (job.framework->name != "megatron" || job.layout.split != StageSplit::framework || each == 0) return "";
    const std::uint32_t fewer = parts - layers % parts;
    std::vector<std::uint32_t> dealt(parts, each + 1);
    std::fill_n(dealt.begin(), (fewer + 1) / 2, each);
    std::fill_n(dealt.rbegin(), fewer / 2, each);
    return fmt::format("--set layout.split=[{}]{} deals them", fmt::join(dealt, ","),
                       has_since(job.megatron.version, stage_layout_since)
                           ? ""
                           : fmt::format(" --set megatron.version={}", stage_layout_since));
}

static void check_pipeline(const Job& job, const MachineInfo&, const Refusals& refuse) {
    const Framework& framework = *job.framework;
    const std::string_view key = job.schedule->key;
    const std::vector<std::string_view> lacking = missing(job.schedule->needs, framework.offers);
    if (!lacking.empty()) {
        return refuse("schedule", "{} does not offer what {} needs: {}", framework.name, key, fmt::join(lacking, ", "));
    }
    if (job.micro_batches() == 0) return;  // reported with the batch
    if (job.layout.virtual_stages > 1 && job.schedule->chunks != 0) {
        std::vector<std::string> open;
        for (const Schedule* schedule : schedule::all()) {
            if (schedule->chunks == 0) open.push_back(fmt::format("\"{}\"", schedule->key));
        }
        refuse("layout.virtual_stages", "{} virtual stages need \"schedule\": {}, got \"{}\"",
               job.layout.virtual_stages, fmt::join(open, " or "), key);
    }
    const std::string obstacle = job.schedule->obstacle(job.pipeline_shape());
    if (!obstacle.empty()) return refuse("schedule", "{}: {}", key, obstacle);
    refuse.when(job.schedule->copies > 1 && job.model.tied_embeddings, "schedule",
                "{} holds first and last layers on one stage, which a tied embedding is not modelled for", key);
    const std::size_t before = refuse.count();
    check_by_hand(job, refuse);
    if (refuse.count() > before) return;
    std::string why;
    if (!job.part_layers(why).empty()) return;
    if (job.layout.split == StageSplit::by_hand) return refuse("layout.split", "{}", why);
    refuse.add({"layout.pipeline", fmt::format("{}: {}", framework.name, why), list_instead(job)});
}

extern const Scheme pipeline{.axis = "pipeline",
                             .ranks = Scheme::Ranks::own,
                             .holds = Scheme::Holds::parts,
                             .place = 3,
                             .size = &Layout::pipeline,
                             .check = check_pipeline};

}  // namespace weft::parallelism
