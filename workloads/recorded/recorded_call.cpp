// Calls of communication libraries as ParamCommsDebug names them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/recorded/step_comparison.hpp"

namespace weft {
namespace {

double bytes_of_type(std::string_view type) {
    const auto is = [&](std::string_view part) { return type.find(part) != type.npos; };
    if (is("Float8") || is("Byte") || is("Char") || is("Bool")) return 1;
    if (is("BFloat16") || is("Half")) return 2;
    return is("Long") || is("Double") ? 8 : 4;
}

// "_allgather_base" and "allgather" are all-gather.
std::string operation_name(std::string_view recorded) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"reduce_scatter", "reduce-scatter"},
                                                                       {"allreduce", "all-reduce"},
                                                                       {"all_reduce", "all-reduce"},
                                                                       {"allgather", "all-gather"},
                                                                       {"all_gather", "all-gather"},
                                                                       {"all_to_all", "all-to-all"},
                                                                       {"alltoall", "all-to-all"},
                                                                       {"broadcast", "broadcast"},
                                                                       {"send", "send"},
                                                                       {"recv", "recv"}};
    for (const auto& [part, name] : names) {
        if (recorded.find(part) != recorded.npos) return std::string(name);
    }
    return std::string(recorded);
}

}  // namespace

ComparedCall recorded_call(const KinetoTrace& trace, const DeviceEvent& kernel) {
    const KinetoCall none{};
    const KinetoCall& own = kernel.call == DeviceEvent::no_call ? none : trace.calls[kernel.call];
    return {.op = operation_name(trace.texts.of(own.op == 0 ? kernel.name : own.op)),
            .ranks = own.ranks,
            .calls = {1, 0},
            .bytes = {std::max(own.in, own.out) * bytes_of_type(trace.texts.of(own.type)), 0},
            .seconds = {static_cast<double>(kernel.end - kernel.begin) * 1e-9, 0}};
}

}  // namespace weft
