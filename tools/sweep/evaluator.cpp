#include "tools/sweep/evaluator.hpp"

#include <utility>

#include "sim/io/diagnostics.hpp"
#include "tools/obstacle.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

constexpr std::size_t most_topologies = 16;  // of a whole machine, tens of MB each

}  // namespace

PointEvaluator::PointEvaluator(const SweepRequest& request)
    : request_(request), job_(open_job(request.job, request.overrides).document), topologies_(most_topologies) {}

PointResult PointEvaluator::evaluate(std::size_t point) const {
    try {
        Document job = job_.copy();
        for (const std::string& assignment : request_.grid.overrides(point)) job.assign(assignment);
        return simulate(read_study(std::move(job), Purpose::simulation, sources_));
    } catch (const ConfigError& error) {
        return {.metrics = {}, .reason = obstacle(error)};
    } catch (const RangeError& error) {
        return {.metrics = {}, .reason = error.what()};
    }
}

PointResult PointEvaluator::simulate(const Study& study) const {
    Plan plan = make_plan(study);
    PointResult result{.metrics = {}, .reason = obstacle(plan)};
    if (!result.reason.empty()) return result;
    const std::uint32_t nodes = study.job.nodes;
    const Fabric& fabric = study.job.fabric;
    Simulation run =
        simulate_step(std::move(plan), request_.simulation, topologies_.take(study.machine, nodes, fabric));
    result.metrics = metric_cells(make_report(run));
    topologies_.put_back(study.machine, nodes, fabric, std::move(run.prepared));
    return result;
}

}  // namespace weft
