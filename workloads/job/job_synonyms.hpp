// What other tools, and people, call the keys of a job.
#pragma once

#include <span>

#include "sim/io/diagnostics.hpp"

namespace weft {

std::span<const Synonym> job_synonyms();  // keys by their path in a job

}  // namespace weft
