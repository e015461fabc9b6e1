// Calls of a communication library, recorded and simulated.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/recorded/step_comparison.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

double size_of(const ComparedCall& one) { return one.bytes[0] + one.bytes[1]; }

void add_simulated(const Simulation& run, std::uint32_t stage, std::vector<ComparedCall>& calls) {
    const Program& program = run.step.program;
    const RankClass& own = program.classes[run.step.class_of_stage(stage)];
    for (OpId id{own.first_op}; id != OpId{own.end_op()}; id = next(id)) {
        const Op& op = program.ops[id];
        if (op.kind != OpKind::exchange) continue;
        const Communication& what = program.communications[program.communication_of(op)];
        const Method& method = program.methods[what.method];
        std::string name = lanes::operation_name(what.op, op.lane);
        std::ranges::replace(name, '_', '-');
        calls.push_back({.op = name,
                         .ranks = what.group_size,
                         .dimension = lanes::dimension_name(op.lane),
                         .method = method.algorithm.empty() ? "" : method.algorithm + " " + method.protocol,
                         .calls = {0, 1},
                         .bytes = {0, what.message.value},
                         .seconds = {0, (run.timeline.spans[id].end - run.timeline.spans[id].begin).value}});
    }
}

}  // namespace

ComparedCall recorded_call(const KinetoTrace& trace, const DeviceEvent& kernel) {
    const KinetoCall none{};
    const KinetoCall& own = kernel.call == DeviceEvent::no_call ? none : trace.calls[kernel.call];
    const std::string& recorded = trace.texts[own.op == 0 ? kernel.name : own.op];
    std::string op(operation_of(recorded));
    std::ranges::replace(op, '_', '-');
    return {.op = op.empty() ? recorded : op,
            .ranks = own.ranks,
            .calls = {1, 0},
            .bytes = {std::max(own.in, own.out) * bytes_of_type(trace.texts[own.type]), 0},
            .seconds = {static_cast<double>(kernel.end - kernel.begin) * 1e-9, 0}};
}

std::vector<ComparedCall> compared_calls(const KinetoTrace& trace, const RecordedStep& step, const Simulation& run,
                                         std::uint32_t stage) {
    constexpr double equal = 1.02;  // sizes that padding sets apart
    std::vector<ComparedCall> calls, rows;
    for (const RecordedKernel& kernel : step.kernels) {
        if (kernel.what == WorkClass::communication) calls.push_back(recorded_call(trace, trace.kernels[kernel.event]));
    }
    add_simulated(run, stage, calls);
    std::ranges::stable_sort(calls, {}, [](const ComparedCall& one) {
        return std::tuple(std::string_view(one.op), one.ranks, size_of(one));
    });
    double smallest = 0;  // of the last row
    for (ComparedCall& own : calls) {
        const double size = size_of(own);
        const bool is_new = rows.empty() || rows.back().op != own.op || rows.back().ranks != own.ranks;
        if (is_new || size > equal * smallest) {
            smallest = size;
            rows.push_back(std::move(own));
            continue;
        }
        ComparedCall& sum = rows.back();
        if (sum.calls[1] == 0) {
            sum.dimension = own.dimension;
            sum.method = own.method;
        }
        if (sum.dimension != own.dimension) sum.dimension.clear();
        for (const std::size_t side : {0U, 1U}) {
            sum.calls[side] += own.calls[side];
            sum.bytes[side] += own.bytes[side];
            sum.seconds[side] += own.seconds[side];
        }
    }
    return rows;
}

}  // namespace weft
