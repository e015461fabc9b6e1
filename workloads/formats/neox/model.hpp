// The model of a GPT-NeoX configuration, and how it computes.
#pragma once

#include <string_view>

#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Puts "model" into the job; nothing where the files have no model. Asks for the vocabulary where it is not known.
void read_neox_model(Import& import, Field& root, const FormatOptions& options);

// Attention, and what is one kernel or several. `precision`: of the job. Whether attention keeps its scores in memory.
bool read_neox_kernels(Import& import, Field& root, std::string_view precision);

}  // namespace weft
