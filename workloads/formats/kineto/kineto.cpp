// Traces of PyTorch's profiler: what is in them. `weft compare` and `weft calibrate` go on from there.
#include <fmt/format.h>

#include "workloads/formats/format.hpp"
#include "workloads/formats/text.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/work_class.hpp"

namespace weft::formats {
namespace {

bool is_profile(const SourceFile& file) { return contains(file.text, "\"traceEvents\""); }

// Kernels alone: copies and fills are no computation.
Import import_profile(std::span<const SourceFile> files, const FormatOptions&) {
    const KinetoTrace trace = read_kineto(ByteSource(files.front().path, files.front().text));
    std::size_t kernels = 0, calls = 0;
    std::int64_t communicating = 0, computing = 0;  // ns
    for (const DeviceEvent& event : trace.kernels) {
        if (event.kind != DeviceEvent::Kind::kernel) continue;
        ++kernels;
        const bool is_call = work_class(Launched{.kernel = trace.texts[event.name], .operation = {}, .dims = {}}) ==
                             WorkClass::communication;
        calls += is_call ? 1 : 0;
        (is_call ? communicating : computing) += event.end - event.begin;
    }
    const auto microseconds = [](std::int64_t time) { return fmt::format("{}", static_cast<double>(time) / 1000.0); };
    Import import;
    import.kind = FormatKind::trace;
    import.facts = {{"kernels", fmt::to_string(kernels)},
                    {"communication_kernels", fmt::to_string(calls)},
                    {"communication_us", microseconds(communicating)},
                    { "compute_us",
                      microseconds(computing) }};
    if (trace.rank >= 0) import.facts.push_back({"rank", fmt::to_string(trace.rank)});
    if (trace.ranks >= 0) import.facts.push_back({"ranks", fmt::to_string(trace.ranks)});
    return import;
}

}  // namespace

extern const Format kineto{"kineto", "trace of PyTorch's profiler (Kineto)", is_profile, import_profile,
                    "one trace at a time: weft compare JOB TRACE... takes several"};

}  // namespace weft::formats
