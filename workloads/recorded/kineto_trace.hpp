// What PyTorch's profiler wrote of one rank, as values: Kineto's Chrome JSON (pytorch/kineto, libkineto/src/
// output_json.cpp). Times are whole nanoseconds from the trace's own base.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/io/files.hpp"

namespace weft {

struct HostEvent {
    enum class Kind : std::uint8_t { operation, annotation, launch };

    std::int64_t begin = 0, end = 0;
    Kind kind{};
    std::uint32_t name = 0;
    std::uint32_t thread = 0;       // number of its process and thread, in the order they appear
    std::int64_t sequence = -1;     // of autograd: a forward operation and those of its backward share one
    std::uint64_t correlation = 0;  // of a launch
    std::uint32_t dims = 0;         // text: "[[8192,4096],[4096,4096]]"; 0: none
};

// What a call of a communication library says of itself (ParamCommsDebug).
struct KinetoCall {
    std::uint32_t op = 0, group = 0, type = 0;  // texts: "allreduce", a process group's name, "BFloat16"
    std::uint32_t members = 0;                  // text: "[0, 1]", perhaps with "..." for many; empty: not said
    double in = 0, out = 0;                     // elements
    std::uint32_t ranks = 0;                    // of the group; 0: not said
    std::int64_t source = -1, target = -1;      // ranks, of a message
};

// "all_reduce" of "allreduce"; "send" and "recv" are messages. Empty: none that is known.
std::string_view operation_of(std::string_view recorded);
// What a collective, or a message, and its kernel are called: "allreduce", "AllReduce_Sum".
struct CallNames {
    std::string_view collective, kernel;
};
CallNames names_of(Collective op);
std::string_view name_of_type(std::string_view type);  // "BFloat16" of "bf16"
double bytes_of_type(std::string_view type);           // of an element: "BFloat16"

struct DeviceEvent {
    enum class Kind : std::uint8_t { kernel, copy, fill };
    static constexpr std::uint32_t no_call = 0xffffffff;

    std::int64_t begin = 0, end = 0;
    Kind kind{};
    std::uint32_t name = 0;
    std::int32_t stream = 0;
    std::uint64_t correlation = 0;
    std::uint32_t call = no_call;  // into KinetoTrace::calls
};

struct KinetoTrace {
    std::string file;
    std::string device;                  // "NVIDIA H100 80GB HBM3"; empty: not said
    std::int64_t rank = -1, ranks = -1;  // -1: not said
    bool is_simulated = false;           // by weft export: no profiler slowed its host
    std::vector<std::string> texts;      // each once, the first empty: events name them by number
    std::vector<HostEvent> host;         // by begin; of one begin the longest first
    std::vector<DeviceEvent> kernels;    // by begin
    std::vector<KinetoCall> calls;
    std::map<std::string, std::vector<std::uint32_t>> groups;  // ranks of process groups by name, where they are said
    double allocated = 0;  // the most that the allocator had given out, where it was recorded (profile_memory=True)

    std::vector<HostEvent> waits() const;  // of the host for the device
};

// JSON, packed with gzip or not, read as a stream. Throws ConfigError: unreadable, cut, no JSON, no traceEvents, or no
// work of a device in it.
KinetoTrace read_kineto(ByteSource& source);
inline KinetoTrace read_kineto(ByteSource&& source) { return read_kineto(source); }
inline KinetoTrace read_kineto(const std::filesystem::path& path) { return read_kineto(ByteSource(path)); }

// Whether a file looks like one: of what cannot be read, no.
bool is_kineto(const std::filesystem::path& path);

// The numbers in HostEvent::dims, list by list.
std::vector<std::vector<double>> dims_of(std::string_view text);

}  // namespace weft
