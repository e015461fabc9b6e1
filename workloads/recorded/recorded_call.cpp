// Calls of communication libraries as ParamCommsDebug names them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/recorded/step_comparison.hpp"

namespace weft {

std::string_view operation_of(std::string_view recorded) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"send_recv", "send_receive"},
                                                                       {"reduce_scatter", "reduce_scatter"},
                                                                       {"reducescatter", "reduce_scatter"},
                                                                       {"allreduce", "all_reduce"},
                                                                       {"all_reduce", "all_reduce"},
                                                                       {"barrier", "all_reduce"},
                                                                       {"allgather", "all_gather"},
                                                                       {"all_gather", "all_gather"},
                                                                       {"all_to_all", "all_to_all"},
                                                                       {"alltoall", "all_to_all"},
                                                                       {"broadcast", "broadcast"},
                                                                       {"reduce", "reduce"},
                                                                       {"send", "send"},
                                                                       {"recv", "recv"}};
    for (const auto& [part, name] : names) {
        if (recorded.find(part) != recorded.npos) return name;
    }
    return {};
}

double bytes_of_type(std::string_view type) {
    const auto is = [&](std::string_view part) { return type.find(part) != type.npos; };
    if (is("Float8") || is("Byte") || is("Char") || is("Bool")) return 1;
    if (is("BFloat16") || is("Half")) return 2;
    return is("Long") || is("Double") ? 8 : 4;
}

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

}  // namespace weft
