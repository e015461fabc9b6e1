// What PyTorch's profiler calls collectives and types (ParamCommsDebug).
#include <algorithm>
#include <array>
#include <utility>

#include "workloads/recorded/kineto_trace.hpp"

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

CallNames names_of(Collective op) {
    using enum Collective;
    constexpr std::array<std::pair<Collective, CallNames>, 7> known{
        {{all_reduce, {"allreduce", "AllReduce_Sum"}},
         {all_gather, {"_allgather_base", "AllGather"}},
         {reduce_scatter, {"_reduce_scatter_base", "ReduceScatter_Sum"}},
         {broadcast, {"broadcast", "Broadcast"}},
         {reduce, {"reduce", "Reduce_Sum"}},
         {all_to_all, {"all_to_all", "SendRecv"}},
         {send_receive, {"send_recv", "SendRecv"}}}};
    const auto* const found = std::ranges::find(known, op, &std::pair<Collective, CallNames>::first);
    return found == known.end() ? CallNames{"send", "SendRecv"} : found->second;
}

std::string_view name_of_type(std::string_view type) {
    if (type == "bf16") return "BFloat16";
    if (type == "fp16") return "Half";
    if (type == "fp32") return "Float";
    return type == "int64" ? "Long" : "Byte";
}

double bytes_of_type(std::string_view type) {
    const auto is = [&](std::string_view part) { return type.find(part) != type.npos; };
    if (is("Float8") || is("Byte") || is("Char") || is("Bool")) return 1;
    if (is("BFloat16") || is("Half")) return 2;
    return is("Long") || is("Double") ? 8 : 4;
}

}  // namespace weft
