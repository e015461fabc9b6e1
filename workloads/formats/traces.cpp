// Traces and algorithms of other tools: recognised, so that whoever gives one hears what it is. weft reads none of
// them.
#include <fmt/format.h>

#include "workloads/formats/format.hpp"

namespace weft::formats {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view beginning(const SourceFile& file) { return std::string_view(file.text).substr(0, 4096); }

[[noreturn]] Import refuse(const SourceFile& file, std::string_view what) {
    throw ConfigError(
        {Diagnostic{.file = file.path,
                    .key = {},
                    .message = fmt::format("is {}: weft reads configurations and topologies, no traces", what)}});
}

// Protobuf messages, each after its length; the first is metadata with a version, or empty.
bool is_chakra(const SourceFile& file) {
    return file.path.ends_with(".et") || file.path.ends_with(".et.gz") ||
           (beginning(file).find('\0') != std::string_view::npos && contains(beginning(file), "comm_type"));
}
Import read_chakra(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "a Chakra execution trace");
}

bool is_goal(const SourceFile& file) {
    return contains(beginning(file), "num_ranks ") && contains(file.text, "rank 0");
}
Import read_goal(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "a GOAL schedule (LogGOPSim, ATLAHS)");
}

bool is_kineto(const SourceFile& file) { return contains(file.text, "\"traceEvents\""); }
Import read_kineto(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "a trace of Kineto, PyTorch's profiler");
}

bool is_simai(const SourceFile& file) {
    const std::string_view line = beginning(file).substr(0, file.text.find('\n'));
    return contains(line, "model_parallel_NPU_group") || line == "MICRO" || line == "MICRO\r";
}
Import read_simai(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "a SimAI workload");
}

bool is_aicb(const SourceFile& file) {
    const std::string_view text = beginning(file);
    return contains(text, "comm_type,comm_group") || (contains(text, "Num_of_layers") && contains(text, "World_size"));
}
Import read_aicb(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "a list of calls of AICB");
}

bool is_msccl(const SourceFile& file) {
    return contains(beginning(file), "<algo ") && contains(beginning(file), "<gpu ");
}
Import read_msccl(std::span<const SourceFile> files, const FormatOptions&) {
    refuse(files.front(), "an algorithm of MSCCL");
}

}  // namespace

extern const Format chakra;
const Format chakra{"chakra", "Chakra execution trace", is_chakra, read_chakra};
extern const Format goal;
const Format goal{"goal", "GOAL schedule", is_goal, read_goal};
extern const Format kineto;
const Format kineto{"kineto", "Kineto trace", is_kineto, read_kineto};
extern const Format simai;
const Format simai{"simai", "SimAI workload", is_simai, read_simai};
extern const Format aicb;
const Format aicb{"aicb", "AICB calls", is_aicb, read_aicb};
extern const Format msccl;
const Format msccl{"msccl", "MSCCL algorithm", is_msccl, read_msccl};

}  // namespace weft::formats
