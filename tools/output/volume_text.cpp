#include "tools/output/volume_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/text_table.hpp"

namespace weft {

namespace {

// `times` says how often a row counts.
template <class Times>
std::vector<CollectiveTotal> totals(const VolumeTable& table, Times times) {
    std::vector<CollectiveTotal> out;
    for (const VolumeRow& row : table.rows) {
        const double repeats = times(row);
        if (repeats == 0) continue;
        auto total = std::ranges::find(out, row.op, &CollectiveTotal::op);
        if (total == out.end()) total = out.insert(out.end(), {.op = row.op});
        total->calls += row.calls * repeats;
        total->volume += row.volume * repeats;
    }
    const Bytes all = sum(out);
    if (all > Bytes{}) {
        for (CollectiveTotal& total : out) total.share = total.volume / all;
    }
    return out;
}

}  // namespace

double repeats_per_step(const VolumeTable& table, const VolumeRow& row) {
    if (row.when == "micro-batch") return table.micro_batches;
    return row.when == "step" ? 1 : 0;
}

std::vector<CollectiveTotal> steady_totals(const VolumeTable& table) {
    return totals(table, [&](const VolumeRow& row) { return repeats_per_step(table, row); });
}

std::vector<CollectiveTotal> once_totals(const VolumeTable& table, std::string_view when) {
    return totals(table, [&](const VolumeRow& row) { return row.when == when ? 1.0 : 0.0; });
}

Bytes sum(const std::vector<CollectiveTotal>& totals) {
    Bytes all;
    for (const CollectiveTotal& total : totals) all += total.volume;
    return all;
}

namespace {

// Columns that no row fills are left out.
std::string rows_text(const VolumeTable& table) {
    const bool typed = std::ranges::any_of(table.rows, [](const VolumeRow& row) { return !row.type.empty(); });
    const bool logged = std::ranges::any_of(table.rows, [](const VolumeRow& row) { return row.logged >= 0; });
    const bool labelled = std::ranges::any_of(table.rows, [](const VolumeRow& row) { return !row.label.empty(); });
    std::vector<std::string> headings{"<op", "<dimension", "group", "calls", "message", "volume", "<when"};
    if (typed) headings.emplace_back("<type");
    if (logged) headings.emplace_back("logged");
    if (labelled) headings.emplace_back("<what");
    TextTable text(std::move(headings));
    for (const VolumeRow& row : table.rows) {
        std::vector<std::string> cells{row.op,
                                       row.dimension,
                                       fmt::to_string(row.group_size),
                                       number_text(row.calls),
                                       to_text(row.message),
                                       to_text(row.volume),
                                       row.when};
        if (typed) cells.push_back(row.type);
        if (logged) cells.push_back(row.logged < 0 ? "-" : to_text(Bytes{row.logged}));
        if (labelled) cells.push_back(row.label);
        text.add(std::move(cells));
    }
    return text.text();
}

std::string totals_text(const std::string& heading, const std::vector<CollectiveTotal>& totals) {
    std::string out = fmt::format("\n{}: {} per rank\n", heading, to_text(sum(totals)));
    if (totals.empty()) return out;
    TextTable table({"<op", "calls", "volume", "share"});
    for (const CollectiveTotal& total : totals) {
        table.add({total.op, number_text(total.calls), to_text(total.volume), percent(total.share)});
    }
    return out + table.text(2);
}

}  // namespace

std::vector<HistogramBin> volume_histogram(const VolumeTable& table) {
    std::vector<MessageCount> messages;
    for (const VolumeRow& row : table.rows) {
        messages.push_back({row.op, row.message, row.calls * repeats_per_step(table, row)});
    }
    return message_histogram(messages);
}

std::string volume_text(const VolumeTable& table, VolumeParts parts) {
    std::string out = rows_text(table);
    for (const auto& [when, heading] :
         {std::pair{"start-up", "start-up"}, std::pair{"first-step", "first step only"}}) {
        if (const std::vector<CollectiveTotal> once = once_totals(table, when); !once.empty()) {
            out += totals_text(heading, once);
        }
    }
    out += totals_text(fmt::format("one step ({} {})", table.micro_batches,
                                   table.micro_batches == 1 ? "micro-batch" : "micro-batches"),
                       steady_totals(table));
    if (parts == VolumeParts::rows_and_histogram)
        out += "\nmessages of one step\n\n" + histogram_text(volume_histogram(table));
    return out;
}

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

std::string volume_csv(const VolumeTable& table) {
    const Bytes step = sum(steady_totals(table));
    std::string out =
        "op,dimension,group_size,calls,message_bytes,volume_bytes,when,step_bytes,step_percent,type,label,"
        "logged_bytes\n";
    for (const VolumeRow& row : table.rows) {
        const Bytes own = row.volume * repeats_per_step(table, row);
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(row.op),
                       csv_cell(row.dimension), row.group_size, number_text(row.calls), number_text(row.message.value),
                       number_text(row.volume.value), row.when, number_text(own.value),
                       number_text(step > Bytes{} ? 100 * (own / step) : 0), csv_cell(row.type), csv_cell(row.label),
                       row.logged < 0 ? "" : number_text(row.logged));
    }
    return out;
}

std::string volume_totals_csv(const VolumeTable& table) {
    std::string out = "op,when,calls,volume_bytes,percent\n";
    const auto add = [&](std::string_view when, const std::vector<CollectiveTotal>& totals) {
        for (const CollectiveTotal& total : totals) {
            fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", csv_cell(total.op), when,
                           number_text(total.calls), number_text(total.volume.value), number_text(100 * total.share));
        }
    };
    for (const std::string_view when : {"start-up", "first-step"}) add(when, once_totals(table, when));
    add("step", steady_totals(table));
    return out;
}

}  // namespace weft
