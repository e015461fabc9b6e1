// Jobs from a client name what weft ships, and no file of the machine that serves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/io/diagnostics.hpp"

namespace weft {

// Puts the names that files of weft have in place of other names that they go by, which a file of the working folder
// could go by as well. Takes out, with a diagnostic, every name that weft does not ship, wherever a reader would look
// for a file: machine, model and what they extend, a machine's device and tuners, and a placement from a file.
std::vector<Diagnostic> keep_to_shipped_names(nlohmann::ordered_json& job);

}  // namespace weft
