#include "tools/output/run_text.hpp"

#include <fmt/format.h>

#include "tools/output/figures.hpp"
#include "tools/output/run_rows.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

std::string quantity_table(const RunResult& result) {
    TextTable table({"<", "p5", "p50", "p95", "mean", "of the run"});
    const double wall = result.quantity("time_s").spread.mean;
    for (const RunQuantity& each : result.quantities) {
        const Spread& s = each.spread;
        table.add({std::string(each.label), run_cell(each.unit, s.p5), run_cell(each.unit, s.p50),
                   run_cell(each.unit, s.p95), run_cell(each.unit, s.mean),
                   is_part(each) ? percent(s.mean / wall) : ""});
    }
    return table.text();
}

}  // namespace

std::string run_text(const Job& job, const MachineInfo& machine, const RunResult& result) {
    std::string text = run_heading(job, machine) + fmt::format("\n{}\n\n", played_text(result));
    text += quantity_table(result) + '\n';
    TextTable facts({"<", "<"});
    for (const RunFact& fact : run_facts(result)) facts.add({fact.name, fact.text});
    text += facts.text().substr(1);
    if (!result.plan.assumptions.empty()) text += "\nassumed\n";
    for (const std::string& assumption : result.plan.assumptions) text += "  " + assumption + '\n';
    return text;
}

}  // namespace weft
