// An explained job for people and for programs, table by table: pages show the same ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/explain/job_explanation.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "workloads/explain/explanation.hpp"

namespace weft {

std::string explanation_text(const JobExplanation& explained);
// Seconds and bytes.
std::string explanation_json(const JobExplanation& explained, const JobRecord& record);

// Of a path that ends at `end`, the step.
ResultTable causes_table(std::span<const ExplainedCause> causes, Instant end);

// What changes of a job give, of which each takes `own` as it is.
struct ChangeTable {
    ResultTable table;
    std::vector<std::string> negligible, unknown;  // that make no difference; that only a simulation would tell
};
ChangeTable knobs_table(std::span<const ExplainedKnob> knobs, Seconds own);
ChangeTable settings_table(std::span<const ExplainedSetting> settings, Seconds own);

ResultTable kernels_table(const DeviceRoofline& device);
ResultTable fabric_table(const std::vector<FabricUse>& fabric);
ResultTable kinds_table(const std::vector<LayerKindUse>& kinds);
Json rooflines_json(const Rooflines& rooflines);

}  // namespace weft
