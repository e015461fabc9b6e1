// A job as the arguments of Megatron-LM's pretrain_gpt.py.
#pragma once

#include <string>
#include <vector>

#include "workloads/exports/export.hpp"

namespace weft {

// One argument with its value per element: "--hidden-size 4096". Flags as of Megatron-core,
// megatron/training/arguments.py. What they cannot say goes to `unsayable`.
struct MegatronArguments {
    std::vector<std::string> model, layout, training;
};
MegatronArguments megatron_arguments(const Study& study, Unsayable& unsayable);

// What has to be exported before.
std::string megatron_environment(const Job& job);

// A Bash array of them, one a line.
std::string bash_array(std::string_view name, const std::vector<std::string>& arguments);

}  // namespace weft
