// The points of a sweep: the columns of its table, and what fills them.
#include "tools/sweep/sweep.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <set>
#include <stdexcept>

#include "sim/base/lists.hpp"
#include "tools/output/columns.hpp"
#include "tools/refusals.hpp"

namespace weft {
namespace {

// What a dimension of a report counts as; of the last those that are named nowhere.
struct DimensionFamily {
    std::string_view column;
    std::string_view meaning;
    std::array<std::string_view, 4> dimensions;
};

constexpr std::array<DimensionFamily, 6> families{{
    {"communication_tensor_bytes", "of it, within tensor (and sequence) parallel groups", {"tensor"}},
    {"communication_context_bytes", "of it, within context parallel groups", {"context"}},
    {"communication_expert_bytes", "of it, between the experts of a layer", {"expert", "expert tensor"}},
    {"communication_data_bytes",
     "of it, gradients and parameters of data parallelism",
     {"data", "data inner", "data outer", "expert data"}},
    {"communication_pipeline_bytes", "of it, sent from stage to stage", {"pipeline"}},
    {"communication_other_bytes", "of it, norms, flags and tied embeddings", {}},
}};

// What a rank puts on the wire; what it receives, another has sent.
Bytes sent(const CommunicationReport& row) { return row.op == "recv" ? Bytes{} : row.bytes; }

std::size_t family_of(std::string_view dimension) {
    const auto has = [&](const DimensionFamily& family) {
        return std::ranges::find(family.dimensions, dimension) != family.dimensions.end();
    };
    const auto found = static_cast<std::size_t>(std::ranges::find_if(families, has) - families.begin());
    return std::min(found, families.size() - 1);
}

// The same for every sweep.
Columns<Report> metric_columns() {
    Columns<Report> columns;
    for (const StepMetric& each : known_metrics()) {  // keys already name their unit: "step.time_s" is step_time_s
        columns.push_back({boost::replace_all_copy(std::string(each.key), ".", "_"), std::string(each.unit),
                           std::string(each.meaning), [i = columns.size()](const Report& report) {
                               return value_of<ResultCell>(report.metrics[i]);
                           }});
    }
    columns.push_back({"ranks", "", "accelerators of the job", &Report::ranks});
    columns.push_back({"throughput_tokens_per_s_per_gpu", "tokens/s", "of one accelerator",
                       [](const Report& report) { return report.metric("throughput.tokens_per_s") / report.ranks; }});
    columns.push_back({"communication_bytes", "B", "put on the wire by one rank in a step; mean over ranks",
                       [](const Report& report) { return sum_of<Bytes>(report.communication, sent); }});
    for (std::size_t i = 0; i < families.size(); ++i) {
        const auto own = [i](const CommunicationReport& row) {
            return family_of(row.dimension) == i ? sent(row) : Bytes{};
        };
        columns.push_back({std::string(families[i].column), "B", std::string(families[i].meaning),
                           [own](const Report& report) { return sum_of<Bytes>(report.communication, own); }});
    }
    return columns;
}

}  // namespace

std::vector<ResultCell> metric_cells(const Report& report) {
    return list_of<ResultCell>(metric_columns(), [&](const auto& column) { return column.cell(report); });
}

std::vector<Column> sweep_columns(const SweepGrid& grid) {
    std::vector<Column> columns;
    for (const std::string& key : grid.keys()) {
        const std::string_view meaning = key.starts_with(label_mark) ? "name of the row" : "varied";
        columns.push_back({std::string(column_name(key)), "", std::string(meaning), ColumnKind::key});
    }
    for (const auto& metric : metric_columns()) columns.push_back(metric.column);
    columns.push_back({.name = "reason", .unit = "", .meaning = "why there is no result", .kind = ColumnKind::note});
    std::set<std::string_view> known;
    for (const Column& column : columns) {
        if (!known.insert(column.name).second) {
            throw std::invalid_argument("a column is called \"" + column.name +
                                        "\" already; give the label another name");
        }
    }
    return columns;
}

Row row_of(const SweepGrid& grid, std::size_t point, const std::vector<ResultCell>& metrics,
           const std::string& reason) {
    Row row;
    for (const std::string& value : grid.point(point)) row.push_back(cell_of_json(value));
    row.insert(row.end(), metrics.begin(), metrics.end());
    row.resize(grid.keys().size() + metric_columns().size());
    row.push_back(reason.empty() ? ResultCell{} : ResultCell{reason});
    return row;
}

bool has_result(const Row& row) { return std::holds_alternative<std::monostate>(row.back()); }

Row SweepRun::evaluate(std::size_t point) const {
    const SweepGrid& grid = request_.grid;
    try {
        Document job = job_.copy();
        for (const std::string& assignment : grid.overrides(point)) job.assign(assignment);
        const Study study = read_study(std::move(job), Purpose::simulation, sources_);
        Plan plan = make_plan(study);
        if (const std::string why = obstacle(plan); !why.empty()) return row_of(grid, point, {}, why);
        const std::uint32_t nodes = study.job.nodes;
        const Fabric& fabric = study.job.fabric;
        Simulation run =
            simulate_step(std::move(plan), request_.simulation, topologies_.take(study.machine, nodes, fabric));
        Row row = row_of(grid, point, metric_cells(make_report(run)));
        topologies_.put_back(study.machine, nodes, fabric, std::move(run.prepared));
        return row;
    } catch (const ConfigError& error) {
        return row_of(grid, point, {}, obstacle(error));
    } catch (const RangeError& error) {
        return row_of(grid, point, {}, error.what());
    }
}

}  // namespace weft
