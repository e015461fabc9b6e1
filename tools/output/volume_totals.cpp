#include "tools/output/volume_totals.hpp"

#include <algorithm>

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

}  // namespace weft
