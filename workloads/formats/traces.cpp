// Files of other tools that weft does not read: recognised, so that whoever gives one hears what it is.
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"

namespace weft::formats {
namespace {

std::string_view beginning(const SourceFile& file) { return std::string_view(file.text).substr(0, 4096); }

bool is_simai(const SourceFile& file) {
    const std::string_view line = beginning(file).substr(0, file.text.find('\n'));
    return contains(line, "model_parallel_NPU_group") || line == "MICRO" || line == "MICRO\r";
}

bool is_aicb(const SourceFile& file) {
    const std::string_view text = beginning(file);
    return contains(text, "comm_type,comm_group") || (contains(text, "Num_of_layers") && contains(text, "World_size"));
}

bool is_msccl(const SourceFile& file) {
    return contains(beginning(file), "<algo ") && contains(beginning(file), "<gpu ");
}

bool is_hwloc(const SourceFile& file) { return contains(file.text, "<topology") && contains(file.text, "<object"); }

bool is_simgrid(const SourceFile& file) {
    return contains(file.text, "<platform") || contains(file.text, "simgrid.dtd");
}

bool is_astra_sim(const SourceFile& file) {
    return contains(file.text, "npus_count:") && contains(file.text, "topology:");
}

constexpr std::string_view no_traces = "weft reads traces of Chakra, GOAL and Kineto alone";
constexpr std::string_view no_networks = "weft has machine files of its own, which weft schema machine describes";

}  // namespace

extern const Format simai{"simai", "SimAI workload", is_simai, nullptr, "a SimAI workload", no_traces};
extern const Format aicb{"aicb", "AICB calls", is_aicb, nullptr, "a list of calls of AICB", no_traces};
extern const Format msccl{"msccl", "MSCCL algorithm", is_msccl, nullptr, "an algorithm of MSCCL", no_traces};
extern const Format hwloc{"hwloc", "hwloc topology",    is_hwloc,
                          nullptr, "an hwloc topology", "give NCCL's topology file, or what nvidia-smi topo -m prints"};
extern const Format simgrid{"simgrid", "SimGrid platform", is_simgrid, nullptr, "a SimGrid platform", no_networks};
extern const Format astra_sim{"astra-sim", "ASTRA-sim network",      is_astra_sim,
                              nullptr,     "a network of ASTRA-sim", no_networks};

}  // namespace weft::formats
