// The model of a GPT-NeoX configuration.
#pragma once

#include <string_view>

#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Puts "model" into the job, and what the model's keys say of its attention and kernels. Nothing where the files have
// no model. Asks for the vocabulary where it is not known. `precision`: of the job.
void read_neox_model(Import& import, Field& root, const FormatOptions& options, std::string_view precision);

}  // namespace weft
