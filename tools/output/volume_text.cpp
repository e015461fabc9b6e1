#include "tools/output/volume_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/number.hpp"
#include "tools/output/text_table.hpp"
#include "tools/output/volume_totals.hpp"

namespace weft {
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

}  // namespace weft
