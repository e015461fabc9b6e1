#include <fmt/format.h>

#include <iterator>

#include "tools/output/csv.hpp"
#include "tools/output/number.hpp"
#include "tools/output/volume_text.hpp"
#include "tools/output/volume_totals.hpp"

namespace weft {

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
