#include <nlohmann/json.hpp>

#include "tools/output/json_text.hpp"
#include "tools/output/number.hpp"
#include "tools/output/volume_text.hpp"
#include "tools/output/volume_totals.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const VolumeRow& row) {
    Json json{{"op", row.op},
              {"dimension", row.dimension},
              {"group_size", row.group_size},
              {"calls", number<Json>(row.calls)},
              {"message_bytes", number<Json>(row.message.value)},
              {"volume_bytes", number<Json>(row.volume.value)},
              {"when", row.when}};
    if (!row.type.empty()) json["type"] = row.type;
    if (!row.label.empty()) json["label"] = row.label;
    if (row.logged >= 0) json["logged_bytes"] = number<Json>(row.logged);
    return json;
}

Json totals_json(const std::vector<CollectiveTotal>& totals) {
    Json json = Json::array();
    for (const CollectiveTotal& total : totals) {
        json.push_back({{"op", total.op},
                        {"calls", number<Json>(total.calls)},
                        {"volume_bytes", number<Json>(total.volume.value)},
                        {"percent", number<Json>(100 * total.share)}});
    }
    return json;
}

Json histogram_json(const std::vector<HistogramBin>& bins) {
    Json json = Json::array();
    for (const HistogramBin& bin : bins) {
        json.push_back({{"op", bin.op},
                        {"from_bytes", number<Json>(bin.from.value)},
                        {"to_bytes", number<Json>(bin.to.value)},
                        {"calls", number<Json>(bin.calls)},
                        {"bytes", number<Json>(bin.bytes.value)}});
    }
    return json;
}

}  // namespace

std::string volume_json(const VolumeTable& table, VolumeParts parts, const Json* job) {
    Json json;
    if (job != nullptr) json["job"] = *job;
    json["rows"] = Json::array();
    for (const VolumeRow& row : table.rows) json["rows"].push_back(row_json(row));
    const std::vector<CollectiveTotal> steady = steady_totals(table);
    Json& totals = json["totals"];
    totals = {{"volume_bytes", number<Json>(sum(steady).value)},
              {"micro_batches", table.micro_batches},
              {"collectives", totals_json(steady)}};
    for (const auto& [when, key] : {std::pair{"start-up", "start_up"}, std::pair{"first-step", "first_step"}}) {
        if (const std::vector<CollectiveTotal> once = once_totals(table, when); !once.empty()) {
            totals[key] = totals_json(once);
        }
    }
    if (parts == VolumeParts::rows_and_histogram) json["histogram"] = histogram_json(volume_histogram(table));
    return json_text(json);
}

}  // namespace weft
