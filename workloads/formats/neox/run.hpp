// A GPT-NeoX run: what tells its files, its model, and how it computes.
#pragma once

#include <string_view>

#include "workloads/formats/keys.hpp"

namespace weft {

// Whether a text has keys that GPT-NeoX alone has, cut or otherwise wrong as it may be.
bool is_neox(std::string_view text);

// Puts "model" into the job; nothing where the files have no model. Asks for the vocabulary where it is not known.
void read_neox_model(ForeignKeys& in);

// Attention, and what is one kernel or several. `precision`: of the job. Whether attention keeps its scores in memory.
bool read_neox_kernels(ForeignKeys& in, std::string_view precision);

}  // namespace weft
