// The switches that Slurm's topology files list: topology.conf (SwitchName=, BlockName=) and topology.yaml (tree,
// block, flat). Keys: topology.conf(5) and topology.yaml(5) of SchedMD/slurm;
// src/plugins/topology/tree/switch_record.c.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {

constexpr std::size_t most_slurm_hosts = std::size_t{1} << 18;

struct SlurmSwitch {
    std::string name;
    std::vector<std::string> nodes{}, switches{};  // below it, by name
    Origin origin{};
    std::vector<std::uint32_t> children{}, parents{};  // by number
    std::uint32_t level = 1;                           // of one with no switch below it: 1
};

struct SlurmTree {
    std::vector<SlurmSwitch> switches;
    std::vector<Origin> blocks, flat;  // where these are
    std::vector<Diagnostic> mistakes;
    std::size_t expanded = 0;  // names in all

    void mistake(const Origin& origin, std::string message);
    std::vector<std::string> expand(std::string_view list, const Origin& origin);
};

bool is_slurm_topology(const SourceFile& file);
SlurmTree read_slurm_tree(Import& import, const SourceFile& file);  // throws ConfigError for bad YAML

}  // namespace weft
