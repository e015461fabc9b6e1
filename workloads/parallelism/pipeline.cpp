// Pipeline parallelism: consecutive layers form stages; the framework decides how they are dealt, the schedule in which
// order micro-batches pass.
#include <fmt/format.h>

#include "workloads/framework/refusals.hpp"
#include "workloads/framework/stage_split.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {

static void check_pipeline(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const Framework& framework = *job.framework;
    const std::string_view key = job.schedule->key;
    const Refusals refuse(errors);
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
    const std::size_t before = errors.size();
    check_by_hand(job, errors);
    if (errors.size() > before) return;
    std::string why;
    if (!job.part_layers(why).empty()) return;
    if (job.layout.split == StageSplit::by_hand) return refuse("layout.split", "{}", why);
    refuse("layout.pipeline", "{}: {}", framework.name, why);
}

extern const Scheme pipeline{.axis = "pipeline",
                             .ranks = Scheme::Ranks::own,
                             .holds = Scheme::Holds::parts,
                             .place = 3,
                             .size = &Layout::pipeline,
                             .check = check_pipeline};

}  // namespace weft::parallelism
