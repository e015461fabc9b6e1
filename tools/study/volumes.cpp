#include "tools/study/volumes.hpp"

#include "tools/output/volume_text.hpp"

namespace weft {

VolumeTable stage_volume(const Study& study, std::uint32_t stage) {
    const Plan plan = make_plan(study);
    const RankId rank = study.job.layout.grid().slice("pipeline", stage).front();
    return framework_volume(plan, rank);
}

Bytes steady_volume(const VolumeTable& table, const std::function<bool(const VolumeRow&)>& wanted) {
    Bytes sum;
    for (const VolumeRow& row : table.rows) {
        if (wanted(row)) sum += row.volume * repeats_per_step(table, row);
    }
    return sum;
}

}  // namespace weft
