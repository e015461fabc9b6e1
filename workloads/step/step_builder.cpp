#include "workloads/step/step_builder.hpp"

#include <fmt/format.h>

#include "sim/program/program_builder.hpp"
#include "workloads/step/cell_writer.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {

Step build_step(const Plan& plan, const Topology& topology, Folding folding) {
    ProgramBuilder builder(lanes::names());
    Groups groups(plan, topology, folding, builder);
    Step step;
    for (const Cell& cell : make_cells(plan, folding)) {
        const std::string name =
            folding == Folding::stages
                ? fmt::format("stage {}", cell.stage)
                : fmt::format("rank {} (stage {})", static_cast<std::uint32_t>(cell.representative), cell.stage);
        builder.begin_class(name, cell.representative, cell.weight);
        step.stage.push_back(cell.stage);
        CellWriter(plan, cell, groups, builder).write();
    }
    step.program = builder.finish();
    return step;
}

}  // namespace weft
