#include <nlohmann/json.hpp>

#include "tools/output/explanation_text.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::int64_t ticks) { return since_start({ticks}).value; }

Json causes_json(const Explanation& found) {
    Json rows = Json::array();
    for (const ExplainedCause& each : found.causes) {
        rows.push_back({{"cause", each.cause.name},
                        {"dimension", each.cause.dimension},
                        {"link", each.cause.link},
                        {"time_s", seconds(each.ticks)},
                        {"on_other_stages_s", seconds(each.elsewhere)}});
    }
    return rows;
}

Json passages_json(const Explanation& found) {
    Json rows = Json::array();
    for (const PathPassage& passage : found.passages) {
        rows.push_back({{"text", passage.text},
                        {"begin_s", since_start(passage.begin).value},
                        {"time_s", (passage.end - passage.begin).value},
                        {"rank", static_cast<std::uint32_t>(passage.rank)},
                        {"stage", passage.stage},
                        {"cause", cause_text(passage.cause)}});
    }
    return rows;
}

Json slack_json(const Explanation& found) {
    Json rows = Json::array();
    for (const Slack& row : found.slack) {
        rows.push_back({{"dimension", row.dimension},
                        {"op", row.op},
                        {"calls", row.calls},
                        {"least_s", row.least.value},
                        {"median_s", row.median.value}});
    }
    return rows;
}

Json settings_json(const JobExplanation& explained) {
    Json rows = Json::array();
    for (const ExplainedSetting& setting : explained.settings) {
        rows.push_back({{"set", setting.assignments},
                        {"step_s", setting.fits ? Json(setting.step.value) : Json(nullptr)},
                        {"memory_bytes", static_cast<std::int64_t>(setting.memory.value)},
                        {"fits", setting.fits},
                        {"changes_numerics", setting.changes_numerics}});
    }
    return rows;
}

}  // namespace

std::string explanation_json(const JobExplanation& explained, const JobRecord& record) {
    const Explanation& found = explained.explanation;
    const Plan& plan = explained.step.run.plan;
    Json json{{"step_s", since_start(found.end).value},
              {"path",
               {{"main_stage", found.main_stage},
                {"causes", causes_json(found)},
                {"passages", passages_json(found)},
                {"slack", slack_json(found)}}}};
    json["knobs"] = Json::array();
    for (const ExplainedKnob& knob : explained.knobs) {
        json["knobs"].push_back({{"knob", knob.knob}, {"change", knob.change}, {"step_s", knob.step.value}});
    }
    json["settings"] = settings_json(explained);
    json["job"] = job_json(plan.job, plan.machine, record);
    return json.dump(2) + "\n";
}

}  // namespace weft
